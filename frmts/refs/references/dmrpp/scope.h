/* scope.h -- the open groups of a DMR++, and the declarations in them. */
#ifndef REFS_REFERENCES_DMRPP_SCOPE_H
#define REFS_REFERENCES_DMRPP_SCOPE_H

#include "dmrpp/text.h"
#include "refs/intern.h"
#include "refs/refset.h"

#define REFS_DMRPP_MAX_GROUPS 100

typedef struct refs_dmrpp_group {
    size_t path_size;            /**< of the scope's path */
    refs_buf attributes;         /**< members of a JSON object */
    bool has_children, has_kept; /**< it has children; it has children that are in this group in the
                                    file, too */
} refs_dmrpp_group;

/** A dimension or an enumeration. */
typedef struct refs_dmrpp_declared {
    uint64_t size;
    const refs_dmrpp_type *type;
} refs_dmrpp_declared;

/** Zeroed is empty. */
typedef struct refs_dmrpp_scope {
    refs_buf path; /**< of the innermost group, no slash at either end */
    refs_dmrpp_group groups[REFS_DMRPP_MAX_GROUPS];
    size_t n_groups;
    refs_intern dimensions, enumerations; /**< "/group/name" */
    refs_dmrpp_declared *of_dimensions, *of_enumerations;
    size_t dimension_capacity, enumeration_capacity;
    refs_intern listed; /**< groups that were added to the set */
} refs_dmrpp_scope;

void refs_references__scope_clear(refs_dmrpp_scope *scope);

/** Enters a group; `name` is "" for the root. */
refs_status refs_references__scope_enter(refs_dmrpp_scope *scope, const char *name,
                                         refs_error *err);

/** Leaves the innermost group, and adds its documents, since its attributes are now complete. A
 * group whose variables are all in other groups is omitted. */
refs_status refs_references__scope_leave(refs_dmrpp_scope *scope, refs_set_builder *builder,
                                         refs_error *err);

/** The innermost group. */
refs_dmrpp_group *refs_references__scope_group(refs_dmrpp_scope *scope);

/** Sets `path` to that of a variable of the innermost group. */
refs_status refs_references__scope_path(const refs_dmrpp_scope *scope, const char *name,
                                        refs_buf *path, refs_error *err);

/** Adds all groups above `path` to the set. */
refs_status refs_references__scope_list_above(refs_dmrpp_scope *scope, refs_str path,
                                              refs_set_builder *builder, refs_error *err);

refs_status refs_references__scope_add_dimension(refs_dmrpp_scope *scope, const char *name,
                                                 uint64_t size, refs_error *err);
refs_status refs_references__scope_add_enumeration(refs_dmrpp_scope *scope, const char *name,
                                                   const refs_dmrpp_type *type, refs_error *err);

/** Find a declaration by its full name, "/group/name", or by a name in the innermost group or its
 * ancestors. NULL: not declared so far. */
const refs_dmrpp_declared *refs_references__scope_dimension(const refs_dmrpp_scope *scope,
                                                            const char *name);
const refs_dmrpp_declared *refs_references__scope_enumeration(const refs_dmrpp_scope *scope,
                                                              const char *name);

#endif
