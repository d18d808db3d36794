/* version3.c -- converts arrays and groups of Zarr version 3 to version 2, which combined sets
 * have. */
#include "combine_internal.h"

#include <math.h>

/* -- fill values ------------------------------------------------------------------------------- */

static bool is_zero(const refs_array_meta *meta) {
    for (size_t i = 0; i < meta->dtype.size; i++)
        if (meta->fill[i] != 0) return false;
    return true;
}

static refs_value fill_of(const refs_array_meta *meta) {
    const refs_str bytes = refs_str_view((const char *)meta->fill, meta->dtype.size);
    return refs_combine__value_at(&meta->dtype, bytes, 0);
}

refs_status refs_combine__write_fill_number(const refs_array_meta *meta, refs_buf *text,
                                            refs_error *err) {
    const refs_value value = fill_of(meta);
    if (value.kind == REFS_VALUE_INTEGER)
        return meta->dtype.type == REFS_TYPE_UINT
                   ? refs_buf_printf(text, err, "%llu", (unsigned long long)value.integer)
                   : refs_buf_printf(text, err, "%lld", (long long)value.integer);
    if (isnan(value.number)) return refs_buf_printf(text, err, "NaN");
    if (isinf(value.number))
        return refs_buf_printf(text, err, "%sInfinity", value.number < 0 ? "-" : "");
    return refs_buf_printf(text, err, "%.17g", value.number);
}

refs_status refs_combine__write_fill(const refs_array_meta *meta, refs_buf *text, refs_error *err) {
    if (meta->dtype.type == REFS_TYPE_OBJECT)
        return refs_json_write_string(refs_str_from(meta->fill_text != NULL ? meta->fill_text : ""),
                                      text, err);
    if (!meta->has_fill) return refs_buf_printf(text, err, "null");
    const refs_value value = fill_of(meta);
    if (meta->dtype.type == REFS_TYPE_BOOL)
        return refs_buf_printf(text, err, is_zero(meta) ? "false" : "true");
    if (!refs_combine__is_number(&value))
        return is_zero(meta) ? refs_buf_printf(text, err, "null")
                             : refs_fail(err, REFS_UNSUPPORTED, "its fill value");
    const bool is_quoted = value.kind == REFS_VALUE_NUMBER && !isfinite(value.number);
    const refs_str quote = refs_str_from(is_quoted ? "\"" : "");
    REFS_TRY(refs_buf_append_str(text, quote, err));
    REFS_TRY(refs_combine__write_fill_number(meta, text, err));
    return refs_buf_append_str(text, quote, err);
}

/* -- codecs ------------------------------------------------------------------------------------ */

/* The numcodecs name of a codec, or of the specification's codec that numcodecs has, too. */
static refs_str id_of(const refs_codec_spec *codec) {
    static const char prefix[] = "numcodecs.";
    const refs_str name = refs_str_from(codec->id);
    return refs_str_starts(name, prefix) ? refs_str_part(name, sizeof prefix - 1, name.size) : name;
}

static bool is_known(const refs_codec_spec *codec) {
    static const char *const names[] = {"gzip", "zstd", "blosc", "vlen-utf8", NULL};
    return refs_str_starts(refs_str_from(codec->id), "numcodecs.") ||
           refs_str_is_among(refs_str_from(codec->id), names);
}

/* Writes blosc's shuffle, which is a word in version 3 and a number in version 2. */
static refs_status write_shuffle(refs_str word, refs_buf *text, refs_error *err) {
    return refs_buf_printf(text, err, "%d",
                           refs_str_is(word, "shuffle")      ? 1
                           : refs_str_is(word, "bitshuffle") ? 2
                                                             : 0);
}

