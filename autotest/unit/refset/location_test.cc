#include <gtest/gtest.h>

#include "set_under_test.h"

TEST(RefsetLocation, IsRemoteWhereAnotherMachineIsAsked) {
    for (const char *location : {"/vsicurl/https://h/a",
                                 "/vsicurl?max_retry=3&url=https%3A//h/a",
                                 "/vsis3/b/k",
                                 "/vsis3_streaming/b/k",
                                 "/vsicurl_streaming/http://h/a",
                                 "/vsigs/b/k",
                                 "/vsiaz/c/k",
                                 "/vsiadls/c/k",
                                 "/vsioss/b/k",
                                 "/vsiswift/c/k",
                                 "/vsiwebhdfs/http://h/a",
                                 "/vsihdfs/hdfs:/a",
                                 "/vsizip//vsicurl/https://h/a.zip/m",
                                 "/vsizip/vsis3/b/a.zip/m",
                                 "/vsizip/{/vsis3/b/a.zip}/m",
                                 "/vsitar/{/vsizip/{/vsigs/b/a.zip}/b.tar}/m",
                                 "/vsigzip//vsiaz/c/k.gz",
                                 "/vsisubfile/10_20,/vsicurl/https://h/a",
                                 "https://h/a",
                                 "http://h/a"})
        EXPECT_TRUE(refs_location_is_remote(View(location))) << location;
}

TEST(RefsetLocation, IsLocalOtherwise) {
    for (const char *location :
         {"", "/", "a.json", "/data/a.json", "vsicurl/a", "/vsimem/a", "/vsizip/a.zip/vsicurl/m",
          "/vsizip/{/data/vsis3/a.zip}/m", "/data/vsicurl/https://h/a", "/vsicurlish/a",
          "/vsisubfile/10_20,/data/a", "/vsisubfile/", "/vsizip/", "/vsis3", "s3://b/k"})
        EXPECT_FALSE(refs_location_is_remote(View(location))) << location;
}
