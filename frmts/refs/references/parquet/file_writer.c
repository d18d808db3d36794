/* file_writer.c -- see parquet/file_writer.h.
 *
 * https://parquet.apache.org/docs/file-format/ and parquet.thrift of apache/parquet-format.
 */
#include "parquet/file_writer.h"

#include <limits.h>

#include "parquet/thrift_writer.h"

#ifdef REFS_HAS_zstd
#include <zstd.h>
#endif

/* Numbers of parquet.thrift. */
enum { INT64 = 2, BYTE_ARRAY = 6 };              /* Type */
enum { REQUIRED = 0, OPTIONAL = 1 };             /* FieldRepetitionType */
enum { UTF8 = 0, NO_CONVERSION = -1 };           /* ConvertedType */
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 }; /* Encoding */
enum { UNCOMPRESSED = 0, ZSTD = 6 };             /* CompressionCodec */
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };     /* PageType */
enum { PATH_COLUMN, OFFSET_COLUMN, SIZE_COLUMN, RAW_COLUMN, N_COLUMNS };

static const struct {
    const char *name;
    int32_t type, repetition, converted;
} columns[N_COLUMNS] = {{"path", BYTE_ARRAY, OPTIONAL, UTF8},
                        {"offset", INT64, REQUIRED, NO_CONVERSION},
                        {"size", INT64, REQUIRED, NO_CONVERSION},
                        {"raw", BYTE_ARRAY, OPTIONAL, NO_CONVERSION}};

/* Offsets of the pages of a column. */
typedef struct column_place {
    size_t begin, data_page, end;
    uint64_t unpacked, n_nulls;
    bool has_dictionary;
} column_place;

struct refs_parquet_file {
    refs_buf bytes;
    refs_buf page;
    column_place places[N_COLUMNS];
#ifdef REFS_HAS_zstd
    ZSTD_CCtx *zstd;
#endif
};

/* -- rows -------------------------------------------------------------------------------------- */

refs_status refs_write__rows_open(size_t n, refs_rows *rows, refs_error *err) {
    memset(rows, 0, sizeof *rows);
    rows->n = n;
    rows->offset = refs_calloc(n, sizeof *rows->offset);
    rows->size = refs_calloc(n, sizeof *rows->size);
    rows->path = refs_calloc(n, sizeof *rows->path);
    rows->raw = refs_calloc(n, sizeof *rows->raw);
    if (rows->offset == NULL || rows->size == NULL || rows->path == NULL || rows->raw == NULL)
        return refs_fail_nomem(err);
    rows->n_used = n;
    refs_write__rows_reset(rows);
    return REFS_OK;
}

void refs_write__rows_clear(refs_rows *rows) {
    refs_free(rows->offset);
    refs_free(rows->size);
    refs_free(rows->path);
    refs_free(rows->raw);
    refs_intern_clear(&rows->paths);
    refs_buf_clear(&rows->raw_bytes);
    memset(rows, 0, sizeof *rows);
}

void refs_write__rows_reset(refs_rows *rows) {
    memset(rows->offset, 0, rows->n_used * sizeof *rows->offset);
    memset(rows->size, 0, rows->n_used * sizeof *rows->size);
    memset(rows->path, 0xff, rows->n_used * sizeof *rows->path);
    memset(rows->raw, 0xff, rows->n_used * sizeof *rows->raw);
    refs_intern_clear(&rows->paths);
    rows->raw_bytes.size = rows->n_used = 0;
}

/* -- pages ------------------------------------------------------------------------------------- */

static refs_status append_varint(refs_buf *buf, uint64_t number, refs_error *err) {
    uint8_t bytes[10];
    size_t n = 0;
    for (; number >= 0x80; number >>= 7) bytes[n++] = (uint8_t)(number | 0x80);
    bytes[n++] = (uint8_t)number;
    return refs_buf_append(buf, bytes, n, err);
}

/* Appends whether each value exists, as one run of bits after its length. */
static refs_status append_levels(refs_buf *page, const uint32_t *values, const refs_rows *rows,
                                 refs_error *err) {
    size_t begin = page->size, n_bytes = (rows->n + 7) / 8;
    REFS_TRY(refs_buf_append_le(page, 0, 4, err));
    REFS_TRY(append_varint(page, (uint64_t)n_bytes << 1 | 1, err));
    size_t bits = page->size;
    REFS_TRY(refs_buf_resize(page, bits + n_bytes, err));
    memset(page->data + bits, 0, n_bytes);
    for (size_t i = 0; i < rows->n_used; i++)
        if (values[i] != REFS_ROW_NULL) page->data[bits + i / 8] |= (uint8_t)(1 << i % 8);
    refs_store_le(page->data + begin, 4, page->size - begin - 4);
    return REFS_OK;
}

