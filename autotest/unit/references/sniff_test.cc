#include <gtest/gtest.h>

#include "set_under_test.h"

namespace {

bool Sniff(const std::string &head) {
    return refs_set_sniff(refs_bytes_view(head.data(), head.size()));
}

// Heads of files as hosts see them: the first bytes of what may be long.
const char *const kSets[] = {
    R"({"version": 1, "refs": {}})",
    R"({"refs": {}, "version": 1})",
    R"({"version":1.0,"refs":{"a":["u")",
    "\xef\xbb\xbf \r\n\t{\n\"version\" :\t1 ,\n\"refs\" : {",
    R"({"version": true, "x": [{"y": 1}], "refs": {"key": "data")",
    R"({"version": 1, "templates": {"u": "s3://)",
    R"({"version": 1, "gen": [{"key": )",
    R"({"templates": {"u": "x"}, "version": 1,)",
    R"({".zgroup": "{\n)",
    R"({".zgroup": {"zarr_format": 2}})",
    R"({".zattrs":"{)",
    R"({".zmetadata":"{)",
    R"({"zarr.json":"{)",
    R"({"lat/0": ["a.nc", 0, 5], "lat/.zarray": ")",
    R"({"refs": {"lat/0": ["a.nc", 0, 5], "g/lat/.zattrs": {"units")",
    R"({"refs": {"lat/zarr.json": {)",
    R"([{"version": 1, "refs": {)",
    R"( [ {".zgroup": ")",
};

const char *const kOthers[] = {
    "",
    " ",
    "{",
    "[",
    "{}",
    "[]",
    "null",
    "\"version\"",
    R"({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {".zgroup": 1)",
    R"({"type":"Feature","stac_version":"1.0.0","version":1,"assets":{"refs":{"href":"refs.json"}}})",
    R"({"type":"Topology","objects":{},"arcs":[]})",
    R"({"tilejson":"2.2.0","version":"1.0.0","templates":["x"]})",
    R"({"name": "refs", "version": "1.0.0", "refs": {"x": 1}})",
    R"({"version": 2, "refs": {}})",
    R"({"version": 1, "refs": []})",
    R"({"version": 1, "data": {"refs": {}}})",
    R"({"refs": {"main": "abc"}})",
    R"({"metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": {}}, "record_size": 1000})",
    R"({"metadata": {".zgroup": {"zarr_format": 2}}, "zarr_consolidated_format": 1})",
    R"({"zarr_format": 2})",
    R"({"zarr_format": 3, "node_type": "group", "attributes": {}})",
    R"([1, 2, {"version": 1, "refs": {}}])",
    R"([[{"version": 1, "refs": {}}]])",
    R"(["version", 1])",
    R"(version: 1, refs: {})",
    "\x89HDF\r\n\x1a\n",
    "<?xml version=\"1.0\"?><refs/>",
};

} // namespace

TEST(RefsetSniff, ClaimsReferenceSets) {
    for (const char *head : kSets) EXPECT_TRUE(Sniff(head)) << head;
}

TEST(RefsetSniff, LeavesOtherFilesAlone) {
    for (const char *head : kOthers) EXPECT_FALSE(Sniff(head)) << head;
}

TEST(RefsetSniff, NeedsNoMoreThanTheMemberThatTells) {
    const std::string set = R"({"version": 1, "x": {"y": ["z"]}, "refs": {"a": "b"}})";
    const size_t enough = set.find("\"refs\": {") + 9;
    for (size_t size = 0; size <= set.size(); size++)
        EXPECT_EQ(Sniff(set.substr(0, size)), size >= enough) << set.substr(0, size);
}

TEST(RefsetSniff, SurvivesAnyBytes) {
    std::string head = R"({"version": 1, "refs": {".zgroup": "{\"zarr_format\": 2}", "a": [)";
    for (size_t i = 0; i < head.size(); i++)
        for (int byte = 0; byte < 256; byte++) {
            std::string damaged = head;
            damaged[i] = static_cast<char>(byte);
            Sniff(damaged);
        }
}
