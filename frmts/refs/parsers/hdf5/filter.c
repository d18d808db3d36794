/* filter.c -- filter pipelines as codecs, see hdf5/dataset.h. */
#include <stdio.h>

#include "hdf5/dataset.h"

static int64_t value_of(const refs_hdf5_filter *filter, size_t i) {
    return i < filter->n_values ? (int64_t)filter->values[i] : 0;
}

/* A codec without parameters, or with parameters that are values of the filter. */
typedef struct known_filter {
    uint16_t id;
    const char *codec;
    const char *names[4]; /* of the codec's parameters */
    uint8_t values[4];    /* for each parameter, which value of the filter it is */
} known_filter;

static const known_filter known_filters[] = {
    {1, "zlib", {"level"}, {0}},
    {2, "shuffle", {"elementsize"}, {0}},
    {3, "fletcher32", {NULL}, {0}},
    {4,
     "imagecodecs_szip",
     {"options_mask", "pixels_per_block", "bits_per_pixel", "pixels_per_scanline"},
     {0, 1, 2, 3}},
    {307, "bz2", {"level"}, {0}},
    {32000, "lzf", {NULL}, {0}},
    {32004, "imagecodecs_lz4h5", {NULL}, {0}},
    {32015, "zstd", {"level"}, {0}},
    {32018, "imagecodecs_jpegls", {NULL}, {0}}, /* FCIDECOMP */
    {32022, "bitround", {NULL}, {0}},           /* BitGroom and Granular BitRound */
    {32023, "bitround", {NULL}, {0}},           /* like 32022, needs no decoding */
    {32026, "imagecodecs_blosc2", {NULL}, {0}},
};

static json_t *known_codec(const refs_hdf5_filter *filter) {
    for (size_t i = 0; i < sizeof known_filters / sizeof known_filters[0]; i++) {
        const known_filter *known = &known_filters[i];
        if (known->id != filter->id) continue;
        json_t *codec = refs_document_codec(known->codec);
        for (size_t j = 0; j < 4 && known->names[j] != NULL; j++)
            json_object_set_new(codec, known->names[j],
                                json_integer(value_of(filter, known->values[j])));
        return codec;
    }
    return NULL;
}

