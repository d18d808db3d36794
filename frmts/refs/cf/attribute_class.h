/* attribute_class.h -- classes of attributes by purpose, as CF, NUG and ecCodes define them.
 *
 * Read before this: cf.h.
 */
#ifndef REFS_ATTRIBUTE_CLASS_H
#define REFS_ATTRIBUTE_CLASS_H

#include "refs/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Classes of attributes; sets of them are combined by "|". */
enum {
    REFS_CF_SCALING = 1,       /**< scale_factor, add_offset (CF 8.1) */
    REFS_CF_MISSING = 2,       /**< _FillValue, missing_value (CF 2.5.1) */
    REFS_CF_SIGNS = 4,         /**< _Unsigned (NUG) */
    REFS_CF_VALID = 8,         /**< valid_range, valid_min, valid_max (CF 2.5.1) */
    REFS_CF_ACTUAL = 16,       /**< actual_range (CF 2.5.1) */
    REFS_CF_FLAG_NUMBERS = 32, /**< flag_values, flag_masks (CF 3.5) */
    REFS_CF_FLAG_WORDS = 64,   /**< flag_meanings (CF 3.5), flag_colors */
    REFS_CF_UNITS = 128,       /**< units, calendar (CF 3.1 and 4.4.1) */
    REFS_CF_START = 256,       /**< GRIB_startStep: where all intervals of a statistic begin */
    REFS_CF_LENGTH = 512,      /**< GRIB_lengthOfTimeRange: how long each of them is */

    /** The classes that describe how numbers are stored. */
    REFS_CF_PACKING = REFS_CF_SCALING | REFS_CF_MISSING | REFS_CF_SIGNS,
    REFS_CF_FLAGS = REFS_CF_FLAG_NUMBERS | REFS_CF_FLAG_WORDS
};

/** Whether an attribute of this name belongs to one of the classes. */
bool refs_cf_is_attribute_of(refs_str name, unsigned classes);

/** Whether any attribute belongs to one of the classes. */
bool refs_cf_has_attribute_of(const refs_json *attributes, unsigned classes);

/** Name number `i` of the attributes of these classes, in a fixed order; NULL after the last one.
 */
const char *refs_cf_attribute_at(unsigned classes, size_t i);

#ifdef __cplusplus
}
#endif
#endif