static unsigned width_of(uint32_t largest) {
    unsigned width = 1;
    while (width < 32 && largest >> width > 0) width++;
    return width;
}

static size_t count_there(const uint32_t *values, const refs_rows *rows) {
    size_t n = 0;
    for (size_t i = 0; i < rows->n_used; i++) n += values[i] != REFS_ROW_NULL;
    return n;
}

/* Appends the dictionary numbers of existing values, as one run of bits. */
static refs_status append_numbers(refs_buf *page, const refs_rows *rows, refs_error *err) {
    unsigned width = rows->paths.count > 0 ? width_of((uint32_t)rows->paths.count - 1) : 1;
    const size_t groups = (count_there(rows->path, rows) + 7) / 8;
    REFS_TRY(refs_buf_append_le(page, width, 1, err));
    REFS_TRY(append_varint(page, (uint64_t)groups << 1 | 1, err));
    size_t begin = page->size;
    REFS_TRY(refs_buf_resize(page, begin + groups * width, err));
    memset(page->data + begin, 0, groups * width);
    uint64_t held = 0;
    unsigned n_held = 0;
    uint8_t *to = page->data + begin;
    for (size_t i = 0; i < rows->n_used; i++) {
        if (rows->path[i] == REFS_ROW_NULL) continue;
        held |= (uint64_t)rows->path[i] << n_held;
        for (n_held += width; n_held >= 8; n_held -= 8, held >>= 8) *to++ = (uint8_t)held;
    }
    if (n_held > 0) *to = (uint8_t)held;
    return REFS_OK;
}

static refs_status append_text(refs_buf *page, refs_str text, refs_error *err) {
    REFS_TRY(refs_buf_append_le(page, text.size, 4, err));
    return refs_buf_append_str(page, text, err);
}

static refs_status append_integers(refs_buf *page, const uint64_t *values, const refs_rows *rows,
                                   refs_error *err) {
    size_t begin = page->size;
    REFS_TRY(refs_buf_resize(page, begin + 8 * rows->n, err));
    uint8_t *to = page->data + begin;
    for (size_t i = 0; i < rows->n_used; i++, to += 8) refs_store_le(to, 8, values[i]);
    memset(to, 0, 8 * (rows->n - rows->n_used));
    return REFS_OK;
}

/* A dictionary is smaller if paths repeat. With nulls it is needed, too: from a dictionary
 * fastparquet makes None of a null, but from plain strings pandas 3 makes NaN, which fsspec reads
 * as a path. */
static bool wants_dictionary(const refs_rows *rows) {
    const size_t count = count_there(rows->path, rows);
    return count < rows->n || count / 2 >= rows->paths.count;
}

static refs_status append_values(refs_buf *page, const refs_rows *rows, size_t column,
                                 refs_error *err) {
    if (column == OFFSET_COLUMN) return append_integers(page, rows->offset, rows, err);
    if (column == SIZE_COLUMN) return append_integers(page, rows->size, rows, err);
    if (column == RAW_COLUMN) {
        REFS_TRY(append_levels(page, rows->raw, rows, err));
        return refs_buf_append(page, rows->raw_bytes.data, rows->raw_bytes.size, err);
    }
    REFS_TRY(append_levels(page, rows->path, rows, err));
    if (wants_dictionary(rows)) return append_numbers(page, rows, err);
    for (size_t i = 0; i < rows->n_used; i++)
        if (rows->path[i] != REFS_ROW_NULL)
            REFS_TRY(append_text(page, refs_intern_get(&rows->paths, rows->path[i]), err));
    return REFS_OK;
}

/* -- files ------------------------------------------------------------------------------------- */

/* Compresses the page into `packed`. */
static refs_status pack(refs_parquet_file *file, refs_buf *packed, refs_error *err) {
#ifdef REFS_HAS_zstd
    REFS_TRY(refs_buf_resize(packed, ZSTD_compressBound(file->page.size), err));
    size_t size =
        ZSTD_compress2(file->zstd, packed->data, packed->size, file->page.data, file->page.size);
    if (ZSTD_isError(size)) return refs_fail(err, REFS_NOMEM, "zstd: %s", ZSTD_getErrorName(size));
    return refs_buf_resize(packed, size, err);
#else
    return refs_buf_append(packed, file->page.data, file->page.size, err);
#endif
}

