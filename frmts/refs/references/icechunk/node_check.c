/* node_check.c -- see node_check.h. */
#include "icechunk/node_check.h"

#include "icechunk/schema.h"
#include "refs/json.h"

#define SHAPE_SIZE 16

/* Reads length and number of chunks of a dimension; 0 chunks: format 1 does not state it. */
static refs_status read_shape(const refs_node_fields *fields, uint32_t dim, uint64_t *length,
                              uint64_t *n_chunks, refs_error *err) {
    refs_flat_table table;
    *n_chunks = *length = 0;
    if (!fields->shape_v2.is_present) {
        *length = refs_load_le64(refs_icechunk__flat_at(&fields->shape, dim, SHAPE_SIZE));
        return REFS_OK;
    }
    REFS_TRY(refs_icechunk__flat_table_at(&fields->shape_v2, dim, &table, err));
    REFS_TRY(refs_icechunk__flat_number(&table, DIMENSION_LENGTH, 8, length, err));
    return refs_icechunk__flat_number(&table, DIMENSION_N_CHUNKS, 4, n_chunks, err);
}

/* The chunk shape of a regular grid, or NULL. */
static const refs_json *chunk_shape_of(const refs_json *metadata, size_t rank) {
    const refs_json *grid = refs_json_get(metadata, "chunk_grid");
    const refs_json *shape = refs_json_get(refs_json_get(grid, "configuration"), "chunk_shape");
    const bool is_regular = refs_str_is(refs_json_text(refs_json_get(grid, "name")), "regular");
    return is_regular && refs_json_size(shape) == rank ? shape : NULL;
}

static refs_status check_shape(const refs_node_fields *fields, const refs_json *metadata,
                               refs_error *err) {
    const refs_json *shape = refs_json_get(metadata, "shape");
    const uint32_t rank = fields->shape_v2.is_present ? fields->shape_v2.n : fields->shape.n;
    const refs_json *chunks = chunk_shape_of(metadata, rank);
    if (!refs_json_is_array(shape)) return REFS_OK;
    if (refs_json_size(shape) != rank)
        return refs_fail(err, REFS_CORRUPT,
                         "the node has %u dimensions, its Zarr metadata have %zu", (unsigned)rank,
                         refs_json_size(shape));
    for (uint32_t dim = 0; dim < rank; dim++) {
        uint64_t length, n_chunks, other, chunk = 0;
        REFS_TRY(read_shape(fields, dim, &length, &n_chunks, err));
        if (refs_json_u64(refs_json_at(shape, dim), &other) && other != length)
            return refs_fail(
                err, REFS_CORRUPT,
                "dimension %u has %llu elements in the node and %llu in its Zarr metadata",
                (unsigned)dim, (unsigned long long)length, (unsigned long long)other);
        if (n_chunks == 0 || chunks == NULL || !refs_json_u64(refs_json_at(chunks, dim), &chunk) ||
            chunk == 0)
            continue;
        const uint64_t needed = length / chunk + (length % chunk != 0);
        if (needed != n_chunks)
            return refs_fail(
                err, REFS_CORRUPT,
                "dimension %u has %llu chunks in the node and %llu in its Zarr metadata",
                (unsigned)dim, (unsigned long long)n_chunks, (unsigned long long)needed);
    }
    return REFS_OK;
}

static refs_status check_names(const refs_node_fields *fields, const refs_json *metadata,
                               refs_error *err) {
    const refs_json *names = refs_json_get(metadata, "dimension_names");
    if (!fields->names.is_present || refs_json_size(names) != fields->names.n) return REFS_OK;
    for (uint32_t dim = 0; dim < fields->names.n; dim++) {
        const refs_json *name = refs_json_at(names, dim);
        refs_flat_table table;
        refs_str own;
        REFS_TRY(refs_icechunk__flat_table_at(&fields->names, dim, &table, err));
        REFS_TRY(refs_icechunk__flat_string(&table, DIMENSION_NAME, &own, err));
        const bool is_named = refs_json_is_string(name);
        if (is_named != (own.data != NULL) ||
            (is_named && !refs_str_equal(own, refs_json_text(name))))
            return refs_fail(
                err, REFS_CORRUPT,
                "dimension %u has the name \"%.*s\" in the node and \"%.*s\" in its Zarr metadata",
                (unsigned)dim, REFS_STR_ARG(own), REFS_STR_ARG(refs_json_text(name)));
    }
    return REFS_OK;
}

static refs_status check(const refs_node_fields *fields, const refs_json *metadata,
                         refs_error *err) {
    const refs_str type = refs_json_text(refs_json_get(metadata, "node_type"));
    const char *own = fields->is_array ? "array" : "group";
    if (type.size > 0 && !refs_str_is(type, own))
        return refs_fail(err, REFS_CORRUPT,
                         "the node is of type \"%s\", its Zarr metadata of type \"%.*s\"", own,
                         REFS_STR_ARG(type));
    if (!fields->is_array) return REFS_OK;
    REFS_TRY(check_shape(fields, metadata, err));
    return check_names(fields, metadata, err);
}

refs_status refs_icechunk__check_node(const refs_node_fields *fields, refs_bytes metadata,
                                      refs_error *err) {
    REFS_SCOPED_JSON *document = NULL;
    const refs_str text = refs_bytes_text(metadata);
    refs_status status = refs_json_parse(text, &document, NULL);
    if (status != REFS_OK) return status == REFS_NOMEM ? refs_fail_nomem(err) : REFS_OK;
    status = check(fields, refs_json_root(document), err);
    return status;
}
