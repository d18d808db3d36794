/* multidim_dimensions.h -- which dimensions a set has: arrays only name theirs.
 *
 * Arrays of one group, and of groups inside it, that name a dimension alike and are equally long
 * along it share it. A table is immutable once made.
 */
#ifndef REFS_MULTIDIM_DIMENSIONS_H
#define REFS_MULTIDIM_DIMENSIONS_H

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "refs/zarr.h"

/** One dimension. */
struct RefsDimensionId {
    std::string group; ///< path of the group that it is at home in: "" is the root
    std::string name;
    uint64_t size = 0;
    bool shared = false; ///< false: of one array alone, for want of a name or of its size

    bool operator<(const RefsDimensionId &other) const {
        return std::tie(group, name, size) < std::tie(other.group, other.name, other.size);
    }
};

class RefsDimensionTable {
  public:
    explicit RefsDimensionTable(const refs_hierarchy *hierarchy);

    /** The dimensions of `array`. */
    const std::vector<RefsDimensionId> &of(const refs_array_meta *array) const;

    /** Shared dimensions that are at home in the group, in the order of their first use. */
    std::vector<RefsDimensionId> at(const std::string &group) const;

    /** The variable that holds the coordinates along a dimension: the one that is called like it,
     * else the only one of its group that has this dimension and no other; or null. */
    const refs_array_meta *variable(const RefsDimensionId &dimension) const;

    /** Whether elements of `array` are the characters of strings that run along its last dimension:
     * one that no variable is called like. */
    bool holdsCharacters(const refs_array_meta *array) const;

  private:
    const refs_array_meta *namesake(const std::string &group, const std::string &name) const;
    RefsDimensionId written(const refs_array_meta *array, size_t dim) const;
    std::string homeOf(const RefsDimensionId &written) const;
    void share(RefsDimensionId &dimension);

    const refs_hierarchy *hierarchy_;
    std::set<RefsDimensionId> uses_; // as arrays write them, in their groups
    std::map<std::pair<std::string, std::string>, uint64_t> sizes_; // group, name
    std::vector<RefsDimensionId> shared_;
    std::map<const refs_array_meta *, std::vector<RefsDimensionId>> ofArray_;
};

#endif
