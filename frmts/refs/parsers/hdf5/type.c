/* type.c -- see hdf5/type.h. Specification IV.A.2.d. */
#include "hdf5/type.h"

#include <stdio.h>

#define MAX_TYPE_LEVELS 16
#define MAX_MEMBERS     65536

void refs_hdf5__type_clear(refs_hdf5_type *type) {
    for (size_t i = 0; i < type->n_members; i++) {
        refs_free(type->members[i].name);
        if (type->members[i].type != NULL) refs_hdf5__type_clear(type->members[i].type);
        refs_free(type->members[i].type);
    }
    refs_free(type->members);
    if (type->base != NULL) refs_hdf5__type_clear(type->base);
    refs_free(type->base);
    refs_buf_clear(&type->values);
    memset(type, 0, sizeof *type);
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The header of all datatype messages. */
typedef struct type_head {
    uint8_t version;
    uint32_t flags;
    size_t level;
} type_head;

static refs_status read_type(refs_hdf5_cursor *cursor, size_t level, refs_hdf5_type *type,
                             refs_error *err);

static refs_status read_inner(refs_hdf5_cursor *cursor, size_t level, refs_hdf5_type **inner,
                              refs_error *err) {
    REFS_NEW(*inner, 1, err);
    return read_type(cursor, level + 1, *inner, err);
}

/* Reads a name; before version 3 it is padded to a multiple of eight bytes. */
static refs_str read_name(refs_hdf5_cursor *cursor, uint8_t version) {
    refs_str rest = refs_str_view((const char *)cursor->at, refs_hdf5__left(cursor));
    size_t size = refs_str_find(rest, '\0');
    if (size >= rest.size) {
        cursor->is_short = true;
        return refs_str_from("");
    }
    refs_hdf5__take(cursor, version < 3 ? (size + 8) / 8 * 8 : size + 1);
    return refs_str_view(rest.data, size);
}

static void read_integer(refs_hdf5_cursor *cursor, const type_head *head, refs_hdf5_type *type) {
    enum { IS_SIGNED = 8 };
    uint16_t offset = refs_hdf5__u16(cursor);
    type->bits = refs_hdf5__u16(cursor);
    type->is_big_endian = (head->flags & 1) != 0;
    type->is_signed = type->class == REFS_HDF5_FIXED && (head->flags & IS_SIGNED) != 0;
    type->is_native = offset == 0 && type->bits == 8 * type->size &&
                      (type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8);
    type->number = (refs_bit_number){.kind = type->is_signed ? REFS_BIT_SIGNED : REFS_BIT_UNSIGNED,
                                     .size = type->size,
                                     .is_big_endian = type->is_big_endian,
                                     .offset = offset,
                                     .bits = type->bits};
}

/* Whether a floating-point type is IEEE 754 without padding bits. */
static bool is_native_float(const refs_bit_number *number) {
    static const struct layout {
        uint32_t size, sign, exponent, exponent_bits, mantissa_bits, bias;
    } known[] = {{2, 15, 10, 5, 10, 15}, {4, 31, 23, 8, 23, 127}, {8, 63, 52, 11, 52, 1023}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].size == number->size && known[i].sign == number->sign &&
            known[i].exponent == number->exponent && number->mantissa == 0 &&
            known[i].exponent_bits == number->exponent_bits &&
            known[i].mantissa_bits == number->mantissa_bits && known[i].bias == number->bias)
            return number->is_leading_implied;
    return false;
}

static void read_float(refs_hdf5_cursor *cursor, const type_head *head, refs_hdf5_type *type) {
    enum { VAX = 0x40, IMPLIED = 2 };
    refs_bit_number *number = &type->number;
    number->kind = REFS_BIT_FLOAT;
    number->size = type->size;
    type->is_big_endian = number->is_big_endian = (head->flags & 1) != 0;
    type->is_vax = (head->flags & VAX) != 0;
    number->is_leading_implied = (head->flags >> 4 & 3) == IMPLIED;
    number->sign = head->flags >> 8 & 0xFF;
    number->offset = refs_hdf5__u16(cursor);
    number->bits = type->bits = refs_hdf5__u16(cursor);
    number->exponent = refs_hdf5__u8(cursor);
    number->exponent_bits = refs_hdf5__u8(cursor);
    number->mantissa = refs_hdf5__u8(cursor);
    number->mantissa_bits = refs_hdf5__u8(cursor);
    number->bias = refs_hdf5__u32(cursor);
    type->is_native = !type->is_vax && is_native_float(number);
}

