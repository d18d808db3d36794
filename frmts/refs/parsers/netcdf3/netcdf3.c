/* netcdf3.c -- netCDF's classic formats: CDF-1, CDF-2 and CDF-5, see format.h. Sources: NetCDF
 * Classic Format Specification, appendix B of the NetCDF User's Guide, and the CDF-5 format
 * specification of PnetCDF. The header describes everything: a variable's values are contiguous;
 * those along the record dimension are interleaved, record by record, with those of other record
 * variables. */
#include <stdlib.h>

#include "format.h"

/* Tags of lists. */
enum { ABSENT = 0, DIMENSIONS = 10, VARIABLES = 11, ATTRIBUTES = 12 };

enum { CHAR = 2, N_TYPES = 12 };

/* Longer names are rejected as damage. */
#define MAX_NAME_BYTES (64 * REFS_KIB)

/* Lists with more elements are only accepted if the file has as many bytes. */
#define TRUSTED_BYTES (64 * REFS_KIB)

/* Variables up to this size are one chunk; larger ones have chunks of about this size. */
#define MAX_WHOLE_BYTES  (4 * REFS_MIB)
#define LARGE_PART_BYTES (1 * REFS_MIB)

/* Several records form one chunk if a record has at most this size, and the variable at most that
 * much of it. */
#define MAX_SMALL_RECORD_BYTES (64 * REFS_KIB)
#define MAX_SMALL_SLAB_BYTES   (4 * REFS_KIB)
#define GROUPED_RECORDS_BYTES  (256 * REFS_KIB)

/* nc_type by its number. */
static const struct {
    size_t size;
    const char *dtype;
} types[N_TYPES] = {{0, NULL},  {1, "|i1"}, {1, "|S1"}, {2, ">i2"}, {4, ">i4"}, {4, ">f4"},
                    {8, ">f8"}, {1, "|u1"}, {2, ">u2"}, {4, ">u4"}, {8, ">i8"}, {8, ">u8"}};

typedef struct dimension {
    char *name;
    uint64_t length;
    bool is_record;
    bool is_used; /* a variable has it */
} dimension;

typedef struct variable {
    char *name;
    size_t rank;
    uint32_t dims[REFS_SCAN_MAX_RANK];
    json_t *attributes;
    json_t *fill;
    uint32_t type;
    uint64_t begin;
    bool has_records;
    uint64_t slab_bytes; /* of all values, or of one record */
    uint64_t chunks[REFS_SCAN_MAX_RANK];
    size_t grouped; /* records in a chunk, with the codec "record_member"; 0: none */
} variable;

typedef struct netcdf3 {
    const refs_scan_job *job; /* only while the file is opened */
    refs_source *source;
    uint64_t at;
    unsigned version;
    uint64_t n_records;
    bool is_streaming; /* the number of records follows from the size of the file */
    uint64_t records_begin, record_bytes;
    dimension *dims;
    size_t n_dims, dims_capacity;
    variable *vars;
    size_t n_vars, vars_capacity;
} netcdf3;

static bool sniff(refs_bytes head) {
    return head.size >= 4 && memcmp(head.data, "CDF", 3) == 0 &&
           (head.data[3] == 1 || head.data[3] == 2 || head.data[3] == 5);
}

static void free_variable(variable *var) {
    refs_free(var->name);
    json_decref(var->attributes);
    json_decref(var->fill);
}

static void close_netcdf3(void *self) {
    REFS_SCOPED netcdf3 *file = self;
    for (size_t i = 0; i < file->n_dims; i++) refs_free(file->dims[i].name);
    for (size_t i = 0; i < file->n_vars; i++) free_variable(&file->vars[i]);
    refs_free(file->dims);
    refs_free(file->vars);
}

/* -- the header -------------------------------------------------------------------------------- */

static refs_status read_bytes(netcdf3 *file, size_t size, uint8_t *dst, refs_error *err) {
    REFS_TRY(refs_source_read(file->source, file->at, size, dst, err));
    file->at += size;
    return REFS_OK;
}

static refs_status read_u32(netcdf3 *file, uint32_t *number, refs_error *err) {
    uint8_t bytes[4];
    REFS_TRY(read_bytes(file, sizeof bytes, bytes, err));
    *number = refs_load_be32(bytes);
    return REFS_OK;
}

