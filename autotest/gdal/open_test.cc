/* open_test.cc -- which names and contents the driver takes, and what values of a set mean. */
#include "driver_test.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <unistd.h>

using namespace refs_test;

namespace {

/** Whether the driver claims a plain name, asked alone. */
bool claims(const std::string &name) {
    static const char *const only_refs[] = {"REFS", nullptr};
    return GDALIdentifyDriverEx(name.c_str(), GDAL_OF_RASTER, only_refs, nullptr) != nullptr;
}

/** A set with "v", "w" and "grp/v", each with the values 0 to 5. */
std::string three_arrays() {
    Set set;
    add_small_array(set);
    add_small_array(set, "w");
    add_small_array(set, "grp/v");
    return set.save();
}

} // namespace

TEST(Open, TakesEveryFormOfASubdatasetName) {
    const std::string path = three_arrays();
    const std::string names[] = {
        "REFS:\"" + path + "\":/v",    "REFS:\"" + path + "\":v",  "REFS:" + path + ":/v",
        "REFS:" + path + ":v",         "refs:\"" + path + "\":/v", "REFS:\"" + path + "\":/grp/v",
        "REFS:\"" + path + "\":grp/v", "REFS:" + path + ":grp/v",
    };
    for (const std::string &name : names) {
        const Dataset dataset = open(name);
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(driver_of(dataset), "REFS") << name;
        EXPECT_EQ(pixels(dataset), counting<double>(6)) << name;
    }
}

TEST(Open, TakesEveryFormOfASetsName) {
    const std::string path = three_arrays();
    for (const std::string &name : {path, "REFS:" + path, "REFS:\"" + path + "\""}) {
        const Dataset dataset = open(name);
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(driver_of(dataset), "REFS") << name;
        EXPECT_EQ(item(dataset.get(), "SUBDATASET_2_NAME", "SUBDATASETS"), subdataset(path, "w"));
    }
}

TEST(Open, SaysWhichArrayThereIsNot) {
    const std::string path = three_arrays();
    ErrorLog log;
    EXPECT_EQ(open(subdataset(path, "absent")), nullptr);
    ASSERT_EQ(log.failures().size(), 1u);
    EXPECT_NE(log.text().find("absent"), std::string::npos) << log.text();
    EXPECT_NE(log.text().find(path), std::string::npos) << log.text();
}

TEST(Open, SaysThatThereIsNoFile) {
    ErrorLog log;
    EXPECT_EQ(open("REFS:" + memory_path("absent.json")), nullptr);
    ASSERT_EQ(log.failures().size(), 1u);
    EXPECT_NE(log.text().find(memory_path("absent.json")), std::string::npos) << log.text();
}

TEST(Open, RefusesPipesDevicesAndStandardInput) {
    const std::string pipe = testing::TempDir() + "refs-pipe-" + std::to_string(getpid());
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const std::string names[] = {pipe,
                                 "/dev/zero",
                                 "/vsistdin/",
                                 "/vsigzip/" + pipe,
                                 "/vsigzip//vsistdin/",
                                 "/vsizip/" + pipe + "/set.json",
                                 "/vsizip/{" + pipe + "}/set.json",
                                 "/vsisubfile/0_10," + pipe};
    for (const std::string &name : names) {
        ErrorLog log;
        EXPECT_EQ(open("REFS:\"" + name + "\""), nullptr) << name;
        EXPECT_NE(log.text().find("which cannot seek: save it as a file"), std::string::npos)
            << name << ": " << log.text();
        const std::string named =
            name.rfind("/vsizip/{", 0) == 0 ? pipe : name; // the archive, where it is one
        EXPECT_EQ(log.text().rfind("UNSUPPORTED: " + named + ": ", 0), 0u) << log.text();

        Set set;
        add_small_array(set);
        set.range("v/0.0", name, 0, 24);
        const std::string message = failure_of_reading(open("REFS:" + set.save()));
        EXPECT_NE(message.find(": save it as a file"), std::string::npos) << message;
    }
    unlink(pipe.c_str());
}

