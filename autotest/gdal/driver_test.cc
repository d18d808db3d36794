/* driver_test.cc -- see driver_test.h; and the main program of the driver tests. */
#include "driver_test.h"

#include <stdexcept>

#include <cpl_compressor.h>
#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

namespace refs_test {

namespace {

/** A list of strings as GDAL takes it, ended by NULL; borrows. */
std::vector<const char *> c_list(const std::vector<std::string> &strings) {
    std::vector<const char *> list;
    for (const std::string &text : strings) list.push_back(text.c_str());
    list.push_back(nullptr);
    return list;
}

std::string number_list(const std::vector<uint64_t> &numbers) {
    std::string list;
    for (uint64_t number : numbers) list += (list.empty() ? "" : ", ") + std::to_string(number);
    return "[" + list + "]";
}

/** The key of the only chunk of an array: "v/0.0". */
std::string first_key(const Array &array) {
    const std::string separator = array.separator.empty() ? "." : array.separator;
    std::string key = array.path + "/0";
    for (size_t i = 1; i < array.shape.size(); i++) key += separator + "0";
    return key;
}

std::string joined(const std::vector<std::string> &strings, const char *between) {
    std::string text;
    for (const std::string &part : strings) text += (text.empty() ? "" : between) + part;
    return text;
}

} // namespace

Dataset open(const std::string &name, const std::vector<std::string> &options) {
    return Dataset(GDALOpenEx(name.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, nullptr,
                              c_list(options).data(), nullptr));
}

std::string driver_of(const Dataset &dataset) {
    return dataset ? GDALGetDescription(GDALGetDatasetDriver(dataset.get())) : "none";
}

std::string subdataset(const std::string &path, const std::string &variable) {
    return "REFS:\"" + path + "\":/" + variable;
}

std::string sample(const std::string &file) {
    return std::string(REFS_SAMPLE_DIR "/") + file;
}

bool has_netcdf_driver() {
    if (GDALGetDriverByName("netCDF") == nullptr) return false;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ||
           open("NETCDF:\"" + sample("sample.nc") + "\":t2m") != nullptr;
}

std::string memory_path(const std::string &name) {
    const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
    std::string folder = std::string(test->test_suite_name()) + "." + test->name();
    for (char &c : folder)
        if (c == '/') c = '.';
    return "/vsimem/" + folder + "/" + name;
}

void write_file(const std::string &path, const std::string &content) {
    VSILFILE *file = VSIFOpenL(path.c_str(), "wb");
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(VSIFWriteL(content.data(), 1, content.size(), file), content.size());
    EXPECT_EQ(VSIFCloseL(file), 0);
}

std::string item(GDALMajorObjectH object, const std::string &name, const char *domain) {
    const char *value = CSLFetchNameValue(GDALGetMetadata(object, domain), name.c_str());
    return value ? value : "";
}

int64_t count(const Dataset &dataset, const std::string &name) {
    const std::string text = item(dataset.get(), name, "REFS");
    EXPECT_NE(text, "") << name;
    return text.empty() ? -1 : std::stoll(text);
}

ErrorLog::ErrorLog() {
    CPLPushErrorHandlerEx(receive, this);
}

ErrorLog::~ErrorLog() {
    CPLPopErrorHandler();
}

void CPL_STDCALL ErrorLog::receive(CPLErr kind, CPLErrorNum, const char *message) {
    auto *log = static_cast<ErrorLog *>(CPLGetErrorHandlerUserData());
    if (kind == CE_Warning) log->warnings_.push_back(message);
    if (kind == CE_Debug) log->notes_.push_back(message);
    if (kind == CE_Failure) log->failures_.push_back(message);
}

std::string ErrorLog::text() const {
    return joined(failures_, "\n");
}

std::string failure_of_reading(const Dataset &dataset, int band) {
    ErrorLog log;
    std::vector<double> values(static_cast<size_t>(GDALGetRasterXSize(dataset.get())) *
                               static_cast<size_t>(GDALGetRasterYSize(dataset.get())));
    const int width = GDALGetRasterXSize(dataset.get());
    const int height = GDALGetRasterYSize(dataset.get());
    EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), band), GF_Read, 0, 0, width, height,
                           values.data(), width, height, GDT_Float64, 0, 0),
              CE_Failure);
    EXPECT_EQ(log.failures().size(), 1u) << log.text();
    return log.text();
}

std::string compressed(const char *compressor, const std::string &bytes,
                       const std::vector<std::string> &options) {
    const CPLCompressor *type = CPLGetCompressor(compressor);
    if (type == nullptr) throw std::runtime_error(std::string(compressor) + ": not in this GDAL");
    std::string result(bytes.size() * 2 + 1024, '\0');
    void *output = &result[0];
    size_t size = result.size();
    if (!type->pfnFunc(bytes.data(), bytes.size(), &output, &size, c_list(options).data(),
                       type->user_data))
        throw std::runtime_error(std::string(compressor) + ": cannot compress");
    result.resize(size);
    return result;
}

