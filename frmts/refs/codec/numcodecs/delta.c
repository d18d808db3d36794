/* delta.c -- codec "delta": the first number, then differences from the previous one. Differences
 * are cast to `dtype` before they are summed in it, as in numcodecs: integers wrap around, and each
 * sum of floats is rounded. */
#include "numbers.h"
#include "sums.h"

/* -- numbers of the type that they become ------------------------------------------------------ */

#define DEFINE_SUM(name, type)                                                                     \
    static void name(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {               \
        type sum = 0;                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            type number;                                                                           \
            memcpy(&number, src + i * sizeof number, sizeof number);                               \
            sum = (type)(sum + number);                                                            \
            memcpy(dst + i * sizeof sum, &sum, sizeof sum);                                        \
        }                                                                                          \
    }

DEFINE_SUM(sum_f4, float)
DEFINE_SUM(sum_f8, double)

/* The fast sum for these types; NULL if types differ or bytes are swapped. */
static refs_running_sum sum_for(const refs_recast *types) {
    static const refs_running_sum of_floats[] = {[2] = NULL, [4] = sum_f4, [8] = sum_f8};
    const refs_number_type *from = &types->encoded, *to = &types->decoded;
    bool floats = to->kind == REFS_NUMBER_FLOAT;
    if (from->swapped || to->swapped || from->size != to->size) return NULL;
    if (floats != (from->kind == REFS_NUMBER_FLOAT)) return NULL;
    return floats ? of_floats[to->size] : refs_codec__running_sum(to->size);
}

/* -- any numbers ------------------------------------------------------------------------------- */

static void sum_ints(refs_recast_pass *pass) {
    uint64_t numbers[REFS_NUMBER_BLOCK];
    uint64_t sum = 0;
    for (size_t n; (n = refs_codec__take_ints(pass, numbers)) > 0;) {
        for (size_t i = 0; i < n; i++) numbers[i] = sum += numbers[i];
        refs_codec__put_ints(pass, numbers, n);
    }
}

static void sum_doubles(refs_recast_pass *pass) {
    const refs_number_type *type = &pass->types->decoded;
    double numbers[REFS_NUMBER_BLOCK];
    double sum = 0;
    for (size_t n; (n = refs_codec__take_doubles(pass, numbers)) > 0;) {
        for (size_t i = 0; i < n; i++) {
            sum = refs_codec__round(type, sum + refs_codec__round(type, numbers[i]));
            numbers[i] = sum;
        }
        refs_codec__put_doubles(pass, numbers, n);
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const refs_recast *types = self;
    refs_recast_pass pass;
    REFS_TRY(refs_codec__recast_begin(types, encoded, output, &pass, err));
    const refs_running_sum sum = sum_for(types);
    if (sum != NULL)
        sum(pass.src, pass.n_left, pass.dst);
    else if (types->decoded.kind == REFS_NUMBER_FLOAT)
        sum_doubles(&pass);
    else
        sum_ints(&pass);
    return REFS_OK;
}

const refs_codec_type refs_codec_delta = {.name = "delta",
                                          .reads = "differences between neighbours",
                                          .library = "REFS",
                                          .open = refs_codec__recast_open_codec,
                                          .decode = decode,
                                          .close = refs_free};
