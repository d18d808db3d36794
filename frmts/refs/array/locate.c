/* locate.c -- finds the files and bytes of an element; see array.h. */
#include "array_object.h"
#include "refs/refset.h"

/* Receives the locations. */
typedef struct visitor {
    refs_status (*visit)(void *user, const refs_array_source *source, refs_error *err);
    void *user;
} visitor;

static refs_status tell(const refs_array *array, const refs_ref *ref, const visitor *to,
                        refs_error *err) {
    bool is_inline = ref->kind == REFS_REF_INLINE, is_range = ref->kind == REFS_REF_RANGE;
    const refs_array_source source = {.variable = array->meta->path,
                                      .target = is_inline ? refs_store_name(array->context.store)
                                                          : refs_ref_name(ref),
                                      .is_inline = is_inline,
                                      .is_whole = ref->kind == REFS_REF_WHOLE,
                                      .offset = is_range ? ref->offset : 0,
                                      .length = is_range ? ref->length : 0};
    return to->visit(to->user, &source, err);
}

static refs_status tell_absent(const refs_array *array, const visitor *to, refs_error *err) {
    const refs_array_source source = {.variable = array->meta->path};
    return to->visit(to->user, &source, err);
}

static refs_status locate_chunk(refs_array *array, const uint64_t *index, const visitor *to,
                                refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_store_key key = {.max_size = array->max_stored};
    refs_ref ref = {.kind = REFS_REF_INLINE};
    refs_status status = refs_array_find_part(array, index, &key.part, err);
    if (status == REFS_OK) status = refs_chunk_key(array->stored, index, &text, err);
    key.text = refs_buf_text(&text);
    if (status == REFS_OK) status = refs_store_find(array->context.store, &key, &ref, err);
    if (status == REFS_OK) {
        status = tell(array, &ref, to, err);
        refs_ref_release(&ref);
    } else if (status == REFS_NOT_FOUND) {
        status = tell_absent(array, to, err);
    }
    return status;
}

static refs_status locate_piece(refs_array *array, const uint64_t *element, const visitor *to,
                                refs_error *err) {
    static const int64_t no_stride[REFS_MAX_RANK] = {0};
    const refs_mosaic *mosaic = &array->mosaic;
    uint64_t one[REFS_MAX_RANK];
    refs_piece piece;
    refs_piece_list list = {.pieces = &piece, .max = 1};
    for (size_t dim = 0; dim < array->meta->rank; dim++) one[dim] = 1;
    const refs_region region = {element, one, NULL};
    REFS_TRY(mosaic->gather(mosaic->self, &region, no_stride, &list, err));
    refs_status status = piece.array != NULL
                             ? refs_array_locate(piece.array, piece.start, to->visit, to->user, err)
                             : tell_absent(array, to, err);
    mosaic->release(mosaic->self, &list);
    return status;
}

refs_status refs_array_locate(refs_array *array, const uint64_t *element,
                              refs_status (*visit)(void *user, const refs_array_source *source,
                                                   refs_error *err),
                              void *user, refs_error *err) {
    const refs_array_meta *meta = array->stored;
    const visitor to = {visit, user};
    uint64_t index[REFS_MAX_RANK];
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (element[dim] >= meta->shape[dim])
            return refs_fail(err, REFS_INVALID, "%s: element %llu lies outside dimension %zu",
                             meta->path, (unsigned long long)element[dim], dim);
        index[dim] = element[dim] / meta->chunk[dim];
    }
    return array->mosaic.gather != NULL ? locate_piece(array, element, &to, err)
                                        : locate_chunk(array, index, &to, err);
}

/* -- which elements are there ------------------------------------------------------------------ */

static refs_status is_present(refs_array *array, const refs_span *spans, bool *present,
                              refs_error *err) {
    uint64_t index[REFS_MAX_RANK];
    refs_store_part part;
    refs_store_extent extent;
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    for (size_t dim = 0; dim < array->meta->rank; dim++) index[dim] = spans[dim].chunk;
    refs_status status = refs_array_find_part(array, index, &part, err);
    if (status == REFS_OK) status = refs_chunk_key(array->stored, index, &key, err);
    if (status == REFS_OK)
        status = refs_store_measure(array->context.store, refs_buf_text(&key), &extent, err);
    *present = status == REFS_OK;
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

static refs_status count_cut(refs_array *array, const refs_cut *cut, uint64_t *n, refs_error *err) {
    for (uint64_t i = 0; i < cut->n_chunks; i++) {
        refs_span spans[REFS_MAX_RANK];
        uint64_t elements = 1;
        bool present;
        refs_array__cut_at(cut, i, spans);
        for (size_t dim = 0; dim < cut->rank; dim++) elements *= spans[dim].n;
        REFS_TRY(is_present(array, spans, &present, err));
        *n += present ? elements : 0;
    }
    return REFS_OK;
}

refs_status refs_array_count_present(refs_array *array, const refs_region *region,
                                     uint64_t max_chunks, uint64_t *n, refs_error *err) {
    REFS_SCOPED_BY(refs_array__cut_clear) refs_cut cut = {0};
    *n = 0;
    refs_status status = refs_array__cut(array->stored, region, &cut, err);
    if (status == REFS_OK && cut.n_chunks > max_chunks)
        status =
            refs_fail(err, REFS_LIMIT, "%s: expected at most %llu chunks to search, found more",
                      array->meta->path, (unsigned long long)max_chunks);
    if (status == REFS_OK && array->mosaic.gather != NULL)
        status = array->mosaic.count(array->mosaic.self, region, n, err);
    else if (status == REFS_OK)
        status = count_cut(array, &cut, n, err);
    return status;
}
