/* remote_test.cc -- sets and targets on an HTTP server. */
#include "driver_test.h"
#include "range_server.h"

#include <filesystem>

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <unistd.h>

using namespace refs_test;

namespace {

class Remote : public testing::Test {
  protected:
    Remote() : folder(testing::TempDir() + "refs-remote-" + std::to_string(getpid())) {
        std::filesystem::create_directory(folder);
        for (const char *file : {"sample.json", "sample_templates.json", "sample.nc"})
            std::filesystem::copy_file(sample(file), folder + "/" + file,
                                       std::filesystem::copy_options::overwrite_existing);
        server = std::make_unique<RangeServer>(folder);
    }
    ~Remote() override {
        server.reset();
        std::filesystem::remove_all(folder);
    }

    /** Serves a set under a name. */
    std::string serve(const Set &set, const char *name = "refs.json") {
        write_file(folder + "/" + name, set.document());
        return server->url(name);
    }

    std::string folder;
    std::unique_ptr<RangeServer> server;
};

} // namespace

TEST_F(Remote, SetsOpenUnderEveryFormOfTheirName) {
    const Dataset local = open(subdataset(sample("sample.json"), "t2m"));
    ASSERT_NE(local, nullptr);
    const std::string url = server->url("sample.json");
    for (const std::string &name :
         {subdataset(url, "t2m"), "REFS:" + url + ":/t2m", "REFS:" + url + ":t2m",
          subdataset("/vsicurl/" + url, "t2m"), "REFS:/vsicurl/" + url + ":t2m"}) {
        const Dataset remote = open(name);
        ASSERT_NE(remote, nullptr) << name;
        EXPECT_EQ(pixels(remote, 14), pixels(local, 14)) << name;
        EXPECT_EQ(item(GDALGetRasterBand(remote.get(), 14), "NETCDF_DIM_time"), "13") << name;
    }
}

TEST_F(Remote, SetsListTheirVariables) {
    const std::string url = server->url("sample_templates.json");
    const Dataset dataset = open("REFS:" + url);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(item(dataset.get(), "SUBDATASET_1_NAME", "SUBDATASETS"), subdataset(url, "t2m"));
    EXPECT_NE(open(item(dataset.get(), "SUBDATASET_2_NAME", "SUBDATASETS")), nullptr);
}

TEST_F(Remote, OpeningAVariableTouchesNoDataFile) {
    ASSERT_NE(open(subdataset(server->url("sample.json"), "t2m")), nullptr);
    for (const ServedRequest &request : server->requests())
        EXPECT_NE(request.path, "/sample.nc") << request.method;
}

TEST_F(Remote, CoordinatesOfAVariableArriveInOneRequest) {
    const size_t nTimes = 1000, nLat = 6, nLon = 8;
    const std::vector<double> values = counting<double>(nTimes + nLat + nLon);
    write_file(folder + "/axes.bin", bytes_of(values));
    const std::string axes = server->url("axes.bin"), pixels = server->url("pixels.bin");
    Set set;
    Array time{"time", {nTimes}, "<f8"}, lat{"lat", {nLat}, "<f8"}, lon{"lon", {nLon}, "<f8"};
    time.chunks = {1};
    time.attributes = R"("_ARRAY_DIMENSIONS":["time"],"units":"hours since 2000-01-01")";
    lat.attributes = R"("_ARRAY_DIMENSIONS":["lat"],"units":"degrees_north")";
    lon.attributes = R"("_ARRAY_DIMENSIONS":["lon"],"units":"degrees_east")";
    Array v{"v", {nTimes, nLat, nLon}};
    v.attributes = R"("_ARRAY_DIMENSIONS":["time","lat","lon"])";
    set.array(time).array(lat).array(lon).array(v);
    for (size_t i = 0; i < nTimes; i++) set.range("time/" + std::to_string(i), axes, 8 * i, 8);
    set.range("lat/0", axes, 8 * nTimes, 8 * nLat);
    set.range("lon/0", axes, 8 * (nTimes + nLat), 8 * nLon);
    set.range("v/0.0.0", pixels, 0, 4 * nTimes * nLat * nLon);

    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(item(GDALGetRasterBand(dataset.get(), 1000), "TIME"), "2000-02-11T15:00:00");
    double transform[6];
    EXPECT_EQ(GDALGetGeoTransform(dataset.get(), transform), CE_None);
    EXPECT_EQ(count(dataset, "REQUESTS"), 1);
    EXPECT_EQ(server->requests().size(), 1u);
}

