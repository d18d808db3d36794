/* hdf5_sets_test.cc -- HDF5 and netCDF-4 files as REFS lists them, key by key beside the sets that
 * kerchunk makes of them, from the data that are shared between projects.
 *
 * Where the two differ, kerchunk is the one that is wrong, or another way of saying the same:
 *   fill_value         kerchunk has the attribute _FillValue, or null; in the file it is another
 *   _FillValue         kerchunk leaves it out
 *   _ARRAY_DIMENSIONS  kerchunk has paths, and numbers phony dimensions for each array
 *   filters            kerchunk has null where it decoded chunks itself, with the chunk in the set
 *   shape              kerchunk does not make unlimited dimensions as long as in other variables
 *   arrays             of one whose filter it does not know kerchunk lists nothing */
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "json_text.h"
#include "refs/json.h"
#include "refs/scan.h"

namespace fs = std::filesystem;

namespace {

fs::path DataFolder() {
    const char *given = std::getenv("REFS_SHARED_DATA");
    return given != nullptr ? fs::path(given) : fs::path(REFS_SHARED_DATA_DEFAULT);
}

bool Same(const refs_json *a, const refs_json *b) {
    double x, y;
    if (refs_json_double(a, &x) && refs_json_double(b, &y))
        return x == y || (std::isnan(x) && std::isnan(y));
    if (!refs_json_is_array(a) || !refs_json_is_array(b)) return JsonText(a) == JsonText(b);
    bool same = refs_json_size(a) == refs_json_size(b);
    for (size_t i = 0; same && i < refs_json_size(a); i++)
        same = Same(refs_json_at(a, i), refs_json_at(b, i));
    return same;
}

/** Whether a shape is the other, or longer in some dimensions. */
bool IsLonger(const refs_json *shape, const refs_json *other) {
    bool longer = refs_json_size(shape) == refs_json_size(other);
    for (size_t i = 0; longer && i < refs_json_size(shape); i++) {
        uint64_t a, b;
        longer = refs_json_u64(refs_json_at(shape, i), &a) &&
                 refs_json_u64(refs_json_at(other, i), &b) && a >= b;
    }
    return longer;
}

/** What a file holds, and kerchunk's set of it. */
class File {
  public:
    explicit File(const fs::path &path) : name_(path.filename().string()) {
        refs_error err = REFS_ERROR_INIT;
        EXPECT_EQ(refs_scan_open(refs_vfs_posix(), path.c_str(), nullptr, &scan_, &err), REFS_OK)
            << name_ << ": " << err.message;
        std::ifstream file(path.string() + ".json");
        std::ostringstream content;
        content << file.rdbuf();
        set_ = ParseJson(content.str());
        if (scan_ == nullptr) return;
        EXPECT_EQ(refs_scan_each_document(scan_, Keep, this, &err), REFS_OK);
    }
    ~File() { refs_scan_free(scan_); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    void ExpectAsSet() {
        const refs_json *refs = refs_json_get(refs_json_root(set_.get()), "refs");
        if (scan_ == nullptr) return;
        for (size_t i = 0; i < refs_json_size(refs); i++)
            ExpectKey(refs_json_name_at(refs, i).data, refs_json_at(refs, i));
    }

    size_t n_members = 0, n_ranges = 0;

  private:
    static refs_status Keep(void *user, refs_str key, refs_bytes document, refs_error *) {
        const std::string text(reinterpret_cast<const char *>(document.data), document.size);
        static_cast<File *>(user)->documents_[std::string(key.data, key.size)] = ParseJson(text);
        return REFS_OK;
    }

    void ExpectKey(const std::string &key, const refs_json *value) {
        const size_t slash = key.rfind('/');
        const std::string array = slash != std::string::npos ? key.substr(0, slash) : "";
        const std::string last = slash != std::string::npos ? key.substr(slash + 1) : key;
        if (last[0] != '.') {
            ExpectChunk(array, last, value);
            return;
        }
        const auto found = documents_.find(key);
        const JsonDoc theirs = ParseJson(refs_json_text(value).data);
        const refs_json *object = refs_json_root(theirs.get());
        if (found == documents_.end()) {
            EXPECT_EQ(refs_json_size(object), 0u) << name_ << " " << key;
            return;
        }
        for (size_t i = 0; i < refs_json_size(object); i++)
            ExpectMember(key, refs_json_name_at(object, i).data, refs_json_at(object, i),
                         refs_json_root(found->second.get()));
    }

    void ExpectMember(const std::string &key, const std::string &member, const refs_json *theirs,
                      const refs_json *ours) {
        static const std::set<std::string> other = {"fill_value", "_ARRAY_DIMENSIONS", "filters",
                                                    "dimension_separator"};
        if (other.count(member) != 0) return;
        n_members++;
        if (member == "shape" && IsLonger(refs_json_get(ours, "shape"), theirs)) return;
        EXPECT_TRUE(Same(theirs, refs_json_get(ours, member.c_str())))
            << name_ << " " << key << " " << member << ": kerchunk " << JsonText(theirs)
            << ", REFS " << JsonText(refs_json_get(ours, member.c_str()));
    }

    void ExpectChunk(const std::string &array, const std::string &chunk, const refs_json *value) {
        uint64_t offset, length;
        if (!refs_json_is_array(value) || !refs_json_u64(refs_json_at(value, 1), &offset) ||
            !refs_json_u64(refs_json_at(value, 2), &length))
            return;
        uint64_t index[32];
        size_t rank = 0;
        std::istringstream numbers(chunk);
        for (std::string number; std::getline(numbers, number, '.');)
            index[rank++] = std::stoull(number);
        const refs_scan_key key = {refs_str_view(array.data(), array.size()), index, rank};
        refs_scan_chunk found;
        refs_error err = REFS_ERROR_INIT;
        ASSERT_EQ(refs_scan_find(scan_, &key, &found, &err), REFS_OK)
            << name_ << " " << array << " " << chunk << ": " << err.message;
        n_ranges++;
        EXPECT_EQ(found.offset, offset) << name_ << " " << array << " " << chunk;
        EXPECT_EQ(found.length, length) << name_ << " " << array << " " << chunk;
    }

    std::string name_;
    refs_scan *scan_ = nullptr;
    JsonDoc set_;
    std::map<std::string, JsonDoc> documents_;
};

} // namespace

TEST(Hdf5Sets, AreAsKerchunkMakesThem) {
    size_t n_files = 0, n_members = 0, n_ranges = 0;
    for (const char *folder : {"netcdf4", "hdf5"}) {
        if (!fs::exists(DataFolder() / folder)) GTEST_SKIP() << "there are no shared data";
        for (const auto &entry : fs::directory_iterator(DataFolder() / folder)) {
            const std::string path = entry.path().string();
            if (!fs::is_regular_file(path) || !fs::exists(path + ".json")) continue;
            File file(path);
            file.ExpectAsSet();
            n_files++;
            n_members += file.n_members;
            n_ranges += file.n_ranges;
        }
    }
    std::cout << n_files << " files, " << n_members << " members of documents, " << n_ranges
              << " ranges\n";
    EXPECT_GT(n_files, 20u);
}
