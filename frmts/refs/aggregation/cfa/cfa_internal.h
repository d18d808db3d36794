/* cfa_internal.h -- what the files of masters share. */
#ifndef REFS_AGGREGATION_CFA_CFA_INTERNAL_H
#define REFS_AGGREGATION_CFA_CFA_INTERNAL_H

#include "cfa/nc_file.h"
#include "fragment_grid.h"
#include "refs/intern.h"
#include "refs/staged.h"

/** Files that stand for fragments that are missing (fillers.c). */
typedef struct cfa_filler cfa_filler;

typedef struct cfa_fillers {
    cfa_filler *items;
    size_t n, capacity;
    char *folder; /**< in which they are; NULL: there are none */
    bool is_new;  /**< it was not there before */
} cfa_fillers;

struct refs_master {
    refs_staged place;
    cfa_fillers fillers;
    nc_file *file;
    refs_cfa_version version;
    bool has_conventions, has_aggregations;
    refs_intern recorded; /**< names of fragments in `sources` */
    char **sources;       /**< their states, as JSON */
    size_t n_sources, sources_capacity;
    size_t sources_bytes;
    refs_buf joined; /**< refs_master_joined, or empty */
};

/** An aggregation that is being written. */
typedef struct cfa_job {
    nc_file *file;
    const refs_cfa_variable *variable;
    refs_fragment_grid *grid;
    const char *name; /**< of the variable, behind its group */
    int group;
    nc_place container; /**< defined, with its attributes */
} cfa_job;

/** Fails where the format lacks the groups that a version needs. */
refs_status refs_cfa__check_groups(const char *path, refs_cfa_version version,
                                   refs_cfa_format format, refs_error *err);

/** The name of a master without its folder and its ending. */
refs_str refs_cfa__stem(const char *path);

/** The name of a variable in a fragment: S3netCDF4 looks for it in the group that it has in the
 * master. */
const char *refs_cfa__identifier(const refs_cfa_variable *variable);

/** Appends "STEM.[GROUP.]VARIABLE", with which names of its fragments begin. */
refs_status refs_cfa__append_owner(refs_str stem, const refs_cfa_variable *variable, refs_buf *name,
                                   refs_error *err);

/** Appends "STEM.[GROUP.]VARIABLE.fill.3x4.nc" with a NUL behind it. */
refs_status refs_cfa__filler_name(refs_str stem, const refs_cfa_variable *variable,
                                  const uint64_t *shape, refs_buf *name, refs_error *err);

/** Gives fragments that are missing the names of files without values. */
refs_status refs_cfa__fill(refs_master *master, const cfa_job *job, refs_error *err);

/** The place of filler `i`; nothing is written for one that was there. */
refs_staged *refs_cfa__filler_place(const refs_master *master, size_t i);
void refs_cfa__fillers_clear(refs_master *master);

/** REFS_INVALID: there is no fragment along a dimension. REFS_LIMIT: there are more than 2^24, or
 * more elements along a dimension than maps number. `shown` is what messages call the master. */
refs_status refs_cfa__check_grid(const char *shown, const refs_cfa_variable *variable,
                                 const refs_fragment_grid *grid, refs_error *err);

/** Begins another master that is going to replace `before`, in the place that this has. */
refs_status refs_cfa__master_open_again(const refs_master *before,
                                        const refs_master_options *options, refs_master **master,
                                        refs_error *err);

/** Appends the document of REFS_SOURCES_ATTRIBUTE: members of a list, and how the master was
 * joined, or nothing. REFS_LIMIT: it is one that cannot be read again. */
refs_status refs_cfa__write_sources(refs_bytes list, refs_bytes joined, refs_buf *document,
                                    refs_error *err);

/** Completes the master and puts it in its place, behind its fillers and `parts`, which may be
 * NULL: all of them, or none. Frees it, also on failure. */
refs_status refs_cfa__master_finish(refs_master *master, refs_staged *parts, refs_error *err);

/** Names of dimensions with blanks between them, as attributes have them. */
refs_status refs_cfa__append_dims(const refs_cfa_variable *variable, const char *separator,
                                  refs_buf *text, refs_error *err);

refs_status refs_cfa__put_conventions(nc_file *file, refs_str had, const char *version,
                                      refs_error *err);

/** Gives a variable its fill value, attributes and units. */
refs_status refs_cfa__describe(nc_file *file, nc_place place, const refs_cfa_variable *variable,
                               refs_error *err);

/* -- unused.c ---------------------------------------------------------------------------------- */

/** Whether readers would take netCDF's default fill value for a missing one, which is a value. */
bool refs_cfa__has_only_values(const refs_cfa_variable *variable);

/** NaN of a type. It is missing whatever else is: as a fill value it takes no value away. */
const uint8_t *refs_cfa__nan(const refs_dtype *dtype);

/** Gives the container of an aggregation a fill value where readers would take netCDF's default for
 * a missing one that is a value, or the other way round. `fill` becomes that value. */
void refs_cfa__name_missing(refs_cfa_format format, refs_cfa_variable *container, uint8_t *fill);

/** The greatest numbers of a type, one of which becomes a fill value. */
#define CFA_CANDIDATES 65536

/** Which values an array has; zeroed: none is known. */
typedef struct cfa_seen {
    bool has_default; /**< netCDF's default fill value */
    bool has_nan;
    uint8_t is_used[CFA_CANDIDATES / 8]; /**< a bit for each candidate, the greatest first */
} cfa_seen;

/** Looks at some of the values of a variable where that needs it. */
void refs_cfa__see(const refs_cfa_variable *variable, refs_bytes values, cfa_seen *seen);

/** As refs_cfa__describe, with a fill value that is none of the values where netCDF's is one. */
refs_status refs_cfa__describe_field(nc_file *file, nc_place place,
                                     const refs_cfa_variable *variable, const cfa_seen *seen,
                                     refs_error *err);
refs_status refs_cfa__describe_values(nc_file *file, nc_place place,
                                      const refs_cfa_variable *variable, refs_bytes values,
                                      refs_error *err);

/** A variable as it is when its values are unpacked, borrowed from the packed one but for
 * `attributes`, which are to be freed. */
typedef struct cfa_unpacked {
    refs_cfa_variable variable;
    refs_json_doc *attributes;
    uint8_t fill[sizeof(double)];
} cfa_unpacked;

typedef bool refs_cfa__name_test(const refs_json *attributes, refs_str name);

/** Copies an object, or NULL, without the members that the test selects. */
refs_status refs_cfa__without(const refs_json *attributes, refs_cfa__name_test *is_left_out,
                              refs_json_doc **others, refs_error *err);

bool refs_cfa__is_packed(const refs_cfa_variable *variable);

/** Makes it of doubles, whose fill value is NaN. */
refs_status refs_cfa__unpack(const refs_cfa_variable *packed, cfa_unpacked *unpacked,
                             refs_error *err);

/** Defines a variable whose values are all there. */
refs_status refs_cfa__add_values(nc_file *file, const nc_shape *shape, refs_bytes values,
                                 nc_place *place, refs_error *err);

#endif
