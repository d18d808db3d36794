/* options.h -- options that the driver reads, and what they may be. */
#ifndef REFS_OPTIONS_H
#define REFS_OPTIONS_H

#include <cstdint>
#include <string>

#include "cpl_string.h"
#include "refs/error.h"

/** The value of a configuration option; `otherwise` where it is not set, or is not what it may be.
 * Says nothing of that: any thread may ask. */
const char *RefsOption(const char *name, const char *otherwise);

/** The same, as it is for a part of the name space. */
const char *RefsOptionAt(const char *location, const char *name, const char *otherwise);

/** Raises a warning for each option that is set, everywhere or for `location`, to what it may not
 * be: one for each wrong value while the process lives. For the thread of a user. */
void RefsWarnOfOptions(const char *location);

/** Raises a warning that was not raised before. For the thread of a user. */
void RefsWarnOnce(const std::string &text);

/** Open options of a call, and those that the configuration options of the same names have for what
 * is at `location`: "REFS_CHANGED" where CHANGED is not among them, or is what it may not be. */
CPLStringList RefsWithConfiguredOptions(const char *location, CSLConstList options);

/** Raises a warning for each open option of a call that there is not, or that is what it may not
 * be. Those that `listed`, the list for GDAL (GDAL_DMD_OPENOPTIONLIST), names were checked by GDAL;
 * all others it accepts. */
void RefsWarnOfOpenOptions(const char *listed, CSLConstList options);

/** Why a name may not have the open option `name`. */
std::string RefsProblemOfNamedOption(const std::string &name);

/** The open option `name`, a whole number of [0, largest]; REFS_INVALID where `text` is none. */
refs_status RefsWholeOption(const char *name, const char *text, uint64_t largest, uint64_t *value,
                            refs_error *error);

#endif
