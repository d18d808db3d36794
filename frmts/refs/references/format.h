/* format.h -- the interface of a format of sets. */
#ifndef REFS_REFERENCES_FORMAT_H
#define REFS_REFERENCES_FORMAT_H

#include "refs/refset.h"

/** The arguments of opening a set. */
typedef struct refs_set_input {
    const refs_vfs *vfs;
    const char *location;                   /**< of the document */
    const char *name;                       /**< of the set, as requested */
    const refs_set_options *options;        /**< never NULL */
    const struct refs_candidate *candidate; /**< how `location` was found (metadata_file.h) */
    const struct refs_set_input *parent;    /**< the document that names it, or NULL */
} refs_set_input;

typedef struct refs_set_format {
    const char *name;
    /** Whether a location whose first bytes are `head` may have this format. */
    bool (*sniff)(const refs_set_input *input, refs_bytes head);
    refs_status (*open)(const refs_set_input *input, refs_set **set, refs_error *err);
    /** Works like open, for a location that no format recognised by `sniff`: REFS_INVALID if it
     * does not have this format. May be NULL. */
    refs_status (*try_open)(const refs_set_input *input, refs_set **set, refs_error *err);
} refs_set_format;

/** Whether a location that begins with `head` is a DMR++; `input` is ignored. */
bool refs_references__dmrpp_sniff(const refs_set_input *input, refs_bytes head);

/** Whether a file is a DMR or a DDX: like DMR++, but without the locations of bytes. */
bool refs_references__is_dmr(refs_bytes head);

extern const refs_set_format refs_references__dmrpp;
extern const refs_set_format refs_references__icechunk;
extern const refs_set_format refs_references__json;
extern const refs_set_format refs_references__parquet;
extern const refs_set_format refs_references__scanned;
extern const refs_set_format refs_references__stac;
extern const refs_set_format refs_references__archive;

/** Works like refs_set_each_of_list for the archive at `location`: the name of a set is that of its
 * member, and it has no metadata. */
refs_status refs_references__archive_each(const refs_vfs *vfs, const char *location,
                                          const refs_set_visitor *visitor, size_t *n_sets,
                                          refs_error *err);

/** Works like refs_set_open, for a set that another document names. */
refs_status refs_references__open_named(const refs_set_input *parent, const char *location,
                                        const refs_set_options *options, refs_set **set,
                                        refs_error *err);

#endif