/* GDAL reads them block by block, which are chunks; most are passed over by a picture of 5 x 5. */
TEST_F(Remote, ChunksOfAResampledWindowArriveInOneRequest) {
    constexpr size_t across = 8, side = 32, chunk_bytes = side * side;
    constexpr int size = across * side;
    struct {
        double offset;
        int wanted;
    } const windows[] = {{.5, size}, {0, size / 2}, {0, 5}};
    for (const auto &window : windows) {
        const std::string file = "v" + std::to_string(window.wanted) + ".bin";
        write_file(folder + "/" + file, std::string(across * across * chunk_bytes, 'a'));
        Set set;
        set.array({"v", {size, size}, "|u1", {side, side}, {"Y", "X"}});
        for (size_t i = 0; i < across * across; i++)
            set.range("v/" + std::to_string(i / across) + "." + std::to_string(i % across),
                      server->url(file), i * chunk_bytes, chunk_bytes);
        const Dataset dataset = open("REFS:" + set.save());
        ASSERT_NE(dataset, nullptr);
        GDALRasterIOExtraArg extra;
        INIT_RASTERIO_EXTRA_ARG(extra);
        extra.bFloatingPointWindowValidity = TRUE;
        extra.dfXOff = extra.dfYOff = window.offset;
        extra.dfXSize = extra.dfYSize = size - window.offset;
        std::vector<uint8_t> pixels(size_t{size} * size);
        ASSERT_EQ(GDALRasterIOEx(GDALGetRasterBand(dataset.get(), 1), GF_Read, 0, 0, size, size,
                                 pixels.data(), window.wanted, window.wanted, GDT_Byte, 0, 0,
                                 &extra),
                  CE_None);
        if (window.wanted == 5)
            EXPECT_LT(count(dataset, "CHUNKS_DECODED"), 48);
        else
            EXPECT_EQ(count(dataset, "REQUESTS"), 1) << window.wanted;
    }
}

namespace {

/** An 8-byte number, little-endian. */
std::string number(uint64_t value) {
    return bytes_of(std::vector<uint64_t>{value});
}

/** A shard of 8 times 8 chunks of 32 x 64 integers: element i of the picture, which it is, is i. */
std::string shard_of_integers() {
    std::string content, index;
    for (int chunk = 0; chunk < 64; chunk++) {
        index += number(content.size());
        for (int y = chunk / 8 * 32; y < chunk / 8 * 32 + 32; y++)
            content += bytes_of(counting<int32_t>(64, y * 512 + chunk % 8 * 64));
        index += number(size_t{32} * 64 * sizeof(int32_t));
    }
    return content + index;
}

} // namespace

TEST_F(Remote, PixelsOfShardsCostTheIndexAndTheirChunk) {
    const std::string shard = shard_of_integers();
    write_file(folder + "/shard.bin", "head" + shard);
    Set set;
    set.json("v/zarr.json", R"({"zarr_format":3,"node_type":"array","shape":[256,512],
            "data_type":"int32","fill_value":0,"chunk_key_encoding":"default",
            "dimension_names":["lat","lon"],
            "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[256,512]}},
            "codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[32,64],
                "codecs":["bytes"],"index_codecs":["bytes"]}}]})")
        .range("v/c/0/0", server->url("shard.bin"), 4, shard.size())
        .axes(256, 512);
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    const GDALRasterBandH band = GDALGetRasterBand(dataset.get(), 1);
    int width = 0, height = 0;
    GDALGetBlockSize(band, &width, &height);
    EXPECT_EQ(width, 64);
    EXPECT_EQ(height, 32);
    const auto pixel = [&](int x, int y) {
        int32_t value = -1;
        EXPECT_EQ(GDALRasterIO(band, GF_Read, x, y, 1, 1, &value, 1, 1, GDT_Int32, 0, 0), CE_None);
        return value;
    };
    EXPECT_EQ(pixel(70, 40), 40 * 512 + 70);
    EXPECT_EQ(count(dataset, "REQUESTS"), 2);
    EXPECT_EQ(count(dataset, "BYTES"), 64 * 16 + 8192);
    EXPECT_EQ(pixel(71, 41), 41 * 512 + 71);
    EXPECT_EQ(pixel(500, 200), 200 * 512 + 500);
    EXPECT_EQ(count(dataset, "REQUESTS"), 3);
    EXPECT_EQ(pixels<int32_t>(dataset), counting<int32_t>(256 * 512));
}