static refs_status add_members(refs_hdf5_type *type, size_t n, refs_error *err) {
    if (n > MAX_MEMBERS)
        return refs_fail(err, REFS_LIMIT, "a datatype has too many members: %zu", n);
    REFS_NEW(type->members, n, err);
    type->n_members = n;
    return REFS_OK;
}

/* Version 1: up to four dimensions are in front of the type of a member. */
static refs_status read_member_shape(refs_hdf5_cursor *cursor, refs_hdf5_type *array,
                                     refs_error *err) {
    uint8_t rank = refs_hdf5__u8(cursor);
    refs_hdf5__take(cursor, 3 + 4 + 4);
    for (size_t i = 0; i < 4; i++) array->shape[i] = refs_hdf5__u32(cursor);
    if (rank > 4)
        return refs_fail(err, REFS_CORRUPT, "a datatype member has an invalid rank: %u", rank);
    array->rank = rank;
    return REFS_OK;
}

/* Wraps *inner in an array type if there are dimensions. */
static refs_status wrap(refs_hdf5_type **inner, const refs_hdf5_type *shape, refs_error *err) {
    if (shape->rank == 0) return REFS_OK;
    refs_hdf5_type *array = refs_calloc(1, sizeof *array);
    uint64_t size = (*inner)->size;
    if (array == NULL) return refs_fail_nomem(err);
    *array = *shape;
    array->class = REFS_HDF5_ARRAY;
    array->base = *inner;
    *inner = array;
    for (size_t i = 0; i < array->rank; i++)
        if (!refs_mul_u64(size, array->shape[i], &size)) size = UINT64_MAX;
    if (size > UINT32_MAX) return refs_fail(err, REFS_CORRUPT, "a datatype is too large");
    array->size = (uint32_t)size;
    return REFS_OK;
}

static refs_status read_member(refs_hdf5_cursor *cursor, const type_head *head,
                               const refs_hdf5_type *type, refs_hdf5_member *member,
                               refs_error *err) {
    refs_hdf5_type shape = {.rank = 0};
    refs_str name = read_name(cursor, head->version);
    REFS_TRY(refs_str_keep(name, &member->name, err));
    size_t offset_size = head->version < 3 ? 4 : refs_hdf5__bytes_for(type->size);
    member->offset = (uint32_t)refs_hdf5__uint(cursor, offset_size);
    if (head->version == 1) REFS_TRY(read_member_shape(cursor, &shape, err));
    REFS_TRY(read_inner(cursor, head->level, &member->type, err));
    REFS_TRY(wrap(&member->type, &shape, err));
    if (member->offset > type->size || member->type->size > type->size - member->offset)
        return refs_fail(err, REFS_CORRUPT, "datatype member \"%s\" lies outside its compound",
                         member->name);
    return REFS_OK;
}

static refs_status read_compound(refs_hdf5_cursor *cursor, const type_head *head,
                                 refs_hdf5_type *type, refs_error *err) {
    REFS_TRY(add_members(type, head->flags & 0xFFFF, err));
    for (size_t i = 0; i < type->n_members; i++)
        REFS_TRY(read_member(cursor, head, type, &type->members[i], err));
    return REFS_OK;
}

static refs_status read_enum(refs_hdf5_cursor *cursor, const type_head *head, refs_hdf5_type *type,
                             refs_error *err) {
    REFS_TRY(read_inner(cursor, head->level, &type->base, err));
    if (type->base->size != type->size)
        return refs_fail(err, REFS_CORRUPT, "an enumeration and its base type differ in size");
    REFS_TRY(add_members(type, head->flags & 0xFFFF, err));
    for (size_t i = 0; i < type->n_members && !cursor->is_short; i++) {
        REFS_TRY(refs_str_keep(read_name(cursor, head->version), &type->members[i].name, err));
    }
    refs_bytes values = refs_hdf5__take(cursor, (uint64_t)type->n_members * type->size);
    return refs_buf_append(&type->values, values.data, values.size, err);
}