/* Writes a codec without members that numcodecs lacks. */
static refs_status write_codec(const refs_codec_spec *codec, refs_buf *text, refs_error *err) {
    static const char *const unknown[] = {"checksum", "typesize", NULL};
    const bool is_of_zarr = !refs_str_starts(refs_str_from(codec->id), "numcodecs.");
    if (!is_known(codec)) return refs_fail(err, REFS_UNSUPPORTED, "its codec \"%s\"", codec->id);
    REFS_TRY(refs_buf_printf(text, err, "{\"id\":"));
    REFS_TRY(refs_json_write_string(id_of(codec), text, err));
    for (size_t i = 0; i < refs_json_size(codec->config); i++) {
        const refs_str name = refs_json_name_at(codec->config, i);
        const refs_json *value = refs_json_at(codec->config, i);
        if ((is_of_zarr && refs_str_is_among(name, unknown)) || refs_str_is(name, "id")) continue;
        REFS_TRY(refs_json_write_name(name, text, err));
        const bool is_word = is_of_zarr && refs_str_is(name, "shuffle");
        REFS_TRY(is_word ? write_shuffle(refs_json_text(value), text, err)
                         : refs_json_write(value, text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}

static bool is_compressor(const refs_codec_spec *codec) {
    static const char *const names[] = {"blosc", "bz2",  "gzip", "lz4",
                                        "lzma",  "zlib", "zstd", NULL};
    return refs_str_is_among(id_of(codec), names);
}

static refs_status write_codecs(const refs_array_meta *meta, refs_buf *text, refs_error *err) {
    const size_t n = meta->n_codecs;
    const bool has_compressor = n > 0 && is_compressor(&meta->codecs[n - 1]);
    const size_t n_filters = has_compressor ? n - 1 : n;
    REFS_TRY(refs_buf_printf(text, err, ",\"compressor\":%s", has_compressor ? "" : "null"));
    if (has_compressor) REFS_TRY(write_codec(&meta->codecs[n - 1], text, err));
    REFS_TRY(refs_buf_printf(text, err, ",\"filters\":%s", n_filters > 0 ? "[" : "null"));
    for (size_t i = 0; i < n_filters; i++) {
        if (i > 0) REFS_TRY(refs_buf_append(text, ",", 1, err));
        REFS_TRY(write_codec(&meta->codecs[i], text, err));
    }
    return n_filters > 0 ? refs_buf_append(text, "]", 1, err) : REFS_OK;
}

/* -- arrays ------------------------------------------------------------------------------------ */

/* "C", "F", or NULL if version 2 cannot express the order. */
static const char *order_of(const refs_array_meta *meta) {
    bool is_c = true, is_f = true;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        is_c = is_c && meta->order[dim] == dim;
        is_f = is_f && meta->order[dim] == meta->rank - 1 - dim;
    }
    return is_c ? "C" : is_f ? "F" : NULL;
}

static refs_status check_layout(const refs_array_meta *meta, refs_error *err) {
    char dtype[64];
    refs_dtype_format(&meta->dtype, dtype, sizeof dtype);
    if (meta->shard != NULL) return refs_fail(err, REFS_UNSUPPORTED, "its shards");
    if (meta->edges != NULL) return refs_fail(err, REFS_UNSUPPORTED, "its chunks of several sizes");
    if (meta->first_chunk != NULL) return refs_fail(err, REFS_UNSUPPORTED, "its numbers of chunks");
    if (order_of(meta) == NULL) return refs_fail(err, REFS_UNSUPPORTED, "its transposed chunks");
    return *dtype != '\0' ? REFS_OK : refs_fail(err, REFS_UNSUPPORTED, "its type");
}

refs_status refs_combine__write_v2(const refs_array_meta *meta, refs_buf *text, refs_error *err) {
    char dtype[64];
    REFS_TRY(check_layout(meta, err));
    refs_dtype_format(&meta->dtype, dtype, sizeof dtype);
    REFS_TRY(refs_buf_printf(text, err, "{\"zarr_format\":2,\"shape\":"));
    REFS_TRY(refs_combine__write_list(meta->shape, meta->rank, text, err));
    REFS_TRY(refs_buf_printf(text, err, ",\"chunks\":"));
    REFS_TRY(refs_combine__write_list(meta->chunk, meta->rank, text, err));
    REFS_TRY(refs_buf_printf(text, err, ",\"dtype\":\"%s\",\"order\":\"%s\",\"fill_value\":", dtype,
                             order_of(meta)));
    REFS_TRY(refs_combine__write_fill(meta, text, err));
    REFS_TRY(write_codecs(meta, text, err));
    return refs_buf_append(text, "}", 1, err);
}

refs_status refs_combine__write_v2_attributes(const refs_array_meta *meta, refs_buf *text,
                                              refs_error *err) {
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(meta->attributes); i++) {
        const refs_str name = refs_json_name_at(meta->attributes, i);
        if (!refs_str_is(name, "_ARRAY_DIMENSIONS"))
            REFS_TRY(refs_json_write_member(name, refs_json_at(meta->attributes, i), text, err));
    }
    if (!meta->named_dims) return refs_buf_append(text, "}", 1, err);
    REFS_TRY(refs_json_write_name(refs_str_from("_ARRAY_DIMENSIONS"), text, err));
    REFS_TRY(refs_buf_append(text, "[", 1, err));
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (dim > 0) REFS_TRY(refs_buf_append(text, ",", 1, err));
        REFS_TRY(refs_json_write_string(refs_path_last(refs_str_from(meta->dims[dim])), text, err));
    }
    return refs_buf_append(text, "]}", 2, err);
}