TEST_F(Remote, LocalSetsReadRemoteTargets) {
    write_file(folder + "/v.bin", "head" + bytes_of(counting<int32_t>(6)));
    Set set;
    set.array({"v", {1, 6}}).range("v/0.0", server->url("v.bin"), 4, 24);
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels(dataset), counting<double>(6));
}

TEST_F(Remote, TargetsThatAreNotThereAreErrorsAndNotFill) {
    Array array{"v", {2, 3}};
    array.fill = "-1";
    Set set;
    const std::string url = server->url("absent.bin");
    const std::string path = set.array(array).range("v/0.0", url, 4, 24).save();
    const Dataset dataset = open(subdataset(path, "v"));
    ASSERT_NE(dataset, nullptr);
    const std::string message = failure_of_reading(dataset);
    for (const std::string &part : {path, std::string("v/0.0"), url, std::string("24")})
        EXPECT_NE(message.find(part), std::string::npos) << "no " << part << " in: " << message;
}

TEST_F(Remote, TargetsAreNamedByTheirWholeUrlOverEachEngine) {
    Set set;
    set.array({"v", {1, 6}}).range("v/0.0", "absent.bin", 4, 24);
    write_file(folder + "/set.json", set.document());
    for (const char *engine : {"CURL", "VSI"}) {
        const Option option("REFS_HTTP_ENGINE", engine);
        const std::string message = failure_of_reading(open("REFS:" + server->url("set.json")));
        EXPECT_EQ(message.find("IO: " + server->url("set.json") +
                               ": v/0.0: " + server->url("absent.bin") + " [4+24]: HTTP "),
                  0u)
            << engine << ": " << message;
        EXPECT_NE(message.find("URL_REWRITE=old=>new"), std::string::npos) << message;
        EXPECT_EQ(message.find("/vsicurl/"), std::string::npos) << message;
        VSICurlClearCache();
    }
    ErrorLog log;
    EXPECT_EQ(open("REFS:" + server->url("set.json") + ":w"), nullptr);
    EXPECT_EQ(log.text().find("NOT_FOUND: " + server->url("set.json") + ": there is no array w"),
              0u)
        << log.text();
}

