/* multidim_dimensions.cpp -- see multidim_dimensions.h. */
#include "multidim_dimensions.h"

#include <algorithm>

namespace {

std::string parentOf(const std::string &group) {
    return group.substr(0, group.rfind('/'));
}

bool isUsable(const refs_array_meta *array) {
    return array != nullptr && array->status == REFS_OK;
}

/** Calls `visit` with each array that can be understood. */
template <class Visit> void forEachArray(const refs_hierarchy *hierarchy, Visit visit) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++)
        if (isUsable(refs_hierarchy_array(hierarchy, i))) visit(refs_hierarchy_array(hierarchy, i));
}

} // namespace

RefsDimensionTable::RefsDimensionTable(const refs_hierarchy *hierarchy) : hierarchy_(hierarchy) {
    forEachArray(hierarchy, [this](const refs_array_meta *array) {
        for (size_t dim = 0; dim < array->rank; dim++) uses_.insert(written(array, dim));
    });
    forEachArray(hierarchy, [this](const refs_array_meta *array) {
        for (size_t dim = 0; dim < array->rank; dim++) {
            RefsDimensionId dimension = written(array, dim);
            if (array->named_dims) share(dimension);
            ofArray_[array].push_back(dimension);
        }
    });
}

/* Writers of sets from HDF5 put the group before the name: "forecast/lat". */
RefsDimensionId RefsDimensionTable::written(const refs_array_meta *array, size_t dim) const {
    RefsDimensionId dimension;
    dimension.name = array->dims[dim];
    dimension.group = array->group;
    dimension.size = array->shape[dim];
    const refs_json *names = refs_json_get(array->attributes, "_ARRAY_DIMENSIONS");
    const refs_str name = refs_json_text(refs_json_at(names, dim));
    const size_t slash = array->named_dims ? refs_str_find_last(name, '/') : SIZE_MAX;
    if (slash == SIZE_MAX) return dimension;
    const size_t begin = name.data[0] == '/' ? 1 : 0;
    dimension.group = "/" + std::string(name.data + begin, std::max(slash, begin) - begin);
    if (dimension.group == "/") dimension.group.clear();
    return dimension;
}

const refs_array_meta *RefsDimensionTable::namesake(const std::string &group,
                                                    const std::string &name) const {
    const std::string path = group + '/' + name;
    return refs_hierarchy_find_array(hierarchy_, refs_str_view(path.data(), path.size()));
}

/* The nearest group with a variable of this name, else the outermost that has the dimension, too:
 * netCDF-4 sees dimensions of a group in all groups inside it. */
std::string RefsDimensionTable::homeOf(const RefsDimensionId &written) const {
    std::string home = written.group;
    RefsDimensionId outer = written;
    for (;; outer.group = parentOf(outer.group)) {
        if (uses_.count(outer) > 0) {
            const refs_array_meta *variable = namesake(outer.group, outer.name);
            if (isUsable(variable) && variable->rank == 1 && variable->shape[0] == outer.size)
                return outer.group;
            home = outer.group;
        }
        if (outer.group.empty()) return home;
    }
}

void RefsDimensionTable::share(RefsDimensionId &dimension) {
    dimension.group = homeOf(dimension);
    const auto inserted =
        sizes_.insert({std::make_pair(dimension.group, dimension.name), dimension.size});
    dimension.shared = inserted.first->second == dimension.size;
    if (inserted.second) shared_.push_back(dimension);
}

const std::vector<RefsDimensionId> &RefsDimensionTable::of(const refs_array_meta *array) const {
    static const std::vector<RefsDimensionId> none;
    const auto found = ofArray_.find(array);
    return found != ofArray_.end() ? found->second : none;
}

std::vector<RefsDimensionId> RefsDimensionTable::at(const std::string &group) const {
    std::vector<RefsDimensionId> dimensions;
    for (const RefsDimensionId &dimension : shared_)
        if (dimension.group == group) dimensions.push_back(dimension);
    return dimensions;
}

const refs_array_meta *RefsDimensionTable::variable(const RefsDimensionId &dimension) const {
    if (!dimension.shared) return nullptr;
    const auto runsAlong = [&](const refs_array_meta *array) {
        const auto &dimensions = of(array);
        const bool alone = dimensions.size() == 1 || holdsCharacters(array);
        return alone && !(dimensions[0] < dimension) && !(dimension < dimensions[0]);
    };
    const refs_array_meta *named = namesake(dimension.group, dimension.name);
    if (isUsable(named) && runsAlong(named)) return named;

    const refs_array_meta *only = nullptr;
    bool several = false;
    forEachArray(hierarchy_, [&](const refs_array_meta *array) {
        if (dimension.group != array->group || !runsAlong(array)) return;
        several = only != nullptr;
        only = array;
    });
    return several ? nullptr : only;
}

bool RefsDimensionTable::holdsCharacters(const refs_array_meta *array) const {
    if (array->dtype.type != REFS_TYPE_BYTES || array->dtype.size != 1 || array->rank != 2)
        return false;
    return namesake(array->group, of(array)[1].name) == nullptr;
}
