/* parquet_writer.c -- sets as folders of Parquet files, see write.h.
 *
 * As fsspec's LazyReferenceMapper has them: ".zmetadata", and for each array files of so many rows,
 * the last one padded. A file of which no chunk is there is left out.
 */
#include <errno.h>
#include <sys/stat.h>

#include "output.h"
#include "parquet_file.h"
#include "refs/json.h"
#include "writer_internal.h"

/* A record file is written before what is inline in it grows beyond. */
#define MAX_RAW_BYTES (1024 * REFS_MIB)

typedef struct parquet_writer {
    const char *folder;
    uint64_t record_size;
    refs_buf metadata; /* the text of ".zmetadata" so far */
    refs_rows rows;
    refs_parquet_file *file;
    refs_buf prefix; /* of the array, with a slash; made is … */
    bool has_folder; /* … whether its folder is there */
    bool has_rows;
    uint64_t record;
    uint32_t url_id, url_path; /* the path of the URL that came last */
    bool has_url;
} parquet_writer;

static void free_parquet(void *self) {
    parquet_writer *parquet = self;
    refs_write__rows_clear(&parquet->rows);
    refs_write__parquet_file_free(parquet->file);
    refs_buf_clear(&parquet->metadata);
    refs_buf_clear(&parquet->prefix);
    refs_free(parquet);
}

static refs_status open_parquet(const refs_place *place, const refs_writer_options *options,
                                void **self, refs_error *err) {
    parquet_writer *parquet = refs_calloc(1, sizeof *parquet);
    if (parquet == NULL) return refs_fail_nomem(err);
    *self = parquet;
    parquet->folder = place->written;
    parquet->record_size = options->record_size;
    REFS_TRY(refs_write__rows_open((size_t)options->record_size, &parquet->rows, err));
    REFS_TRY(refs_write__parquet_file_open(&parquet->file, err));
    return refs_buf_printf(&parquet->metadata, err, "{\"metadata\":{");
}

/* -- documents --------------------------------------------------------------------------------- */

static refs_status check_document(refs_str key, refs_bytes document, refs_error *err) {
    refs_json_doc *doc = NULL;
    size_t slash = refs_str_find_last(key, '/');
    refs_str name = refs_str_part(key, slash == SIZE_MAX ? 0 : slash + 1, key.size);
    if (refs_str_is(name, "zarr.json"))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s: Parquet sets hold Zarr version 2 alone: write JSON",
                         REFS_STR_ARG(key));
    REFS_TRY(refs_json_parse(refs_str_view((const char *)document.data, document.size), &doc, err));
    bool is_object = refs_json_is_object(refs_json_root(doc));
    refs_json_doc_free(doc);
    if (is_object && refs_str_starts(name, ".z")) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: Parquet sets hold metadata and chunks alone: write JSON",
                     REFS_STR_ARG(key));
}

static refs_status write_document(void *self, refs_str key, refs_bytes document, refs_error *err) {
    parquet_writer *parquet = self;
    refs_buf *text = &parquet->metadata;
    refs_status status = check_document(key, document, err);
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(key));
    REFS_TRY(status);
    bool is_first = text->data[text->size - 1] == '{';
    REFS_TRY(refs_buf_append(text, ",\n", is_first ? 0 : 2, err));
    REFS_TRY(refs_json_write_string(key, text, err));
    REFS_TRY(refs_buf_append(text, ":", 1, err));
    return refs_buf_append(text, document.data, document.size, err);
}

/* -- record files ------------------------------------------------------------------------------ */

/* Makes the folders of the array, from outside in. */
static refs_status make_folder(parquet_writer *parquet, refs_error *err) {
    refs_buf path = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&path, err, "%s/", parquet->folder);
    for (size_t i = 0; i < parquet->prefix.size && status == REFS_OK; i++) {
        char c = (char)parquet->prefix.data[i];
        if (c == '/') {
            status = refs_buf_append(&path, "", 1, err);
            path.size -= status == REFS_OK;
            if (status == REFS_OK && mkdir((const char *)path.data, 0777) != 0 && errno != EEXIST)
                status = refs_fail(err, REFS_IO, "%s: cannot be made: %s", (const char *)path.data,
                                   strerror(errno));
        }
        if (status == REFS_OK) status = refs_buf_append(&path, &c, 1, err);
    }
    refs_buf_clear(&path);
    parquet->has_folder = status == REFS_OK;
    return status;
}

static refs_status write_record(parquet_writer *parquet, refs_error *err) {
    refs_buf path = REFS_BUF_INIT;
    refs_bytes bytes;
    if (!parquet->has_rows) return REFS_OK;
    if (!parquet->has_folder) REFS_TRY(make_folder(parquet, err));
    REFS_TRY(refs_write__parquet_file_make(parquet->file, &parquet->rows, &bytes, err));
    REFS_TRY(refs_buf_printf(&path, err, "%s/%.*srefs.%llu.parq", parquet->folder,
                             (int)parquet->prefix.size, (const char *)parquet->prefix.data,
                             (unsigned long long)parquet->record));
    refs_status status = refs_write__file((const char *)path.data, bytes, err);
    refs_buf_clear(&path);
    refs_write__rows_reset(&parquet->rows);
    parquet->has_rows = parquet->has_url = false;
    return status;
}