static refs_status read_array(refs_hdf5_cursor *cursor, const type_head *head, refs_hdf5_type *type,
                              refs_error *err) {
    uint64_t size;
    type->rank = refs_hdf5__u8(cursor);
    if (head->version < 3) refs_hdf5__take(cursor, 3);
    if (type->rank > REFS_SCAN_MAX_RANK)
        return refs_fail(err, REFS_CORRUPT, "an array datatype has an invalid rank: %zu",
                         type->rank);
    for (size_t i = 0; i < type->rank; i++) type->shape[i] = refs_hdf5__u32(cursor);
    if (head->version < 3) refs_hdf5__take(cursor, 4 * type->rank);
    REFS_TRY(read_inner(cursor, head->level, &type->base, err));
    size = type->base->size;
    for (size_t i = 0; i < type->rank; i++)
        if (!refs_mul_u64(size, type->shape[i], &size)) size = UINT64_MAX;
    if (size == type->size) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "an array datatype and its elements differ in size");
}

static refs_status read_properties(refs_hdf5_cursor *cursor, const type_head *head,
                                   refs_hdf5_type *type, refs_error *err) {
    switch (type->class) {
    case REFS_HDF5_FIXED:
    case REFS_HDF5_BITFIELD:
        read_integer(cursor, head, type);
        return REFS_OK;
    case REFS_HDF5_FLOAT:
        read_float(cursor, head, type);
        return REFS_OK;
    case REFS_HDF5_TIME:
        refs_hdf5__u16(cursor);
        return REFS_OK;
    case REFS_HDF5_STRING:
        type->padding = head->flags & 0x0F;
        return REFS_OK;
    case REFS_HDF5_OPAQUE:
        refs_hdf5__take(cursor, ((head->flags & 0xFF) + 7) / 8 * 8);
        return REFS_OK;
    case REFS_HDF5_COMPOUND:
        return read_compound(cursor, head, type, err);
    case REFS_HDF5_REFERENCE:
        type->kind = head->flags & 0x0F;
        return REFS_OK;
    case REFS_HDF5_ENUM:
        return read_enum(cursor, head, type, err);
    case REFS_HDF5_VLEN:
        type->is_string = (head->flags & 0x0F) == 1;
        type->padding = head->flags >> 4 & 0x0F;
        return read_inner(cursor, head->level, &type->base, err);
    case REFS_HDF5_ARRAY:
        return read_array(cursor, head, type, err);
    case REFS_HDF5_COMPLEX:
        return read_inner(cursor, head->level, &type->base, err);
    }
    return refs_fail(err, REFS_UNSUPPORTED, "unknown datatype class %u", (unsigned int)type->class);
}

static refs_status read_type(refs_hdf5_cursor *cursor, size_t level, refs_hdf5_type *type,
                             refs_error *err) {
    type_head head = {.level = level};
    uint8_t first = refs_hdf5__u8(cursor);
    head.version = first >> 4;
    type->class = (refs_hdf5_type_class)(first & 0x0F);
    head.flags = (uint32_t)refs_hdf5__uint(cursor, 3);
    type->size = refs_hdf5__u32(cursor);
    if (cursor->is_short) return refs_fail(err, REFS_CORRUPT, "a type is too short");
    if (level > MAX_TYPE_LEVELS)
        return refs_fail(err, REFS_LIMIT, "a datatype is nested too deeply");
    if (head.version < 1 || head.version > 5)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown datatype version %u", head.version);
    if (type->size == 0) return refs_fail(err, REFS_CORRUPT, "a datatype has size 0");
    REFS_TRY(read_properties(cursor, &head, type, err));
    return cursor->is_short ? refs_fail(err, REFS_CORRUPT, "a type is too short") : REFS_OK;
}

refs_status refs_hdf5__read_type(refs_bytes body, refs_hdf5_type *type, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    return read_type(&cursor, 0, type, err);
}

/* -- names ------------------------------------------------------------------------------------- */

/* Whether an enumeration is h5py's boolean: FALSE is 0 and TRUE is 1, in a byte. */
static bool is_boolean(const refs_hdf5_type *type) {
    return type->class == REFS_HDF5_ENUM && type->size == 1 && type->n_members == 2 &&
           strcmp(type->members[0].name, "FALSE") == 0 && type->values.data[0] == 0 &&
           strcmp(type->members[1].name, "TRUE") == 0 && type->values.data[1] == 1;
}