static refs_status read_u64(netcdf3 *file, uint64_t *number, refs_error *err) {
    uint8_t bytes[8];
    REFS_TRY(read_bytes(file, sizeof bytes, bytes, err));
    *number = refs_load_be64(bytes);
    return REFS_OK;
}

/* A number that is four bytes in CDF-1 and CDF-2 and eight in CDF-5. */
static refs_status read_count(netcdf3 *file, uint64_t *number, refs_error *err) {
    uint32_t narrow;
    if (file->version == 5) return read_u64(file, number, err);
    REFS_TRY(read_u32(file, &narrow, err));
    *number = narrow;
    return REFS_OK;
}

static refs_status read_begin(netcdf3 *file, uint64_t *number, refs_error *err) {
    uint32_t narrow;
    if (file->version != 1) return read_u64(file, number, err);
    REFS_TRY(read_u32(file, &narrow, err));
    *number = narrow;
    return REFS_OK;
}

/* Reads the tag of a list and how many elements follow. */
static refs_status read_list(netcdf3 *file, uint32_t expected, uint64_t *n, refs_error *err) {
    uint64_t begin = file->at;
    uint32_t tag;
    REFS_TRY(read_u32(file, &tag, err));
    REFS_TRY(read_count(file, n, err));
    if (tag == expected || (tag == ABSENT && *n == 0)) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "byte %llu: a list has the tag %u: expected %u",
                     (unsigned long long)begin, tag, expected);
}

static size_t padding(uint64_t size) {
    return (size_t)(3 - (size + 3) % 4);
}

/* Reads `size` bytes and their padding to a multiple of four. */
static refs_status read_padded(netcdf3 *file, uint64_t size, uint64_t max, refs_buf *bytes,
                               refs_error *err) {
    uint64_t file_size;
    if (size > max)
        return refs_fail(
            err, REFS_LIMIT,
            "byte %llu: a name or an attribute has %llu bytes, more than the limit of %llu",
            (unsigned long long)file->at, (unsigned long long)size, (unsigned long long)max);
    if (size > TRUSTED_BYTES) {
        REFS_TRY(refs_source_size(file->source, &file_size, err));
        if (size > file_size)
            return refs_fail(err, REFS_CORRUPT,
                             "byte %llu: a value of %llu bytes extends past the end of the file",
                             (unsigned long long)file->at, (unsigned long long)size);
    }
    REFS_TRY(refs_buf_resize(bytes, (size_t)size, err));
    REFS_TRY(read_bytes(file, (size_t)size, bytes->data, err));
    file->at += padding(size);
    return REFS_OK;
}

static json_t *text_of(const refs_buf *bytes) {
    return refs_document_string((const char *)bytes->data, bytes->size);
}

static refs_status read_name(netcdf3 *file, char **name, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    uint64_t size;
    json_t *text = NULL;
    *name = NULL;
    REFS_TRY(read_count(file, &size, err));
    refs_status status = read_padded(file, size, MAX_NAME_BYTES, &bytes, err);
    if (status == REFS_OK) {
        text = text_of(&bytes);
        if (text != NULL) *name = refs_str_copy(refs_str_from(json_string_value(text)));
        if (*name == NULL) status = refs_fail_nomem(err);
    }
    json_decref(text);
    return status;
}

/* -- attributes -------------------------------------------------------------------------------- */