namespace {

/** A document with one way to name a local file as the only chunk of "v". */
struct Hostile {
    std::string document, option = "";
};

std::string version_1(const std::string &more, const std::string &chunk) {
    Set set;
    set.array({"v", {1, 6}});
    if (!chunk.empty()) set.json("v/0.0", chunk);
    return R"({"version": 1, )" + more + R"("refs": {)" + set.members() + "}}";
}

/** Every way through which a name may come. */
std::vector<Hostile> hostile_documents(const std::string &local) {
    const std::string folder = local.substr(0, local.rfind('/')), range = ", 0, 24]";
    const std::string up = "../../../../../../../..";
    std::vector<Hostile> documents;
    const std::vector<std::string> names = {local,
                                            "/" + local,
                                            folder + "/./v.bin",
                                            folder + "/../" + folder.substr(folder.rfind('/') + 1) +
                                                "/v.bin",
                                            "file://" + local,
                                            "FILE://" + local,
                                            "file://LOCALHOST" + local,
                                            "local://" + local,
                                            up + local,
                                            "/vsisubfile/0_24," + local,
                                            "/vsicurl?url=file://" + local,
                                            "/vsicurl/file://" + local,
                                            "x&url=file://" + local,
                                            "simplecache::" + local,
                                            "zip://v.bin::" + local + ".zip",
                                            "zip://v.bin::file://" + local + ".zip",
                                            "zip://v.bin::/vsizip/" + local + ".zip",
                                            "/vsizip/{" + local + ".zip}/v.bin",
                                            "%2F" + local.substr(1),
                                            "link/v.bin"};
    for (const std::string &name : names) {
        documents.push_back({version_1("", "[" + json_string(name) + range)});
        documents.push_back({version_1("", "[" + json_string(name) + "]")});
        documents.push_back({version_1(R"("templates": {"u": )" + json_string(name) + "}, ",
                                       R"(["{{u}}")" + range)});
        documents.push_back({version_1(R"("gen": [{"key": "v/0.{{i}}", "url": )" +
                                           json_string(name) + R"(, "dimensions": {"i": [0]}}], )",
                                       "")});
        documents.push_back({"[" + version_1("", "[" + json_string(name) + range) + "]", "SET=0"});
        documents.push_back({version_1("", "[null" + range), "TARGET=" + name});
        documents.push_back(
            {version_1("", R"(["s3://b/k")" + range), "URL_REWRITE=\"s3://b/k=>" + name + "\""});
        documents.push_back({version_1(R"("templates": {"u": "s3://b"}, )", R"(["{{u}}")" + range),
                             "TEMPLATES=\"u=" + name + "\""});
    }
    return documents;
}

} // namespace

TEST_F(Remote, SetsMayNotReadLocalFiles) {
    const std::string secrets = folder + "-secrets", local = secrets + "/v.bin";
    std::filesystem::create_directory(secrets);
    write_file(local, bytes_of(counting<int32_t>(6)));
    write_file("/vsizip/" + local + ".zip/v.bin", bytes_of(counting<int32_t>(6)));
    int number = 0;
    for (const Hostile &hostile : hostile_documents(local)) {
        const std::string name = "hostile" + std::to_string(number++) + ".json";
        write_file(folder + "/" + name, hostile.document);
        std::vector<std::string> options;
        if (!hostile.option.empty()) options.push_back(hostile.option);
        const Dataset dataset = open(subdataset(server->url(name), "v"), options);
        ASSERT_NE(dataset, nullptr) << hostile.document;
        EXPECT_NE(failure_of_reading(dataset), "") << hostile.document << hostile.option;
    }
    std::filesystem::remove_all(secrets);
}

TEST_F(Remote, SetsMayNotTakeMetadataFromLocalFiles) {
    const std::string local = folder + "-attributes.json";
    write_file(local, R"({"secret": "of this machine"})");
    Set set;
    add_small_array(set).json("v/.zattrs", "[" + json_string(local) + "]");
    ErrorLog log;
    const Dataset dataset = open(subdataset(serve(set), "v"));
    EXPECT_EQ(dataset != nullptr ? item(dataset.get(), "v#secret") : "", "");
    const Dataset allowed = [&] {
        CPLSetThreadLocalConfigOption("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", "YES");
        Dataset opened = open(subdataset(server->url("refs.json"), "v"));
        CPLSetThreadLocalConfigOption("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", nullptr);
        return opened;
    }();
    ASSERT_NE(allowed, nullptr);
    EXPECT_EQ(item(allowed.get(), "v#secret"), "of this machine");
    std::filesystem::remove(local);
}

TEST_F(Remote, SetsReadLocalFilesWhereThatIsAllowed) {
    const std::string local = folder + "-local.bin";
    write_file(local, bytes_of(counting<int32_t>(6)));
    Set set;
    const std::string url = serve(set.array({"v", {1, 6}}).range("v/0.0", local, 0, 24));
    CPLSetThreadLocalConfigOption("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", "YES");
    EXPECT_EQ(pixels(open(subdataset(url, "v"))), counting<double>(6));
    CPLSetThreadLocalConfigOption("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", nullptr);
    EXPECT_NE(failure_of_reading(open(subdataset(url, "v"))).find(local), std::string::npos)
        << "what was opened with leave does not serve without";
    std::filesystem::remove(local);
}

TEST_F(Remote, TargetsThatAreForbiddenSuggestNotToSign) {
    write_file(folder + "/faults.json", R"({"/bucket/key": {"status": 403}})");
    const RangeServer bucket(folder, {"--faults", folder + "/faults.json"});
    const std::string url = bucket.url(""), host = url.substr(url.find("//") + 2);
    const std::pair<const char *, std::string> settings[] = {
        {"AWS_S3_ENDPOINT", host.substr(0, host.find('/'))},
        {"AWS_HTTPS", "NO"},
        {"AWS_VIRTUAL_HOSTING", "FALSE"},
        {"AWS_ACCESS_KEY_ID", "key"},
        {"AWS_SECRET_ACCESS_KEY", "secret"}};
    for (const auto &[name, value] : settings) CPLSetConfigOption(name, value.c_str());
    Set set;
    const std::string path =
        set.array({"v", {1, 6}}).range("v/0.0", "s3://bucket/key", 0, 24).save();
    const std::string message = failure_of_reading(open(subdataset(path, "v")));
    for (const char *part : {"s3://bucket/key", "403", "AWS_NO_SIGN_REQUEST"})
        EXPECT_NE(message.find(part), std::string::npos) << "no " << part << " in: " << message;
    for (const auto &[name, value] : settings) CPLSetConfigOption(name, nullptr);
}

TEST_F(Remote, SetsThatAreNotThereSayWhich) {
    ErrorLog log;
    EXPECT_EQ(open("REFS:" + server->url("absent.json")), nullptr);
    ASSERT_EQ(log.failures().size(), 1u) << log.text();
    EXPECT_NE(log.text().find(server->url("absent.json")), std::string::npos) << log.text();
}
