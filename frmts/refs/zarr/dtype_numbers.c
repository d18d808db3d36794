/* dtype_numbers.c -- elements as numbers, see zarr.h. */
#include "refs/half.h"
#include "zarr_internal.h"

#define IDENTITY(value) (value)
#define LOAD(type, to, convert)                                                                    \
    for (size_t i = 0; i < n; i++) {                                                               \
        type element;                                                                              \
        memcpy(&element, elements + i * dtype->size, sizeof element);                              \
        numbers[i] = (to)convert(element);                                                         \
    }                                                                                              \
    return true

#define LOAD_INTEGERS(to)                                                                          \
    switch (dtype->size + (is_signed ? 0 : 100)) {                                                 \
    case 1:                                                                                        \
        LOAD(int8_t, to, IDENTITY);                                                                \
    case 2:                                                                                        \
        LOAD(int16_t, to, IDENTITY);                                                               \
    case 4:                                                                                        \
        LOAD(int32_t, to, IDENTITY);                                                               \
    case 8:                                                                                        \
        LOAD(int64_t, to, IDENTITY);                                                               \
    case 101:                                                                                      \
        LOAD(uint8_t, to, IDENTITY);                                                               \
    case 102:                                                                                      \
        LOAD(uint16_t, to, IDENTITY);                                                              \
    case 104:                                                                                      \
        LOAD(uint32_t, to, IDENTITY);                                                              \
    case 108:                                                                                      \
        LOAD(uint64_t, to, IDENTITY);                                                              \
    default:                                                                                       \
        return false;                                                                              \
    }

static bool has_integers(const refs_dtype *dtype, bool *is_signed) {
    *is_signed = dtype->type == REFS_TYPE_INT || dtype->type == REFS_TYPE_DATETIME ||
                 dtype->type == REFS_TYPE_TIMEDELTA;
    return *is_signed || dtype->type == REFS_TYPE_UINT || dtype->type == REFS_TYPE_BOOL;
}

bool refs_dtype_to_integers(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                            int64_t *numbers) {
    bool is_signed;
    if (!has_integers(dtype, &is_signed)) return false;
    LOAD_INTEGERS(int64_t)
}

bool refs_dtype_to_doubles(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                           double *numbers) {
    bool is_signed;
    if (has_integers(dtype, &is_signed)) LOAD_INTEGERS(double)
    if (dtype->type != REFS_TYPE_FLOAT && dtype->type != REFS_TYPE_COMPLEX) return false;
    switch (refs_dtype_swap_size(dtype)) {
    case 2:
        LOAD(uint16_t, double, refs_half_to_double);
    case 4:
        LOAD(float, double, IDENTITY);
    case 8:
        LOAD(double, double, IDENTITY);
    default:
        return false;
    }
}

#define STORE(type)                                                                                \
    for (size_t i = 0; i < n; i++) {                                                               \
        const type element = (type)numbers[i];                                                     \
        memcpy(elements + i * sizeof element, &element, sizeof element);                           \
    }                                                                                              \
    return

void refs_dtype_from_integers(const refs_dtype *dtype, const int64_t *numbers, size_t n,
                              uint8_t *elements) {
    switch (dtype->size) {
    case 1:
        STORE(uint8_t);
    case 2:
        STORE(uint16_t);
    case 4:
        STORE(uint32_t);
    default:
        STORE(uint64_t);
    }
}

double refs_dtype_number(const refs_dtype *dtype, const uint8_t *element) {
    double number = 0;
    (void)refs_dtype_to_doubles(dtype, element, 1, &number);
    return number;
}