/* Whether a compound is h5py's complex number: members "r" and "i". */
static bool is_complex(const refs_hdf5_type *type) {
    if (type->class == REFS_HDF5_COMPLEX)
        return type->base->class == REFS_HDF5_FLOAT && type->base->is_native;
    if (type->class != REFS_HDF5_COMPOUND || type->n_members != 2) return false;
    const refs_hdf5_member *real = &type->members[0], *imaginary = &type->members[1];
    return strcmp(real->name, "r") == 0 && strcmp(imaginary->name, "i") == 0 &&
           real->type->class == REFS_HDF5_FLOAT && real->type->is_native &&
           imaginary->type->class == REFS_HDF5_FLOAT && imaginary->type->is_native &&
           real->type->is_big_endian == imaginary->type->is_big_endian && real->offset == 0 &&
           imaginary->offset == real->type->size && type->size == 2 * real->type->size &&
           imaginary->type->size == real->type->size;
}

/* NumPy has no complex type of half floats. */
const refs_hdf5_type *refs_hdf5__complex_part(const refs_hdf5_type *type) {
    if (!is_complex(type) || type->size <= 4) return NULL;
    return type->base != NULL ? type->base : type->members[0].type;
}

static json_t *number_type(const refs_hdf5_type *type, char letter) {
    char order = type->size == 1 ? '|' : type->is_big_endian ? '>' : '<';
    return json_sprintf("%c%c%u", order, letter, type->size);
}

const refs_bit_number *refs_hdf5__recast(const refs_hdf5_type *type) {
    if (type->class == REFS_HDF5_ARRAY || type->class == REFS_HDF5_ENUM) type = type->base;
    if (type->class == REFS_HDF5_ENUM) type = type->base;
    bool is_number = type->class == REFS_HDF5_FIXED || type->class == REFS_HDF5_FLOAT ||
                     type->class == REFS_HDF5_BITFIELD;
    bool is_read = is_number && !type->is_native && !type->is_vax &&
                   refs_bit_number_is_readable(&type->number);
    return is_read ? &type->number : NULL;
}

/* Names of unsupported types, for messages. */
static json_t *number_name(const refs_hdf5_type *type) {
    const char *class = type->class == REFS_HDF5_FIXED      ? "integer"
                        : type->class == REFS_HDF5_BITFIELD ? "bit field"
                        : type->is_vax                      ? "VAX float"
                                                            : "float";
    return json_sprintf("%s of %u bits in %u bytes", class, type->bits, type->size);
}

static json_t *number_dtype(const refs_hdf5_type *type) {
    const refs_bit_number *recast = refs_hdf5__recast(type);
    uint32_t size;
    if (type->is_native)
        return number_type(type, type->class == REFS_HDF5_FLOAT ? 'f'
                                 : type->is_signed              ? 'i'
                                                                : 'u');
    if (recast == NULL) return number_name(type);
    char letter = refs_bit_number_type(recast, &size);
    return json_sprintf("%c%c%u", size == 1 ? '|' : '<', letter, size);
}

static json_t *compound_dtype(const refs_hdf5_type *type);

json_t *refs_hdf5__dtype(const refs_hdf5_type *type) {
    if (is_boolean(type)) return json_string("|b1");
    const refs_hdf5_type *part = refs_hdf5__complex_part(type);
    if (part != NULL) return json_sprintf("%cc%u", part->is_big_endian ? '>' : '<', type->size);
    switch (type->class) {
    case REFS_HDF5_FIXED:
    case REFS_HDF5_BITFIELD:
    case REFS_HDF5_FLOAT:
        return number_dtype(type);
    case REFS_HDF5_STRING:
        return json_sprintf("|S%u", type->size);
    case REFS_HDF5_OPAQUE:
        return json_sprintf("|V%u", type->size);
    case REFS_HDF5_ENUM:
        return refs_hdf5__dtype(type->base);
    case REFS_HDF5_VLEN:
        return json_string(type->is_string ? "|O" : "sequence of variable length");
    case REFS_HDF5_COMPOUND:
        return compound_dtype(type);
    case REFS_HDF5_REFERENCE:
        return json_string(type->kind == 0 ? "reference to an object" : "reference to a region");
    case REFS_HDF5_TIME:
        return json_string("time");
    case REFS_HDF5_ARRAY:
    case REFS_HDF5_COMPLEX:
        break;
    }
    return json_sprintf("|V%u", type->size);
}

