// parquet_under_test.h -- a parquet set in memory: metadata and record files made of values.
#ifndef REFS_PARQUET_UNDER_TEST_H
#define REFS_PARQUET_UNDER_TEST_H

#include <optional>
#include <string>
#include <vector>

#include "parquet_writer.h"
#include "set_under_test.h"

// One row of a record file.
struct Row {
    std::optional<std::string> path = {};
    std::optional<int64_t> offset = 0, size = 0;
    std::optional<std::string> raw = {};
};

inline Row Whole(const std::string &path) {
    return {path};
}
inline Row Range(const std::string &path, int64_t offset, int64_t size) {
    return {path, offset, size};
}
inline Row Raw(const std::string &raw) {
    return {{}, 0, 0, raw};
}

inline std::string RecordFile(const std::vector<Row> &rows) {
    parquet::Column path = parquet::Strings("path", {}), offset = parquet::Integers("offset", {}),
                    size = parquet::Integers("size", {}), raw = parquet::Strings("raw", {});
    for (const Row &row : rows) {
        path.strings.push_back(row.path);
        offset.integers.push_back(row.offset);
        size.integers.push_back(row.size);
        raw.strings.push_back(row.raw);
    }
    return parquet::File({path, offset, size, raw});
}

// Rows that each name bytes of "/d" by their number, from `first` on.
inline std::vector<Row> CountedRows(size_t n, int64_t first = 0) {
    std::vector<Row> rows;
    for (size_t i = 0; i < n; i++) rows.push_back(Range("/d", first + static_cast<int64_t>(i), 1));
    return rows;
}

class ParquetUnderTest : public SetUnderTest {
  public:
    explicit ParquetUnderTest(const std::string &folder = "dir.parq") : folder_(folder) {
        location = folder;
        vfs.onOpen = [this](const std::string &name) {
            if (vfs.files.count(name) > 0 && name.rfind(folder_ + "/", 0) == 0)
                opened.push_back(name.substr(folder_.size() + 1));
        };
    }

    // Adds a member of "metadata", as JSON.
    ParquetUnderTest &Metadata(const std::string &key, const std::string &value) {
        metadata_ += (metadata_.empty() ? "\"" : ", \"") + key + "\": " + value;
        return *this;
    }
    ParquetUnderTest &Array(const std::string &name, const std::string &shape,
                            const std::string &chunks, const std::string &more = "") {
        return Metadata(name + "/.zarray",
                        "{\"shape\": " + shape + ", \"chunks\": " + chunks + more + "}");
    }
    ParquetUnderTest &Record(const std::string &name, const std::vector<Row> &rows) {
        vfs.files[folder_ + "/" + name] = RecordFile(rows);
        return *this;
    }

    // Opens the set with this record size, JSON.
    refs_status OpenFolder(const std::string &record_size = "10") {
        return OpenDocument("{\"metadata\": {" + metadata_ + "}, \"record_size\": " + record_size +
                            "}");
    }
    refs_status OpenDocument(const std::string &document) {
        vfs.files[folder_ + "/.zmetadata"] = document;
        if (location == ".zmetadata") vfs.files[location] = document; // that of folder "."
        return OpenIt();
    }

    // Files of the folder that were opened, in order.
    std::vector<std::string> opened;

  private:
    std::string folder_, metadata_;
};

#endif