/* The test's own may be at its end, and then be read without waiting. */
TEST(Open, WaitsForNoStandardInput) {
    int ends[2];
    const int own = dup(STDIN_FILENO);
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    alarm(60); // which ends the test
    for (const char *name : {"/vsistdin/", "/vsigzip//vsistdin/", "/vsizip//vsistdin/set.json"}) {
        ErrorLog log;
        EXPECT_EQ(open("REFS:\"" + std::string(name) + "\""), nullptr) << name;
        EXPECT_EQ(open(std::string("REFS:") + name), nullptr) << name;
        Set set;
        add_small_array(set);
        set.range("v/0.0", name, 0, 24);
        const std::string message = failure_of_reading(open("REFS:" + set.save()));
        EXPECT_NE(message.find(": save it as a file"), std::string::npos) << message;
    }
    alarm(0);
    dup2(own, STDIN_FILENO);
    for (const int file : {own, ends[0], ends[1]}) close(file);
}

TEST(Open, SharesDatasetsOfEqualNames) {
    const std::string path = three_arrays();
    Set one;
    add_small_array(one);
    const std::string single = one.save();
    for (const std::string &name :
         {path, "REFS:" + path, "REFS:" + path + ":v", "REFS:\"" + path + "\":w",
          "refs:" + path + ":grp/v", single, "REFS:" + single}) {
        ErrorLog log;
        const Dataset first(GDALOpenShared(name.c_str(), GA_ReadOnly));
        const Dataset second(GDALOpenShared(name.c_str(), GA_ReadOnly));
        ASSERT_NE(first, nullptr) << name;
        EXPECT_EQ(first, second) << name;
        EXPECT_EQ(log.warnings(), std::vector<std::string>{}) << name;
        EXPECT_EQ(GDALGetDescription(first.get()), name);
    }
}

TEST(Open, SharesTheSourceOfSeveralBandsOfAVrt) {
    const std::string name = "REFS:" + three_arrays() + ":v", vrt = memory_path("shared.vrt");
    std::string bands;
    for (const char *number : {"1", "2"})
        bands += std::string("<VRTRasterBand dataType='Int32' band='") + number +
                 "'><SimpleSource><SourceFilename shared='1'>" + name +
                 "</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand>";
    write_file(vrt, "<VRTDataset rasterXSize='6' rasterYSize='1'>" + bands + "</VRTDataset>");
    const Dataset dataset = open(vrt);
    EXPECT_EQ(pixels(dataset, 1), counting<double>(6));
    EXPECT_EQ(pixels(dataset, 2), counting<double>(6));
    GDALDatasetH *all = nullptr;
    int n_open = 0, n_found = 0;
    GDALGetOpenDatasets(&all, &n_open);
    for (int i = 0; i < n_open; i++) n_found += name == GDALGetDescription(all[i]);
    EXPECT_EQ(n_found, 1);
}

TEST(Open, IsReadOnly) {
    const std::string path = three_arrays();
    ErrorLog log;
    EXPECT_EQ(GDALOpenEx(subdataset(path, "v").c_str(), GDAL_OF_RASTER | GDAL_OF_UPDATE, nullptr,
                         nullptr, nullptr),
              nullptr);
}

/* -- by content -------------------------------------------------------------------------------- */

