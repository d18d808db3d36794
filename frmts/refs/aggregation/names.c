/* names.c -- converts names of fragments' files to locations; see aggregation_internal.h.
 *
 * Sources: CFA-0.4 (base), CFA-0.6 (substitutions), CF-1.13 (URIs relative to the aggregation's
 * file). S3netCDF4 wrote names relative to its working directory: its files are in a folder next to
 * the master with the master's name without extension. */
#include "aggregation_internal.h"
#include "refs/file_name.h"
#include "refs/refset.h"
#include "refs/url.h"

/* Limit of names after substitution, each of which may double them. */
#define MAX_NAME_BYTES (64 * REFS_KIB)

/* -- substitutions ----------------------------------------------------------------------------- */

/* Reads the next of "${NAME}: text ${NAME}: text"; false at the end. */
static bool next_substitution(refs_str *text, refs_str *name, refs_str *value) {
    if (!refs_str_next_word(text, REFS_BLANKS, name) || !refs_str_ends(*name, ":") ||
        !refs_str_starts(*name, "${"))
        return false;
    *name = refs_str_part(*name, 0, name->size - 1);
    return refs_str_next_word(text, REFS_BLANKS, value);
}

static refs_status substitute(refs_str name, refs_str value, refs_buf *file, refs_error *err) {
    refs_buf result = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    const char *text = (const char *)file->data;
    for (size_t i = 0; i < file->size && status == REFS_OK;) {
        bool is_here = name.size <= file->size - i && memcmp(text + i, name.data, name.size) == 0;
        status = is_here ? refs_buf_append_str(&result, value, err)
                         : refs_buf_append(&result, text + i, 1, err);
        i += is_here ? name.size : 1;
        if (status == REFS_OK && result.size > MAX_NAME_BYTES)
            status = refs_fail(err, REFS_LIMIT,
                               "the name of its file is longer than %d bytes once substitutions "
                               "are applied",
                               (int)MAX_NAME_BYTES);
    }
    refs_buf_clear(file);
    *file = result;
    return status;
}

/* The user's substitutions take precedence over the file's: "${BASE}=>/new/folder/". */
static refs_status apply_rewrites(const char *const *rewrites, refs_buf *file, refs_error *err) {
    for (; rewrites != NULL && *rewrites != NULL; rewrites++) {
        refs_str rewrite = refs_str_from(*rewrites);
        const char *arrow = strstr(*rewrites, "}=>");
        if (!refs_str_starts(rewrite, "${") || arrow == NULL) continue;
        refs_str name = refs_str_view(*rewrites, (size_t)(arrow - *rewrites) + 1);
        REFS_TRY(substitute(name, refs_str_from(arrow + 3), file, err));
    }
    return REFS_OK;
}

static refs_status apply_substitutions(const refs_aggregation *aggregation,
                                       const char *const *rewrites, refs_buf *file,
                                       refs_error *err) {
    const refs_array_meta *meta = aggregation->terms.files;
    refs_str text = meta != NULL ? refs_aggregation__text(meta->attributes, "substitutions")
                                 : refs_str_view("", 0);
    refs_str name, value;
    REFS_TRY(apply_rewrites(rewrites, file, err));
    while (next_substitution(&text, &name, &value)) REFS_TRY(substitute(name, value, file, err));
    return REFS_OK;
}

/* -- locations --------------------------------------------------------------------------------- */

/* Fails for OPeNDAP servers, which do not serve files. */
static refs_status refuse_opendap(refs_str file, refs_error *err) {
    bool is_dap = refs_str_starts(file, "dods:") || refs_str_starts(file, "dap4:") ||
                  (refs_url_is_http(file) &&
                   (refs_str_has(file, "/dodsC/") || refs_str_has(file, "/opendap/")));
    if (!is_dap) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s is an OPeNDAP address, which is not supported: use the URL of the file "
                     "itself, for example with -oo URL_REWRITE=/dodsC/…=>/fileServer/…",
                     REFS_STR_ARG(file));
}