std::string shuffled(const std::string &bytes, size_t element_size) {
    std::string result;
    for (size_t k = 0; k < element_size; k++)
        for (size_t i = k; i < bytes.size(); i += element_size) result += bytes[i];
    return result;
}

std::string with_fletcher32(const std::string &bytes) {
    uint32_t sum1 = 0, sum2 = 0;
    for (size_t i = 0; i < bytes.size(); i += 2) {
        const auto high = static_cast<uint8_t>(bytes[i]);
        const auto low = static_cast<uint8_t>(i + 1 < bytes.size() ? bytes[i + 1] : '\0');
        sum1 = (sum1 + (high << 8 | low)) % 65535;
        sum2 = (sum2 + sum1) % 65535;
    }
    return bytes + bytes_of<uint32_t>({sum2 << 16 | sum1});
}

std::string json_string(const std::string &text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

std::string json_list(const std::vector<std::string> &strings) {
    std::vector<std::string> items;
    for (const std::string &text : strings) items.push_back(json_string(text));
    return "[" + joined(items, ", ") + "]";
}

Set::Set() {
    json(".zgroup", R"({"zarr_format": 2})");
}

Set &Set::array(const Array &array) {
    std::string separator;
    if (!array.separator.empty())
        separator = R"(, "dimension_separator": )" + json_string(array.separator);
    json(array.path + "/.zarray",
         R"({"zarr_format": 2, "shape": )" + number_list(array.shape) + R"(, "chunks": )" +
             number_list(array.chunks.empty() ? array.shape : array.chunks) + R"(, "dtype": )" +
             json_string(array.dtype) + R"(, "order": )" + json_string(array.order) +
             R"(, "fill_value": )" + array.fill + R"(, "filters": )" + array.filters +
             R"(, "compressor": )" + array.compressor + separator + "}");
    std::vector<std::string> members;
    if (!array.dims.empty()) members.push_back(R"("_ARRAY_DIMENSIONS": )" + json_list(array.dims));
    if (!array.attributes.empty()) members.push_back(array.attributes);
    return attributes(array.path, joined(members, ", "));
}

Set &Set::attributes(const std::string &group, const std::string &members) {
    return json(group.empty() ? ".zattrs" : group + "/.zattrs", "{" + members + "}");
}

Set &Set::bytes(const std::string &key, const std::string &bytes) {
    char *text = CPLBase64Encode(static_cast<int>(bytes.size()),
                                 reinterpret_cast<const GByte *>(bytes.data()));
    json(key, json_string(std::string("base64:") + text));
    CPLFree(text);
    return *this;
}

Set &Set::range(const std::string &key, const std::string &url, uint64_t offset, uint64_t length) {
    return json(key, "[" + json_string(url) + ", " + std::to_string(offset) + ", " +
                         std::to_string(length) + "]");
}

Set &Set::json(const std::string &key, const std::string &value) {
    members_ += (members_.empty() ? "" : ",\n") + json_string(key) + ": " + value;
    return *this;
}

Set &Set::values(const Array &array, const std::string &bytes) {
    return this->array(array).bytes(first_key(array), bytes);
}

Set &Set::axes(size_t rows, size_t columns, Rows order) {
    std::vector<double> y, x;
    for (size_t i = 0; i < rows; i++)
        y.push_back(static_cast<double>(order == Rows::NorthFirst ? rows - i : i + 1));
    for (size_t i = 0; i < columns; i++) x.push_back(static_cast<double>(i));
    return values({"lat", {rows}, "<f8", {}, {"lat"}}, bytes_of(y))
        .values({"lon", {columns}, "<f8", {}, {"lon"}}, bytes_of(x));
}

std::string Set::document(int version) const {
    const std::string refs = "{" + members_ + "}";
    return version == 0 ? refs : R"({"version": 1, "refs": )" + refs + "}";
}

std::string Set::save(const std::string &name) const {
    static int number = 0;
    const std::string path =
        memory_path(name.empty() ? "refs-" + std::to_string(++number) + ".json" : name);
    write_file(path, document());
    return path;
}

Set &add_small_array(Set &set, const std::string &path) {
    return set.values({path, {1, 6}}, bytes_of(counting<int32_t>(6)));
}

} // namespace refs_test

namespace {

class Gdal : public testing::Environment {
  public:
    void SetUp() override {
        CPLSetConfigOption("GDAL_DRIVER_PATH", REFS_PLUGIN_DIR);
        CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
        GDALAllRegister();
        ASSERT_NE(GDALGetDriverByName("REFS"), nullptr) << "no plugin in " REFS_PLUGIN_DIR;
    }
    void TearDown() override { GDALDestroyDriverManager(); }
};

} // namespace

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::AddGlobalTestEnvironment(new Gdal);
    return RUN_ALL_TESTS();
}
