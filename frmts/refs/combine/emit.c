/* emit.c -- writes the combined set to the sink: documents first, then one array after the other.
 */
#include "combine_internal.h"
#include "refs/codec.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct emission {
    refs_combine *combine;
    const refs_combine_plan *plan;
    const refs_combine_sink *sink;
    refs_combine_result *arrays; /**< one for each path */
} emission;

/* -- documents --------------------------------------------------------------------------------- */

refs_status refs_combine__put_document(const refs_combine_sink *sink, refs_str path,
                                       const char *name, refs_str text, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&key, path, err));
    REFS_TRY(refs_buf_printf(&key, err, path.size > 0 ? "/%s" : "%s", name));
    return sink->document(sink->self, refs_buf_text(&key), refs_bytes_view(text.data, text.size),
                          err);
}

typedef struct keyed {
    refs_str key, text;
} keyed;

static int by_key(const void *left, const void *right) {
    return refs_str_compare(((const keyed *)left)->key, ((const keyed *)right)->key);
}

/* Writes the documents of groups, each from the first part that has it. */
static refs_status put_groups(const emission *at, refs_error *err) {
    const refs_combine *combine = at->combine;
    REFS_SCOPED uint8_t *seen = refs_calloc(combine->strings.count, 1);
    REFS_SCOPED keyed *all = NULL;
    size_t n = 0, capacity = 0;
    bool has_root = false;
    if (seen == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[at->plan->order[i]];
        for (size_t j = 0; j < member->n_documents; j++) {
            const refs_combine_document *document = &member->documents[j];
            if (seen[document->key]) continue;
            seen[document->key] = 1;
            REFS_GROW(all, capacity, n, err);
            all[n++] = (keyed){refs_combine__text(combine, document->key),
                               refs_combine__text(combine, document->text)};
        }
    }
    if (n > 0) qsort(all, n, sizeof *all, by_key);
    for (size_t i = 0; i < n; i++) has_root = has_root || refs_str_is(all[i].key, ".zgroup");
    if (!has_root)
        REFS_TRY(refs_combine__put_document(at->sink, refs_str_view("", 0), ".zgroup",
                                            refs_str_from("{\"zarr_format\":2}"), err));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(at->sink->document(at->sink->self, all[i].key,
                                    refs_bytes_view(all[i].text.data, all[i].text.size), err));
    return REFS_OK;
}

uint64_t refs_combine__chunks_of_values(uint64_t n_steps, uint64_t chunk) {
    if (chunk == 0) return 0;
    const uint64_t n = n_steps / chunk + (n_steps % chunk > 0);
    return n <= REFS_COMBINE_MAX_VALUE_CHUNKS ? n : 0;
}

/* Steps per chunk of stored values in a set that grows, or 0. */
static uint64_t steps_as_before(const refs_combine *combine, const refs_combine_result *result) {
    const refs_combine_member *set = &combine->members[0];
    const refs_combine_array *array = refs_combine__find(set, result->path);
    bool grows = combine->options.values == REFS_COMBINE_VALUES_GROW && set->number == 0 &&
                 array != NULL && !array->are_texts && array->rank == result->rank &&
                 result->n_concat == 1 && result->concat[0] != REFS_COMBINE_MAX_DIMS;
    return grows && refs_combine__chunks_of_values(result->shape[0], array->chunk[0]) != 0
               ? array->chunk[0]
               : 0;
}

/* An array stored as values has one chunk in C order, at least one element long. */
static void set_loaded_grid(const refs_combine *combine, refs_combine_result *result) {
    for (size_t dim = 0; dim < result->rank; dim++) {
        result->chunk[dim] = result->shape[dim] > 0 ? result->shape[dim] : 1;
        result->n[dim] = result->shape[dim] > 0;
    }
    uint64_t steps = steps_as_before(combine, result);
    if (steps == 0) return;
    result->chunk[0] = steps;
    result->n[0] = result->shape[0] / steps + (result->shape[0] % steps > 0);
}