/* The fields of a page header. */
typedef struct page_kind {
    bool is_dictionary;
    int32_t encoding;
    size_t n_values;
} page_kind;

static refs_status append_page(refs_parquet_file *file, const page_kind *kind, column_place *place,
                               refs_error *err) {
    REFS_SCOPED_BUF packed = REFS_BUF_INIT;
    if (file->page.size > INT32_MAX)
        return refs_fail(
            err, REFS_LIMIT,
            "a record file would need a page of %zu bytes: choose a smaller record size",
            file->page.size);
    refs_status status = pack(file, &packed, err);
    refs_thrift_writer thrift = {&file->bytes, status, err, {0}, 0};
    size_t begin = file->bytes.size;
    refs_thrift_i32(&thrift, 1, kind->is_dictionary ? DICTIONARY_PAGE : DATA_PAGE);
    refs_thrift_i32(&thrift, 2, (int32_t)file->page.size);
    refs_thrift_i32(&thrift, 3, (int32_t)packed.size);
    refs_thrift_begin(&thrift, kind->is_dictionary ? 7 : 5);
    refs_thrift_i32(&thrift, 1, (int32_t)kind->n_values);
    refs_thrift_i32(&thrift, 2, kind->encoding);
    if (!kind->is_dictionary) {
        refs_thrift_i32(&thrift, 3, RLE);
        refs_thrift_i32(&thrift, 4, RLE);
    }
    refs_thrift_end(&thrift);
    refs_thrift_end(&thrift);
    place->unpacked += file->bytes.size - begin + file->page.size;
    status = thrift.status;
    if (status == REFS_OK) status = refs_buf_append(&file->bytes, packed.data, packed.size, err);
    return status;
}

static refs_status append_dictionary(refs_parquet_file *file, const refs_rows *rows,
                                     column_place *place, refs_error *err) {
    file->page.size = 0;
    for (uint32_t i = 0; i < rows->paths.count; i++)
        REFS_TRY(append_text(&file->page, refs_intern_get(&rows->paths, i), err));
    /* Readers reject an empty dictionary. */
    if (rows->paths.count == 0) REFS_TRY(append_text(&file->page, refs_str_view("", 0), err));
    const page_kind kind = {true, PLAIN, rows->paths.count > 0 ? rows->paths.count : 1};
    return append_page(file, &kind, place, err);
}

static refs_status append_column(refs_parquet_file *file, const refs_rows *rows, size_t column,
                                 refs_error *err) {
    column_place *place = &file->places[column];
    *place = (column_place){.begin = file->bytes.size};
    place->has_dictionary = column == PATH_COLUMN && wants_dictionary(rows);
    const uint32_t *values = column == PATH_COLUMN ? rows->path : rows->raw;
    if (columns[column].repetition == OPTIONAL)
        place->n_nulls = rows->n - count_there(values, rows);
    if (place->has_dictionary) REFS_TRY(append_dictionary(file, rows, place, err));
    place->data_page = file->bytes.size;
    file->page.size = 0;
    REFS_TRY(append_values(&file->page, rows, column, err));
    const page_kind kind = {false, place->has_dictionary ? RLE_DICTIONARY : PLAIN, rows->n};
    REFS_TRY(append_page(file, &kind, place, err));
    place->end = file->bytes.size;
    return REFS_OK;
}

static void append_schema(refs_thrift_writer *thrift) {
    refs_thrift_list(thrift, 2, REFS_THRIFT_STRUCT, N_COLUMNS + 1);
    refs_thrift_item(thrift);
    refs_thrift_text(thrift, 4, "schema");
    refs_thrift_i32(thrift, 5, N_COLUMNS);
    refs_thrift_end(thrift);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        refs_thrift_item(thrift);
        refs_thrift_i32(thrift, 1, columns[i].type);
        refs_thrift_i32(thrift, 3, columns[i].repetition);
        refs_thrift_text(thrift, 4, columns[i].name);
        if (columns[i].converted != NO_CONVERSION) refs_thrift_i32(thrift, 6, columns[i].converted);
        refs_thrift_end(thrift);
    }
}

static void append_encodings(refs_thrift_writer *thrift, bool has_dictionary) {
    refs_thrift_list(thrift, 2, REFS_THRIFT_I32, has_dictionary ? 3 : 2);
    refs_thrift_item_i32(thrift, PLAIN);
    refs_thrift_item_i32(thrift, RLE);
    if (has_dictionary) refs_thrift_item_i32(thrift, RLE_DICTIONARY);
}

