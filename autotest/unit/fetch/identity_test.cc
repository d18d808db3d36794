/* identity_test.cc -- settings that say who asks. */
#include "refs/identity.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace {

using Settings = std::map<std::string, std::string>;

uint64_t numberOf(const Settings &settings) {
    const refs_setting_lookup lookup = {[](const void *user, const char *name) -> const char * {
                                            const auto &in = *static_cast<const Settings *>(user);
                                            const auto found = in.find(name);
                                            return found != in.end() ? found->second.c_str()
                                                                     : nullptr;
                                        },
                                        &settings};
    return refs_identity_number(&lookup);
}

TEST(Identity, IsToldBySettingsThatSayWhoAsks) {
    const std::set<uint64_t> numbers = {
        numberOf({}),
        numberOf({{"GDAL_HTTP_USERPWD", "a:b"}}),
        numberOf({{"GDAL_HTTP_USERPWD", "a:c"}}),
        numberOf({{"GDAL_HTTP_BEARER", "a:b"}}),
        numberOf({{"EARTHDATA_TOKEN", "a:b"}}),
        numberOf({{"EARTHDATA_USERNAME", "a:b"}}),
        numberOf({{"EARTHDATA_USERNAME", "a"}, {"EARTHDATA_PASSWORD", ":b"}})};
    EXPECT_EQ(numbers.size(), 7U);
}

TEST(Identity, IsTheSameWhateverElseIsSet) {
    EXPECT_EQ(numberOf({}), numberOf({{"GDAL_HTTP_TIMEOUT", "3"}, {"GDAL_HTTP_USERPWD", ""}}));
}

} // namespace