static double load_float(const uint8_t *bytes) {
    uint32_t bits = refs_load_be32(bytes);
    float number;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

static double load_double(const uint8_t *bytes) {
    uint64_t bits = refs_load_be64(bytes);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static json_t *load_u64(const uint8_t *bytes) {
    uint64_t number = refs_load_be64(bytes);
    if (number <= INT64_MAX) return json_integer((json_int_t)number);
    return refs_document_number("%llu", (unsigned long long)number);
}

static json_t *number_of(const uint8_t *bytes, uint32_t type) {
    switch (type) {
    case 1:
        return json_integer((int8_t)bytes[0]);
    case 3:
        return json_integer((int16_t)refs_load_be16(bytes));
    case 4:
        return json_integer((int32_t)refs_load_be32(bytes));
    case 5:
        return refs_document_double(load_float(bytes));
    case 6:
        return refs_document_double(load_double(bytes));
    case 7:
        return json_integer(bytes[0]);
    case 8:
        return json_integer(refs_load_be16(bytes));
    case 9:
        return json_integer(refs_load_be32(bytes));
    case 10:
        return json_integer((json_int_t)refs_load_be64(bytes));
    default:
        return load_u64(bytes);
    }
}

static json_t *value_of(const refs_buf *bytes, uint32_t type, uint64_t n) {
    if (type == CHAR) return text_of(bytes);
    if (n == 1) return number_of(bytes->data, type);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, number_of(bytes->data + i * types[type].size, type));
    return list;
}

static refs_status read_type(netcdf3 *file, uint32_t *type, refs_error *err) {
    REFS_TRY(read_u32(file, type, err));
    if (*type > 0 && *type < N_TYPES) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "byte %llu: unknown external type %u",
                     (unsigned long long)(file->at - 4), *type);
}

static refs_status read_value(netcdf3 *file, uint32_t *type, uint64_t *n, json_t **value,
                              refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    uint64_t size;
    REFS_TRY(read_type(file, type, err));
    REFS_TRY(read_count(file, n, err));
    if (!refs_mul_u64(*n, types[*type].size, &size)) size = UINT64_MAX;
    REFS_TRY(read_padded(file, size, file->job->options->limits.max_document_bytes, &bytes, err));
    *value = value_of(&bytes, *type, *n);
    if (*value == NULL) return refs_fail_nomem(err);
    return REFS_OK;
}

typedef struct attribute_list {
    json_t *values;
    json_t *fill; /* if it is one number */
    uint32_t fill_type;
} attribute_list;

static refs_status read_attribute(netcdf3 *file, attribute_list *list, refs_error *err) {
    char *name;
    uint32_t type;
    uint64_t n;
    json_t *value = NULL;
    REFS_TRY(read_name(file, &name, err));
    refs_status status = read_value(file, &type, &n, &value, err);
    if (status == REFS_OK) {
        if (strcmp(name, "_FillValue") == 0 && type != CHAR && n == 1) {
            json_decref(list->fill);
            list->fill = refs_document_fill(json_incref(value));
            list->fill_type = type;
        }
        json_object_set_new(list->values, name, value);
    }
    refs_free(name);
    return status;
}

static refs_status read_attributes(netcdf3 *file, attribute_list *list, refs_error *err) {
    uint64_t n;
    list->values = json_object();
    if (list->values == NULL) return refs_fail_nomem(err);
    REFS_TRY(read_list(file, ATTRIBUTES, &n, err));
    for (uint64_t i = 0; i < n; i++) REFS_TRY(read_attribute(file, list, err));
    return REFS_OK;
}

/* -- dimensions and variables ------------------------------------------------------------------ */

static refs_status read_dimension(netcdf3 *file, refs_error *err) {
    REFS_GROW(file->dims, file->dims_capacity, file->n_dims, err);
    dimension *dim = &file->dims[file->n_dims];
    memset(dim, 0, sizeof *dim);
    REFS_TRY(read_name(file, &dim->name, err));
    file->n_dims++;
    REFS_TRY(read_count(file, &dim->length, err));
    dim->is_record = dim->length == 0;
    return REFS_OK;
}

static refs_status read_dimensions(netcdf3 *file, refs_error *err) {
    uint64_t n;
    REFS_TRY(read_list(file, DIMENSIONS, &n, err));
    for (uint64_t i = 0; i < n; i++) REFS_TRY(read_dimension(file, err));
    return REFS_OK;
}

static refs_status read_shape(netcdf3 *file, variable *var, refs_error *err) {
    uint64_t rank, dim;
    REFS_TRY(read_count(file, &rank, err));
    if (rank > REFS_SCAN_MAX_RANK)
        return refs_fail(err, REFS_UNSUPPORTED, "it has %llu dimensions: expected at most %d",
                         (unsigned long long)rank, REFS_SCAN_MAX_RANK);
    for (; var->rank < rank; var->rank++) {
        REFS_TRY(read_count(file, &dim, err));
        if (dim >= file->n_dims)
            return refs_fail(err, REFS_CORRUPT,
                             "it refers to dimension %llu of a file with %zu dimensions",
                             (unsigned long long)dim, file->n_dims);
        if (file->dims[dim].is_record && var->rank > 0)
            return refs_fail(err, REFS_CORRUPT, "its record dimension is not its first dimension");
        var->has_records = var->has_records || file->dims[dim].is_record;
        file->dims[dim].is_used = true;
        var->dims[var->rank] = (uint32_t)dim;
    }
    return REFS_OK;
}

