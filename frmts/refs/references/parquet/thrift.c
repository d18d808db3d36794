/* thrift.c -- reads the compact protocol of Apache Thrift, as far as a Parquet footer needs it. */
#include "parquet/parquet_internal.h"

/* Footers need fewer than ten levels. */
#define MAX_DEPTH 32

static refs_status fail_cut(const refs_thrift *thrift, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "its metadata are truncated at byte %zu of %zu", thrift->at,
                     thrift->bytes.size);
}

static refs_status next_byte(refs_thrift *thrift, uint8_t *byte, refs_error *err) {
    if (thrift->at >= thrift->bytes.size) return fail_cut(thrift, err);
    *byte = thrift->bytes.data[thrift->at++];
    return REFS_OK;
}

static refs_status varint(refs_thrift *thrift, uint64_t *value, refs_error *err) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = 0;
        REFS_TRY(next_byte(thrift, &byte, err));
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return REFS_OK;
    }
    return refs_fail(err, REFS_CORRUPT, "a number in its metadata does not fit 64 bits");
}

static refs_status zigzag(refs_thrift *thrift, int64_t *value, refs_error *err) {
    uint64_t folded = 0;
    REFS_TRY(varint(thrift, &folded, err));
    *value = (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
    return REFS_OK;
}

static refs_status pass(refs_thrift *thrift, uint64_t size, refs_error *err) {
    if (size > thrift->bytes.size - thrift->at) return fail_cut(thrift, err);
    thrift->at += (size_t)size;
    return REFS_OK;
}

refs_status refs_thrift__next(refs_thrift *thrift, refs_thrift_field *field, refs_error *err) {
    uint8_t head = 0;
    REFS_TRY(next_byte(thrift, &head, err));
    if (head == REFS_THRIFT_STOP) {
        field->type = REFS_THRIFT_STOP;
        return REFS_OK;
    }
    field->type = (refs_thrift_type)(head & 15);
    int64_t id = field->id + (head >> 4);
    if (head >> 4 == 0) REFS_TRY(zigzag(thrift, &id, err));
    if (id < INT16_MIN || id > INT16_MAX || field->type > REFS_THRIFT_UUID ||
        field->type == REFS_THRIFT_STOP)
        return refs_fail(err, REFS_CORRUPT, "its metadata are invalid at byte %zu", thrift->at);
    field->id = (int16_t)id;
    return REFS_OK;
}

refs_status refs_thrift__integer(refs_thrift *thrift, refs_thrift_type type, int64_t *value,
                                 refs_error *err) {
    if (type == REFS_THRIFT_TRUE || type == REFS_THRIFT_FALSE) {
        *value = type == REFS_THRIFT_TRUE;
        return REFS_OK;
    }
    if (type == REFS_THRIFT_BYTE) {
        uint8_t byte = 0;
        REFS_TRY(next_byte(thrift, &byte, err));
        *value = (int8_t)byte;
        return REFS_OK;
    }
    if (type < REFS_THRIFT_I16 || type > REFS_THRIFT_I64)
        return refs_fail(err, REFS_CORRUPT, "its metadata: expected a number, found type %d",
                         (int)type);
    return zigzag(thrift, value, err);
}

refs_status refs_thrift__binary(refs_thrift *thrift, refs_bytes *value, refs_error *err) {
    uint64_t size = 0;
    REFS_TRY(varint(thrift, &size, err));
    const uint8_t *data = thrift->bytes.data + thrift->at;
    REFS_TRY(pass(thrift, size, err));
    *value = refs_bytes_view(data, (size_t)size);
    return REFS_OK;
}

refs_status refs_thrift__list(refs_thrift *thrift, refs_thrift_type *type, size_t *n,
                              refs_error *err) {
    uint8_t head = 0;
    REFS_TRY(next_byte(thrift, &head, err));
    uint64_t count = head >> 4;
    if (count == 15) REFS_TRY(varint(thrift, &count, err));
    /* Each element has at least one byte, so a false count cannot cost much memory. */
    if (count > thrift->bytes.size - thrift->at) return fail_cut(thrift, err);
    *type = (refs_thrift_type)(head & 15);
    *n = (size_t)count;
    return REFS_OK;
}

static refs_status skip_struct(refs_thrift *thrift, refs_error *err) {
    refs_thrift_field field = {0, REFS_THRIFT_STOP};
    for (;;) {
        REFS_TRY(refs_thrift__next(thrift, &field, err));
        if (field.type == REFS_THRIFT_STOP) return REFS_OK;
        REFS_TRY(refs_thrift__skip(thrift, field.type, err));
    }
}

/* A boolean takes a byte in a list; otherwise it is part of the field's header. */
static refs_status skip_element(refs_thrift *thrift, refs_thrift_type type, refs_error *err) {
    if (type == REFS_THRIFT_TRUE || type == REFS_THRIFT_FALSE) return pass(thrift, 1, err);
    return refs_thrift__skip(thrift, type, err);
}

static refs_status skip_list(refs_thrift *thrift, refs_error *err) {
    refs_thrift_type type;
    size_t n = 0;
    REFS_TRY(refs_thrift__list(thrift, &type, &n, err));
    for (size_t i = 0; i < n; i++) REFS_TRY(skip_element(thrift, type, err));
    return REFS_OK;
}

static refs_status skip_map(refs_thrift *thrift, refs_error *err) {
    uint64_t n = 0;
    uint8_t types = 0;
    REFS_TRY(varint(thrift, &n, err));
    if (n == 0) return REFS_OK;
    if (n > thrift->bytes.size) return fail_cut(thrift, err);
    REFS_TRY(next_byte(thrift, &types, err));
    for (uint64_t i = 0; i < n; i++) {
        REFS_TRY(skip_element(thrift, (refs_thrift_type)(types >> 4), err));
        REFS_TRY(skip_element(thrift, (refs_thrift_type)(types & 15), err));
    }
    return REFS_OK;
}

static refs_status skip_value(refs_thrift *thrift, refs_thrift_type type, refs_error *err) {
    refs_bytes ignored_bytes;
    int64_t ignored;
    switch (type) {
    case REFS_THRIFT_DOUBLE:
        return pass(thrift, 8, err);
    case REFS_THRIFT_UUID:
        return pass(thrift, 16, err);
    case REFS_THRIFT_BINARY:
        return refs_thrift__binary(thrift, &ignored_bytes, err);
    case REFS_THRIFT_LIST:
    case REFS_THRIFT_SET:
        return skip_list(thrift, err);
    case REFS_THRIFT_MAP:
        return skip_map(thrift, err);
    case REFS_THRIFT_STRUCT:
        return skip_struct(thrift, err);
    default:
        return refs_thrift__integer(thrift, type, &ignored, err);
    }
}

refs_status refs_thrift__skip(refs_thrift *thrift, refs_thrift_type type, refs_error *err) {
    if (thrift->depth >= MAX_DEPTH)
        return refs_fail(err, REFS_CORRUPT, "its metadata are nested too deeply");
    thrift->depth++;
    refs_status status = skip_value(thrift, type, err);
    thrift->depth--;
    return status;
}
