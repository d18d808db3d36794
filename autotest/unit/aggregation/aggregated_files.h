/* aggregated_files.h -- aggregations and their fragments as files in memory: reference sets whose
 * arrays a test writes down, read as the plugin reads them.
 */
#ifndef REFS_TEST_AGGREGATED_FILES_H
#define REFS_TEST_AGGREGATED_FILES_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "little_endian.h"
#include "memory_vfs.h"
#include "refs/aggregation.h"
#include "refs/fetch.h"
#include "refs/pool.h"
#include "refs/refset.h"
#include "refs/store.h"

using Shape = std::vector<uint64_t>;

/** Of which type of Zarr the numbers are. */
template <class T> std::string dtypeOf() {
    const char kind = std::is_floating_point<T>::value ? 'f' : std::is_signed<T>::value ? 'i' : 'u';
    return (sizeof(T) == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(sizeof(T));
}

inline std::string listOf(const Shape &numbers) {
    std::string text;
    for (uint64_t n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
    return "[" + text + "]";
}

inline std::string inJson(const std::string &text) {
    std::string result = "\"";
    for (char c : text) result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    return result + "\"";
}

/** One array of a set, whose elements lie in a file of their own. */
struct Variable {
    std::string dtype;
    Shape shape;
    std::string bytes;
    std::string attributes = ""; ///< members of a JSON object
    std::string dims = "";       ///< "y x"
    std::string fill = "null";   ///< in the metadata
    std::string filters = "null";
};

template <class T>
Variable numbers(const Shape &shape, const std::vector<T> &values,
                 const std::string &attributes = "", const std::string &dims = "") {
    return {dtypeOf<T>(), shape, littleEndian(values), attributes, dims};
}

/** Strings of 24 bytes. */
inline Variable fixedStrings(const Shape &shape, const std::vector<std::string> &values,
                             const std::string &attributes = "") {
    Variable made{"|S24", shape, "", attributes};
    for (std::string value : values) {
        value.resize(24);
        made.bytes += value;
    }
    return made;
}

/** Strings of variable length. */
inline Variable strings(const Shape &shape, const std::vector<std::string> &values,
                        const std::string &attributes = "") {
    std::string bytes = littleEndian<uint32_t>({static_cast<uint32_t>(values.size())});
    for (const std::string &value : values)
        bytes += littleEndian<uint32_t>({static_cast<uint32_t>(value.size())}) + value;
    return {"|O", shape, bytes, attributes, "", "\"none\"", R"([{"id":"vlen-utf8"}])"};
}

/** Strings of netCDF-3: letters along one more dimension. */
inline Variable letters(Shape shape, const std::vector<std::string> &values) {
    Variable made = fixedStrings(shape, values);
    made.dtype = "|S1";
    made.shape.push_back(24);
    return made;
}

using Variables = std::map<std::string, Variable>;

/** An aggregation "v" along x that is one fragment of `n` elements: a variable of a file.
 * @param scalar a container, without the attributes that make it one
 * @param terms of its encoding: CF-1.13 unless told otherwise */
inline Variables ofOneFragment(Variable scalar, size_t n, const std::string &file,
                               const std::string &variable,
                               const std::string &terms = "map: m uris: u identifiers: n") {
    scalar.attributes += (scalar.attributes.empty() ? "" : ",") +
                         (R"("aggregated_dimensions":"x","aggregated_data":")" + terms + "\"");
    return {{"v", scalar},
            {"m", numbers<int32_t>({1}, {static_cast<int32_t>(n)})},
            {"u", fixedStrings({1}, {file})},
            {"n", fixedStrings({1}, {variable})},
            {"f", fixedStrings({}, {"nc"})}};
}

/** The terms of CFA-0.6, whose fragments are packed as the aggregation is. */
constexpr const char *kTermsOfCfa = "location: m file: u format: f address: n";

/** Counts up from `first`. */
template <class T> std::vector<T> countUp(size_t n, T first = 0) {
    std::vector<T> values(n);
    for (size_t i = 0; i < n; i++) values[i] = static_cast<T>(first + static_cast<T>(i));
    return values;
}

class AggregatedFiles {
  public:
    AggregatedFiles() { vfs.near = true; }
    ~AggregatedFiles() { close(); }

    /** Writes a reference set. */
    void put(const std::string &location, const Variables &variables) {
        std::string refs = R"(".zgroup":{"zarr_format":2})";
        for (const auto &[name, variable] : variables) {
            const std::string data = location + "." + fileNameOf(name) + ".bin";
            Shape chunks = variable.shape;
            std::string key, dims, word;
            for (uint64_t &n : chunks) n = std::max<uint64_t>(n, 1);
            for (size_t i = 0; i < chunks.size(); i++) key += i > 0 ? ".0" : "0";
            for (char c : variable.dims + " ") {
                if (c != ' ') {
                    word += c;
                } else if (!word.empty()) {
                    dims += (dims.empty() ? "" : ",") + inJson(word);
                    word.clear();
                }
            }
            std::string attributes = variable.attributes;
            if (!dims.empty())
                attributes += (attributes.empty() ? "" : ",") +
                              std::string("\"_ARRAY_DIMENSIONS\":[") + dims + "]";
            refs += ",\n" + inJson(name + "/.zarray") + R"(:{"zarr_format":2,"shape":)" +
                    listOf(variable.shape) + ",\"chunks\":" + listOf(chunks) +
                    ",\"dtype\":" + inJson(variable.dtype) + R"(,"compressor":null,"filters":)" +
                    variable.filters + R"(,"order":"C","fill_value":)" + variable.fill + "}";
            refs += "," + inJson(name + "/.zattrs") + ":{" + attributes + "}";
            refs += "," + inJson(name + "/" + (key.empty() ? "0" : key)) + ":[" +
                    inJson(baseNameOf(data)) + "]";
            vfs.files[data] = variable.bytes;
        }
        vfs.files[location] = "{\"version\":1,\"refs\":{" + refs + "}}";
    }

    /** Opens a file and finds its aggregations. */
    refs_status open(const std::string &location) {
        close();
        error = REFS_ERROR_INIT;
        location_ = location;
        refs_status status =
            refs_set_open(vfs.get(), location.c_str(), setOptions(), &set_, &error);
        if (status == REFS_OK) status = refs_fetcher_open(vfs.get(), nullptr, &fetcher_, &error);
        if (status == REFS_OK) status = refs_store_open(set_, fetcher_, &store_, &error);
        if (status != REFS_OK) return status;
        status = refs_hierarchy_open(store_, nullptr, &hierarchy, &error);
        if (status == REFS_OK)
            status = refs_aggregations_open(hierarchy, nullptr, &aggregations, &error);
        if (status == REFS_OK) status = refs_cache_open(cacheBytes, &cache_, &error);
        if (status == REFS_OK && nThreads > 0) status = refs_pool_open(nThreads, &pool_, &error);
        return status == REFS_OK ? openFragments() : status;
    }

    const refs_set *set() const { return set_; }

    /** What an array is called; NULL: there is none. */
    const refs_array_meta *meta(const std::string &name) const {
        return refs_hierarchy_find_array(hierarchy, refs_str_view(name.data(), name.size()));
    }

    /** Opens one of the arrays, which may have a problem. */
    refs_status openArray(const std::string &name, refs_array **array) {
        const refs_array_meta *found = meta(name);
        if (found == nullptr) return refs_fail(&error, REFS_NOT_FOUND, "no array %s", name.c_str());
        if (found->status != REFS_OK) return refs_fail(&error, found->status, "%s", found->problem);
        if (found->aggregation == nullptr)
            return refs_fail(&error, REFS_INVALID, "%s is no aggregation", name.c_str());
        return refs_fragments_open_array(fragments, found, array, &error);
    }

    /** Reads a region of an array; of all of it where nothing else is said. */
    template <class T>
    refs_status read(const std::string &name, std::vector<T> *values, const Shape &start = {},
                     const Shape &count = {}, const std::vector<int64_t> &step = {}) {
        refs_array *array = nullptr;
        error = REFS_ERROR_INIT;
        values->clear();
        refs_status status = openArray(name, &array);
        if (status != REFS_OK) return status;
        const refs_array_meta *of = refs_array_meta_of(array);
        EXPECT_EQ(of->dtype.size, sizeof(T));
        static const uint64_t origin[REFS_MAX_RANK] = {0};
        const refs_region region = {start.empty() ? origin : start.data(),
                                    count.empty() ? of->shape : count.data(),
                                    step.empty() ? nullptr : step.data()};
        size_t n = 1;
        for (size_t dim = 0; dim < of->rank; dim++) n *= static_cast<size_t>(region.count[dim]);
        values->resize(n);
        status = refs_array_read(array, &region, values->data(), nullptr, &error);
        refs_array_free(array);
        EXPECT_EQ(status != REFS_OK, error.message[0] != '\0');
        return status;
    }

    /** Opens a file, and reads all of an array of strings. */
    std::vector<std::string> allTexts(const std::string &location, const std::string &name = "v") {
        refs_array *array = nullptr;
        refs_buf bytes = REFS_BUF_INIT;
        std::vector<std::string> fixedStrings;
        refs_status status = open(location);
        if (status == REFS_OK) status = openArray(name, &array);
        if (status == REFS_OK) status = refs_array_read_strings(array, 1000, &bytes, &error);
        EXPECT_EQ(status != REFS_OK, error.message[0] != '\0');
        for (size_t at = 0; status == REFS_OK && at < bytes.size;
             at += fixedStrings.back().size() + 1)
            fixedStrings.emplace_back(reinterpret_cast<const char *>(bytes.data) + at);
        refs_buf_clear(&bytes);
        refs_array_free(array);
        return fixedStrings;
    }

    /** Opens a file, and reads all of an array. */
    template <class T = float>
    std::vector<T> all(const std::string &location, const std::string &name = "v") {
        std::vector<T> values;
        EXPECT_EQ(open(location), REFS_OK) << error.message;
        EXPECT_EQ(read(name, &values), REFS_OK) << error.message;
        return values;
    }

    /** Why opening a file and reading all of an array fails; "" where it does not. */
    template <class T = float>
    std::string problem(const std::string &location, const std::string &name = "v") {
        std::vector<T> values;
        if (open(location) == REFS_OK && read(name, &values) == REFS_OK) return "";
        return error.message;
    }

    Shape shapeOf(const std::string &name) const {
        const refs_array_meta *of = meta(name);
        return Shape(of->shape, of->shape + of->rank);
    }

    void close() {
        refs_fragments_free(fragments);
        refs_pool_free(pool_);
        refs_cache_free(cache_);
        refs_hierarchy_free(hierarchy);
        refs_aggregations_free(aggregations);
        refs_store_free(store_);
        refs_fetcher_free(fetcher_);
        refs_set_free(set_);
        fragments = nullptr;
        pool_ = nullptr;
        cache_ = nullptr;
        hierarchy = nullptr;
        aggregations = nullptr;
        store_ = nullptr;
        fetcher_ = nullptr;
        set_ = nullptr;
    }

    MemoryVfs vfs;
    refs_error error = REFS_ERROR_INIT;
    refs_missing missing = REFS_MISSING_BY_ENCODING;
    size_t maxFiles = 0, cacheBytes = REFS_MIB;
    unsigned nThreads = 0; ///< that decode
    std::vector<const char *> rewrites;
    bool remoteToLocal = false;
    std::vector<std::string> notes;
    refs_hierarchy *hierarchy = nullptr;
    refs_aggregations *aggregations = nullptr;
    refs_fragments *fragments = nullptr;

  private:
    static std::string fileNameOf(std::string name) {
        std::replace(name.begin(), name.end(), '/', '_');
        return name;
    }
    static std::string baseNameOf(const std::string &location) {
        return location.substr(location.rfind('/') + 1);
    }

    const refs_set_options *setOptions() {
        sets_ = REFS_SET_OPTIONS_INIT;
        sets_.remote_to_local = remoteToLocal;
        if (!rewrites.empty()) {
            if (rewrites.back() != nullptr) rewrites.push_back(nullptr);
            sets_.rewrites = rewrites.data();
        }
        return &sets_;
    }

    refs_status openFragments() {
        refs_fragments_options options{};
        options.struct_size = sizeof options;
        options.hierarchy = hierarchy;
        options.location = location_.c_str();
        options.vfs = vfs.get();
        options.fetcher = fetcher_;
        options.arrays = {store_, cache_, pool_, nullptr, 0, 0};
        options.sets = &sets_;
        options.max_files = maxFiles;
        options.missing = missing;
        options.notes = {[](void *user, refs_note_kind, const char *text) {
                             auto *self = static_cast<AggregatedFiles *>(user);
                             self->notes.push_back(text);
                             // Takes the lock of the fragments, which nobody may hold here.
                             if (self->fragments != nullptr)
                                 (void)refs_fragments_are_complete(self->fragments);
                         },
                         this};
        return refs_fragments_open(&options, &fragments, &error);
    }

    std::string location_;
    refs_set_options sets_ = REFS_SET_OPTIONS_INIT;
    refs_set *set_ = nullptr;
    refs_fetcher *fetcher_ = nullptr;
    refs_store *store_ = nullptr;
    refs_cache *cache_ = nullptr;
    refs_pool *pool_ = nullptr;
};

#endif
