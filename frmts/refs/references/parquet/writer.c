/* writer.c -- sets as folders of Parquet files, see write.h.
 *
 * The layout is that of fsspec's LazyReferenceMapper: ".zmetadata", and for each array files of
 * record_size rows, the last one padded. Files without chunks are omitted.
 */
#include "growth.h"
#include "output.h"
#include "parquet/file_writer.h"
#include "refs/json.h"
#include "writer_internal.h"

/* Most inline bytes of a record file. */
#define MAX_RAW_BYTES (1024 * REFS_MIB)

typedef struct parquet_writer {
    const char *folder,
        *name; /* the folder that is written, and the name that it gets at the end */
    uint64_t record_size;
    refs_buf metadata; /* the text of ".zmetadata" so far */
    refs_rows rows;
    refs_parquet_file *file;
    refs_buf prefix; /* of the current array, with a slash */
    bool has_folder; /* its folder was made */
    bool has_rows;
    uint64_t record;
    uint32_t url_id, url_path; /* the last URL and its path */
    bool has_url;
    refs_growth *growth; /* the existing set if it grows, else NULL */
    bool is_compared;    /* the current record file was compared with the existing one */
    refs_buf cut;        /* scratch */
} parquet_writer;

static void free_parquet(void *self) {
    REFS_SCOPED parquet_writer *parquet = self;
    refs_write__rows_clear(&parquet->rows);
    refs_write__parquet_file_free(parquet->file);
    refs_buf_clear(&parquet->metadata);
    refs_buf_clear(&parquet->prefix);
    refs_buf_clear(&parquet->cut);
    refs_growth__free(parquet->growth);
}

static refs_status open_parquet(const refs_staged *place, const refs_writer_options *options,
                                void **self, refs_error *err) {
    parquet_writer *parquet = refs_calloc(1, sizeof *parquet);
    if (parquet == NULL) return refs_fail_nomem(err);
    *self = parquet;
    parquet->folder = place->written;
    parquet->name = place->wanted;
    parquet->record_size = options->record_size;
    REFS_TRY(refs_write__rows_open((size_t)options->record_size, &parquet->rows, err));
    REFS_TRY(refs_write__parquet_file_open(&parquet->file, err));
    if (options->growth == REFS_WRITE_GROWING)
        REFS_TRY(refs_growth__open(place, options, &parquet->growth, err));
    return refs_buf_printf(&parquet->metadata, err, "{\"metadata\":{");
}

/* -- documents --------------------------------------------------------------------------------- */

static refs_status check_document(const parquet_writer *parquet, refs_str key, refs_bytes document,
                                  refs_error *err) {
    refs_json_doc *doc = NULL;
    if (refs_str_is(refs_path_last(key), "zarr.json"))
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%s: Parquet sets can hold only Zarr version 2, and %.*s is of version 3: "
            "write JSON (a name that ends in .json), or version 2 by refs combine with "
            "--along and a dimension",
            parquet->name, REFS_STR_ARG(key));
    const refs_status status = refs_json_parse(refs_bytes_text(document), &doc, err);
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(key));
    REFS_TRY(status);
    bool is_object = refs_json_is_object(refs_json_root(doc));
    refs_json_doc_free(doc);
    if (is_object && refs_key_is_metadata(key)) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: Parquet sets can hold only metadata and chunks, and %.*s is neither: "
                     "write JSON",
                     parquet->name, REFS_STR_ARG(key));
}

static refs_status write_document(void *self, refs_str key, refs_bytes document, refs_error *err) {
    parquet_writer *parquet = self;
    refs_buf *text = &parquet->metadata;
    REFS_TRY(check_document(parquet, key, document, err));
    if (parquet->growth != NULL)
        REFS_TRY(refs_growth__document(parquet->growth, key, document, err));
    bool is_first = text->data[text->size - 1] == '{';
    REFS_TRY(refs_buf_append(text, ",\n", is_first ? 0 : 2, err));
    REFS_TRY(refs_json_write_name(key, text, err));
    return refs_buf_append(text, document.data, document.size, err);
}

/* -- record files ------------------------------------------------------------------------------ */

/* Compares rows with the existing record file; they must be all of it or none. *bytes becomes the
 * new file for these rows. */
static refs_status compare_rows(parquet_writer *parquet, refs_growth_rows rows, refs_bytes *bytes,
                                refs_error *err) {
    *bytes = (refs_bytes){NULL, 0};
    if (parquet->has_rows)
        REFS_TRY(refs_write__parquet_file_make(parquet->file, &parquet->rows, bytes, err));
    parquet->is_compared = true;
    REFS_TRY(refs_growth__compare(parquet->growth, parquet->record, *bytes, rows, err));
    return refs_growth__check_rows(parquet->growth, parquet->record, &parquet->rows, err);
}

/* Whether the record file has old rows that were not compared yet. */
static bool has_old_rows(const parquet_writer *parquet) {
    return parquet->growth != NULL && !parquet->is_compared &&
           refs_growth__n_old(parquet->growth) > parquet->record * parquet->record_size;
}

static refs_status write_file(parquet_writer *parquet, refs_bytes bytes, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_str prefix = refs_buf_text(&parquet->prefix);
    if (!parquet->has_folder) REFS_TRY(refs_write__make_folders(parquet->folder, prefix, err));
    parquet->has_folder = true;
    REFS_TRY(refs_buf_printf(&path, err, "%s/%.*srefs.%llu.parq", parquet->folder,
                             REFS_STR_WHOLE(prefix), (unsigned long long)parquet->record));
    return refs_write__file((const char *)path.data, bytes, err);
}

