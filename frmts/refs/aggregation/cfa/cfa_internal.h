/* cfa_internal.h -- what the files of masters share. */
#ifndef REFS_AGGREGATION_CFA_CFA_INTERNAL_H
#define REFS_AGGREGATION_CFA_CFA_INTERNAL_H

#include "cfa/nc_file.h"
#include "fragment_grid.h"
#include "refs/intern.h"
#include "refs/staged.h"

/** A filler: a file without values for missing fragments (fillers.c). */
typedef struct cfa_filler cfa_filler;

typedef struct cfa_fillers {
    cfa_filler *items;
    size_t n, capacity;
    char *folder; /**< the folder of the fillers; NULL: there are none */
    bool is_new;  /**< the folder did not exist before */
} cfa_fillers;

struct refs_master {
    refs_staged place;
    cfa_fillers fillers;
    nc_file *file;
    refs_cfa_version version;
    bool has_conventions, has_aggregations;
    bool repeats_sources; /* one of them is in it more than once */
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
    const char *name; /**< of the variable, without its group */
    int group;
    nc_place container; /**< defined with its attributes */
} cfa_job;

/** Fails if the version needs groups, which the format lacks. */
refs_status refs_cfa__check_groups(const char *path, refs_cfa_version version,
                                   refs_cfa_format format, refs_error *err);

/** The name of a master without folder and extension. */
refs_str refs_cfa__stem(const char *path);

/** The name of a variable in a fragment: S3netCDF4 expects the group that it has in the master. */
const char *refs_cfa__identifier(const refs_cfa_variable *variable);

/** Appends "STEM.[GROUP.]VARIABLE", the beginning of the names of its fragments. */
refs_status refs_cfa__append_owner(refs_str stem, const refs_cfa_variable *variable, refs_buf *name,
                                   refs_error *err);

/** Appends "STEM.[GROUP.]VARIABLE.fill.3x4.nc" and a NUL. */
refs_status refs_cfa__filler_name(refs_str stem, const refs_cfa_variable *variable,
                                  const uint64_t *shape, refs_buf *name, refs_error *err);

/** Gives missing fragments the names of fillers. */
refs_status refs_cfa__fill(refs_master *master, const cfa_job *job, refs_error *err);

/** The staged file of filler `i`; an existing filler is not written. */
refs_staged *refs_cfa__filler_place(const refs_master *master, size_t i);
void refs_cfa__fillers_clear(refs_master *master);

/** REFS_INVALID: a dimension has no fragment. REFS_LIMIT: there are more than 2^24 fragments, or
 * more elements along a dimension than maps can number. `shown` is the master's name for
 * messages. */
refs_status refs_cfa__check_grid(const char *shown, const refs_cfa_variable *variable,
                                 const refs_fragment_grid *grid, refs_error *err);

/** Begins a second master that will replace `before` in the same place. */
refs_status refs_cfa__master_open_again(const refs_master *before,
                                        const refs_master_options *options, refs_master **master,
                                        refs_error *err);

/** Appends the document of REFS_SOURCES_ATTRIBUTE: the list of states, and how the master was
 * combined. REFS_LIMIT: it is too large to be read again. */
refs_status refs_cfa__write_sources(refs_bytes list, refs_bytes joined, refs_buf *document,
                                    refs_error *err);

/** Completes the master, and moves it into place after its fillers and `parts`, which may be NULL:
 * all of them, or none. Frees it, also on failure. */
refs_status refs_cfa__master_finish(refs_master *master, refs_staged *parts, refs_error *err);

/** Appends names of dimensions separated by blanks, as in attributes. */
refs_status refs_cfa__append_dims(const refs_cfa_variable *variable, const char *separator,
                                  refs_buf *text, refs_error *err);

refs_status refs_cfa__put_conventions(nc_file *file, refs_str had, const char *version,
                                      refs_error *err);

/** Sets the fill value, attributes and units of a variable. */
refs_status refs_cfa__describe(nc_file *file, nc_place place, const refs_cfa_variable *variable,
                               refs_error *err);

/* -- unused.c ---------------------------------------------------------------------------------- */

/** Whether readers would treat a valid value, netCDF's default fill value, as missing. */
bool refs_cfa__has_only_values(const refs_cfa_variable *variable);

/** NaN of a type. It is always missing, so as a fill value it costs no valid value. */
const uint8_t *refs_cfa__nan(const refs_dtype *dtype);

/** Sets a fill value for an aggregation if readers would treat a valid value as netCDF's default
 * fill value, or the reverse. `fill` becomes that value. */
void refs_cfa__name_missing(refs_cfa_format format, refs_cfa_variable *container, uint8_t *fill);

/** The number of the greatest values of a type that are candidates for a fill value. */
#define CFA_CANDIDATES 65536

/** Which candidates occur among the values of an array; zeroed: none is known. */
typedef struct cfa_seen {
    bool has_default; /**< netCDF's default fill value occurs */
    bool has_nan;
    uint8_t is_used[CFA_CANDIDATES /
                    8]; /**< a bit for each candidate that occurs, the greatest first */
} cfa_seen;

/** Records some values of a variable if it needs a fill value. */
void refs_cfa__see(const refs_cfa_variable *variable, refs_bytes values, cfa_seen *seen);

/** Works like refs_cfa__describe, with a fill value that is no valid value if netCDF's default is
 * one. */
refs_status refs_cfa__describe_field(nc_file *file, nc_place place,
                                     const refs_cfa_variable *variable, const cfa_seen *seen,
                                     refs_error *err);
refs_status refs_cfa__describe_values(nc_file *file, nc_place place,
                                      const refs_cfa_variable *variable, refs_bytes values,
                                      refs_error *err);

/** A variable with unpacked values; borrowed from the packed one except `attributes`, which must be
 * freed. */
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

/** Makes a variable of doubles with the fill value NaN. */
refs_status refs_cfa__unpack(const refs_cfa_variable *packed, cfa_unpacked *unpacked,
                             refs_error *err);

/** Defines a variable, and keeps all its values to be written. */
refs_status refs_cfa__add_values(nc_file *file, const nc_shape *shape, refs_bytes values,
                                 nc_place *place, refs_error *err);

#endif