TEST(OpenByContent, ClaimsSetsWhateverTheirLayout) {
    Set set;
    add_small_array(set);
    const std::string refs = "{" + set.members() + "}";
    const std::string padding(3000, ' ');
    const std::pair<const char *, std::string> rows[] = {
        {"version-0", refs},
        {"version-1", set.document(1)},
        {"refs-first", R"({"refs": )" + refs + R"(, "version": 1})"},
        {"templates-first", R"({"templates": {"u": "x"}, "version": 1, "refs": )" + refs + "}"},
        {"gen-first", R"({"gen": [], "version": 1, "refs": )" + refs + "}"},
        {"white-space", "\r\n\t {\n\t\"version\"\t:\r\n1\n,\t\"refs\" :\n" + refs + "\n}\n"},
        {"byte-order-mark", "\xEF\xBB\xBF" + set.document(1)},
        {"no-white-space", R"({"version":1,"refs":{".zgroup":"{\"zarr_format\":2}",)" +
                               set.members().substr(set.members().find(",") + 1) + "}}"},
        {"array-first", "{" + set.members().substr(set.members().find("\"v/.zarray\"")) + "}"},
        {"other-extension.data", set.document(1)},
    };
    for (const auto &[name, content] : rows) {
        const std::string path = memory_path(name);
        write_file(path, content);
        const Dataset dataset = open(path);
        ASSERT_EQ(driver_of(dataset), "REFS") << name;
        EXPECT_EQ(pixels(dataset), counting<double>(6)) << name;
    }
}

TEST(OpenByContent, LeavesOtherFilesAlone) {
    const std::pair<const char *, const char *> rows[] = {
        {"geo.json", R"({"type": "FeatureCollection", "features": [{"type": "Feature",
                        "properties": {"version": 1, "refs": {}}, "geometry": null}]})"},
        {"point.geojson", R"({"type": "Point", "coordinates": [1, 2]})"},
        {"stac-item.json", R"({"type": "Feature", "stac_version": "1.0.0", "id": "a", "properties":
                              {}, "geometry": null, "links": [], "assets": {}})"},
        {"stac-collection.json",
         R"({"stac_version": "1.0.0", "type": "Collection", "id": "refs"})"},
        {"tile.json", R"({"tilejson": "2.2.0", "version": "1.0.0", "tiles": []})"},
        {"topo.json", R"({"type": "Topology", "objects": {}, "arcs": []})"},
        {"version.json", R"({"version": 1, "name": "refs"})"},
        {"refs.json", R"({"refs": "heads/main"})"},
        {"list.json", R"([1, 2, 3])"},
        {"text.json", R"("version 1 refs .zgroup")"},
        {"empty.json", ""},
        {"spaces.json", "   \n  "},
        {"truncated.json", R"({"ver)"},
        {"not-json.txt", "version: 1, refs: .zgroup"},
        {"consolidated/.zmetadata", R"({"metadata": {".zgroup": {"zarr_format": 2}},
                                       "zarr_consolidated_format": 1})"},
        {"hierarchy.zarr/.zgroup", R"({"zarr_format": 2})"},
        {"v3.zarr/zarr.json", R"({"zarr_format": 3, "node_type": "group"})"},
    };
    for (const auto &[name, content] : rows) {
        write_file(memory_path(name), content);
        EXPECT_FALSE(claims(memory_path(name))) << name;
    }
    for (const char *folder : {"", "hierarchy.zarr", "v3.zarr", "consolidated"})
        EXPECT_FALSE(claims(memory_path(folder))) << folder;
}

TEST(OpenByContent, LeavesNetcdfFilesToTheirDriver) {
    EXPECT_FALSE(claims(sample("sample.nc")));
    if (GDALGetDriverByName("netCDF") == nullptr) GTEST_SKIP() << "GDAL has no netCDF driver";
    EXPECT_EQ(driver_of(open(sample("sample.nc"))), "netCDF");
}

TEST(OpenByContent, LeavesNamesOfOtherDriversAlone) {
    const std::string path = three_arrays();
    for (const std::string &name : {"ZARR:\"" + path + "\"", "NETCDF:\"" + path + "\":v",
                                    "/vsikerchunk_json_ref/{" + path + "}"})
        EXPECT_FALSE(claims(name)) << name;
}

TEST(Open, SeesASetThatWasJustRewritten) {
    const std::string path = memory_path("refs.json");
    for (int32_t first : {0, 5}) {
        Set set;
        set.values({"v", {1, 6}}, bytes_of(counting<int32_t>(6, first))).save("refs.json");
        EXPECT_EQ(pixels(open(path)), counting<double>(6, first));
    }
}

/* -- values ------------------------------------------------------------------------------------ */

