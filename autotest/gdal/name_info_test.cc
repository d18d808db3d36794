/* name_info_test.cc -- the parts of names, as GDAL asks for them since 3.8. */
#include "driver_test.h"

#include <cpl_conv.h>

using namespace refs_test;

namespace {

/** What GDAL is told of a name, and the name with another path. */
struct Told {
    std::string path, part, moved;
    bool operator==(const Told &other) const {
        return path == other.path && part == other.part && moved == other.moved;
    }
};

std::ostream &operator<<(std::ostream &out, const Told &told) {
    return out << told.path << " " << told.part << " " << told.moved;
}

std::string taken(char *text) {
    const std::string copy(text);
    CPLFree(text);
    return copy;
}

Told told_of(const std::string &name, const std::string &path) {
    GDALSubdatasetInfoH info = GDALGetSubdatasetInfo(name.c_str());
    if (info == nullptr) return {};
    const Told told = {taken(GDALSubdatasetInfoGetPathComponent(info)),
                       taken(GDALSubdatasetInfoGetSubdatasetComponent(info)),
                       taken(GDALSubdatasetInfoModifyPathComponent(info, path.c_str()))};
    GDALDestroySubdatasetInfo(info);
    return told;
}

} // namespace

TEST(NameInfo, TellsPathsAndArrays) {
    const struct {
        const char *name;
        Told told;
    } cases[] = {
        {R"(REFS:"refs.json":/t2m)", {"refs.json", "/t2m", R"(REFS:"/b/c.json":/t2m)"}},
        {R"(REFS:"/a b/refs.json":/g/t2m)",
         {"/a b/refs.json", "/g/t2m", R"(REFS:"/b/c.json":/g/t2m)"}},
        {R"(refs:"refs.json":t2m)", {"refs.json", "t2m", R"(refs:"/b/c.json":t2m)"}},
        {"REFS:refs.json:t2m", {"refs.json", "t2m", "REFS:/b/c.json:t2m"}},
        {"REFS:refs.json:/t2m[time=2020-01-01T06:00]",
         {"refs.json", "/t2m[time=2020-01-01T06:00]",
          "REFS:/b/c.json:/t2m[time=2020-01-01T06:00]"}},
        {R"(REFS:"https://host:8080/refs.json":/t2m)",
         {"https://host:8080/refs.json", "/t2m", R"(REFS:"/b/c.json":/t2m)"}},
        {"REFS:https://host:8080/refs.json:t2m",
         {"https://host:8080/refs.json", "t2m", "REFS:/b/c.json:t2m"}},
        {R"(REFS:"C:\a\refs.json":/t2m)",
         {R"(C:\a\refs.json)", "/t2m", R"(REFS:"/b/c.json":/t2m)"}},
        {R"(REFS:C:\a\refs.json:t2m)", {R"(C:\a\refs.json)", "t2m", "REFS:/b/c.json:t2m"}},
        {R"(REFS:"list.json":#3/t2m)", {"list.json", "#3/t2m", R"(REFS:"/b/c.json":#3/t2m)"}},
        {R"(REFS:"/vsizip//a.zip/refs.json":/t2m)",
         {"/vsizip//a.zip/refs.json", "/t2m", R"(REFS:"/b/c.json":/t2m)"}},
    };
    for (const auto &c : cases) EXPECT_EQ(told_of(c.name, "/b/c.json"), c.told) << c.name;
}

TEST(NameInfo, IsOfNamesOfArraysAlone) {
    for (const char *name :
         {"REFS:refs.json", R"(REFS:"refs.json")", R"(REFS:"refs.json":)", R"(REFS:"refs.json)",
          R"(REFS:"refs.json"t2m)", "REFS:", "REFS::t2m", "refs.json", R"(REFS:"":/t2m)"})
        EXPECT_EQ(GDALGetSubdatasetInfo(name), nullptr) << name;
}

TEST(NameInfo, IsOfEveryNameThatTheDriverShows) {
    const std::string path = sample("sample.json");
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    for (int i = 1; i <= 2; i++) {
        const std::string name =
            item(dataset.get(), "SUBDATASET_" + std::to_string(i) + "_NAME", "SUBDATASETS");
        EXPECT_EQ(told_of(name, path).path, path);
        EXPECT_EQ(told_of(name, path).moved, name);
    }
}