/* A name that is no path inside of the set would be written elsewhere. */
static bool is_inside(refs_str prefix) {
    if (prefix.size == 0 || prefix.data[0] == '/') return false;
    for (size_t begin = 0; begin < prefix.size;) {
        refs_str rest = refs_str_part(prefix, begin, prefix.size);
        size_t slash = refs_str_find(rest, '/');
        refs_str step = refs_str_part(rest, 0, slash);
        if (step.size == 0 || refs_str_is(step, ".") || refs_str_is(step, "..")) return false;
        if (slash == SIZE_MAX) return true;
        begin += slash + 1;
    }
    return memchr(prefix.data, '\0', prefix.size) == NULL;
}

static refs_status begin_array(void *self, const refs_write_array *array, refs_error *err) {
    parquet_writer *parquet = self;
    refs_str prefix = refs_str_view((const char *)array->prefix.data, array->prefix.size);
    REFS_TRY(write_record(parquet, err));
    if (array->separator != '.' && array->rank != 1)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s: Parquet sets hold only keys with dots: write JSON",
                         REFS_STR_ARG(prefix));
    if (!is_inside(prefix))
        return refs_fail(err, REFS_UNSUPPORTED, "array \"%.*s\" has no name that a folder can have",
                         REFS_STR_ARG(prefix));
    parquet->has_folder = false;
    parquet->record = 0;
    parquet->prefix.size = 0;
    return refs_buf_append_str(&parquet->prefix, prefix, err);
}

static refs_status put_raw(parquet_writer *parquet, size_t row, refs_bytes bytes, refs_error *err) {
    refs_buf *raw = &parquet->rows.raw_bytes;
    uint8_t size[4];
    if (bytes.size > MAX_RAW_BYTES || raw->size > MAX_RAW_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "a record file would hold too many bytes: take a smaller "
                         "record size");
    for (size_t i = 0; i < 4; i++) size[i] = (uint8_t)(bytes.size >> 8 * i);
    parquet->rows.raw[row] = (uint32_t)raw->size;
    REFS_TRY(refs_buf_append(raw, size, sizeof size, err));
    return refs_buf_append(raw, bytes.data, bytes.size, err);
}

static refs_status put_path(parquet_writer *parquet, size_t row, const refs_write_chunk *chunk,
                            refs_error *err) {
    if (!parquet->has_url || parquet->url_id != chunk->url_id)
        REFS_TRY(refs_intern_add(&parquet->rows.paths, chunk->url, &parquet->url_path, err));
    parquet->has_url = true;
    parquet->url_id = chunk->url_id;
    parquet->rows.path[row] = parquet->url_path;
    return REFS_OK;
}

static refs_status write_chunk(void *self, const refs_write_array *array,
                               const refs_write_chunk *chunk, refs_error *err) {
    parquet_writer *parquet = self;
    uint64_t record = chunk->number / parquet->record_size;
    size_t row = (size_t)(chunk->number % parquet->record_size);
    (void)array;
    if (record != parquet->record) REFS_TRY(write_record(parquet, err));
    parquet->record = record;
    parquet->has_rows = true;
    if (chunk->kind == REFS_REF_INLINE) return put_raw(parquet, row, chunk->bytes, err);
    if (chunk->kind == REFS_REF_RANGE) {
        if (chunk->offset > INT64_MAX || chunk->length > INT64_MAX)
            return refs_fail(err, REFS_LIMIT, "offset %llu or length %llu cannot be written",
                             (unsigned long long)chunk->offset, (unsigned long long)chunk->length);
        parquet->rows.offset[row] = chunk->offset;
        parquet->rows.size[row] = chunk->length;
    }
    return put_path(parquet, row, chunk, err);
}

static refs_status finish_parquet(void *self, refs_error *err) {
    parquet_writer *parquet = self;
    refs_buf path = REFS_BUF_INIT, *text = &parquet->metadata;
    REFS_TRY(write_record(parquet, err));
    REFS_TRY(refs_buf_printf(text, err, "},\n\"record_size\":%llu",
                             (unsigned long long)parquet->record_size));
    REFS_TRY(refs_buf_append(text, "}\n", 2, err));
    REFS_TRY(refs_buf_printf(&path, err, "%s/.zmetadata", parquet->folder));
    refs_status status = refs_write__file((const char *)path.data, refs_buf_view(text), err);
    refs_buf_clear(&path);
    return status;
}

const refs_write_kind refs_write__parquet = {true,           open_parquet, write_document,
                                             begin_array,    write_chunk,  NULL,
                                             finish_parquet, free_parquet};
