/* format.h -- the formats that sets come in: one row of a table each. */
#ifndef REFS_REFERENCES_FORMAT_H
#define REFS_REFERENCES_FORMAT_H

#include "refs/refset.h"

/** The location to open, and its environment. */
typedef struct refs_set_input {
    const refs_vfs *vfs;
    const char *location;                   /**< of the document */
    const char *name;                       /**< of the set: what was asked for */
    const refs_set_options *options;        /**< never NULL */
    const struct refs_candidate *candidate; /**< what the location was taken for */
    const struct refs_set_input *parent;    /**< the document that names it, or NULL */
} refs_set_input;

typedef struct refs_set_format {
    const char *name;
    /** Whether a location whose first bytes are `head` may be of this format. */
    bool (*sniff)(const refs_set_input *input, refs_bytes head);
    refs_status (*open)(const refs_set_input *input, refs_set **set, refs_error *err);
    /** Works like open, for a location that no format sniffs: REFS_INVALID where it is not of this
     * format. May be NULL: it never is. */
    refs_status (*try_open)(const refs_set_input *input, refs_set **set, refs_error *err);
} refs_set_format;

/** Whether a location that begins with `head` is a DMR++; `input` is not looked at. */
bool refs_references__dmrpp_sniff(const refs_set_input *input, refs_bytes head);

/** Whether a file begins as a DMR or a DDX: as DMR++ without the places of bytes. */
bool refs_references__is_dmr(refs_bytes head);

extern const refs_set_format refs_references__dmrpp;
extern const refs_set_format refs_references__icechunk;
extern const refs_set_format refs_references__json;
extern const refs_set_format refs_references__parquet;
extern const refs_set_format refs_references__scanned;
extern const refs_set_format refs_references__stac;
extern const refs_set_format refs_references__archive;

/** Works like refs_set_each_of_list for the archive at `location`: sets have the name of their
 * member, and no metadata. */
refs_status refs_references__archive_each(const refs_vfs *vfs, const char *location,
                                          const refs_set_visitor *visitor, size_t *n_sets,
                                          refs_error *err);

/** Works like refs_set_open for what another document names. */
refs_status refs_references__open_named(const refs_set_input *parent, const char *location,
                                        const refs_set_options *options, refs_set **set,
                                        refs_error *err);

#endif
