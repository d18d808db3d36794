/* encode_cf.c -- CF-1.13, section 2.8: aggregated_data names variables that hold the map of sizes,
 * the URIs, and what the variable is called in each. */
#include "cfa/cfa_internal.h"

static const refs_dtype int32 = {.type = REFS_TYPE_INT, .size = 4};
static const refs_dtype strings = {.type = REFS_TYPE_OBJECT};

/* Names that begin with that of the variable. */
typedef struct cf_names {
    refs_buf text;
    const char *dims[REFS_MAX_RANK]; /* of fragments */
    const char *map, *uris, *identifiers, *rows, *columns;
} cf_names;

/* Appends a name; what it is called is its position, as the text moves while it grows. */
static refs_status append_name(const cfa_job *job, const char *suffix, const char *dim,
                               refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_printf(text, err, "%s_%s%s", job->name, suffix, dim));
    return refs_buf_append(text, "", 1, err);
}

static refs_status name_all(const cfa_job *job, cf_names *names, refs_error *err) {
    static const char *const suffixes[] = {"map", "uris", "identifiers", "map_dimension",
                                           "map_fragment"};
    const char **members[] = {&names->map, &names->uris, &names->identifiers, &names->rows,
                              &names->columns};
    size_t rank = job->variable->rank;
    for (size_t i = 0; i < 5; i++) REFS_TRY(append_name(job, suffixes[i], "", &names->text, err));
    for (size_t d = 0; d < rank; d++)
        REFS_TRY(append_name(job, "fragment_", job->variable->dims[d], &names->text, err));
    const char *text = (const char *)names->text.data;
    for (size_t i = 0; i < 5; i++, text += strlen(text) + 1) *members[i] = text;
    for (size_t d = 0; d < rank; d++, text += strlen(text) + 1) names->dims[d] = text;
    return REFS_OK;
}

/* -- the map ----------------------------------------------------------------------------------- */

static uint64_t longest_row(const cfa_job *job) {
    uint64_t longest = 1;
    for (size_t d = 0; d < job->variable->rank; d++)
        if (job->grid->n[d] > longest) longest = job->grid->n[d];
    return longest;
}

/* Rows of sizes, with -1, which is missing, behind the shorter ones. */
static refs_status gather_map(const cfa_job *job, refs_buf *values, refs_error *err) {
    uint64_t columns = longest_row(job);
    for (size_t d = 0; d < job->variable->rank; d++)
        for (uint64_t i = 0; i < columns; i++) {
            int32_t size = i < job->grid->n[d] ? (int32_t)job->grid->sizes[d][i] : -1;
            REFS_TRY(refs_buf_append(values, &size, sizeof size, err));
        }
    int32_t one = 1;
    return job->variable->rank > 0 ? REFS_OK : refs_buf_append(values, &one, sizeof one, err);
}

static refs_status put_map(const cfa_job *job, const cf_names *names, const refs_buf *values,
                           refs_error *err) {
    const int32_t missing = -1;
    const char *dims[] = {names->rows, names->columns};
    size_t rank = job->variable->rank;
    nc_shape shape = {job->group, names->map, int32, rank > 0 ? 2 : 0, dims, 0};
    nc_place place;
    if (rank > 0) {
        const nc_dimension rows = {refs_str_from(names->rows), rank, REFS_CFA_FIXED},
                           columns = {refs_str_from(names->columns), longest_row(job),
                                      REFS_CFA_FIXED};
        REFS_TRY(refs_cfa__file_dimension(job->file, job->group, &rows, err));
        REFS_TRY(refs_cfa__file_dimension(job->file, job->group, &columns, err));
    }
    REFS_TRY(refs_cfa__file_define(job->file, &shape, &place, err));
    REFS_TRY(refs_cfa__file_fill(job->file, place, &int32, (const uint8_t *)&missing, err));
    return refs_cfa__file_keep(job->file, place, &int32, refs_buf_view(values), err);
}

static refs_status write_map(const cfa_job *job, const cf_names *names, refs_error *err) {
    refs_buf values = REFS_BUF_INIT;
    refs_status status = gather_map(job, &values, err);
    if (status == REFS_OK) status = put_map(job, names, &values, err);
    refs_buf_clear(&values);
    return status;
}