static refs_status add_location(const refs_aggregation *aggregation, const refs_agg_names *names,
                                refs_str url, refs_buf *locations, refs_error *err) {
    const refs_url_context context = {names->master, names->rewrites, names->remote_to_local};
    const size_t begin = locations->size;
    REFS_TRY(refs_url_map(url, &context, locations, err));
    const refs_str location =
        refs_str_view((const char *)locations->data + begin, locations->size - begin);
    if (aggregation->named_by != NULL && !names->remote_to_local)
        REFS_TRY(refs_location_confine(refs_str_from(aggregation->named_by), location, err));
    return refs_buf_append(locations, "", 1, err);
}

static refs_status add_with_base(const refs_aggregation *aggregation, const refs_agg_names *names,
                                 refs_str file, refs_buf *locations, refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    const refs_buf *base = &aggregation->base;
    bool is_based = base->size > 0 && file.size > 0 && refs_file_name_is_relative(file);
    bool is_folder = is_based && base->data[base->size - 1] == '/';
    if (is_based) REFS_TRY(refs_buf_append(&url, base->data, base->size, err));
    if (is_based && !is_folder) REFS_TRY(refs_buf_append(&url, "/", 1, err));
    REFS_TRY(refs_buf_append_str(&url, file, err));
    return add_location(aggregation, names, refs_buf_text(&url), locations, err);
}

/* Appends "x/x.tas.0.nc" next to "x.nca", whatever folder the name has. */
static refs_status add_beside(const refs_aggregation *aggregation, const refs_agg_names *names,
                              refs_str file, refs_buf *locations, refs_error *err) {
    const refs_str stem = refs_path_last(refs_str_from(names->master)), name = refs_path_last(file);
    size_t dot = refs_str_find_last(stem, '.');
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    if (dot == SIZE_MAX || dot == 0 || name.size == 0) return REFS_OK;
    REFS_TRY(refs_buf_append_str(&url, refs_str_part(stem, 0, dot), err));
    REFS_TRY(refs_buf_append(&url, "/", 1, err));
    REFS_TRY(refs_buf_append_str(&url, name, err));
    if (!refs_str_equal(file, refs_buf_text(&url)))
        REFS_TRY(add_location(aggregation, names, refs_buf_text(&url), locations, err));
    return REFS_OK;
}

/* Names in CF-1.13 are URIs, so they are unescaped. */
static refs_status add_unescaped(const refs_aggregation *aggregation, const refs_agg_names *names,
                                 refs_str file, refs_buf *locations, refs_error *err) {
    REFS_SCOPED_BUF plain = REFS_BUF_INIT;
    REFS_TRY(refs_file_name_unescape(file, &plain, err));
    const refs_str name = refs_buf_text(&plain);
    if (name.size != file.size) REFS_TRY(add_with_base(aggregation, names, name, locations, err));
    return REFS_OK;
}

refs_status refs_aggregation__locate_kind(const refs_aggregation *aggregation,
                                          const refs_agg_name *file, refs_buf *locations,
                                          refs_error *err) {
    const refs_agg_names *names = file->names;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&text, file->text, err));
    REFS_TRY(apply_substitutions(aggregation, names->rewrites, &text, err));
    refs_str name = refs_buf_text(&text);
    REFS_TRY(refuse_opendap(name, err));
    if (file->kind == REFS_LOCATION_AS_NAMED)
        REFS_TRY(add_with_base(aggregation, names, name, locations, err));
    if (file->kind == REFS_LOCATION_UNESCAPED)
        REFS_TRY(add_unescaped(aggregation, names, name, locations, err));
    if (file->kind == REFS_LOCATION_BESIDE && aggregation->encoding->is_of_s3netcdf4 &&
        refs_file_name_is_relative(name))
        REFS_TRY(add_beside(aggregation, names, name, locations, err));
    return REFS_OK;
}

refs_status refs_aggregation__locate(const refs_aggregation *aggregation,
                                     const refs_agg_names *names, refs_str file,
                                     refs_buf *locations, refs_error *err) {
    for (int kind = 0; kind < REFS_N_LOCATION_KINDS; kind++) {
        const refs_agg_name name = {names, file, (refs_location_kind)kind};
        REFS_TRY(refs_aggregation__locate_kind(aggregation, &name, locations, err));
    }
    return REFS_OK;
}

