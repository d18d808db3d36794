/* msgpack2.c -- codec "msgpack2": like "json2", in MessagePack (https://msgpack.org). Its
 * predecessor "msgpack" has no shape.
 *
 * Parsed as a stream: libraries allocate memory for as many items as a header of five bytes
 * declares.
 */
#include "elements.h"

/* Lists in lists: as many as an array has dimensions. */
#define MAX_DEPTH 34

typedef struct msgpack_codec {
    refs_element_type type;
    size_t n_trailing; /* items after the elements */
} msgpack_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    msgpack_codec *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->n_trailing = strcmp(context->id, "msgpack") == 0 ? 1 : 2;
    return refs_codec__element_type_parse(refs_str_from(context->array->dtype), &opened->type, err);
}

/* -- items ------------------------------------------------------------------------------------- */

typedef enum item_kind { NOTHING, UINT, INT, FLOAT, TEXT, LIST } item_kind;

typedef struct msgpack_item {
    item_kind kind;
    uint64_t bits; /* of a number, or how many bytes or items follow */
    size_t size;   /* bytes of a number */
} msgpack_item;

/* Leading bytes, and the number of bytes after them with the size or value. */
static const struct {
    uint8_t lead;
    item_kind kind;
    uint8_t size;
} leads[] = {
    {0xc0, NOTHING, 0}, {0xc4, TEXT, 1}, {0xc5, TEXT, 2}, {0xc6, TEXT, 4}, {0xca, FLOAT, 4},
    {0xcb, FLOAT, 8},   {0xcc, UINT, 1}, {0xcd, UINT, 2}, {0xce, UINT, 4}, {0xcf, UINT, 8},
    {0xd0, INT, 1},     {0xd1, INT, 2},  {0xd2, INT, 4},  {0xd3, INT, 8},  {0xd9, TEXT, 1},
    {0xda, TEXT, 2},    {0xdb, TEXT, 4}, {0xdc, LIST, 2}, {0xdd, LIST, 4},
};

/* Items whose leading byte also holds their value or length. */
static const struct {
    uint8_t mask;
    uint8_t bits;
    item_kind kind;
} short_leads[] = {{0x80, 0x00, UINT}, {0xe0, 0xa0, TEXT}, {0xf0, 0x90, LIST}, {0xe0, 0xe0, INT}};

static refs_bytes behind(refs_bytes bytes, size_t size) {
    return refs_bytes_view(bytes.data + size, bytes.size - size);
}

static bool take_short(uint8_t lead, msgpack_item *item) {
    if (lead == 0xc2 || lead == 0xc3) {
        *item = (msgpack_item){UINT, lead & 1u, 1};
        return true;
    }
    for (size_t i = 0; i < sizeof short_leads / sizeof *short_leads; i++) {
        if ((lead & short_leads[i].mask) != short_leads[i].bits) continue;
        bool negative = short_leads[i].kind == INT;
        *item =
            (msgpack_item){short_leads[i].kind, negative ? lead : lead & ~short_leads[i].mask, 1};
        return true;
    }
    return false;
}

/* Reads the header of a text or a list, or a whole number. */
static refs_status take_item(refs_bytes *bytes, msgpack_item *item, refs_error *err) {
    if (bytes->size == 0) return refs_fail(err, REFS_CORRUPT, "the items are truncated");
    uint8_t lead = bytes->data[0];
    *bytes = behind(*bytes, 1);
    if (take_short(lead, item)) return REFS_OK;
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        if (lead != leads[i].lead) continue;
        if (leads[i].size > bytes->size)
            return refs_fail(err, REFS_CORRUPT, "the items are truncated");
        *item = (msgpack_item){leads[i].kind, 0, leads[i].size};
        for (size_t at = 0; at < leads[i].size; at++)
            item->bits = item->bits << 8 | bytes->data[at];
        *bytes = behind(*bytes, leads[i].size);
        return REFS_OK;
    }
    return refs_fail(err, REFS_CORRUPT, "unknown item type: byte 0x%02x", lead);
}

/* -- elements ---------------------------------------------------------------------------------- */