/* Without a null count of zero, fastparquet converts integers to floating-point numbers. */
static void append_statistics(refs_thrift_writer *thrift, const column_place *place) {
    refs_thrift_begin(thrift, 12);
    refs_thrift_i64(thrift, 3, (int64_t)place->n_nulls);
    refs_thrift_end(thrift);
}

static void append_chunk(refs_thrift_writer *thrift, const column_place *place, size_t column,
                         size_t n_rows) {
    refs_thrift_item(thrift);
    refs_thrift_i64(thrift, 2, (int64_t)place->begin);
    refs_thrift_begin(thrift, 3);
    refs_thrift_i32(thrift, 1, columns[column].type);
    append_encodings(thrift, place->has_dictionary);
    refs_thrift_list(thrift, 3, REFS_THRIFT_BINARY, 1);
    refs_thrift_item_text(thrift, columns[column].name);
#ifdef REFS_HAS_zstd
    refs_thrift_i32(thrift, 4, ZSTD);
#else
    refs_thrift_i32(thrift, 4, UNCOMPRESSED);
#endif
    refs_thrift_i64(thrift, 5, (int64_t)n_rows);
    refs_thrift_i64(thrift, 6, (int64_t)place->unpacked);
    refs_thrift_i64(thrift, 7, (int64_t)(place->end - place->begin));
    refs_thrift_i64(thrift, 9, (int64_t)place->data_page);
    if (place->has_dictionary) refs_thrift_i64(thrift, 11, (int64_t)place->begin);
    append_statistics(thrift, place);
    refs_thrift_end(thrift);
    refs_thrift_end(thrift);
}

static refs_status append_footer(refs_parquet_file *file, size_t n_rows, refs_error *err) {
    refs_thrift_writer thrift = {&file->bytes, REFS_OK, err, {0}, 0};
    size_t begin = file->bytes.size;
    uint64_t total = 0;
    for (size_t i = 0; i < N_COLUMNS; i++) total += file->places[i].unpacked;
    refs_thrift_i32(&thrift, 1, 1);
    append_schema(&thrift);
    refs_thrift_i64(&thrift, 3, (int64_t)n_rows);
    refs_thrift_list(&thrift, 4, REFS_THRIFT_STRUCT, 1);
    refs_thrift_item(&thrift);
    refs_thrift_list(&thrift, 1, REFS_THRIFT_STRUCT, N_COLUMNS);
    for (size_t i = 0; i < N_COLUMNS; i++) append_chunk(&thrift, &file->places[i], i, n_rows);
    refs_thrift_i64(&thrift, 2, (int64_t)total);
    refs_thrift_i64(&thrift, 3, (int64_t)n_rows);
    refs_thrift_end(&thrift);
    refs_thrift_text(&thrift, 6, "REFS");
    refs_thrift_end(&thrift);
    REFS_TRY(thrift.status);
    REFS_TRY(refs_buf_append_le(&file->bytes, file->bytes.size - begin, 4, err));
    return refs_buf_append(&file->bytes, "PAR1", 4, err);
}

refs_status refs_write__parquet_file_make(refs_parquet_file *file, const refs_rows *rows,
                                          refs_bytes *bytes, refs_error *err) {
    file->bytes.size = 0;
    REFS_TRY(refs_buf_append(&file->bytes, "PAR1", 4, err));
    for (size_t i = 0; i < N_COLUMNS; i++) REFS_TRY(append_column(file, rows, i, err));
    REFS_TRY(append_footer(file, rows->n, err));
    *bytes = refs_buf_view(&file->bytes);
    return REFS_OK;
}

refs_status refs_write__parquet_file_open(refs_parquet_file **file, refs_error *err) {
    refs_parquet_file *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
#ifdef REFS_HAS_zstd
    opened->zstd = ZSTD_createCCtx();
    if (opened->zstd == NULL) {
        refs_free(opened);
        return refs_fail_nomem(err);
    }
    (void)ZSTD_CCtx_setParameter(opened->zstd, ZSTD_c_compressionLevel, 1);
    (void)ZSTD_CCtx_setParameter(opened->zstd, ZSTD_c_checksumFlag, 1);
#endif
    *file = opened;
    return REFS_OK;
}

void refs_write__parquet_file_free(refs_parquet_file *file) {
    if (file == NULL) return;
#ifdef REFS_HAS_zstd
    ZSTD_freeCCtx(file->zstd);
#endif
    refs_buf_clear(&file->bytes);
    refs_buf_clear(&file->page);
    refs_free(file);
}
