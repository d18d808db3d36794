/* writer.c -- the common part of all formats, see refs/write.h. */
#include "parquet/replaced.h"
#include "refs/file_name.h"
#include "refs/utf8.h"
#include "writer_internal.h"

struct refs_writer {
    const refs_write_kind *kind;
    void *self;
    refs_staged place;
    refs_write_array array;
    bool has_array;
    bool has_number;
    uint64_t last_number;
    refs_buf sources, left_out; /* elements of JSON lists */
    refs_buf joined;            /* JSON */
    bool has_url;               /* a URL was checked */
    uint32_t url_id;
};

/* -- opening ----------------------------------------------------------------------------------- */

static bool is_parquet_name(refs_str path) {
    return refs_str_ends(path, ".parq") || refs_str_ends(path, ".parquet") ||
           refs_str_ends(path, "/");
}

static refs_write_packing packing_of_name(refs_str path) {
    if (refs_str_ends(path, ".gz")) return REFS_PACK_GZIP;
    if (refs_str_ends(path, ".zst") || refs_str_ends(path, ".zstd")) return REFS_PACK_ZSTD;
    return REFS_PACK_NONE;
}

refs_write_format refs_writer_format_of(const char *path) {
    const refs_str name = refs_str_from(path);
    if (is_parquet_name(name)) return REFS_WRITE_PARQUET;
    return refs_str_ends(name, ".icechunk") ? REFS_WRITE_ICECHUNK : REFS_WRITE_JSON;
}

static const refs_write_kind *kind_of(refs_write_format format) {
    return format == REFS_WRITE_PARQUET    ? &refs_write__parquet
           : format == REFS_WRITE_ICECHUNK ? &refs_write__icechunk
                                           : &refs_write__json;
}

refs_status refs_writer_check_name(const char *path, refs_error *err) {
    const refs_str name = refs_str_from(path);
    const refs_str last = refs_path_last(name);
    if (refs_writer_format_of(path) != REFS_WRITE_JSON || packing_of_name(name) != REFS_PACK_NONE ||
        refs_str_ends(name, ".json") || refs_str_find(last, '.') == SIZE_MAX)
        return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "%s: unknown file extension: expected .json, .json.gz, .json.zst, .parq (.parquet, or a "
        "slash) for a folder of Parquet files, or .icechunk for a repository",
        path);
}

static refs_status check_folder(const char *path, refs_write_format format, refs_error *err) {
    return format == REFS_WRITE_PARQUET ? refs_parquet__check_replaced(path, err)
                                        : refs_icechunk__check_replaced(path, err);
}

refs_status refs_writer_check_output(const char *path, refs_write_format format, refs_error *err) {
    if (!kind_of(format)->is_folder) return refs_staged_check(path, REFS_STAGED_FILE, NULL, err);
    REFS_SCOPED char *target = NULL;
    REFS_TRY(refs_staged_check(path, REFS_STAGED_FOLDER, &target, err));
    return check_folder(target, format, err);
}

static refs_status check_options(const refs_writer_options *options, refs_error *err) {
    const bool is_folder = kind_of(options->format)->is_folder;
    if (options->version > 1)
        return refs_fail(err, REFS_INVALID,
                         "version of the reference set: expected 0 or 1, found %u",
                         options->version);
    if (options->record_size == 0 || options->record_size > UINT32_MAX / 2)
        return refs_fail(err, REFS_INVALID, "record size: expected 1 to %u, found %llu",
                         UINT32_MAX / 2, (unsigned long long)options->record_size);
    if (options->manifest_bytes < 1024 || options->manifest_bytes > 1024 * REFS_MIB)
        return refs_fail(err, REFS_INVALID,
                         "manifests cannot have %llu bytes: expected 1024 to 1073741824",
                         (unsigned long long)options->manifest_bytes);
    if (is_folder && options->packing != REFS_PACK_NONE)
        return refs_fail(err, REFS_INVALID, "cannot compress a folder of %s files as a whole",
                         options->format == REFS_WRITE_PARQUET ? "Parquet" : "Icechunk");
    if (options->templates != NULL && options->templates[0] != NULL &&
        (is_folder || options->version == 0))
        return refs_fail(err, REFS_INVALID, "templates need JSON of version 1");
    return REFS_OK;
}

static refs_status open_kind(refs_writer *writer, const char *path,
                             const refs_writer_options *options, refs_error *err) {
    REFS_TRY(refs_staged_open(path, writer->kind->is_folder ? REFS_STAGED_FOLDER : REFS_STAGED_FILE,
                              &writer->place, err));
    /* Growing files are replaced only when they are rewritten: see growth.c. */
    if (writer->kind->is_folder && options->growth != REFS_WRITE_GROWING)
        REFS_TRY(check_folder(writer->place.wanted, options->format, err));
    writer->place.guard = options->guard;
    writer->place.is_temporary = options->sync == REFS_WRITE_UNSYNCED;
    return writer->kind->open(&writer->place, options, &writer->self, err);
}