static double float_of(const msgpack_item *item) {
    double number;
    if (item->size == 8) {
        memcpy(&number, &item->bits, sizeof number);
        return number;
    }
    uint32_t bits = (uint32_t)item->bits;
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    return (double)narrow;
}

static int64_t int_of(const msgpack_item *item) {
    unsigned n_unused = 64 - 8 * (unsigned)item->size;
    return (int64_t)(item->bits << n_unused) >> n_unused;
}

static refs_status take_text(refs_bytes *bytes, const msgpack_item *item, refs_str *text,
                             refs_error *err) {
    if (item->bits > bytes->size) return refs_fail(err, REFS_CORRUPT, "a string is truncated");
    *text = refs_str_view((const char *)bytes->data, (size_t)item->bits);
    *bytes = behind(*bytes, text->size);
    return REFS_OK;
}

static refs_status put_items(refs_element_writer *writer, refs_bytes *bytes, uint64_t n, int depth,
                             refs_error *err);

static refs_status put_item(refs_element_writer *writer, refs_bytes *bytes, int depth,
                            refs_error *err) {
    msgpack_item item = {NOTHING, 0, 0};
    refs_str text = refs_str_from("");
    REFS_TRY(take_item(bytes, &item, err));
    switch (item.kind) {
    case LIST:
        return put_items(writer, bytes, item.bits, depth + 1, err);
    case UINT:
        return refs_codec__put_uint(writer, item.bits, err);
    case INT:
        return refs_codec__put_int(writer, int_of(&item), err);
    case FLOAT:
        return refs_codec__put_double(writer, float_of(&item), err);
    case TEXT:
        REFS_TRY(take_text(bytes, &item, &text, err));
        break;
    case NOTHING:
        break;
    }
    return refs_codec__put_text(writer, text, err);
}

static refs_status put_items(refs_element_writer *writer, refs_bytes *bytes, uint64_t n, int depth,
                             refs_error *err) {
    if (depth > MAX_DEPTH) return refs_fail(err, REFS_CORRUPT, "lists are nested too deeply");
    for (uint64_t i = 0; i < n; i++) REFS_TRY(put_item(writer, bytes, depth, err));
    return REFS_OK;
}

/* Checks the dtype after the elements, a text; the shape after it is redundant. */
static refs_status check_trailing(refs_bytes bytes, size_t n_trailing, refs_error *err) {
    msgpack_item item = {NOTHING, 0, 0};
    refs_str text;
    REFS_TRY(take_item(&bytes, &item, err));
    if (item.kind != TEXT)
        return refs_fail(err, REFS_CORRUPT, "the list does not end with its dtype");
    REFS_TRY(take_text(&bytes, &item, &text, err));
    if (n_trailing < 2) return REFS_OK;
    REFS_TRY(take_item(&bytes, &item, err));
    if (item.kind != LIST)
        return refs_fail(err, REFS_CORRUPT, "the list does not end with its shape");
    for (uint64_t n = item.bits; n > 0; n--) REFS_TRY(take_item(&bytes, &item, err));
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const msgpack_codec *codec = self;
    refs_element_writer writer = {&codec->type, output, 0};
    msgpack_item list = {NOTHING, 0, 0};
    REFS_TRY(take_item(&encoded, &list, err));
    if (list.kind != LIST || list.bits < codec->n_trailing)
        return refs_fail(err, REFS_CORRUPT, "expected a list of elements");
    REFS_TRY(refs_codec__elements_begin(&writer, err));
    REFS_TRY(put_items(&writer, &encoded, list.bits - codec->n_trailing, 0, err));
    refs_codec__elements_end(&writer);
    return check_trailing(encoded, codec->n_trailing, err);
}

static const char *const aliases[] = {"msgpack", NULL};

const refs_codec_type refs_codec_msgpack2 = {.name = "msgpack2",
                                             .aliases = aliases,
                                             .reads = "strings and numbers as MessagePack",
                                             .library = "REFS",
                                             .open = open_codec,
                                             .decode = decode,
                                             .close = refs_free};
