/* host_list_test.cc -- which hosts lists of hosts and domains have. */
#include <gtest/gtest.h>

extern "C" {
#include "host_list.h"
}

namespace {

bool has(const char *list, const char *authority, refs_host_ports ports = REFS_HOST_PORTS_COUNT) {
    refs_origin origin;
    (void)refs_origin_of_authority(refs_str_from(authority), &origin);
    return refs_host_list__has(list, &origin, ports);
}

TEST(HostList, HasItsHostsAndThoseOfItsDomains) {
    for (const char *host : {"a.org", "x.a.org", "x.y.a.org", "A.Org", "b.net", "x.b.net"})
        EXPECT_TRUE(has("a.org , b.net,", host)) << host;
    for (const char *host : {"org", "xa.org", "a.org.x", "a.org.", "b.netx", "", ".", "a.orgb.net"})
        EXPECT_FALSE(has("a.org , b.net,", host)) << host;
}

TEST(HostList, MayBeEmpty) {
    for (const char *list : {"", " ", ",", " , ,"}) EXPECT_FALSE(has(list, "a.org")) << list;
    EXPECT_FALSE(has(nullptr, "a.org"));
    EXPECT_FALSE(has("a.org", ""));
}

TEST(HostList, HasPortsThatCount) {
    EXPECT_TRUE(has("a.org:8443,b.net", "x.a.org:8443"));
    for (const char *authority : {"a.org", "a.org:443", "b.net:8443"})
        EXPECT_FALSE(has("a.org:8443,b.net", authority)) << authority;
}

TEST(HostList, TakesThePortOfHttpsForNone) {
    for (const char *list : {"a.org", "a.org:443"})
        for (const char *authority : {"a.org", "a.org:443", "x.a.org", "x.a.org:443"})
            EXPECT_TRUE(has(list, authority)) << list << " " << authority;
    EXPECT_FALSE(has("a.org:443", "a.org:8443"));
}

TEST(HostList, HasDomainsHoweverTheyAreWritten) {
    for (const char *list : {".a.org", "*.a.org", "https://a.org", "https://a.org:443/", "a.org/",
                             "HTTPS://.a.org", "b.net,*.A.org"}) {
        EXPECT_TRUE(has(list, "a.org")) << list;
        EXPECT_TRUE(has(list, "x.a.org:443")) << list;
        EXPECT_FALSE(has(list, "xa.org")) << list;
        EXPECT_FALSE(has(list, "x.org")) << list;
    }
    for (const char *list : {"*", ".", "*.", "https://", "/", "a.org/b", "*a.org", "ftp://a.org"})
        EXPECT_FALSE(has(list, "x.a.org")) << list;
}

TEST(HostList, HasPortsThatAreDropped) {
    for (const char *authority : {"a.org", "x.a.org:443", "b.net", "b.net:80", "[::1]", "[::1]:80"})
        EXPECT_TRUE(has("a.org:8443,b.net,[::1]:8080", authority, REFS_HOST_PORTS_DROPPED))
            << authority;
    for (const char *authority : {"org:8443", "", ":8443", "[::2]", "[::1"})
        EXPECT_FALSE(has("a.org:8443,:80,[::1]:8080", authority, REFS_HOST_PORTS_DROPPED))
            << authority;
}

} // namespace