refs_status refs_writer_open(const char *path, const refs_writer_options *options,
                             refs_writer **writer, refs_error *err) {
    refs_writer_options known = REFS_WRITER_OPTIONS_INIT;
    *writer = NULL;
    if (options != NULL)
        memcpy(&known, options,
               options->struct_size < sizeof known ? options->struct_size : sizeof known);
    if (known.format == REFS_WRITE_BY_NAME) known.format = refs_writer_format_of(path);
    if (known.packing == REFS_PACK_BY_NAME) known.packing = packing_of_name(refs_str_from(path));
    REFS_TRY(check_options(&known, err));
    refs_writer *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->kind = kind_of(known.format);
    refs_status status = open_kind(opened, path, &known, err);
    if (status == REFS_OK)
        *writer = opened;
    else
        refs_writer_free(opened);
    return status;
}

void refs_writer_free(refs_writer *writer) {
    if (writer == NULL) return;
    if (writer->self != NULL) writer->kind->free(writer->self);
    refs_staged_clear(&writer->place);
    refs_buf_clear(&writer->array.prefix);
    refs_buf_clear(&writer->sources);
    refs_buf_clear(&writer->left_out);
    refs_buf_clear(&writer->joined);
    refs_free(writer);
}

/* -- names ------------------------------------------------------------------------------------- */

/* JSON and the strings of Parquet must be UTF-8: other bytes would make the whole set
 * unreadable. */
static refs_status check_name(refs_str name, refs_error *err) {
    if (refs_utf8_is_valid(name)) return REFS_OK;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%.*s: names in sets must be UTF-8: rename it, or use a link with another name",
        REFS_STR_ARG(name));
}

/* fsspec renders a URL with "{{" as a template, and readers do not agree on how to escape it. */
static refs_status check_url(refs_str url, refs_error *err) {
    REFS_TRY(check_name(url, err));
    for (size_t i = 0; i + 1 < url.size; i++)
        if (url.data[i] == '{' && url.data[i + 1] == '{')
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%.*s: readers would treat \"{{\" as the beginning of a template: "
                             "rename it, or use a link with another name",
                             REFS_STR_ARG(url));
    return REFS_OK;
}

/* -- writing ----------------------------------------------------------------------------------- */

refs_status refs_writer_source(refs_writer *writer, const refs_source_state *source,
                               refs_error *err) {
    REFS_TRY(check_url(source->url, err));
    if (writer->kind->source != NULL) REFS_TRY(writer->kind->source(writer->self, source, err));
    return refs_source_state_write(source, &writer->sources, err);
}

refs_status refs_writer_left_out(refs_writer *writer, const refs_left_out *left_out,
                                 refs_error *err) {
    return refs_write__left_out(left_out, &writer->left_out, err);
}

refs_status refs_writer_joined(refs_writer *writer, refs_str how, refs_error *err) {
    writer->joined.size = 0;
    return refs_buf_append_str(&writer->joined, how, err);
}

/* zarr-python 2 reads metadata as ASCII, so other characters, which only occur in strings, are
 * escaped.
 */
static refs_status append_ascii(refs_bytes document, refs_buf *text, refs_error *err) {
    refs_str rest = refs_bytes_text(document);
    while (rest.size > 0) {
        uint32_t c = (unsigned char)rest.data[0];
        if (c < 0x80 || !refs_utf8_take(&rest, &c)) {
            REFS_TRY(refs_buf_append(text, rest.data, 1, err));
            rest = refs_str_part(rest, 1, rest.size);
        } else if (c < 0x10000) {
            REFS_TRY(refs_buf_printf(text, err, "\\u%04x", (unsigned)c));
        } else {
            c -= 0x10000;
            REFS_TRY(refs_buf_printf(text, err, "\\u%04x\\u%04x", (unsigned)(0xd800 + (c >> 10)),
                                     (unsigned)(0xdc00 + (c & 0x3ff))));
        }
    }
    return REFS_OK;
}

static bool is_ascii(refs_bytes document) {
    for (size_t i = 0; i < document.size; i++)
        if (document.data[i] >= 0x80) return false;
    return true;
}

static refs_status write_document(refs_writer *writer, refs_str key, refs_bytes document,
                                  refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (is_ascii(document) || !refs_key_is_metadata(key))
        return writer->kind->document(writer->self, key, document, err);
    REFS_TRY(append_ascii(document, &text, err));
    return writer->kind->document(writer->self, key, refs_buf_view(&text), err);
}

static refs_status print_attributes(const refs_writer *writer, refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_printf(text, err, "{\"sources\":["));
    REFS_TRY(refs_buf_append(text, writer->sources.data, writer->sources.size, err));
    if (writer->left_out.size > 0) {
        REFS_TRY(refs_buf_printf(text, err, "],\"left_out\":["));
        REFS_TRY(refs_buf_append(text, writer->left_out.data, writer->left_out.size, err));
    }
    if (writer->joined.size > 0) {
        REFS_TRY(refs_buf_printf(text, err, "],\"joined\":"));
        REFS_TRY(refs_buf_append(text, writer->joined.data, writer->joined.size, err));
        return refs_buf_append(text, "}", 1, err);
    }
    return refs_buf_append(text, "]}", 2, err);
}