/* Values: two versions, size of elements and of a chunk, level, shuffle, compressor. */
static json_t *blosc(const refs_hdf5_filter *filter) {
    static const char *const names[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
    size_t compressor = (size_t)value_of(filter, 6);
    return json_pack("{s:s, s:s, s:I, s:I, s:I}", "id", "blosc", "cname",
                     compressor < sizeof names / sizeof names[0] ? names[compressor] : "unknown",
                     "clevel", (json_int_t)value_of(filter, 4), "shuffle",
                     (json_int_t)value_of(filter, 5), "blocksize", (json_int_t)value_of(filter, 3));
}

/* Values: two versions, size of elements, elements of a block, compressor. */
static json_t *bitshuffle(const refs_hdf5_filter *filter) {
    static const char *const names[] = {"none", "unknown", "lz4", "zstd"};
    size_t compressor = (size_t)value_of(filter, 4);
    return json_pack("{s:s, s:I, s:I, s:s}", "id", "bitshuffle", "elementsize",
                     (json_int_t)value_of(filter, 2), "blocksize", (json_int_t)value_of(filter, 3),
                     "cname", compressor < 4 ? names[compressor] : "unknown");
}

/* Passes all values of the filter to the codec. */
static json_t *with_all(const char *codec_name, const refs_hdf5_filter *filter) {
    json_t *codec = refs_document_codec(codec_name), *list = json_array();
    for (size_t i = 0; i < filter->n_values; i++)
        json_array_append_new(list, json_integer(value_of(filter, i)));
    json_object_set_new(codec, "parameters", list);
    return codec;
}

/* Passes the parameters on. A flag among them says that elements without padding bits are stored
 * unchanged. */
static json_t *nbit(const refs_hdf5_filter *filter) {
    return value_of(filter, 1) != 0 ? refs_document_codec("bitround")
                                    : with_all("hdf5_nbit", filter);
}

static json_t *codec_of(const refs_hdf5_filter *filter) {
    enum { NBIT = 5, SCALEOFFSET = 6, BLOSC = 32001, BITSHUFFLE = 32008, ZFP = 32013 };
    char name[32];
    json_t *codec = known_codec(filter);
    if (codec != NULL) return codec;
    if (filter->id == NBIT) return nbit(filter);
    if (filter->id == SCALEOFFSET) return with_all("hdf5_scaleoffset", filter);
    if (filter->id == ZFP) return with_all("hdf5_zfp", filter);
    if (filter->id == BLOSC) return blosc(filter);
    if (filter->id == BITSHUFFLE) return bitshuffle(filter);
    snprintf(name, sizeof name, "hdf5_filter_%u", filter->id);
    return refs_document_codec(name);
}

/* Whether the input of the shuffle at `at` may end within an element, which numcodecs' shuffle does
 * not support. Behind checksums alone (4 bytes each) its size is known. */
static bool may_leave_bytes(const refs_hdf5_layout *layout, size_t at) {
    enum { FLETCHER32 = 3, CHECKSUM_BYTES = 4 };
    const int64_t element_size = value_of(&layout->filters[at], 0);
    for (size_t i = 0; i < at; i++)
        if (layout->filters[i].id != FLETCHER32) return true;
    return at > 0 && (element_size <= 0 || (int64_t)at * CHECKSUM_BYTES % element_size != 0);
}

static void append_pipeline(const refs_hdf5_layout *layout, json_t *list) {
    enum { SHUFFLE = 2 };
    for (size_t i = 0; i < layout->n_filters; i++) {
        json_t *codec = codec_of(&layout->filters[i]);
        if (layout->filters[i].id == SHUFFLE && may_leave_bytes(layout, i))
            json_object_set_new(codec, "leftover", json_true());
        json_array_append_new(list, codec);
    }
}

json_t *refs_hdf5__pipeline(const refs_hdf5_layout *layout) {
    json_t *list = json_array();
    append_pipeline(layout, list);
    return list;
}

/* The codec that converts the file's numbers to the array's type. */
static json_t *number_codec(const refs_bit_number *number) {
    static const char *const kinds[] = {"i", "u", "f"};
    json_t *codec = refs_document_codec("hdf5_number");
    json_object_set_new(codec, "kind", json_string(kinds[number->kind]));
    json_object_set_new(codec, "order", json_string(number->is_big_endian ? ">" : "<"));
    json_object_set_new(codec, "size", json_integer(number->size));
    if (number->kind != REFS_BIT_FLOAT) {
        json_object_set_new(codec, "offset", json_integer(number->offset));
        json_object_set_new(codec, "bits", json_integer(number->bits));
        return codec;
    }
    json_object_set_new(codec, "sign", json_integer(number->sign));
    json_object_set_new(codec, "exponent", json_integer(number->exponent));
    json_object_set_new(codec, "exponent_bits", json_integer(number->exponent_bits));
    json_object_set_new(codec, "mantissa", json_integer(number->mantissa));
    json_object_set_new(codec, "mantissa_bits", json_integer(number->mantissa_bits));
    json_object_set_new(codec, "implied", json_boolean(number->is_leading_implied));
    json_object_set_new(codec, "bias", json_integer(number->bias));
    return codec;
}

json_t *refs_hdf5__filters(const refs_hdf5_dataset *dataset) {
    const refs_hdf5_layout *layout = &dataset->layout;
    bool is_text = layout->element == REFS_HDF5_VLEN_STRING;
    if (is_text) {
        json_t *list = json_array();
        json_array_append_new(list, refs_document_codec("vlen-utf8"));
        return list;
    }
    if (dataset->codecs != NULL) return json_incref(dataset->codecs);
    bool is_filtered = layout->n_filters > 0 && layout->class == REFS_HDF5_CHUNKED;
    if (!is_filtered && !layout->is_recast) return NULL;
    json_t *list = json_array();
    if (layout->is_recast)
        json_array_append_new(list, number_codec(refs_hdf5__recast(&dataset->type)));
    if (is_filtered) append_pipeline(layout, list);
    return list;
}
