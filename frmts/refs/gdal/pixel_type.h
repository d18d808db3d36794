/* pixel_type.h -- element types of arrays as pixel types of GDAL. */
#ifndef REFS_PIXEL_TYPE_H
#define REFS_PIXEL_TYPE_H

#include <cstddef>

#include "gdal_compat.h"
#include "refs/cf.h"

/** How elements of an array become pixels. */
struct RefsPixelType {
    GDALDataType gdal = GDT_Unknown; ///< GDT_Unknown: elements are not pixels
    size_t elementSize = 0;          ///< bytes of an element as the core gives it

    /** Widens `n` elements at `elements` to `gdal`, which this version of GDAL lacks the exact type
     * for; null where elements are pixels as they are. */
    void (*promote)(const void *elements, void *pixels, size_t n) = nullptr;
};

/** How integers with a sign are to be read: CF's _Unsigned makes unsigned ones of them. */
enum class RefsIntegers { AsStored, Unsigned };

/** How those of an array are. */
RefsIntegers RefsIntegersOf(const refs_array_meta *array);

RefsPixelType RefsPixelTypeOf(const refs_dtype &dtype,
                              RefsIntegers integers = RefsIntegers::AsStored);

#endif
