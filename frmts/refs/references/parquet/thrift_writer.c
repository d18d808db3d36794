/* thrift_writer.c -- see thrift_writer.h. */
#include "parquet/thrift_writer.h"

static void put(refs_thrift_writer *writer, const void *data, size_t size) {
    if (writer->status == REFS_OK)
        writer->status = refs_buf_append(writer->bytes, data, size, writer->err);
}

static void put_byte(refs_thrift_writer *writer, uint8_t byte) {
    put(writer, &byte, 1);
}

static void put_varint(refs_thrift_writer *writer, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte(writer, (uint8_t)(value | 0x80));
    put_byte(writer, (uint8_t)value);
}

static void put_zigzag(refs_thrift_writer *writer, int64_t value) {
    put_varint(writer, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_field(refs_thrift_writer *writer, int id, refs_thrift_type type) {
    int step = id - writer->last[writer->depth];
    if (step > 0 && step < 16) {
        put_byte(writer, (uint8_t)(step << 4 | (int)type));
    } else {
        put_byte(writer, (uint8_t)type);
        put_zigzag(writer, id);
    }
    writer->last[writer->depth] = id;
}

void refs_thrift_i32(refs_thrift_writer *writer, int id, int32_t value) {
    put_field(writer, id, REFS_THRIFT_I32);
    put_zigzag(writer, value);
}

void refs_thrift_i64(refs_thrift_writer *writer, int id, int64_t value) {
    put_field(writer, id, REFS_THRIFT_I64);
    put_zigzag(writer, value);
}

void refs_thrift_item_text(refs_thrift_writer *writer, const char *text) {
    put_varint(writer, strlen(text));
    put(writer, text, strlen(text));
}

void refs_thrift_text(refs_thrift_writer *writer, int id, const char *text) {
    put_field(writer, id, REFS_THRIFT_BINARY);
    refs_thrift_item_text(writer, text);
}

void refs_thrift_item_i32(refs_thrift_writer *writer, int32_t value) {
    put_zigzag(writer, value);
}

void refs_thrift_list(refs_thrift_writer *writer, int id, refs_thrift_type type, size_t n) {
    put_field(writer, id, REFS_THRIFT_LIST);
    if (n < 15) {
        put_byte(writer, (uint8_t)(n << 4 | (size_t)type));
    } else {
        put_byte(writer, (uint8_t)(0xf0 | (int)type));
        put_varint(writer, n);
    }
}

void refs_thrift_item(refs_thrift_writer *writer) {
    if (writer->depth + 1 < REFS_THRIFT_DEPTH) writer->last[++writer->depth] = 0;
}

void refs_thrift_begin(refs_thrift_writer *writer, int id) {
    put_field(writer, id, REFS_THRIFT_STRUCT);
    refs_thrift_item(writer);
}

void refs_thrift_end(refs_thrift_writer *writer) {
    put_byte(writer, 0);
    if (writer->depth > 0) writer->depth--;
}