static refs_status write_record(parquet_writer *parquet, refs_error *err) {
    bool is_written = true;
    refs_bytes bytes;
    if (!parquet->has_rows) return REFS_OK;
    if (has_old_rows(parquet))
        REFS_TRY(compare_rows(parquet, REFS_GROWTH_ALL_ROWS, &bytes, err));
    else
        REFS_TRY(refs_write__parquet_file_make(parquet->file, &parquet->rows, &bytes, err));
    if (parquet->growth != NULL)
        REFS_TRY(refs_growth__record(parquet->growth, parquet->record, bytes, &is_written, err));
    if (is_written) REFS_TRY(write_file(parquet, bytes, err));
    refs_write__rows_reset(&parquet->rows);
    parquet->has_rows = parquet->has_url = parquet->is_compared = false;
    return REFS_OK;
}

/* Whether a name stays inside the folder of the set. */
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
    refs_str prefix = refs_buf_text(&array->prefix);
    REFS_TRY(write_record(parquet, err));
    if (array->separator != '.' && array->rank != 1)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s: Parquet sets can hold only chunk keys with dots: write JSON",
                         REFS_STR_ARG(prefix));
    if (!is_inside(prefix))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "array \"%.*s\": its name cannot be the name of a folder",
                         REFS_STR_ARG(prefix));
    if (parquet->growth != NULL) refs_growth__array(parquet->growth, array);
    parquet->has_folder = false;
    parquet->record = 0;
    parquet->prefix.size = 0;
    return refs_buf_append_str(&parquet->prefix, prefix, err);
}

static refs_status put_raw(parquet_writer *parquet, size_t row, refs_bytes bytes, refs_error *err) {
    refs_buf *raw = &parquet->rows.raw_bytes;
    if (bytes.size > MAX_RAW_BYTES || raw->size > MAX_RAW_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "a record file would be too large: choose a smaller record size");
    parquet->rows.raw[row] = (uint32_t)raw->size;
    REFS_TRY(refs_buf_append_le(raw, bytes.size, 4, err));
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

/* If the last old chunk has grown, compares its old part with the existing set. */
static refs_status compare_cut(parquet_writer *parquet, const refs_write_chunk *chunk,
                               refs_error *err) {
    bool is_cut;
    refs_bytes bytes;
    refs_buf *raw = &parquet->rows.raw_bytes;
    REFS_TRY(refs_growth__cut(parquet->growth, chunk, &parquet->cut, &is_cut, err));
    if (!is_cut) return REFS_OK;
    size_t begin = raw->size, row = (size_t)(chunk->number % parquet->record_size);
    REFS_TRY(put_raw(parquet, row, refs_buf_view(&parquet->cut), err));
    REFS_TRY(compare_rows(parquet, REFS_GROWTH_OLD_ROWS, &bytes, err));
    raw->size = begin;
    return REFS_OK;
}

static refs_status compare_old(parquet_writer *parquet, const refs_write_chunk *chunk,
                               refs_error *err) {
    refs_bytes bytes;
    if (!has_old_rows(parquet)) return REFS_OK;
    if (chunk->number >= refs_growth__n_old(parquet->growth))
        return compare_rows(parquet, REFS_GROWTH_OLD_ROWS, &bytes, err);
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
    if (parquet->rows.n_used <= row) parquet->rows.n_used = row + 1;
    REFS_TRY(compare_old(parquet, chunk, err));
    parquet->has_rows = true;
    if (has_old_rows(parquet)) REFS_TRY(compare_cut(parquet, chunk, err));
    if (chunk->kind == REFS_REF_INLINE) return put_raw(parquet, row, chunk->bytes, err);
    if (chunk->kind == REFS_REF_RANGE) {
        if (chunk->offset > INT64_MAX || chunk->length > INT64_MAX)
            return refs_fail(err, REFS_LIMIT, "offset %llu or length %llu does not fit 63 bits",
                             (unsigned long long)chunk->offset, (unsigned long long)chunk->length);
        parquet->rows.offset[row] = chunk->offset;
        parquet->rows.size[row] = chunk->length;
    }
    return put_path(parquet, row, chunk, err);
}

static refs_status finish_parquet(void *self, refs_error *err) {
    parquet_writer *parquet = self;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_buf *text = &parquet->metadata;
    REFS_TRY(write_record(parquet, err));
    REFS_TRY(refs_buf_printf(text, err, "},\n\"record_size\":%llu",
                             (unsigned long long)parquet->record_size));
    REFS_TRY(refs_buf_append(text, "}\n", 2, err));
    if (text->size > REFS_SET_MAX_METADATA_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "its .zmetadata, with the states of all sources, needs %zu bytes: "
                         "expected at most %zu: write JSON, or several sets",
                         text->size, REFS_SET_MAX_METADATA_BYTES);
    REFS_TRY(refs_buf_printf(&path, err, "%s/.zmetadata", parquet->folder));
    return refs_write__file((const char *)path.data, refs_buf_view(text), err);
}

static refs_status move_parquet(void *self, refs_staged *place, refs_error *err) {
    parquet_writer *parquet = self;
    return parquet->growth != NULL ? refs_growth__move(parquet->growth, place, err)
                                   : refs_staged_move(place, err);
}

const refs_write_kind refs_write__parquet = {.is_folder = true,
                                             .open = open_parquet,
                                             .document = write_document,
                                             .array = begin_array,
                                             .chunk = write_chunk,
                                             .finish = finish_parquet,
                                             .move = move_parquet,
                                             .free = free_parquet};