/* Concat coordinates have no missing values: the fill value of one source may be a value of others,
 * and xarray masks what equals it. */
static bool has_no_missing(const emission *at, const refs_combine_result *result) {
    return result->is_loaded && refs_dtype_is_numeric(&result->dtype) &&
           refs_combine__is_coordinate(at->combine, &at->combine->members[result->first],
                                       result->like);
}

static refs_status put_zarray(const emission *at, const refs_combine_result *result,
                              refs_error *err) {
    refs_str document = refs_combine__text(at->combine, result->like->document);
    refs_str path = refs_combine__text(at->combine, result->path);
    REFS_SCOPED_BUF shape = REFS_BUF_INIT, chunks = REFS_BUF_INIT, text = REFS_BUF_INIT;
    REFS_SCOPED_BUF holes = REFS_BUF_INIT;
    const bool are_texts = result->like->are_texts;
    char dtype[64];
    char quoted[80];
    refs_dtype native = result->dtype;
    native.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    refs_dtype_format(&native, dtype, sizeof dtype);
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", are_texts ? "|O" : dtype);
    REFS_TRY(refs_combine__write_list(result->shape, result->rank, &shape, err));
    REFS_TRY(refs_combine__write_list(result->chunk, result->rank, &chunks, err));
    const char *pairs[] = {"shape",  (const char *)shape.data,
                           "chunks", (const char *)chunks.data,
                           NULL,     NULL,
                           NULL,     NULL,
                           NULL,     NULL,
                           NULL,     NULL,
                           NULL,     NULL,
                           NULL,     NULL,
                           NULL};
    const char *const loaded[] = {"dtype",      quoted,
                                  "compressor", "null",
                                  "filters",    are_texts ? "[{\"id\":\"vlen-utf8\"}]" : "null",
                                  "order",      "\"C\""};
    size_t n = 4;
    for (size_t i = 0; result->is_loaded && i < sizeof loaded / sizeof *loaded; i++)
        pairs[n++] = loaded[i];
    if (result->has_hole_fill || has_no_missing(at, result)) {
        pairs[n++] = "fill_value";
        pairs[n++] = result->has_hole_fill ? refs_combine__text(at->combine, result->hole_text).data
                                           : "null";
    }
    if (result->has_holes) {
        REFS_TRY(refs_combine__tell_holes(at->combine, result, &holes, err));
        pairs[n++] = REFS_HOLES_MEMBER;
        pairs[n++] = (const char *)holes.data;
    }
    REFS_TRY(refs_combine__replace(document, pairs, &text, err));
    return refs_combine__put_document(at->sink, path, ".zarray", refs_buf_text(&text), err);
}

/* Appends dimension names, including added concat dimensions. */
static refs_status write_dims(const emission *at, const refs_combine_result *result, refs_buf *text,
                              refs_error *err) {
    REFS_TRY(refs_buf_append(text, "[", 1, err));
    for (size_t dim = 0; dim < result->rank; dim++) {
        size_t own = refs_combine__own_dim(result, result->like, dim);
        uint32_t id =
            own == SIZE_MAX ? at->combine->dims[result->concat[dim]] : result->like->dims[own];
        if (dim > 0) REFS_TRY(refs_buf_append(text, ",", 1, err));
        REFS_TRY(refs_json_write_string(refs_combine__text(at->combine, id), text, err));
    }
    return refs_buf_printf(text, err, "]");
}

