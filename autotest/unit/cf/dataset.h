/* dataset.h -- small data sets for cf: metadata as text, values of coordinate variables as lists.
 */
#ifndef REFS_TEST_CF_DATASET_H
#define REFS_TEST_CF_DATASET_H

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "memory_store.h"
#include "refs/cf.h"
#include "refs/zarr.h"

using Values = std::vector<double>;

/** An array's metadata; `attributes` is JSON without its braces. */
struct ArraySpec {
    std::vector<std::string> dims;
    std::vector<uint64_t> shape;
    std::string attributes = "";
    std::string dtype = "<f4";
    std::string fill = "null";
};

class Dataset {
  public:
    Dataset() { store_.put(".zgroup", "{\"zarr_format\":2}"); }
    ~Dataset() {
        refs_cf_description_clear(&description);
        refs_hierarchy_free(hierarchy_);
    }
    Dataset(const Dataset &) = delete;

    void global(const std::string &attributes) { store_.put(".zattrs", "{" + attributes + "}"); }

    void group(const std::string &name, const std::string &attributes) {
        store_.put(name + "/.zgroup", "{\"zarr_format\":2}");
        store_.put(name + "/.zattrs", "{" + attributes + "}");
    }

    void array(const std::string &name, const ArraySpec &spec) {
        std::string dims, shape, chunks;
        for (size_t i = 0; i < spec.shape.size(); i++) {
            const std::string comma = i > 0 ? "," : "";
            shape += comma + std::to_string(spec.shape[i]);
            chunks += comma + std::to_string(spec.shape[i] > 0 ? spec.shape[i] : 1);
            if (i < spec.dims.size()) dims += comma + "\"" + spec.dims[i] + "\"";
        }
        store_.put(name + "/.zarray", "{\"zarr_format\":2,\"shape\":[" + shape + "],\"chunks\":[" +
                                          chunks + "],\"order\":\"C\",\"dtype\":\"" + spec.dtype +
                                          "\",\"fill_value\":" + spec.fill +
                                          ",\"compressor\":null,\"filters\":null}");
        std::string attributes = spec.attributes;
        if (spec.dims.size() == spec.shape.size())
            attributes +=
                (attributes.empty() ? "" : ",") + ("\"_ARRAY_DIMENSIONS\":[" + dims + "]");
        store_.put(name + "/.zattrs", "{" + attributes + "}");
    }

    /** A one-dimensional variable called like its dimension. */
    void coordinate(const std::string &name, const Values &of, const std::string &attributes,
                    const std::string &dtype = "<f8") {
        const size_t slash = name.rfind('/');
        const std::string dim = slash == std::string::npos ? name : name.substr(slash + 1);
        array(name, {{dim}, {of.size()}, attributes, dtype});
        values["/" + name] = of;
    }

    /** Latitudes and longitudes called lat and lon, with CF units. */
    void latlon(const Values &lat, const Values &lon, const std::string &dtype = "<f8") {
        coordinate("lat", lat, R"("units":"degrees_north")", dtype);
        coordinate("lon", lon, R"("units":"degrees_east")", dtype);
    }

