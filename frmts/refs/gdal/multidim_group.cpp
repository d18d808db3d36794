/* multidim_group.cpp -- groups, see multidim.h. */
#include "guard.h"
#include "multidim.h"
#include "multidim_attribute.h"
#include "report.h"
#include "suggestion.h"

namespace {

std::string fullName(const std::string &path) {
    return path.empty() ? "/" : path;
}

std::string parentName(const refs_group_meta *meta) {
    const std::string path(meta->path);
    return path.empty() ? "" : fullName(path.substr(0, path.rfind('/')));
}

bool isReadable(const refs_array_meta *array) {
    return array->status == REFS_OK && RefsElementsOf(array->dtype) != RefsElements::Opaque;
}

/** Whether an array other than an aggregation's instructions has the dimension. */
bool isOfArrays(const RefsMultidimSet &set, const refs_dimension &dim) {
    const refs_hierarchy *hierarchy = set.archive->hierarchy();
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        const refs_dimension *own = refs_dimensions_of(set.dimensions.get(), array);
        for (size_t k = 0; own != nullptr && !array->is_instruction && k < array->rank; k++)
            if (own[k].is_shared && own[k].group == dim.group && own[k].name == dim.name)
                return true;
    }
    return false;
}

/** Whether `path` is in or below the group. */
bool isBelow(const refs_group_meta *group, const std::string &path) {
    const std::string begin = std::string(group->path) + "/";
    return path.compare(0, begin.size(), begin) == 0;
}

/** Raises that there is no such `what`, and lists names. Only once if GDAL searches all groups for
 * a name. */
void reportMissing(const RefsArchive &archive, const char *what, const std::string &name,
                   const std::vector<std::string> &there) {
    refs_error error = REFS_ERROR_INIT;
    (void)refs_fail(&error, REFS_NOT_FOUND, "%s: there is no %s %s%s", archive.location().c_str(),
                    what, name.c_str(), RefsSuggestion(name, there).c_str());
    if (!RefsIsReported(error)) RefsReport(error);
}

/** Which arrays are listed; the defaults are those of the netCDF driver: all that have
 * dimensions. */
struct Shown {
    explicit Shown(CSLConstList options)
        : all(CPLFetchBool(options, "SHOW_ALL", false)),
          zeroDim(all || CPLFetchBool(options, "SHOW_ZERO_DIM", false)),
          coordinates(all || CPLFetchBool(options, "SHOW_COORDINATES", true)),
          bounds(all || CPLFetchBool(options, "SHOW_BOUNDS", true)),
          indexing(all || CPLFetchBool(options, "SHOW_INDEXING", true)),
          time(all || CPLFetchBool(options, "SHOW_TIME", true)) {}

    bool all, zeroDim, coordinates, bounds, indexing, time;

    bool holds(const refs_hierarchy *hierarchy, const refs_array_meta *array) const {
        return (zeroDim || array->rank > 0) &&
               (coordinates || !refs_cf_is_coordinate(hierarchy, array)) &&
               (bounds || !refs_cf_is_bounds(hierarchy, array)) &&
               (indexing || array->rank != 1 || !EQUAL(array->dims[0], array->name)) &&
               (time || !refs_cf_says_time(array));
    }
};

} // namespace

RefsGroup::RefsGroup(const RefsMultidimSetPtr &set, const refs_group_meta *meta)
    : GDALGroup(parentName(meta), meta->name), set_(set), meta_(meta) {}

/* Arrays of types that GDAL lacks are not listed; opening them by name says why. */
std::vector<std::string> RefsGroup::GetMDArrayNames(CSLConstList options) const {
    return RefsGuardRaised([&] {
        const Shown shown(options);
        std::vector<std::string> names;
        for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy()); i++) {
            const refs_array_meta *array = refs_hierarchy_array(hierarchy(), i);
            if (EQUAL(array->group, meta_->path) && !array->is_instruction && isReadable(array) &&
                shown.holds(hierarchy(), array))
                names.push_back(array->name);
        }
        return names;
    });
}

