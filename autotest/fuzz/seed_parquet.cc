// seed_parquet.cc -- writes the first files of the corpus of fuzz_parquet: every layout, small.
//
//   seed_parquet FOLDER

#include <cstdio>
#include <string>

#include "parquet_writer.h"

namespace {

using parquet::Column;

// Record files of a few rows: locations, inline values and absent chunks.
std::vector<Column> References(bool dictionary) {
    Column path = parquet::Strings("path", {}), offset = parquet::Integers("offset", {}),
           size = parquet::Integers("size", {}), raw = parquet::Strings("raw", {});
    for (int64_t i = 0; i < 12; i++) {
        const bool inlined = i % 5 == 3, absent = i % 4 == 2;
        const bool range = !inlined && !absent;
        path.strings.push_back(range ? std::optional<std::string>("s3://b/" + std::to_string(i % 3))
                                     : std::nullopt);
        offset.integers.push_back(range ? std::optional<int64_t>(i << 33) : std::nullopt);
        size.integers.push_back(range ? std::optional<int64_t>(i) : std::nullopt);
        raw.strings.push_back(inlined ? std::optional<std::string>("raw") : std::nullopt);
    }
    path.dictionary = dictionary;
    return {path, offset, size, raw};
}

bool Write(const std::string &path, const std::string &bytes) {
    FILE *file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written;
}

bool WriteLayouts(const std::string &folder) {
    const struct {
        const char *name;
        parquet::Codec codec;
    } codecs[] = {{"none", parquet::kUncompressed},
                  {"snappy", parquet::kSnappy},
                  {"gzip", parquet::kGzip},
                  {"zstd", parquet::kZstd}};
    for (const auto &codec : codecs)
        for (const int version : {1, 2})
            for (const bool dictionary : {false, true}) {
                parquet::Layout layout;
                layout.codec = codec.codec;
                layout.page_version = version;
                layout.runs = version == 2;
                const std::string name = folder + "/" + codec.name + "-v" +
                                         std::to_string(version) +
                                         (dictionary ? "-dictionary" : "-plain");
                if (!Write(name, parquet::File(References(dictionary), layout))) return false;
            }
    return true;
}

bool WriteOthers(const std::string &folder) {
    parquet::Layout parts;
    parts.rows_per_group = 5;
    parts.rows_per_page = 2;
    Column nothing = parquet::Integers("raw", std::vector<std::optional<int64_t>>(3));
    nothing.type = parquet::kInt32;
    nothing.converted = 24;
    Column required = parquet::Integers("offset", {1, 2, 3});
    required.optional = false;
    return Write(folder + "/groups-and-pages", parquet::File(References(true), parts)) &&
           Write(folder + "/nulls-and-required", parquet::File({nothing, required})) &&
           Write(folder + "/no-rows", parquet::File({parquet::Strings("path", {})}));
}

} // namespace

int main(int argc, char **argv) {
    if (argc == 2 && WriteLayouts(argv[1]) && WriteOthers(argv[1])) return 0;
    std::fprintf(stderr, "usage: seed_parquet FOLDER\n");
    return 1;
}