/* Writes the group of sources, after all other documents. */
static refs_status write_sources(refs_writer *writer, refs_error *err) {
    const char *group = "{\"zarr_format\":2}";
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (writer->sources.size == 0 && writer->left_out.size == 0 && writer->joined.size == 0)
        return REFS_OK;
    REFS_TRY(writer->kind->document(writer->self, refs_str_from(REFS_SOURCES_GROUP "/.zgroup"),
                                    refs_bytes_view(group, strlen(group)), err));
    refs_status status = print_attributes(writer, &text, err);
    if (status == REFS_OK)
        status = write_document(writer, refs_str_from(REFS_SOURCES_GROUP "/.zattrs"),
                                refs_buf_view(&text), err);
    refs_buf_clear(&writer->sources);
    refs_buf_clear(&writer->left_out);
    refs_buf_clear(&writer->joined);
    return status;
}

refs_status refs_writer_document(refs_writer *writer, refs_str key, refs_bytes document,
                                 refs_error *err) {
    if (writer->has_array)
        return refs_fail(err, REFS_INVALID, "document %.*s comes after chunks", REFS_STR_ARG(key));
    /* A set that is rewritten may have an old record. */
    if (refs_str_starts(key, REFS_SOURCES_GROUP "/")) return REFS_OK;
    REFS_TRY(check_name(key, err));
    return write_document(writer, key, document, err);
}

refs_status refs_writer_array(refs_writer *writer, const refs_chunk_keys *keys, refs_error *err) {
    refs_write_array *array = &writer->array;
    REFS_TRY(write_sources(writer, err));
    writer->has_array = true;
    writer->has_number = false;
    array->separator = keys->separator;
    array->rank = keys->rank;
    array->n_chunks = 1;
    array->prefix.size = 0;
    REFS_TRY(refs_buf_append_str(&array->prefix, keys->prefix, err));
    if (keys->rank > sizeof array->n / sizeof array->n[0])
        return refs_fail(
            err, REFS_UNSUPPORTED, "%.*s has %zu dimensions, more than the limit of %zu",
            REFS_STR_ARG(keys->prefix), keys->rank, sizeof array->n / sizeof array->n[0]);
    for (size_t dim = 0; dim < keys->rank; dim++) {
        array->n[dim] = keys->n[dim];
        if (!refs_mul_u64(array->n_chunks, keys->n[dim], &array->n_chunks))
            return refs_fail(err, REFS_LIMIT, "%.*s has more than 2^64 chunks",
                             REFS_STR_ARG(keys->prefix));
    }
    return writer->kind->array(writer->self, array, err);
}

refs_status refs_writer_chunk(refs_writer *writer, const refs_write_chunk *chunk, refs_error *err) {
    if (chunk->number >= writer->array.n_chunks ||
        (writer->has_number && chunk->number <= writer->last_number))
        return refs_fail(err, REFS_INVALID, "chunk %llu of %.*s is out of order",
                         (unsigned long long)chunk->number, (int)writer->array.prefix.size,
                         (const char *)writer->array.prefix.data);
    if (chunk->kind != REFS_REF_INLINE && !(writer->has_url && writer->url_id == chunk->url_id))
        REFS_TRY(check_url(chunk->url, err));
    if (chunk->kind != REFS_REF_INLINE) writer->url_id = chunk->url_id;
    writer->has_url = writer->has_url || chunk->kind != REFS_REF_INLINE;
    writer->has_number = true;
    writer->last_number = chunk->number;
    return writer->kind->chunk(writer->self, &writer->array, chunk, err);
}

bool refs_writer_takes_others(const refs_writer *writer) {
    return writer->kind == &refs_write__json;
}

refs_status refs_writer_other(refs_writer *writer, refs_str key, const refs_write_chunk *value,
                              refs_error *err) {
    if (!refs_writer_takes_others(writer))
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%.*s belongs to no array, and %s can hold only arrays: write JSON", REFS_STR_ARG(key),
            writer->kind == &refs_write__parquet ? "Parquet sets" : "Icechunk repositories");
    REFS_TRY(check_name(key, err));
    /* Written as the only chunk of an array without dimensions, whose prefix is the whole key. */
    const refs_chunk_keys keys = {key, '.', 0, NULL};
    REFS_TRY(refs_writer_array(writer, &keys, err));
    return refs_writer_chunk(writer, value, err);
}

static refs_status finish(refs_writer *writer, refs_error *err) {
    REFS_TRY(write_sources(writer, err));
    REFS_TRY(writer->kind->finish(writer->self, err));
    return writer->kind->move(writer->self, &writer->place, err);
}

refs_status refs_writer_finish(refs_writer *writer, refs_error *err) {
    refs_status status = finish(writer, err);
    refs_writer_free(writer);
    return status;
}
