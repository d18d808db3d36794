/* json_generator.c -- see json_generator.h.
 *
 * https://fsspec.github.io/kerchunk/spec.html: key, url, offset and length are templates of the
 * indices that "dimensions" names.
 */
#include "json_generator.h"

#include "numbers.h"
#include "refs/json.h"

bool refs_write__goes_on(const refs_json_run *run, const refs_write_chunk *chunk) {
    const uint64_t step = run->n > 1 ? run->step : chunk->offset - run->offset;
    return run->n > 0 && chunk->number == run->first + run->n && chunk->length == run->length &&
           chunk->offset > run->offset && step >= run->length && step < UINT64_MAX / (run->n + 1) &&
           chunk->offset - run->offset == run->n * step;
}

static uint64_t n_behind(const refs_write_array *array, size_t dim) {
    uint64_t n = 1;
    for (size_t i = dim + 1; i < array->rank; i++) n *= array->n[i];
    return n;
}

refs_json_block refs_write__first_block(const refs_write_array *array, const refs_json_run *run) {
    refs_json_block best = {0, 0};
    uint64_t index[32];
    refs_write__index(array->n, array->rank, run->first, index);
    for (size_t dim = 0; dim < array->rank; dim++) {
        const uint64_t inner = n_behind(array, dim);
        uint64_t n = run->n / inner;
        if (run->first % inner != 0 || n == 0) continue;
        if (n > array->n[dim] - index[dim]) n = array->n[dim] - index[dim];
        if (n * inner > best.n) best = (refs_json_block){dim, n * inner};
    }
    return best;
}

/* Along one dimension all is said by its index alone. */
static bool is_counted(const refs_write_array *array, const refs_json_block *block, size_t dim) {
    return dim == block->dim || (dim > block->dim && array->n[dim] > 1);
}

static refs_status append_key(const refs_write_array *array, const refs_json_block *block,
                              const uint64_t *index, refs_buf *text, refs_error *err) {
    REFS_TRY(refs_json_write_string(
        refs_str_view((const char *)array->prefix.data, array->prefix.size), text, err));
    text->size--; /* the quote */
    for (size_t dim = 0; dim < array->rank; dim++) {
        REFS_TRY(refs_buf_append(text, &array->separator, dim > 0, err));
        if (is_counted(array, block, dim))
            REFS_TRY(refs_buf_printf(text, err, "{{i%zu}}", dim));
        else
            REFS_TRY(refs_buf_printf(text, err, "%llu", (unsigned long long)index[dim]));
    }
    return refs_buf_append(text, "\"", 1, err);
}

static refs_status append_offset(const refs_json_generator *made, const uint64_t *index,
                                 refs_buf *text, refs_error *err) {
    const refs_write_array *array = made->array;
    const refs_json_run *run = made->run;
    const refs_json_block *block = &made->block;
    REFS_TRY(refs_buf_printf(text, err, "\"{{%llu", (unsigned long long)run->offset));
    for (size_t dim = block->dim; dim < array->rank; dim++) {
        const uint64_t begin = dim == block->dim ? index[dim] : 0;
        if (!is_counted(array, block, dim)) continue;
        REFS_TRY(refs_buf_printf(text, err, "+(i%zu-%llu)*%llu", dim, (unsigned long long)begin,
                                 (unsigned long long)(n_behind(array, dim) * run->step)));
    }
    return refs_buf_append(text, "}}\"", 3, err);
}

static refs_status append_dimensions(const refs_write_array *array, const refs_json_block *block,
                                     const uint64_t *index, refs_buf *text, refs_error *err) {
    for (size_t dim = block->dim; dim < array->rank; dim++) {
        const uint64_t begin = dim == block->dim ? index[dim] : 0;
        const uint64_t n = dim == block->dim ? block->n / n_behind(array, dim) : array->n[dim];
        if (!is_counted(array, block, dim)) continue;
        REFS_TRY(refs_buf_printf(text, err, "%s\"i%zu\":{\"start\":%llu,\"stop\":%llu}",
                                 dim > block->dim ? "," : "{", dim, (unsigned long long)begin,
                                 (unsigned long long)(begin + n)));
    }
    return refs_buf_append(text, "}", 1, err);
}

refs_status refs_write__append_generator(const refs_json_generator *made, refs_buf *text,
                                         refs_error *err) {
    const refs_write_array *array = made->array;
    const refs_json_run *run = made->run;
    uint64_t index[32];
    refs_write__index(array->n, array->rank, run->first, index);
    REFS_TRY(refs_buf_printf(text, err, "%s{\"key\":", text->size > 0 ? ",\n" : ""));
    REFS_TRY(append_key(array, &made->block, index, text, err));
    REFS_TRY(refs_buf_printf(text, err, ",\"url\":%.*s,\"offset\":", REFS_STR_WHOLE(made->url)));
    REFS_TRY(append_offset(made, index, text, err));
    REFS_TRY(refs_buf_printf(
        text, err, ",\"length\":\"%llu\",\"dimensions\":", (unsigned long long)run->length));
    REFS_TRY(append_dimensions(array, &made->block, index, text, err));
    return refs_buf_append(text, "}", 1, err);
}