/* -- strings ----------------------------------------------------------------------------------- */

static refs_status define_dims(const cfa_job *job, const cf_names *names, refs_error *err) {
    for (size_t d = 0; d < job->variable->rank; d++) {
        const nc_dimension added = {refs_str_from(names->dims[d]), job->grid->n[d], REFS_CFA_FIXED};
        REFS_TRY(refs_cfa__file_dimension(job->file, job->group, &added, err));
    }
    return REFS_OK;
}

/* What the variable is called in the fragments where that is one name; else NULL. */
static const char *only_identifier(const cfa_job *job) {
    const char *only = NULL;
    for (size_t i = 0; i < job->n_fragments; i++) {
        const refs_cfa_fragment *fragment = &job->fragments[i];
        if (fragment->file == NULL) continue;
        if (only != NULL && strcmp(only, fragment->variable) != 0) return NULL;
        only = fragment->variable;
    }
    return only != NULL ? only : job->name;
}

static refs_status put_strings(const cfa_job *job, const nc_shape *shape, const refs_buf *values,
                               refs_error *err) {
    nc_place place;
    return refs_cfa__file_strings(job->file, shape, refs_buf_view(values), &place, err);
}

static refs_status write_uris(const cfa_job *job, const cf_names *names, refs_error *err) {
    nc_shape shape = {job->group, names->uris, strings, job->variable->rank, names->dims, 0};
    refs_buf values = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0; status == REFS_OK && i < job->n_fragments; i++) {
        const char *file = job->fragments[i].file != NULL ? job->fragments[i].file : "";
        status = refs_cfa_name_file(REFS_CFA_CF_1_13, file, &values, err);
        if (status == REFS_OK) status = refs_buf_append(&values, "", 1, err);
    }
    if (status == REFS_OK) status = put_strings(job, &shape, &values, err);
    refs_buf_clear(&values);
    return status;
}

static refs_status write_identifiers(const cfa_job *job, const cf_names *names, refs_error *err) {
    const char *only = only_identifier(job);
    nc_shape shape = {job->group,  names->identifiers,
                      strings,     only != NULL ? 0 : job->variable->rank,
                      names->dims, 0};
    refs_buf values = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    size_t n = only != NULL ? 1 : job->n_fragments;
    for (size_t i = 0; status == REFS_OK && i < n; i++) {
        const refs_cfa_fragment *fragment = &job->fragments[i];
        const char *text = only != NULL ? only : fragment->file != NULL ? fragment->variable : "";
        status = refs_buf_append(&values, text, strlen(text) + 1, err);
    }
    if (status == REFS_OK) status = put_strings(job, &shape, &values, err);
    refs_buf_clear(&values);
    return status;
}

/* -- the encoding ------------------------------------------------------------------------------ */

static refs_status put_attributes(const cfa_job *job, const cf_names *names, refs_buf *text,
                                  refs_error *err) {
    REFS_TRY(refs_cfa__append_dims(job->variable, " ", text, err));
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "aggregated_dimensions",
                                 refs_str_view((const char *)text->data, text->size), err));
    text->size = 0;
    REFS_TRY(refs_buf_printf(text, err, "map: %s uris: %s identifiers: %s", names->map, names->uris,
                             names->identifiers));
    return refs_cfa__file_text(job->file, job->container, "aggregated_data",
                               refs_str_view((const char *)text->data, text->size), err);
}

static refs_status encode(const cfa_job *job, cf_names *names, refs_buf *text, refs_error *err) {
    REFS_TRY(name_all(job, names, err));
    REFS_TRY(define_dims(job, names, err));
    REFS_TRY(write_map(job, names, err));
    REFS_TRY(write_uris(job, names, err));
    REFS_TRY(write_identifiers(job, names, err));
    return put_attributes(job, names, text, err);
}

refs_status refs_cfa__encode_cf(const cfa_job *job, refs_error *err) {
    cf_names names = {.text = REFS_BUF_INIT};
    refs_buf text = REFS_BUF_INIT;
    refs_status status = encode(job, &names, &text, err);
    refs_buf_clear(&text);
    refs_buf_clear(&names.text);
    return status;
}
