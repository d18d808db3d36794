/* read.c -- regions of variables, see ncrefs.h. */
#include <stdlib.h>

#include "ncrefs.h"
#include "refs/half.h"

/* Elements that are converted at a time. */
#define MAX_CONVERTED ((size_t)1 << 20)

/* Most strings of variable length of a variable. */
#define MAX_STRINGS ((uint64_t)1 << 26)

int ncrefs_code_of(refs_status status) {
    switch (status) {
    case REFS_OK:
        return NC_NOERR;
    case REFS_NOMEM:
        return NC_ENOMEM;
    case REFS_INVALID:
        return NC_EINVAL;
    case REFS_UNSUPPORTED:
    case REFS_CORRUPT:
        return NC_EFILTER;
    case REFS_LIMIT:
        return NC_EVARSIZE;
    case REFS_FORBIDDEN:
        return EACCES;
    default:
        return NC_EIO;
    }
}

/* -- regions ----------------------------------------------------------------------------------- */

/* A request as a region of the core. Strides are in bytes, for elements of `size` bytes. */
typedef struct region {
    size_t rank;
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK];
    int64_t step[REFS_MAX_RANK], stride[REFS_MAX_RANK];
    uint64_t n; /* elements */
} region;

static int check_dim(uint64_t shape, uint64_t start, uint64_t count, int64_t step) {
    if (step <= 0) return NC_ESTRIDE;
    if (start > shape || (start == shape && count > 0)) return NC_EINVALCOORDS;
    uint64_t left = count > 0 ? (shape - 1 - start) / (uint64_t)step + 1 : 0;
    return count > left ? NC_EEDGE : NC_NOERR;
}

static int make_region(const refs_array_meta *meta, const ncrefs_request *request, size_t size,
                       region *made) {
    made->rank = meta->rank;
    made->n = 1;
    for (size_t dim = meta->rank; dim-- > 0;) {
        made->start[dim] = request->start[dim];
        made->count[dim] = request->count[dim];
        made->step[dim] = request->stride != NULL ? request->stride[dim] : 1;
        NCREFS_TRY(
            check_dim(meta->shape[dim], made->start[dim], made->count[dim], made->step[dim]));
        uint64_t next = request->map != NULL ? (uint64_t)request->map[dim] : made->n;
        made->stride[dim] = (int64_t)(next * size);
        if (!refs_mul_u64(made->n, made->count[dim], &made->n)) return NC_EVARSIZE;
    }
    return NC_NOERR;
}

