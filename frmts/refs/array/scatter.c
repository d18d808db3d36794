/* scatter.c -- N-dimensional copies of elements, see array_internal.h. */
#include "array_internal.h"

/* Removes dimensions of one element, and merges dimensions that are contiguous on both sides, to
 * make the innermost run as long as possible. */
static refs_copy simplify(const refs_copy *copy) {
    refs_copy simple = {.rank = 0, .element_size = copy->element_size};
    for (size_t dim = 0; dim < copy->rank; dim++) {
        if (copy->n[dim] == 1) continue;
        size_t last = simple.rank - 1;
        int64_t n = (int64_t)copy->n[dim];
        if (simple.rank > 0 && simple.src_stride[last] == copy->src_stride[dim] * n &&
            simple.dst_stride[last] == copy->dst_stride[dim] * n) {
            simple.n[last] *= copy->n[dim];
        } else {
            last = simple.rank++;
            simple.n[last] = copy->n[dim];
        }
        simple.src_stride[last] = copy->src_stride[dim];
        simple.dst_stride[last] = copy->dst_stride[dim];
    }
    return simple;
}

#define COPY_RUN(bytes)                                                                            \
    for (size_t i = 0; i < n; i++, src += src_stride, dst += dst_stride) memcpy(dst, src, bytes)

/* Copies the elements along the innermost dimension, `dim`; one element if there is none. */
static void copy_run(const refs_copy *copy, size_t dim, const uint8_t *src, uint8_t *dst) {
    const size_t element_size = copy->element_size, n = copy->rank > 0 ? copy->n[dim] : 1;
    const int64_t size = (int64_t)element_size;
    const int64_t src_stride = copy->rank > 0 ? copy->src_stride[dim] : size;
    const int64_t dst_stride = copy->rank > 0 ? copy->dst_stride[dim] : size;
    if (src_stride == size && dst_stride == size) {
        memcpy(dst, src, n * element_size);
        return;
    }
    switch (element_size) {
    case 1:
        COPY_RUN(1);
        break;
    case 2:
        COPY_RUN(2);
        break;
    case 4:
        COPY_RUN(4);
        break;
    case 8:
        COPY_RUN(8);
        break;
    default:
        COPY_RUN(element_size);
    }
}

static void copy_from(const refs_copy *copy, size_t dim, const uint8_t *src, uint8_t *dst) {
    if (dim + 1 >= copy->rank) {
        copy_run(copy, dim, src, dst);
        return;
    }
    for (size_t i = 0; i < copy->n[dim]; i++) {
        copy_from(copy, dim + 1, src, dst);
        src += copy->src_stride[dim];
        dst += copy->dst_stride[dim];
    }
}

void refs_array__copy(const refs_copy *copy, const uint8_t *src, uint8_t *dst) {
    refs_copy simple = simplify(copy);
    copy_from(&simple, 0, src, dst);
}