TEST(OpenValues, TakesTextBase64AndObjects) {
    const char *const members = R"(
        ".zgroup": {"zarr_format": 2},
        ".zattrs": "{\"title\": \"text\"}",
        "/text/.zarray": {"zarr_format": 2, "shape": [1, 4], "chunks": [1, 4], "dtype": "|u1",
            "order": "C", "fill_value": 0, "filters": null, "compressor": null},
        "text/0.0": "A\u0000\u001f~",
        "base64/.zarray": "{\"zarr_format\": 2, \"shape\": [1, 4], \"chunks\": [1, 4],
            \"dtype\": \"|u1\", \"order\": \"C\", \"fill_value\": 0, \"filters\": null,
            \"compressor\": null}",
        "base64/0.0": "base64:QQAffg==")";
    std::string text = members;
    for (size_t at; (at = text.find('\n')) != std::string::npos;) text[at] = ' ';
    const std::vector<double> expected = {65, 0, 31, 126};
    const std::pair<const char *, std::string> rows[] = {
        {"v0.json", "{" + text + "}"}, {"v1.json", R"({"version": 1, "refs": {)" + text + "}}"}};
    for (const auto &[name, content] : rows) {
        const std::string path = memory_path(name);
        write_file(path, content);
        for (const char *variable : {"text", "base64"}) {
            const Dataset dataset = open(subdataset(path, variable));
            ASSERT_NE(dataset, nullptr) << name << " " << variable;
            EXPECT_EQ(pixels(dataset), expected) << name << " " << variable;
            EXPECT_EQ(item(dataset.get(), "NC_GLOBAL#title"), "text");
        }
    }
}

TEST(OpenValues, FindsTargetsWholeInPartRelativeAndAbsolute) {
    const std::string bytes = bytes_of(counting<int32_t>(6));
    write_file(memory_path("v.bin"), bytes);
    write_file(memory_path("data/v.bin"), "head" + bytes + "tail");
    const std::string absolute = memory_path("data/v.bin");
    const std::pair<const char *, std::string> rows[] = {
        {"whole", R"(["v.bin"])"},
        {"part", R"(["data/v.bin", 4, 24])"},
        {"dot", R"(["./data/v.bin", 4, 24])"},
        {"absolute", "[" + json_string(absolute) + ", 4, 24]"},
        {"file-url", "[" + json_string("file://" + absolute) + ", 4, 24]"},
        {"integral-floats", R"(["data/v.bin", 4.0, 24.0])"},
    };
    for (const auto &[name, reference] : rows) {
        Set set;
        const std::string path =
            set.array({"v", {1, 6}}).json("v/0.0", reference).save(std::string(name) + ".json");
        const Dataset dataset = open(subdataset(path, "v"));
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(pixels(dataset), counting<double>(6)) << name;
    }
}