static refs_status read_region(const ncrefs_variable *variable, const region *wanted,
                               const int64_t *stride, void *values, refs_error *err) {
    const refs_region all = {wanted->start, wanted->count, wanted->step};
    return refs_reader_read(variable->reader, &all, values, stride, err);
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* Whether elements need no conversion. */
static bool is_plain(const ncrefs_variable *variable, nc_type type) {
    const refs_dtype *dtype = &variable->meta->dtype;
    return type == variable->type && !(dtype->type == REFS_TYPE_FLOAT && dtype->size == 2);
}

/* Converts half floats to floats in place, beginning with the last one. */
static void widen_halves(void *elements, size_t n) {
    for (size_t i = n; i-- > 0;) {
        uint16_t half;
        memcpy(&half, (uint8_t *)elements + 2 * i, sizeof half);
        ((float *)elements)[i] = (float)refs_half_to_double(half);
    }
}

/* The buffers of converting a region. */
typedef struct conversion {
    const ncrefs_variable *variable;
    nc_type type;
    size_t from_size, to_size;
    void *elements, *converted; /* room for MAX_CONVERTED of both types */
    uint8_t *values;
    int code; /* NC_ERANGE where a value did not fit */
} conversion;

static void scatter(const conversion *with, const region *part, size_t dim, const uint8_t **src,
                    uint8_t *dst) {
    for (uint64_t i = 0; i < part->count[dim]; i++, dst += part->stride[dim]) {
        if (dim + 1 < part->rank) {
            scatter(with, part, dim + 1, src, dst);
            continue;
        }
        memcpy(dst, *src, with->to_size);
        *src += with->to_size;
    }
}

static int convert_part(conversion *with, const region *part, uint8_t *dst, refs_error *err) {
    refs_status status = read_region(with->variable, part, NULL, with->elements, err);
    if (status != REFS_OK) return ncrefs_code_of(status);
    const refs_dtype *dtype = &with->variable->meta->dtype;
    if (dtype->type == REFS_TYPE_FLOAT && dtype->size == 2)
        widen_halves(with->elements, (size_t)part->n);
    int code = NC_NOERR;
    const uint8_t *src = with->converted;
    if (with->type == with->variable->type)
        src = with->elements;
    else
        code = ncrefs_convert(with->variable->type, with->elements, with->type, with->converted,
                              (size_t)part->n);
    if (code != NC_NOERR && code != NC_ERANGE) return code;
    if (code == NC_ERANGE) with->code = code;
    if (part->rank == 0)
        memcpy(dst, src, with->to_size);
    else
        scatter(with, part, 0, &src, dst);
    return NC_NOERR;
}

/* Halves a region along its longest dimension until it fits. */
static int convert_region(conversion *with, const region *wanted, uint8_t *dst, refs_error *err) {
    if (wanted->n <= MAX_CONVERTED) return convert_part(with, wanted, dst, err);
    size_t dim = 0; /* the first with more than one element, so that parts are read in file order */
    while (wanted->count[dim] == 1) dim++;
    region half = *wanted;
    half.count[dim] = wanted->count[dim] / 2;
    half.n = wanted->n / wanted->count[dim] * half.count[dim];
    NCREFS_TRY(convert_region(with, &half, dst, err));
    half.start[dim] += half.count[dim] * (uint64_t)half.step[dim];
    dst += (int64_t)half.count[dim] * half.stride[dim];
    half.count[dim] = wanted->count[dim] - half.count[dim];
    half.n = wanted->n - wanted->n / wanted->count[dim] * (wanted->count[dim] / 2);
    return convert_region(with, &half, dst, err);
}

static int read_converted(conversion *with, const region *wanted, refs_error *err) {
    size_t n = wanted->n < MAX_CONVERTED ? (size_t)wanted->n : MAX_CONVERTED;
    with->elements = refs_calloc(n, with->from_size);
    with->converted = refs_calloc(n, with->to_size);
    int code = with->elements != NULL && with->converted != NULL
                   ? convert_region(with, wanted, with->values, err)
                   : NC_ENOMEM;
    refs_free(with->converted);
    refs_free(with->elements);
    return code == NC_NOERR ? with->code : code;
}

/* -- text -------------------------------------------------------------------------------------- */

static refs_status read_all_strings(ncrefs_variable *variable, refs_error *err) {
    uint64_t n = 0;
    if (variable->string_at != NULL) return REFS_OK;
    if (!refs_array_meta_elements(variable->meta, &n) || n > MAX_STRINGS)
        return refs_fail(err, REFS_LIMIT, "more than %llu strings",
                         (unsigned long long)MAX_STRINGS);
    variable->strings.size = 0;
    REFS_TRY(refs_array_read_strings(variable->array, n, &variable->strings, err));
    size_t *places = refs_calloc((size_t)n + 1, sizeof *places);
    if (places == NULL) return refs_fail_nomem(err);
    refs_str_find_texts(refs_buf_text(&variable->strings), (size_t)n, places);
    variable->string_at = places;
    return REFS_OK;
}

static int copy_strings(const ncrefs_variable *variable, const region *wanted, size_t dim,
                        uint64_t index, uint8_t *dst) {
    if (dim == wanted->rank) {
        /* netCDF-C's nc_free_string frees them. */
        char *copy = strdup((const char *)variable->strings.data + variable->string_at[index]);
        memcpy(dst, &copy, sizeof copy);
        return copy != NULL ? NC_NOERR : NC_ENOMEM;
    }
    int code = NC_NOERR;
    for (uint64_t i = 0; i < wanted->count[dim] && code == NC_NOERR; i++) {
        uint64_t at = wanted->start[dim] + i * (uint64_t)wanted->step[dim];
        code = copy_strings(variable, wanted, dim + 1, index * variable->meta->shape[dim] + at,
                            dst + (int64_t)i * wanted->stride[dim]);
    }
    return code;
}

static int read_strings(ncrefs_variable *variable, const region *wanted, void *values,
                        refs_error *err) {
    refs_status status = wanted->n > 0 ? read_all_strings(variable, err) : REFS_OK;
    if (status != REFS_OK) return ncrefs_code_of(status);
    return wanted->n > 0 ? copy_strings(variable, wanted, 0, 0, values) : NC_NOERR;
}

/* -- all --------------------------------------------------------------------------------------- */

static int read_any(const ncrefs_file *file, ncrefs_variable *variable, nc_type type,
                    const ncrefs_request *request, refs_error *err) {
    const ncrefs_types *types = &file->model.types;
    region wanted;
    size_t size = ncrefs_size_of(types, type);
    if (size == 0) return NC_EBADTYPE;
    if (type != variable->type) {
        bool is_text = type == NC_CHAR || type == NC_STRING || variable->type == NC_CHAR ||
                       variable->type == NC_STRING;
        if (is_text) return NC_ECHAR;
        if (type > NC_UINT64 || variable->type > NC_UINT64) return NC_EBADTYPE;
    }
    int code = make_region(variable->meta, request, size, &wanted);
    if (code != NC_NOERR || wanted.n == 0) return code;
    refs_status status = ncrefs_file_array(file, variable, err);
    if (status != REFS_OK) return ncrefs_code_of(status);
    if (type == NC_STRING) return read_strings(variable, &wanted, request->values, err);
    if (is_plain(variable, type))
        return ncrefs_code_of(read_region(variable, &wanted, wanted.stride, request->values, err));
    conversion with = {.variable = variable,
                       .type = type,
                       .from_size = ncrefs_size_of(types, variable->type),
                       .to_size = size,
                       .values = request->values};
    return read_converted(&with, &wanted, err);
}

int ncrefs_read(const ncrefs_file *file, ncrefs_variable *variable, const ncrefs_request *request) {
    refs_error err = REFS_ERROR_INIT;
    nc_type type = request->type != NC_NAT ? request->type : variable->type;
    int code = read_any(file, variable, type, request, &err);
    if (err.status != REFS_OK) ncrefs_tell(variable->meta->path, &err);
    return code;
}