static json_t *member_dtype(const refs_hdf5_member *member) {
    const refs_hdf5_type *type = member->type;
    json_t *shape = NULL;
    if (type->class == REFS_HDF5_ARRAY) {
        shape = json_array();
        for (size_t i = 0; i < type->rank; i++)
            json_array_append_new(shape, json_integer(type->shape[i]));
        type = type->base;
    }
    json_t *pair = json_array();
    json_array_append_new(pair, refs_document_string(member->name, strlen(member->name)));
    const refs_hdf5_type *number = type->class == REFS_HDF5_ENUM ? type->base : type;
    /* members cannot be converted */
    bool is_named = refs_hdf5__recast(type) != NULL;
    json_array_append_new(pair, is_named ? number_name(number) : refs_hdf5__dtype(type));
    if (shape != NULL) json_array_append_new(pair, shape);
    return pair;
}

/* Padding is a field without a name, as in the types that NumPy writes (numpy.lib.format). */
static void add_padding(json_t *list, uint64_t size) {
    if (size == 0) return;
    json_t *type = json_sprintf("|V%llu", (unsigned long long)size);
    json_array_append_new(list, json_pack("[s, o]", "", type));
}

/* Whether NumPy's list of members can describe a compound: they ascend, do not overlap and are
 * all of their values. */
static bool has_list(const refs_hdf5_type *type) {
    uint64_t end = 0, size = 0;
    bool is_converted = false;
    for (size_t i = 0; i < type->n_members; i++) {
        const refs_hdf5_member *member = &type->members[i];
        if (member->offset < end || refs_hdf5__is_indirect(member->type)) return false;
        is_converted = is_converted || refs_hdf5__recast(member->type) != NULL;
        end = member->offset + (uint64_t)member->type->size;
        size += member->type->size;
    }
    return end <= type->size && (size == type->size || !is_converted);
}

static json_t *compound_dtype(const refs_hdf5_type *type) {
    uint64_t end = 0;
    if (!has_list(type)) return json_sprintf("|V%u", type->size);
    json_t *list = json_array();
    for (size_t i = 0; i < type->n_members; i++) {
        const refs_hdf5_member *member = &type->members[i];
        add_padding(list, member->offset - end);
        json_array_append_new(list, member_dtype(member));
        end = member->offset + (uint64_t)member->type->size;
    }
    add_padding(list, type->size - end);
    return list;
}

bool refs_hdf5__is_indirect(const refs_hdf5_type *type) {
    if (type->class == REFS_HDF5_VLEN || type->class == REFS_HDF5_REFERENCE) return true;
    if (type->base != NULL && refs_hdf5__is_indirect(type->base)) return true;
    for (size_t i = 0; type->class == REFS_HDF5_COMPOUND && i < type->n_members; i++)
        if (refs_hdf5__is_indirect(type->members[i].type)) return true;
    return false;
}

/* -- values ------------------------------------------------------------------------------------ */

static json_t *integer_value(const refs_hdf5_type *type, const uint8_t *bytes) {
    if (!refs_bit_number_is_readable(&type->number)) return NULL;
    uint64_t value = refs_bit_number_integer(&type->number, bytes);
    if (type->is_signed || value <= INT64_MAX) return json_integer((json_int_t)value);
    return refs_document_number("%llu", (unsigned long long)value);
}

/* NULL also if no double has this value. */
static json_t *float_value(const refs_hdf5_type *type, const uint8_t *bytes) {
    double value;
    if (type->is_vax || !refs_bit_number_is_readable(&type->number) ||
        !refs_bit_number_float(&type->number, bytes, &value))
        return NULL;
    return refs_document_double(value);
}

/* A fixed or variable-length string as JSON. */
static json_t *text_of(const refs_hdf5_type *type, refs_bytes bytes) {
    enum { SPACES = 2 };
    size_t size = bytes.size;
    if (type->padding == SPACES)
        while (size > 0 && bytes.data[size - 1] == ' ') size--;
    return refs_document_string((const char *)bytes.data, size);
}

/* Reads a reference to the global heap: number of elements, address, index. */
static refs_status get_vlen(const refs_hdf5_values *values, refs_bytes bytes, refs_bytes *object,
                            uint32_t *n, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(bytes);
    refs_hdf5_heap_id id;
    *n = refs_hdf5__u32(&cursor);
    id.address = refs_hdf5__address(values->file, &cursor);
    id.index = refs_hdf5__u32(&cursor);
    REFS_TRY(refs_hdf5__finish(&cursor, "value of variable length", 0, err));
    *object = refs_bytes_view("", 0);
    if (*n == 0) return REFS_OK;
    return refs_hdf5__heap_object(values->file, values->heaps, id, object, err);
}