/* `gdal mdim info` of GDAL 3.13 passes the full path of each dimension to the root group. A name
 * that begins with a slash is relative to the root; if it does not exist, that is no error. */
std::shared_ptr<GDALMDArray> RefsGroup::OpenMDArray(const std::string &name, CSLConstList) const {
    return RefsGuardRaised([&]() -> std::shared_ptr<GDALMDArray> {
        const bool isPath = !name.empty() && name[0] == '/';
        const std::string path = isPath ? name : std::string(meta_->path) + "/" + name;
        const refs_array_meta *array =
            refs_hierarchy_find_array(hierarchy(), refs_str_view(path.data(), path.size()));
        if (array == nullptr) {
            if (!isPath) failWithoutArray(name);
            return nullptr;
        }
        refs_error error = REFS_ERROR_INIT;
        auto opened = RefsMDArray::create(set_, array, &error);
        if (opened == nullptr) RefsReport(error);
        return opened;
    });
}

/* GDAL searches for an array group by group from the root; only fails if no group has it. */
void RefsGroup::failWithoutArray(const std::string &name) const {
    std::vector<std::string> there;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy()); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy(), i);
        if (name == array->name && isBelow(meta_, array->path)) return;
        if (isReadable(array) && !array->is_instruction) there.push_back(array->path);
    }
    reportMissing(*set_->archive, "array", name, there);
}

std::vector<std::string> RefsGroup::GetGroupNames(CSLConstList) const {
    return RefsGuardRaised([&] {
        std::vector<std::string> names;
        for (size_t i = 1; i < refs_hierarchy_n_groups(hierarchy()); i++) {
            const refs_group_meta *group = refs_hierarchy_group(hierarchy(), i);
            if (parentName(group) == GetFullName() && !group->is_instruction)
                names.push_back(group->name);
        }
        return names;
    });
}

std::shared_ptr<GDALGroup> RefsGroup::OpenGroup(const std::string &name, CSLConstList) const {
    return RefsGuardRaised([&]() -> std::shared_ptr<GDALGroup> {
        const std::string path = std::string(meta_->path) + "/" + name;
        const refs_group_meta *group =
            refs_hierarchy_find_group(hierarchy(), refs_str_view(path.data(), path.size()));
        if (group != nullptr) return std::make_shared<RefsGroup>(set_, group);
        std::vector<std::string> there;
        for (size_t i = 1; i < refs_hierarchy_n_groups(hierarchy()); i++) {
            const refs_group_meta *other = refs_hierarchy_group(hierarchy(), i);
            if (!other->is_instruction) there.push_back(other->path);
        }
        reportMissing(*set_->archive, "group", name, there);
        return nullptr;
    });
}

std::vector<std::shared_ptr<GDALDimension>> RefsGroup::GetDimensions(CSLConstList) const {
    return RefsGuardRaised([&] {
        std::vector<std::shared_ptr<GDALDimension>> dimensions;
        const refs_dimensions *all = set_->dimensions.get();
        for (size_t i = 0; i < refs_dimensions_n_shared(all); i++) {
            const refs_dimension &dim = *refs_dimensions_shared(all, i);
            if (strcmp(dim.group, meta_->path) == 0 && isOfArrays(*set_, dim))
                dimensions.push_back(RefsDimension::create(set_, dim));
        }
        return dimensions;
    });
}

std::shared_ptr<GDALAttribute> RefsGroup::GetAttribute(const std::string &name) const {
    return RefsGuardRaised([&] {
        return RefsAttributeOf(std::string(meta_->path) + "/_GLOBAL_", name, meta_->attributes,
                               GDT_Unknown);
    });
}

std::vector<std::shared_ptr<GDALAttribute>> RefsGroup::GetAttributes(CSLConstList) const {
    return RefsGuardRaised([&] {
        return RefsAttributesOf(std::string(meta_->path) + "/_GLOBAL_", meta_->attributes,
                                GDT_Unknown, nullptr);
    });
}