/* The header's size of a variable is not used: it cannot express more than 4 GiB. */
static refs_status measure(const netcdf3 *file, variable *var, refs_error *err) {
    var->slab_bytes = types[var->type].size;
    for (size_t i = var->has_records ? 1 : 0; i < var->rank; i++)
        if (!refs_mul_u64(var->slab_bytes, file->dims[var->dims[i]].length, &var->slab_bytes))
            return refs_fail(err, REFS_CORRUPT, "it has more than 2^64 bytes");
    return REFS_OK;
}

static refs_status read_rest(netcdf3 *file, variable *var, refs_error *err) {
    attribute_list list = {NULL, NULL, 0};
    uint64_t stated_size;
    refs_status status = read_shape(file, var, err);
    if (status == REFS_OK) status = read_attributes(file, &list, err);
    if (status == REFS_OK) status = read_type(file, &var->type, err);
    var->attributes = list.values;
    if (status == REFS_OK && list.fill_type == var->type)
        var->fill = list.fill;
    else
        json_decref(list.fill);
    REFS_TRY(status);
    REFS_TRY(read_count(file, &stated_size, err));
    REFS_TRY(read_begin(file, &var->begin, err));
    return measure(file, var, err);
}

static refs_status read_variable(netcdf3 *file, refs_error *err) {
    REFS_GROW(file->vars, file->vars_capacity, file->n_vars, err);
    variable *var = &file->vars[file->n_vars];
    *var = (variable){.name = NULL};
    REFS_TRY(read_name(file, &var->name, err));
    file->n_vars++;
    refs_status status = read_rest(file, var, err);
    if (status != REFS_OK) refs_error_prefix(err, "variable %s", var->name);
    return status;
}

static refs_status read_variables(netcdf3 *file, refs_error *err) {
    uint64_t n;
    REFS_TRY(read_list(file, VARIABLES, &n, err));
    for (uint64_t i = 0; i < n; i++) {
        if (i >= file->job->options->limits.max_arrays)
            return refs_fail(err, REFS_LIMIT, "the file has more variables than the limit of %llu",
                             (unsigned long long)i);
        REFS_TRY(read_variable(file, err));
    }
    return REFS_OK;
}

/* -- records ----------------------------------------------------------------------------------- */

/* Each variable's part of a record is padded to four bytes, unless it is the only record variable.
 */
static refs_status measure_records(netcdf3 *file, refs_error *err) {
    uint64_t padded = 0, alone = 0;
    size_t n = 0;
    file->records_begin = UINT64_MAX;
    for (size_t i = 0; i < file->n_vars; i++) {
        const variable *var = &file->vars[i];
        if (!var->has_records) continue;
        if (!refs_add_u64(padded, var->slab_bytes, &padded) ||
            !refs_add_u64(padded, padding(var->slab_bytes), &padded))
            return refs_fail(err, REFS_CORRUPT, "its records are larger than any file");
        if (var->begin < file->records_begin) file->records_begin = var->begin;
        alone = var->slab_bytes;
        n++;
    }
    file->record_bytes = n == 1 ? alone : padded;
    return REFS_OK;
}

static refs_status count_records(netcdf3 *file, refs_error *err) {
    uint64_t size;
    if (!file->is_streaming) return REFS_OK;
    file->n_records = 0;
    if (file->record_bytes == 0) return REFS_OK;
    REFS_TRY(refs_source_size(file->source, &size, err));
    if (size > file->records_begin)
        file->n_records = (size - file->records_begin) / file->record_bytes;
    return REFS_OK;
}

static uint64_t length_of(const netcdf3 *file, const variable *var, size_t dim) {
    const dimension *at = &file->dims[var->dims[dim]];
    return at->is_record ? file->n_records : at->length;
}

/* -- chunks ------------------------------------------------------------------------------------ */

/* Divides a slab into chunks: one if it is small; else the slowest dimensions get chunks of one
 * element, as many as needed, and the last of them chunks of several. */