/* -- one location ------------------------------------------------------------------------------ */

refs_status refs_aggregation__try_copies(const char *locations, const refs_copy_visitor *visitor,
                                         refs_error *err) {
    refs_error first = REFS_ERROR_INIT;
    refs_status result = REFS_NOT_FOUND;
    for (; *locations != '\0'; locations += strlen(locations) + 1) {
        refs_error problem = REFS_ERROR_INIT;
        const refs_status status = visitor->open(visitor->user, locations, &problem);
        if (status == REFS_OK) return REFS_OK;
        if (status == REFS_NOT_FOUND) continue;
        if (result == REFS_NOT_FOUND) {
            first = problem;
            result = status;
        }
        if (status == REFS_CANCELLED || status == REFS_NOMEM) break;
    }
    return result == REFS_NOT_FOUND ? result : refs_fail(err, result, "%s", first.message);
}

typedef struct choice {
    const refs_vfs *vfs;
    const char *location; /* at which there is a file, or NULL */
} choice;

static refs_status look(void *user, const char *location, refs_error *err) {
    choice *chosen = user;
    void *handle = NULL;
    REFS_TRY(chosen->vfs->open(chosen->vfs->self, location, &handle, err));
    chosen->vfs->close(chosen->vfs->self, handle);
    chosen->location = location;
    return REFS_OK;
}

/* Appends the first of several locations, each with a NUL, at which there is a file; or else the
 * first. */
static refs_status choose(const refs_fragment_places *places, refs_buf *all, refs_buf *location,
                          refs_error *err) {
    choice chosen = {places->vfs, NULL};
    const refs_copy_visitor visitor = {look, &chosen};
    const bool is_one = refs_str_count_texts(refs_buf_text(all)) < 2;
    if (all->size == 0) return REFS_OK;
    REFS_TRY(refs_buf_append(all, "", 1, err));
    const char *first = (const char *)all->data;
    const refs_status status =
        is_one ? REFS_NOT_FOUND : refs_aggregation__try_copies(first, &visitor, err);
    if (status != REFS_OK && status != REFS_NOT_FOUND) return status;
    if (chosen.location != NULL) first = chosen.location;
    return refs_buf_append(location, first, strlen(first) + 1, err);
}

static refs_agg_names names_of(const refs_fragment_places *places) {
    return (refs_agg_names){places->master, places->sets->rewrites, places->sets->remote_to_local};
}

refs_status refs_aggregation_locate(const refs_array_meta *meta, const refs_fragment_places *places,
                                    const char *file, refs_buf *location, refs_error *err) {
    const refs_agg_names names = names_of(places);
    static const refs_aggregation none = {.encoding = &refs_encoding_cf113};
    const refs_aggregation *aggregation = meta != NULL ? meta->aggregation : &none;
    REFS_SCOPED_BUF all = REFS_BUF_INIT;
    REFS_TRY(refs_aggregation__locate(aggregation, &names, refs_str_from(file), &all, err));
    return choose(places, &all, location, err);
}

refs_status refs_aggregation__locate_copies(const refs_aggregation *aggregation,
                                            const refs_agg_names *names, uint64_t number,
                                            refs_buf *locations, refs_error *err) {
    const refs_fragment_grid *grid = &aggregation->grid;
    for (size_t k = 0; k < grid->n_alternatives; k++) {
        const uint32_t id = grid->files[grid->sources[number].first_file + k];
        if (id == REFS_NO_TEXT) continue;
        REFS_TRY(refs_aggregation__locate(aggregation, names, refs_intern_get(&grid->strings, id),
                                          locations, err));
    }
    return REFS_OK;
}

refs_status refs_aggregation_locate_fragment(const refs_array_meta *meta,
                                             const refs_fragment_places *places,
                                             const refs_partition *fragment, refs_buf *location,
                                             refs_error *err) {
    const refs_agg_names names = names_of(places);
    REFS_SCOPED_BUF all = REFS_BUF_INIT;
    REFS_TRY(
        refs_aggregation__locate_copies(meta->aggregation, &names, fragment->number, &all, err));
    return choose(places, &all, location, err);
}