TEST(OpenValues, ReadsTargetsAboveFourGibibytes) {
    const std::string path = testing::TempDir() + "refs-sparse-" + std::to_string(getpid());
    const std::string bytes = bytes_of(counting<int32_t>(6));
    const uint64_t offset = (uint64_t{5} << 30) + 3;
    VSILFILE *file = VSIFOpenL(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(VSIFSeekL(file, offset, SEEK_SET), 0);
    ASSERT_EQ(VSIFWriteL(bytes.data(), 1, bytes.size(), file), bytes.size());
    ASSERT_EQ(VSIFCloseL(file), 0);
    Set set;
    set.array({"v", {1, 6}}).range("v/0.0", path, offset, 24);
    set.array({"w", {1, 6}}).range("w/0.0", path, 3, uint64_t{5} << 40);
    const std::string name = set.save();
    EXPECT_EQ(pixels(open(subdataset(name, "v"))), counting<double>(6));
    const std::string message = failure_of_reading(open(subdataset(name, "w")));
    EXPECT_NE(message.find("5497558138880"), std::string::npos) << message;
    VSIUnlink(path.c_str());
}

/* The shape of the sample in the request for such sets in netCDF-C: an absolute path, and a key of
 * three numbers. */
TEST(OpenValues, FindsChunksOfSatelliteImages) {
    const std::vector<int16_t> values = counting<int16_t>(3, 7);
    const std::string path =
        memory_path("css/GOES-17/2022/001/23/OR_ABI-L1b-RadF-M6C01_G17_s20220012350320.nc");
    write_file(path, std::string(39046, 'x') +
                         compressed("zlib", shuffled(bytes_of(values), sizeof values[0])));
    Array rad{"Rad", {1, 1, 69}, "<i2", {1, 1, 3}};
    rad.fill = "-1";
    rad.filters = R"([{"id": "shuffle", "elementsize": 2}])";
    rad.compressor = R"({"id": "zlib", "level": 1})";
    const size_t size = compressed("zlib", shuffled(bytes_of(values), sizeof values[0])).size();
    Set set;
    const Dataset dataset =
        open(subdataset(set.array(rad).range("Rad/0.0.22", path, 39046, size).save(), "Rad"));
    ASSERT_NE(dataset, nullptr);
    const std::vector<int16_t> got = pixels<int16_t>(dataset);
    ASSERT_EQ(got.size(), 69u);
    EXPECT_EQ(std::vector<int16_t>(got.end() - 3, got.end()), values);
    EXPECT_EQ(got[65], -1);
}

TEST(OpenValues, ExpandsTemplatesAndGenerators) {
    const std::vector<int32_t> values = counting<int32_t>(24);
    write_file(memory_path("v.bin"), bytes_of(values));
    Set set;
    set.axes(4, 6).array({"v", {4, 6}, "<i4", {1, 3}, {"lat", "lon"}});
    const std::string path = memory_path("refs.json");
    write_file(path, R"({"version": 1, "templates": {"name": "v", "file": "{{stem}}.{{kind}}"},
        "gen": [{"key": "{{name}}/{{row}}.{{half}}", "url": "{{file(stem=name, kind='bin')}}",
                 "offset": "{{row * 24 + half * 12}}", "length": "{{ 3 * 4 }}",
                 "dimensions": {"row": {"start": 0, "stop": 4}, "half": [0, 1]}}],
        "refs": {)" + set.members() +
                         "}}");
    const Dataset dataset = open(subdataset(path, "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels<int32_t>(dataset), values);
}

TEST(OpenValues, OptionsSayWhereTargetsAre) {
    const std::string bytes = bytes_of(counting<int32_t>(6));
    write_file(memory_path("new/v.bin"), "head" + bytes);
    const std::string file = memory_path("new/v.bin"), folder = file.substr(0, file.rfind('/'));
    const struct {
        std::string value, option;
    } cases[] = {
        {"[null, 4, 24]", "TARGET=" + file},
        {"[null, 4, 24]", "TARGET=new/v.bin"},
        {"[null, 4.0, 24]", "TARGET=file://" + file},
        {R"(["s3://gone/bucket/v.bin", 4, 24])", "URL_REWRITE=s3://gone/bucket=>" + folder},
        {R"(["/home/me/v.bin", 4, 24])", "URL_REWRITE=s3://a=>s3://b,/home/me/=>" + folder + "/"},
        {R"(["v.bin", 4, 24])", "URL_REWRITE==>" + folder + "/"},
        {R"(["{{u}}/v.bin", 4, 24])", "TEMPLATES=u=" + folder},
        {R"(["{{ d }}/{{n}}.bin", 4, 24])", "TEMPLATES=n=v,d=" + folder},
    };
    for (const auto &c : cases) {
        Set set;
        const std::string path = memory_path("refs.json");
        write_file(path, R"({"version": 1.0, "templates": {"u": "s3://gone"}, "refs": {)" +
                             set.array({"v", {1, 6}}).json("v/0.0", c.value).members() + "}}");
        EXPECT_EQ(pixels(open(subdataset(path, "v"), {c.option})), counting<double>(6))
            << c.value << " " << c.option;
    }
}

TEST(OpenValues, TakesWhatWritersDo) {
    const std::string values = "\"base64:AAAAAAEAAAACAAAAAwAAAAQAAAAFAAAA\"";
    const std::string zarray =
        R"({"zarr_format": 2, "shape": [1, 6], "chunks": [1, 6], "dtype": "<i4", "order": "C", )"
        "\"compressor\":\tnull, \"filters\": null, \"fill_value\": null}";
    const std::string scalar =
        R"({"zarr_format": 2, "shape": [], "chunks": [], "dtype": "<i4", "order": "C",
            "compressor": null, "filters": null, "fill_value": NaN})";
    const std::string documents[] = {
        "\xef\xbb\xbf\t{\"refs\": {\"/v/.zarray\": " + zarray + ", \"/v/0.0\": " + values +
            ", \"/v/.zattrs\": {\"x\": NaN, \"y\": -Infinity}},\n\t\"version\": 1}",
        R"({"version": 1, "templates": {}, "gen": [], "more": [null], "refs": {"v/.zarray": )" +
            zarray + R"(, "v/0.0": "wrong", "v/0.0": )" + values + R"(, "s/.zarray": )" + scalar +
            R"(, "s/": "\u0000\u0000\u0000\u0001"}})",
        R"({"refs": {"v/.zarray": )" + json_string(zarray) + R"(, "v\/0.0": )" + values + "}}",
    };
    for (const std::string &document : documents) {
        const std::string path = memory_path("refs.json");
        write_file(path, document);
        ErrorLog log;
        EXPECT_EQ(pixels(open("REFS:" + path + ":v")), counting<double>(6)) << document;
        EXPECT_EQ(log.text(), "") << document;
    }
}

TEST(OpenValues, OptionsAreLimitsAndChecked) {
    Set set;
    const std::string path = memory_path("refs.json");
    write_file(path, R"({"version": 1, "templates": {"f": "{{c}}", "u": "/path"},
        "gen": [{"key": "v/0.{{i}}", "url": "{{u}}{{f(c=i)}}", "dimensions": {"i": {"stop": 2}}}],
        "refs": {)" + set.array({"v", {1, 2}, "<i4", {1, 1}}).members() +
                         "}}");
    EXPECT_NE(open(subdataset(path, "v")), nullptr);
    const struct {
        const char *option, *said;
    } cases[] = {
        {"MAX_REFERENCES=2", "limit of 2 references exceeded"},
        {"URL_REWRITE=old", "s.json: open option URL_REWRITE: \"old\": expected \"=>\""},
        {"TEMPLATES=u", "s.json: open option TEMPLATES: \"u\": expected \"=\""},
        {"MAX_GENERATED=1", "generators produce more references"},
        {"MAX_TEMPLATE_DEPTH=0", "templates call each other more than 0 deep"},
        {"MAX_RENDERED_BYTES=5", "it renders to more than 5 bytes"},
        {"MAX_INLINE_BYTES=5", "limit of 5 inline bytes exceeded"},
        {"MAX_TEMPLATE_DEPTH=33", "MAX_TEMPLATE_DEPTH=33: expected an integer of at most 32"},
        {"MAX_REFERENCES=many", "MAX_REFERENCES=many: expected an integer of at most"},
    };
    for (const auto &c : cases) {
        ErrorLog log;
        EXPECT_EQ(open(subdataset(path, "v"), {c.option}), nullptr) << c.option;
        EXPECT_NE(log.text().find(c.said), std::string::npos) << c.option << ": " << log.text();
    }
}

TEST(OpenValues, GivesTheSamplesPixelsWithAndWithoutTemplates) {
    for (const char *variable : {"t2m", "z"}) {
        const Dataset plain = open(subdataset(sample("sample.json"), variable));
        const Dataset templated = open(subdataset(sample("sample_templates.json"), variable));
        ASSERT_NE(plain, nullptr);
        ASSERT_NE(templated, nullptr);
        EXPECT_EQ(all_pixels(plain), all_pixels(templated)) << variable;
    }
}