static void choose_chunks(const netcdf3 *file, variable *var) {
    uint64_t part = var->slab_bytes;
    size_t first = var->has_records ? 1 : 0;
    for (size_t dim = 0; dim < var->rank; dim++) var->chunks[dim] = length_of(file, var, dim);
    if (var->has_records) var->chunks[0] = 1;
    if (part <= MAX_WHOLE_BYTES) return;
    for (size_t dim = first; dim < var->rank && part > LARGE_PART_BYTES; dim++) {
        uint64_t rest = part / var->chunks[dim];
        var->chunks[dim] = rest >= LARGE_PART_BYTES ? 1 : LARGE_PART_BYTES / rest;
        part = rest * var->chunks[dim];
    }
}

/* Whether the file holds all records; the last may lack its padding. */
static bool has_whole_records(const netcdf3 *file) {
    uint64_t size, end;
    return refs_mul_u64(file->n_records, file->record_bytes, &end) &&
           refs_add_u64(end, file->records_begin, &end) &&
           refs_source_size(file->source, &size, NULL) == REFS_OK && end <= size;
}

/* Chunks of a few bytes would cost more than reading the bytes between them. */
static void group_records(const netcdf3 *file, variable *var) {
    if (!var->has_records || var->slab_bytes > MAX_SMALL_SLAB_BYTES || var->slab_bytes == 0 ||
        file->record_bytes > MAX_SMALL_RECORD_BYTES || file->n_records < 2 ||
        var->begin - file->records_begin > file->record_bytes - var->slab_bytes ||
        !has_whole_records(file))
        return;
    uint64_t n = GROUPED_RECORDS_BYTES / file->record_bytes;
    var->grouped = (size_t)(n < file->n_records ? n : file->n_records);
    var->chunks[0] = var->grouped;
}

static json_t *bytes_field(const char *name, uint64_t size) {
    return json_pack("[s, o]", name, json_sprintf("|V%llu", (unsigned long long)size));
}

/* The configuration of the codec "record_member", which extracts a variable from records. */
static json_t *member_filter(const netcdf3 *file, const variable *var) {
    uint64_t before = var->begin - file->records_begin;
    uint64_t behind = file->record_bytes - before - var->slab_bytes;
    json_t *fields = json_array();
    if (before > 0) json_array_append_new(fields, bytes_field("before", before));
    json_array_append_new(fields, bytes_field("values", var->slab_bytes));
    if (behind > 0) json_array_append_new(fields, bytes_field("behind", behind));
    return json_pack("[{s:s, s:s, s:o}]", "id", "record_member", "member", "values", "dtype",
                     fields);
}

static refs_status index_netcdf3(void *self, size_t number, refs_chunk_index *index,
                                 refs_error *err) {
    const netcdf3 *file = self;
    const variable *var = &file->vars[number];
    uint64_t shape[REFS_SCAN_MAX_RANK];
    refs_chunk_steps steps = {.offset = var->begin, .short_dim = var->rank};
    uint64_t inner = types[var->type].size;
    for (size_t dim = 0; dim < var->rank; dim++) shape[dim] = length_of(file, var, dim);
    REFS_TRY(refs_chunk_index_init(index, var->rank, shape, var->chunks, err));
    steps.length = inner;
    for (size_t dim = var->rank; dim-- > (var->has_records ? 1 : 0);) {
        uint64_t rest = shape[dim] % var->chunks[dim];
        steps.steps[dim] = inner * var->chunks[dim];
        if (rest != 0) {
            steps.short_dim = dim;
            steps.last_length = inner * rest;
        }
        steps.length *= var->chunks[dim];
        inner *= shape[dim];
    }
    if (var->grouped > 0) {
        steps.offset = file->records_begin;
        steps.length = file->record_bytes * var->grouped;
        steps.short_dim = file->n_records % var->grouped != 0 ? 0 : var->rank;
        steps.last_length = file->record_bytes * (file->n_records % var->grouped);
    }
    if (var->has_records && !refs_mul_u64(file->record_bytes, var->chunks[0], &steps.steps[0]))
        return refs_fail(err, REFS_CORRUPT, "its records are larger than any file");
    return refs_chunk_index_in_steps(index, &steps, err);
}