static refs_status put_attributes(const emission *at, const refs_combine_result *result,
                                  refs_error *err) {
    refs_str path = refs_combine__text(at->combine, result->path);
    refs_str attributes = result->like->attributes != REFS_COMBINE_NONE
                              ? refs_combine__text(at->combine, result->like->attributes)
                              : refs_str_from("{}");
    REFS_SCOPED_BUF dims = REFS_BUF_INIT, text = REFS_BUF_INIT;
    const bool is_new = result->rank != result->like->rank || result->like->inserted != 0;
    if (!is_new && !result->tells_hole_fill && !result->drops_range && !result->drops_flags &&
        !result->drops_stored && !result->drops_actual && !result->drops_start &&
        !result->drops_length)
        return result->like->attributes != REFS_COMBINE_NONE
                   ? refs_combine__put_document(at->sink, path, ".zattrs", attributes, err)
                   : REFS_OK;
    REFS_TRY(write_dims(at, result, &dims, err));
    const char *pairs[REFS_COMBINE_MAX_LEFT_OUT + 5];
    size_t n = refs_combine__left_out(result, pairs);
    if (is_new) {
        pairs[n++] = "_ARRAY_DIMENSIONS";
        pairs[n++] = (const char *)dims.data;
    }
    if (result->tells_hole_fill) {
        pairs[n++] = "_FillValue";
        pairs[n++] = refs_combine__text(at->combine, result->hole_text).data;
    }
    pairs[n] = NULL;
    REFS_TRY(refs_combine__replace(attributes, pairs, &text, err));
    return refs_combine__put_document(at->sink, path, ".zattrs", refs_buf_text(&text), err);
}

static refs_status put_array(const emission *at, refs_combine_result *result, refs_error *err) {
    if (result->split != NULL) return refs_combine__put_split(at->combine, result, at->sink, err);
    if (result->is_loaded) {
        REFS_TRY(refs_combine__gather(at->combine, at->plan, result, err));
        set_loaded_grid(at->combine, result);
    }
    if (result->like->is_v3)
        return refs_combine__put_document(
            at->sink, refs_combine__text(at->combine, result->path), "zarr.json",
            refs_combine__text(at->combine, result->like->document), err);
    if (result->n_concat == 0 && !result->has_holes && !result->is_loaded)
        REFS_TRY(refs_combine__put_document(
            at->sink, refs_combine__text(at->combine, result->path), ".zarray",
            refs_combine__text(at->combine, result->like->document), err));
    else
        REFS_TRY(put_zarray(at, result, err));
    return put_attributes(at, result, err);
}

/* -- chunks ------------------------------------------------------------------------------------ */

refs_stream_reader refs_combine__stream_of(const refs_combine_place *place) {
    return refs_streams_read(&place->member->streams, place->array->stream,
                             place->array->stream_size);
}

refs_status refs_combine__put_chunk(const refs_combine *combine, const refs_combine_sink *sink,
                                    refs_combine_chunk put, refs_error *err) {
    const refs_stream_ref *ref = put.ref;
    refs_write_chunk chunk = {.number = put.number,
                              .kind = ref->kind,
                              .bytes = ref->bytes,
                              .offset = ref->offset,
                              .length = ref->length};
    if (ref->kind != REFS_REF_INLINE) {
        chunk.url_id = put.member->urls[ref->url];
        chunk.url = refs_combine__text(combine, chunk.url_id);
    }
    return sink->chunk(sink->self, &chunk, err);
}

static refs_status put_as_it_is(const emission *at, const refs_combine_result *result,
                                refs_error *err) {
    const refs_combine_place place = {&at->combine->members[result->first], result->like};
    refs_stream_reader reader = refs_combine__stream_of(&place);
    refs_stream_ref ref;
    refs_status status = REFS_OK;
    while (status == REFS_OK && refs_stream_get(&reader, &ref))
        status = refs_combine__put_chunk(at->combine, at->sink,
                                         (refs_combine_chunk){place.member, &ref, ref.number}, err);
    return refs_stream_close(&reader, status, err);
}