    /** Coordinates y and x of a projection, four by five of them from 0 on. */
    void projected(const std::string &units = "m") {
        coordinate("y", {0, 1, 2, 3},
                   R"("standard_name":"projection_y_coordinate","units":")" + units + "\"");
        coordinate("x", {0, 1, 2, 3, 4},
                   R"("standard_name":"projection_x_coordinate","units":")" + units + "\"");
    }

    /** A grid mapping variable "crs", and an array "v" (y, x) that names it. */
    void mapped(const std::string &mapping) {
        array("crs", {{}, {}, mapping, "<i4"});
        array("v", {{"y", "x"}, {4, 5}, R"("grid_mapping":"crs")"});
    }

    const refs_hierarchy *hierarchy() {
        if (hierarchy_ != nullptr) return hierarchy_;
        EXPECT_EQ(refs_hierarchy_open(store_.get(), nullptr, &hierarchy_, &error), REFS_OK)
            << error.message;
        return hierarchy_;
    }
    const refs_array_meta *find(const std::string &path) {
        const refs_array_meta *found =
            refs_hierarchy_find_array(hierarchy(), MemoryStore::view(path));
        EXPECT_NE(found, nullptr) << path;
        return found;
    }

    /** Describes the array at `path` into `description`. */
    refs_status tryToDescribe(const std::string &path = "v") {
        refs_cf_values reader = {read, readStrings, announce, this};
        options.values = &reader;
        options.notes = {collect, this};
        const refs_array_meta *meta = find(path);
        refs_cf_description_clear(&description);
        return refs_cf_describe(hierarchy(), meta, &options, &description, &error);
    }
    const refs_cf_description &describe(const std::string &path = "v") {
        EXPECT_EQ(tryToDescribe(path), REFS_OK) << error.message;
        return description;
    }

    static std::map<std::string, std::string> mapOf(const refs_cf_items &items) {
        std::map<std::string, std::string> map;
        for (size_t i = 0; i < items.n; i++) {
            const std::string item = items.items[i];
            const size_t equals = item.find('=');
            map[item.substr(0, equals)] = item.substr(equals + 1);
        }
        return map;
    }
    std::map<std::string, std::string> bandItems(uint64_t band, const std::string &path = "v") {
        refs_cf_items items = {nullptr, 0, 0};
        EXPECT_EQ(refs_cf_band_metadata(&description, find(path), band, &items, nullptr), REFS_OK);
        auto map = mapOf(items);
        refs_cf_items_clear(&items);
        return map;
    }
    /** Whether a note has this in it. */
    bool noted(const std::string &part) const {
        return std::any_of(notes.begin(), notes.end(), [&](const std::string &note) {
            return note.find(part) != std::string::npos;
        });
    }
    Values geotransform() const {
        if (!description.has_geotransform) return {};
        return Values(description.geotransform, description.geotransform + 6);
    }

    std::map<std::string, Values> values;                    ///< by path, with leading slash
    std::map<std::string, std::vector<std::string>> strings; ///< likewise
    refs_status readStatus = REFS_OK;                        ///< what reading values comes to
    std::vector<std::vector<std::string>> announced;         ///< names, for each announcement
    std::vector<std::string> notes;
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    refs_cf_description description = {};
    refs_error error = REFS_ERROR_INIT;

  private:
    static refs_status read(void *user, const refs_array_meta *array, double *out,
                            refs_error *err) {
        const Dataset *self = static_cast<Dataset *>(user);
        if (self->readStatus != REFS_OK)
            return refs_fail(err, self->readStatus, "%s: no values", array->path);
        auto found = self->values.find(array->path);
        if (found == self->values.end()) return refs_fail(err, REFS_IO, "%s: ?", array->path);
        std::copy(found->second.begin(), found->second.end(), out);
        return REFS_OK;
    }
    static refs_status readStrings(void *user, const refs_array_meta *array, refs_buf *out,
                                   refs_error *err) {
        const Dataset *self = static_cast<Dataset *>(user);
        if (self->readStatus != REFS_OK)
            return refs_fail(err, self->readStatus, "%s: no strings", array->path);
        for (const std::string &text : self->strings.at(array->path))
            REFS_TRY(refs_buf_append(out, text.c_str(), text.size() + 1, err));
        return REFS_OK;
    }
    static void announce(void *user, const refs_array_meta *const *arrays, size_t n) {
        std::vector<std::string> names;
        for (size_t i = 0; i < n; i++) names.push_back(arrays[i]->name);
        static_cast<Dataset *>(user)->announced.push_back(names);
    }
    static void collect(void *user, refs_note_kind, const char *text) {
        static_cast<Dataset *>(user)->notes.push_back(text);
    }

    MemoryStore store_;
    refs_hierarchy *hierarchy_ = nullptr;
};

#endif