/* -- documents of the set ---------------------------------------------------------------------- */

static uint64_t size_of(const void *user, refs_str name) {
    const netcdf3 *file = user;
    for (size_t i = 0; i < file->n_dims; i++)
        if (refs_str_is(name, file->dims[i].name))
            return file->dims[i].is_record ? file->n_records : file->dims[i].length;
    return 0;
}

static refs_status list_variable(netcdf3 *file, variable *var, refs_error *err) {
    const char *dimensions[REFS_SCAN_MAX_RANK];
    uint64_t shape[REFS_SCAN_MAX_RANK];
    size_t number;
    if (var->rank == 0) REFS_TRY(refs_documents_tell_sizes(var->attributes, size_of, file, err));
    choose_chunks(file, var);
    group_records(file, var);
    for (size_t dim = 0; dim < var->rank; dim++) {
        dimensions[dim] = file->dims[var->dims[dim]].name;
        shape[dim] = length_of(file, var, dim);
        if (var->chunks[dim] == 0) var->chunks[dim] = 1;
    }
    const refs_scan_array array = {.path = var->name,
                                   .rank = var->rank,
                                   .shape = shape,
                                   .chunks = var->chunks,
                                   .dtype = json_string(types[var->type].dtype),
                                   .dimensions = dimensions,
                                   .filters = var->grouped > 0 ? member_filter(file, var) : NULL,
                                   .fill_value = var->fill,
                                   .attributes = var->attributes};
    var->fill = var->attributes = NULL;
    return refs_documents_add_array(file->job->documents, &array, &number, err);
}

static refs_status check_name(const variable *var, refs_error *err) {
    if (*var->name != '\0' && strchr(var->name, '/') == NULL) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "a variable has the invalid name \"%s\"", var->name);
}

static refs_status read_header(netcdf3 *file, attribute_list *global, refs_error *err) {
    uint8_t magic[4];
    REFS_TRY(read_bytes(file, sizeof magic, magic, err));
    file->version = magic[3];
    REFS_TRY(read_count(file, &file->n_records, err));
    file->is_streaming = file->n_records == (file->version == 5 ? UINT64_MAX : UINT32_MAX);
    REFS_TRY(read_dimensions(file, err));
    REFS_TRY(read_attributes(file, global, err));
    REFS_TRY(read_variables(file, err));
    REFS_TRY(measure_records(file, err));
    return count_records(file, err);
}

/* Records properties of dimensions, which are not attributes of arrays. */
static refs_status record_dimensions(const netcdf3 *file, json_t **attributes, refs_error *err) {
    for (size_t i = 0; i < file->n_dims; i++) {
        const dimension *dim = &file->dims[i];
        if (dim->is_record) REFS_TRY(refs_documents_tell_unlimited(attributes, dim->name, err));
        if (!dim->is_used)
            REFS_TRY(refs_documents_tell_unused(
                attributes, dim->name, dim->is_record ? file->n_records : dim->length, err));
    }
    return REFS_OK;
}

static refs_status list(netcdf3 *file, refs_error *err) {
    attribute_list global = {NULL, NULL, 0};
    refs_status status = read_header(file, &global, err);
    json_decref(global.fill);
    if (status != REFS_OK) {
        json_decref(global.values);
        return status;
    }
    status = record_dimensions(file, &global.values, err);
    if (status != REFS_OK) {
        json_decref(global.values);
        return status;
    }
    REFS_TRY(refs_documents_add_group(file->job->documents, "", global.values, err));
    for (size_t i = 0; i < file->n_vars; i++) {
        REFS_TRY(check_name(&file->vars[i], err));
        REFS_TRY(list_variable(file, &file->vars[i], err));
    }
    return REFS_OK;
}

static refs_status open_netcdf3(const refs_scan_job *job, void **self, refs_error *err) {
    netcdf3 *file = refs_calloc(1, sizeof *file);
    if (file == NULL) return refs_fail_nomem(err);
    file->job = job;
    file->source = job->source;
    refs_status status = list(file, err);
    file->job = NULL;
    *self = file;
    return status;
}

const refs_scan_format refs_scan__netcdf3 = {"netCDF-3",   sniff,         NULL,
                                             open_netcdf3, index_netcdf3, close_netcdf3};
