/* encode_json.c -- CFA-0.4: partitions as JSON in the attribute cfa_array, locations inclusive. */
#include "cfa/cfa_internal.h"

static refs_status append_member(const char *name, const char *text, refs_buf *json,
                                 refs_error *err) {
    REFS_TRY(refs_buf_printf(json, err, "\"%s\": ", name));
    return refs_json_write_string(refs_str_from(text), json, err);
}

static refs_status append_numbers(const uint64_t *numbers, size_t n, refs_buf *json,
                                  refs_error *err) {
    REFS_TRY(refs_buf_append(json, "[", 1, err));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(refs_buf_printf(json, err, "%s%llu", i > 0 ? ", " : "",
                                 (unsigned long long)numbers[i]));
    return refs_buf_append(json, "]", 1, err);
}

static refs_status append_place(const cfa_spot *spot, size_t rank, refs_buf *json,
                                refs_error *err) {
    REFS_TRY(refs_buf_append_str(json, refs_str_from("{\"index\": "), err));
    REFS_TRY(append_numbers(spot->index, rank, json, err));
    REFS_TRY(refs_buf_append_str(json, refs_str_from(", \"location\": ["), err));
    for (size_t d = 0; d < rank; d++) {
        uint64_t range[2] = {spot->begin[d], spot->end[d] > 0 ? spot->end[d] - 1 : 0};
        if (d > 0) REFS_TRY(refs_buf_append(json, ", ", 2, err));
        REFS_TRY(append_numbers(range, 2, json, err));
    }
    return refs_buf_append_str(json, refs_str_from("], \"subarray\": {"), err);
}

/* CFA-0.4 knows netCDF, of whatever data model; CFA-0.5 has the names of those. */
static const char *json_format_name(const refs_cfa_fragment *fragment) {
    const char *name = refs_cfa__format_name(fragment);
    return strncmp(name, "NETCDF", 6) == 0 ? "netCDF" : name;
}

static refs_status append_partition(const refs_cfa_fragment *fragment, const cfa_spot *spot,
                                    size_t rank, refs_buf *json, refs_error *err) {
    uint64_t shape[REFS_MAX_RANK];
    for (size_t d = 0; d < rank; d++) shape[d] = spot->end[d] - spot->begin[d];
    REFS_TRY(append_place(spot, rank, json, err));
    REFS_TRY(append_member("ncvar", fragment->variable, json, err));
    REFS_TRY(refs_buf_append(json, ", ", 2, err));
    REFS_TRY(append_member("file", fragment->file, json, err));
    REFS_TRY(refs_buf_append(json, ", ", 2, err));
    REFS_TRY(append_member("format", json_format_name(fragment), json, err));
    REFS_TRY(refs_buf_append_str(json, refs_str_from(", \"shape\": "), err));
    REFS_TRY(append_numbers(shape, rank, json, err));
    return refs_buf_append(json, "}}", 2, err);
}

static refs_status append_dims(const cfa_job *job, refs_buf *json, refs_error *err) {
    REFS_TRY(refs_buf_append_str(json, refs_str_from(", \"pmdimensions\": ["), err));
    for (size_t d = 0; d < job->variable->rank; d++) {
        if (d > 0) REFS_TRY(refs_buf_append(json, ", ", 2, err));
        REFS_TRY(refs_json_write_string(refs_str_from(job->variable->dims[d]), json, err));
    }
    return refs_buf_append(json, "]", 1, err);
}

/* Partitions that are missing are left out. An empty "base" is the folder of the master. */
static refs_status append_array(const cfa_job *job, refs_buf *json, refs_error *err) {
    size_t rank = job->variable->rank;
    bool is_first = true;
    cfa_spot spot;
    REFS_TRY(refs_buf_append_str(json, refs_str_from("{\"base\": \"\", \"pmshape\": "), err));
    REFS_TRY(append_numbers(job->grid->n, rank, json, err));
    REFS_TRY(append_dims(job, json, err));
    REFS_TRY(refs_buf_append_str(json, refs_str_from(", \"Partitions\": ["), err));
    refs_cfa__first(job->grid, rank, &spot);
    for (size_t i = 0; i < job->n_fragments; i++) {
        if (job->fragments[i].file != NULL) {
            if (!is_first) REFS_TRY(refs_buf_append(json, ", ", 2, err));
            REFS_TRY(append_partition(&job->fragments[i], &spot, rank, json, err));
            is_first = false;
        }
        refs_cfa__next(job->grid, rank, &spot);
    }
    return refs_buf_append(json, "]}", 2, err);
}

static refs_status put_text(const cfa_job *job, const char *name, const refs_buf *text,
                            refs_error *err) {
    refs_str view = refs_str_view((const char *)text->data, text->size);
    return refs_cfa__file_text(job->file, job->container, name, view, err);
}

static refs_status encode(const cfa_job *job, refs_buf *text, refs_error *err) {
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "cf_role",
                                 refs_str_from("cfa_variable"), err));
    REFS_TRY(refs_cfa__append_dims(job->variable, " ", text, err));
    REFS_TRY(put_text(job, "cfa_dimensions", text, err));
    text->size = 0;
    REFS_TRY(append_array(job, text, err));
    return put_text(job, "cfa_array", text, err);
}

refs_status refs_cfa__encode_json(const cfa_job *job, refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = encode(job, &text, err);
    refs_buf_clear(&text);
    return status;
}
