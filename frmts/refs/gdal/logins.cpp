/* logins.cpp -- see logins.h. */
#include "logins.h"

#include "cpl_vsi.h"
#include "refs/earthdata.h"
#include "refs/identity.h"

namespace {

refs_setting_lookup optionsOf(const char *location) {
    return {[](const void *of, const char *name) {
                return VSIGetPathSpecificOption(static_cast<const char *>(of), name, nullptr);
            },
            location};
}

} // namespace

std::string RefsAccessIdentity(const char *location) {
    const refs_setting_lookup options = optionsOf(location), everywhere = optionsOf("");
    return std::to_string(refs_identity_access_number(&options)) + " " +
           std::to_string(refs_identity_access_number(&everywhere));
}

std::string RefsIdentityValue(const char *text) {
    const refs_str value = refs_identity_value(text);
    return std::string(value.data, value.size);
}

bool RefsIsLoginInTheClear(const char *location) {
    const refs_setting_lookup options = optionsOf(location);
    const refs_http_login login = refs_earthdata_login(&options, location);
    return refs_earthdata_is_in_the_clear(&login, location);
}
