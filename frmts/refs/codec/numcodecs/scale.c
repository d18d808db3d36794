/* scale.c -- see scale.h. */
#include "scale.h"

#include "refs/avx2.h"

/* As in NumPy, computed in the stored type if that is a float, else in doubles. */
#define SCALE(from, through, to)                                                                   \
    {                                                                                              \
        const through scale = (through)how->scale, offset = (through)how->offset;                  \
        for (size_t i = 0; i < n; i++) {                                                           \
            from stored;                                                                           \
            memcpy(&stored, src + i * sizeof stored, sizeof stored);                               \
            through scaled = (through)stored / scale;                                              \
            to number = (to)(scaled + offset);                                                     \
            memcpy(dst + i * sizeof number, &number, sizeof number);                               \
        }                                                                                          \
    }

#define DEFINE_SCALE(name, from, through, to)                                                      \
    static void name(const refs_scaling *how, const uint8_t *restrict src, size_t n,               \
                     uint8_t *restrict dst) SCALE(from, through, to)                               \
        REFS_AVX2 static void name##_avx2(const refs_scaling *how, const uint8_t *restrict src,    \
                                          size_t n, uint8_t *restrict dst)                         \
            SCALE(from, through, to)

DEFINE_SCALE(i1_to_f4, int8_t, double, float)
DEFINE_SCALE(i2_to_f4, int16_t, double, float)
DEFINE_SCALE(i4_to_f4, int32_t, double, float)
DEFINE_SCALE(u1_to_f4, uint8_t, double, float)
DEFINE_SCALE(u2_to_f4, uint16_t, double, float)
DEFINE_SCALE(f4_to_f4, float, float, float)
DEFINE_SCALE(i1_to_f8, int8_t, double, double)
DEFINE_SCALE(i2_to_f8, int16_t, double, double)
DEFINE_SCALE(i4_to_f8, int32_t, double, double)
DEFINE_SCALE(u1_to_f8, uint8_t, double, double)
DEFINE_SCALE(u2_to_f8, uint16_t, double, double)
DEFINE_SCALE(f8_to_f8, double, double, double)

typedef struct scale_loop {
    refs_number_kind kind;
    size_t size;
    size_t decoded_size; /* of a float */
    refs_scale portable;
    refs_scale avx2;
} scale_loop;

static const scale_loop loops[] = {
    {REFS_NUMBER_INT, 1, 4, i1_to_f4, i1_to_f4_avx2},
    {REFS_NUMBER_INT, 2, 4, i2_to_f4, i2_to_f4_avx2},
    {REFS_NUMBER_INT, 4, 4, i4_to_f4, i4_to_f4_avx2},
    {REFS_NUMBER_UINT, 1, 4, u1_to_f4, u1_to_f4_avx2},
    {REFS_NUMBER_UINT, 2, 4, u2_to_f4, u2_to_f4_avx2},
    {REFS_NUMBER_FLOAT, 4, 4, f4_to_f4, f4_to_f4_avx2},
    {REFS_NUMBER_INT, 1, 8, i1_to_f8, i1_to_f8_avx2},
    {REFS_NUMBER_INT, 2, 8, i2_to_f8, i2_to_f8_avx2},
    {REFS_NUMBER_INT, 4, 8, i4_to_f8, i4_to_f8_avx2},
    {REFS_NUMBER_UINT, 1, 8, u1_to_f8, u1_to_f8_avx2},
    {REFS_NUMBER_UINT, 2, 8, u2_to_f8, u2_to_f8_avx2},
    {REFS_NUMBER_FLOAT, 8, 8, f8_to_f8, f8_to_f8_avx2},
};

static const scale_loop *find_loop(const refs_recast *types) {
    const refs_number_type *from = &types->encoded, *to = &types->decoded;
    if (from->swapped || to->swapped || to->kind != REFS_NUMBER_FLOAT) return NULL;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        const scale_loop *loop = &loops[i];
        if (loop->kind == from->kind && loop->size == from->size && loop->decoded_size == to->size)
            return loop;
    }
    return NULL;
}

refs_scale refs_codec__scale_for(const refs_recast *types) {
    const scale_loop *loop = find_loop(types);
    if (loop == NULL) return NULL;
    return refs_has_avx2() ? loop->avx2 : loop->portable;
}

refs_scale refs_codec__scale_portable(const refs_recast *types) {
    const scale_loop *loop = find_loop(types);
    return loop != NULL ? loop->portable : NULL;
}