/* Appends elements to a list; if JSON cannot express one, *list becomes NULL. */
static refs_status list_values(const refs_hdf5_values *values, const refs_hdf5_type *type,
                               refs_bytes bytes, json_t **list, refs_error *err) {
    *list = NULL;
    json_t *filled = json_array();
    for (size_t i = 0; i < bytes.size / type->size; i++) {
        json_t *value = NULL;
        refs_status status =
            refs_hdf5__value(values, type, bytes.data + i * type->size, &value, err);
        if (status != REFS_OK || value == NULL) {
            json_decref(filled);
            return status;
        }
        json_array_append_new(filled, value);
    }
    *list = filled;
    return REFS_OK;
}

static refs_status vlen_value(const refs_hdf5_values *values, const refs_hdf5_type *type,
                              const uint8_t *bytes, json_t **value, refs_error *err) {
    refs_bytes object;
    uint32_t n;
    REFS_TRY(get_vlen(values, refs_bytes_view(bytes, type->size), &object, &n, err));
    if (!type->is_string) {
        if (n > object.size / type->base->size)
            return refs_fail(err, REFS_CORRUPT, "a value is too short for its datatype");
        /* a copy: elements may be in the heap themselves, and reading them may evict its
         * collections */
        REFS_SCOPED_BUF copy = REFS_BUF_INIT;
        refs_status status = refs_buf_append(&copy, object.data, n * (size_t)type->base->size, err);
        if (status == REFS_OK)
            status = list_values(values, type->base, refs_buf_view(&copy), value, err);
        return status;
    }
    if (object.size > n) object.size = n;
    REFS_TRY(refs_hdf5__spend_value(values->file, object.size, err));
    *value = text_of(type, object);
    return *value != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status compound_value(const refs_hdf5_values *values, const refs_hdf5_type *type,
                                  const uint8_t *bytes, json_t **value, refs_error *err) {
    json_t *list = json_array();
    for (size_t i = 0; i < type->n_members; i++) {
        json_t *member = NULL;
        const refs_hdf5_member *at = &type->members[i];
        refs_status status = refs_hdf5__value(values, at->type, bytes + at->offset, &member, err);
        if (status != REFS_OK || member == NULL) {
            json_decref(list);
            return status;
        }
        json_array_append_new(list, member);
    }
    *value = list;
    return REFS_OK;
}

static refs_status array_value(const refs_hdf5_values *values, const refs_hdf5_type *type,
                               const uint8_t *bytes, json_t **value, refs_error *err) {
    return list_values(values, type->base, refs_bytes_view(bytes, type->size), value, err);
}

refs_status refs_hdf5__value(const refs_hdf5_values *values, const refs_hdf5_type *type,
                             const uint8_t *bytes, json_t **value, refs_error *err) {
    *value = NULL;
    if (values != NULL)
        REFS_TRY(refs_hdf5__spend_value(values->file,
                                        type->class == REFS_HDF5_STRING ? type->size : 0, err));
    switch (type->class) {
    case REFS_HDF5_FIXED:
    case REFS_HDF5_BITFIELD:
        *value = integer_value(type, bytes);
        return REFS_OK;
    case REFS_HDF5_FLOAT:
        *value = float_value(type, bytes);
        return REFS_OK;
    case REFS_HDF5_STRING:
        *value = text_of(type, refs_bytes_view(bytes, type->size));
        return REFS_OK;
    case REFS_HDF5_ENUM:
        if (is_boolean(type)) {
            *value = json_boolean(bytes[0] != 0);
            return REFS_OK;
        }
        return refs_hdf5__value(values, type->base, bytes, value, err);
    case REFS_HDF5_COMPOUND:
        return compound_value(values, type, bytes, value, err);
    case REFS_HDF5_VLEN:
        return vlen_value(values, type, bytes, value, err);
    case REFS_HDF5_ARRAY:
        return array_value(values, type, bytes, value, err);
    case REFS_HDF5_OPAQUE:
    case REFS_HDF5_REFERENCE:
    case REFS_HDF5_TIME:
    case REFS_HDF5_COMPLEX:
        break;
    }
    return REFS_OK;
}
