/* convert.c -- converts numbers between types, see ncrefs.h. A value out of range is truncated as
 * in C, or becomes the nearest limit, and is reported. */
#include <float.h>
#include <math.h>

#include "ncrefs.h"

/* Integers: __builtin_add_overflow computes in the type of its result. */
#define INTEGERS(from_type, to_type)                                                               \
    {                                                                                              \
        const from_type *in = src;                                                                 \
        to_type *out = dst;                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            out_of_range |= __builtin_add_overflow(in[i], (from_type)0, &out[i]);                  \
        break;                                                                                     \
    }

#define TO_FLOAT(from_type, to_type)                                                               \
    {                                                                                              \
        const from_type *in = src;                                                                 \
        to_type *out = dst;                                                                        \
        for (size_t i = 0; i < n; i++) out[i] = (to_type)in[i];                                    \
        break;                                                                                     \
    }

/* `above` is the first number that is too large. */
#define FROM_FLOAT(from_type, to_type, least, above)                                               \
    {                                                                                              \
        const from_type *in = src;                                                                 \
        to_type *out = dst;                                                                        \
        for (size_t i = 0; i < n; i++) {                                                           \
            bool fits = (double)in[i] > (double)(least)-1 && (double)in[i] < (above);              \
            bool is_least = (double)in[i] == (double)(least);                                      \
            out_of_range |= !fits && !is_least;                                                    \
            out[i] = fits || is_least    ? (to_type)in[i]                                          \
                     : (double)in[i] > 0 ? (to_type)((above) / 2 - 1 + (above) / 2)                \
                                         : (to_type)(least);                                       \
        }                                                                                          \
        break;                                                                                     \
    }

#define FROM_INTEGER(name, from_type)                                                              \
    static int name(const void *src, nc_type to, void *dst, size_t n) {                            \
        bool out_of_range = false;                                                                 \
        switch (to) {                                                                              \
        case NC_BYTE:                                                                              \
            INTEGERS(from_type, int8_t)                                                            \
        case NC_UBYTE:                                                                             \
            INTEGERS(from_type, uint8_t)                                                           \
        case NC_SHORT:                                                                             \
            INTEGERS(from_type, int16_t)                                                           \
        case NC_USHORT:                                                                            \
            INTEGERS(from_type, uint16_t)                                                          \
        case NC_INT:                                                                               \
            INTEGERS(from_type, int32_t)                                                           \
        case NC_UINT:                                                                              \
            INTEGERS(from_type, uint32_t)                                                          \
        case NC_INT64:                                                                             \
            INTEGERS(from_type, int64_t)                                                           \
        case NC_UINT64:                                                                            \
            INTEGERS(from_type, uint64_t)                                                          \
        case NC_FLOAT:                                                                             \
            TO_FLOAT(from_type, float)                                                             \
        case NC_DOUBLE:                                                                            \
            TO_FLOAT(from_type, double)                                                            \
        default:                                                                                   \
            return NC_EBADTYPE;                                                                    \
        }                                                                                          \
        return out_of_range ? NC_ERANGE : NC_NOERR;                                                \
    }

#define TWO_TO_63 9223372036854775808.0
#define TWO_TO_64 18446744073709551616.0

#define FROM_REAL(name, from_type)                                                                 \
    static int name(const void *src, nc_type to, void *dst, size_t n) {                            \
        bool out_of_range = false;                                                                 \
        switch (to) {                                                                              \
        case NC_BYTE:                                                                              \
            FROM_FLOAT(from_type, int8_t, INT8_MIN, 128.0)                                         \
        case NC_UBYTE:                                                                             \
            FROM_FLOAT(from_type, uint8_t, 0, 256.0)                                               \
        case NC_SHORT:                                                                             \
            FROM_FLOAT(from_type, int16_t, INT16_MIN, 32768.0)                                     \
        case NC_USHORT:                                                                            \
            FROM_FLOAT(from_type, uint16_t, 0, 65536.0)                                            \
        case NC_INT:                                                                               \
            FROM_FLOAT(from_type, int32_t, INT32_MIN, 2147483648.0)                                \
        case NC_UINT:                                                                              \
            FROM_FLOAT(from_type, uint32_t, 0, 4294967296.0)                                       \
        case NC_INT64:                                                                             \
            FROM_FLOAT(from_type, int64_t, INT64_MIN, TWO_TO_63)                                   \
        case NC_UINT64:                                                                            \
            FROM_FLOAT(from_type, uint64_t, 0, TWO_TO_64)                                          \
        default:                                                                                   \
            return NC_EBADTYPE;                                                                    \
        }                                                                                          \
        return out_of_range ? NC_ERANGE : NC_NOERR;                                                \
    }

FROM_INTEGER(from_int8, int8_t)
FROM_INTEGER(from_uint8, uint8_t)
FROM_INTEGER(from_int16, int16_t)
FROM_INTEGER(from_uint16, uint16_t)
FROM_INTEGER(from_int32, int32_t)
FROM_INTEGER(from_uint32, uint32_t)
FROM_INTEGER(from_int64, int64_t)
FROM_INTEGER(from_uint64, uint64_t)
FROM_REAL(from_float, float)
FROM_REAL(from_double, double)

static int widen(const float *src, double *dst, size_t n) {
    for (size_t i = 0; i < n; i++) dst[i] = (double)src[i];
    return NC_NOERR;
}

static int narrow(const double *src, float *dst, size_t n) {
    bool out_of_range = false;
    for (size_t i = 0; i < n; i++) {
        out_of_range |= isfinite(src[i]) && fabs(src[i]) > (double)FLT_MAX;
        dst[i] = (float)src[i];
    }
    return out_of_range ? NC_ERANGE : NC_NOERR;
}

int ncrefs_convert(nc_type from, const void *src, nc_type to, void *dst, size_t n) {
    static int (*const functions[])(const void *, nc_type, void *, size_t) = {
        [NC_BYTE] = from_int8,     [NC_SHORT] = from_int16,   [NC_INT] = from_int32,
        [NC_FLOAT] = from_float,   [NC_DOUBLE] = from_double, [NC_UBYTE] = from_uint8,
        [NC_USHORT] = from_uint16, [NC_UINT] = from_uint32,   [NC_INT64] = from_int64,
        [NC_UINT64] = from_uint64};
    if (from == NC_CHAR || to == NC_CHAR || from == NC_STRING || to == NC_STRING) return NC_ECHAR;
    if (from == NC_FLOAT && to == NC_DOUBLE) return widen(src, dst, n);
    if (from == NC_DOUBLE && to == NC_FLOAT) return narrow(src, dst, n);
    if (from < NC_BYTE || from > NC_UINT64) return NC_EBADTYPE;
    return functions[from](src, to, dst, n);
}