refs_status refs_combine__put_values(const refs_combine_sink *sink, refs_bytes values, size_t size,
                                     refs_error *err) {
    REFS_SCOPED_BUF last = REFS_BUF_INIT; /* the last chunk, padded */
    size_t begin = 0;
    for (uint64_t i = 0; begin < values.size || i == 0; i++, begin += size) {
        const size_t left = values.size - begin;
        refs_write_chunk chunk = {
            .number = i, .kind = REFS_REF_INLINE, .bytes = refs_bytes_view(values.data, size)};
        if (begin > 0) chunk.bytes.data += begin;
        if (left < size) {
            REFS_TRY(refs_buf_append(&last, chunk.bytes.data, left, err));
            REFS_TRY(refs_buf_resize(&last, size, err));
            memset(last.data + left, 0, size - left);
            chunk.bytes = refs_buf_view(&last);
        }
        REFS_TRY(sink->chunk(sink->self, &chunk, err));
    }
    return REFS_OK;
}

/* Strings of variable length as one chunk of the codec vlen-utf8. */
static refs_status put_texts(const emission *at, refs_str list, refs_error *err) {
    REFS_SCOPED_BUF chunk = REFS_BUF_INIT;
    REFS_TRY(refs_vlen_encode(list, &chunk, err));
    return refs_combine__put_values(at->sink, refs_buf_view(&chunk), chunk.size, err);
}

static refs_status put_loaded(const emission *at, const refs_combine_result *result,
                              refs_error *err) {
    uint64_t step_bytes = result->dtype.size;
    for (size_t dim = 0; dim < result->rank; dim++) {
        if (result->n[dim] == 0) return REFS_OK;
        if (dim > 0) step_bytes *= result->shape[dim];
    }
    if (result->like->are_texts) return put_texts(at, refs_buf_text(&result->values), err);
    const size_t size =
        result->rank > 0 ? (size_t)(step_bytes * result->chunk[0]) : result->values.size;
    return refs_combine__put_values(at->sink, refs_buf_view(&result->values), size, err);
}

static refs_status put_chunks(const emission *at, const refs_combine_result *result,
                              refs_error *err) {
    refs_chunk_keys keys = refs_combine__keys(&at->combine->strings, result->like);
    keys.rank = result->rank;
    keys.n = result->n;
    if (result->n_concat == 0 && !result->is_loaded) keys.n = result->like->n;
    REFS_TRY(refs_combine__go_on(at->combine, err));
    if (result->split != NULL)
        return refs_combine__put_split_chunks(at->combine, result, at->sink, err);
    REFS_TRY(at->sink->array(at->sink->self, &keys, err));
    if (result->is_loaded) return put_loaded(at, result, err);
    if (result->n_concat == 0) return put_as_it_is(at, result, err);
    return refs_combine__put_merged(at->combine, at->plan, result, at->sink, err);
}

/* -- whole sets -------------------------------------------------------------------------------- */

static refs_status emit(emission *at, refs_error *err) {
    size_t n = at->plan->n_paths;
    for (size_t i = 0; i < n; i++)
        REFS_TRY(refs_combine__result_make(at->combine, at->plan, at->plan->paths[i],
                                           &at->arrays[i], err));
    REFS_TRY(put_groups(at, err));
    for (size_t i = 0; i < n; i++)
        if (at->arrays[i].split != NULL)
            REFS_TRY(refs_combine__put_split_groups(at->combine, &at->arrays[i], at->sink, err));
    for (size_t i = 0; i < n; i++) REFS_TRY(put_array(at, &at->arrays[i], err));
    for (size_t i = 0; i < n; i++) REFS_TRY(put_chunks(at, &at->arrays[i], err));
    return REFS_OK;
}

refs_status refs_combine__emit(refs_combine *combine, const refs_combine_plan *plan,
                               const refs_combine_sink *sink, refs_error *err) {
    emission at = {combine, plan, sink, refs_calloc(plan->n_paths, sizeof *at.arrays)};
    if (at.arrays == NULL) return refs_fail_nomem(err);
    refs_status status = emit(&at, err);
    for (size_t i = 0; i < plan->n_paths; i++) refs_combine__result_clear(&at.arrays[i]);
    refs_free(at.arrays);
    return status;
}
