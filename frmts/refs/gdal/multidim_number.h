/* multidim_number.h -- types for numbers of attributes: JSON has lost those they had.
 *
 * Numbers without a point are Int32, or the next larger type that holds them. With one they are
 * Float64, or Float32 where they have the many digits that a widened one has. Attributes to which
 * CF gives the type of their variable have it wherever it holds them; those of an unsigned one may
 * be written as signed, with the same bits.
 */
#ifndef REFS_MULTIDIM_NUMBER_H
#define REFS_MULTIDIM_NUMBER_H

#include <string>

#include "gdal_compat.h"
#include "refs/json.h"

/** The type of attribute `name`, a number or a list of numbers, of a variable whose elements are
 * of `variableType`: GDT_Unknown where there is none. */
GDALDataType RefsNumberTypeOf(const std::string &name, const refs_json *value,
                              GDALDataType variableType);

/** Stores `number` as an element of `type`, as GDAL converts numbers. */
void RefsNumberStore(const refs_json *number, GDALDataType type, void *element);

/** Elements of a list, or one; and the i-th of them. */
size_t RefsJsonCount(const refs_json *value);
const refs_json *RefsJsonAt(const refs_json *value, size_t i);

/** Whether all of them pass, and there are any. */
template <class Test> bool RefsJsonAll(const refs_json *value, Test passes) {
    for (size_t i = 0; i < RefsJsonCount(value); i++)
        if (!passes(RefsJsonAt(value, i))) return false;
    return RefsJsonCount(value) > 0;
}

#endif
