/* page.c -- reads PageHeader and the bytes after it, see parquet_internal.h. */
#include "parquet/parquet_internal.h"

/* The needed fields of PageHeader, DataPageHeader, DictionaryPageHeader and DataPageHeaderV2. */
typedef struct page_header {
    int64_t kind, uncompressed_size, compressed_size;
    int64_t n_values, encoding, level_encoding;
    int64_t definition_size, repetition_size, is_compressed;
} page_header;

/* The member for a field of one of these structs: 100 times the field in PageHeader that holds the
 * struct (5, 7 or 8; 0: PageHeader itself), plus the number in the struct; NULL: not needed.
 * Source: parquet.thrift. */
static int64_t *member(page_header *header, int parent, int id) {
    switch (parent * 100 + id) {
    case 1:
        return &header->kind;
    case 2:
        return &header->uncompressed_size;
    case 3:
        return &header->compressed_size;
    case 501:
    case 701:
    case 801:
        return &header->n_values;
    case 503:
        return &header->level_encoding;
    case 502:
    case 702:
    case 804:
        return &header->encoding;
    case 805:
        return &header->definition_size;
    case 806:
        return &header->repetition_size;
    case 807:
        return &header->is_compressed;
    default:
        return NULL;
    }
}

static bool is_inner_header(const refs_thrift_field *field) {
    return field->type == REFS_THRIFT_STRUCT &&
           (field->id == 5 || field->id == 7 || field->id == 8);
}

static refs_status read_header(refs_thrift *thrift, page_header *header, int parent,
                               refs_error *err) {
    refs_thrift_field field = {0, REFS_THRIFT_STOP};
    for (;;) {
        REFS_TRY(refs_thrift__next(thrift, &field, err));
        if (field.type == REFS_THRIFT_STOP) return REFS_OK;
        int64_t *into = member(header, parent, field.id);
        if (parent == 0 && is_inner_header(&field))
            REFS_TRY(read_header(thrift, header, field.id, err));
        else if (into != NULL)
            REFS_TRY(refs_thrift__integer(thrift, field.type, into, err));
        else
            REFS_TRY(refs_thrift__skip(thrift, field.type, err));
    }
}

static bool is_size(int64_t size, uint64_t limit) {
    return size >= 0 && (uint64_t)size <= limit;
}

static refs_status check_header(const page_header *header, const refs_parquet_source *source,
                                refs_error *err) {
    if (!is_size(header->compressed_size, source->bytes.size - source->at) ||
        !is_size(header->n_values, UINT32_MAX) || header->uncompressed_size < 0)
        return refs_fail(err, REFS_CORRUPT, "invalid page header before byte %zu of %zu",
                         source->at, source->bytes.size);
    if (!is_size(header->uncompressed_size, source->max_page_bytes))
        return refs_fail(err, REFS_LIMIT, "a page has %lld bytes: expected at most %zu",
                         (long long)header->uncompressed_size, source->max_page_bytes);
    return REFS_OK;
}

/* Version 1: levels are part of the compressed bytes, after their length. */
static refs_status split_levels(refs_bytes bytes, refs_parquet_page *page, refs_error *err) {
    uint32_t size = bytes.size >= 4 ? refs_load_le32(bytes.data) : UINT32_MAX;
    if (bytes.size < 4 || size > bytes.size - 4)
        return refs_fail(err, REFS_CORRUPT, "definition levels of %u bytes are truncated",
                         (unsigned)size);
    page->definition_levels = refs_bytes_view(bytes.data + 4, size);
    page->values = refs_bytes_view(bytes.data + 4 + size, bytes.size - 4 - size);
    return REFS_OK;
}

static refs_status read_v1(refs_parquet_source *source, const page_header *header,
                           refs_bytes stored, refs_parquet_page *page, refs_error *err) {
    REFS_TRY(refs_parquet__decompress(source->codec, stored, (size_t)header->uncompressed_size,
                                      &source->buffer, err));
    page->values = refs_buf_view(&source->buffer);
    if (header->kind == REFS_PAGE_DICTIONARY ||
        source->leaf->repetition != REFS_REPETITION_OPTIONAL)
        return REFS_OK;
    if (header->level_encoding != REFS_ENCODING_RLE)
        return refs_fail(err, REFS_UNSUPPORTED, "encoding %lld of levels is not supported",
                         (long long)header->level_encoding);
    return split_levels(page->values, page, err);
}

/* Version 2: levels come first, never compressed. */
static refs_status read_v2(refs_parquet_source *source, const page_header *header,
                           refs_bytes stored, refs_parquet_page *page, refs_error *err) {
    if (header->repetition_size != 0 || !is_size(header->definition_size, stored.size) ||
        header->definition_size > header->uncompressed_size)
        return refs_fail(err, REFS_CORRUPT,
                         "a page has levels of invalid sizes: %lld and %lld bytes",
                         (long long)header->repetition_size, (long long)header->definition_size);
    size_t levels = (size_t)header->definition_size;
    page->definition_levels = refs_bytes_view(stored.data, levels);
    page->values = refs_bytes_view(stored.data + levels, stored.size - levels);
    if (!header->is_compressed) return REFS_OK;
    REFS_TRY(refs_parquet__decompress(source->codec, page->values,
                                      (size_t)header->uncompressed_size - levels, &source->buffer,
                                      err));
    page->values = refs_buf_view(&source->buffer);
    return REFS_OK;
}

refs_status refs_parquet__read_page(refs_parquet_source *source, refs_parquet_page *page,
                                    refs_error *err) {
    page_header header = {.kind = -1,
                          .uncompressed_size = -1,
                          .compressed_size = -1,
                          .encoding = -1,
                          .level_encoding = REFS_ENCODING_RLE,
                          .is_compressed = 1};
    refs_thrift thrift = {source->bytes, source->at, 0};
    REFS_TRY(read_header(&thrift, &header, 0, err));
    source->at = thrift.at;
    REFS_TRY(check_header(&header, source, err));
    refs_bytes stored =
        refs_bytes_view(source->bytes.data + source->at, (size_t)header.compressed_size);
    source->at += stored.size;
    source->buffer.size = 0;
    *page = (refs_parquet_page){
        .kind = header.kind, .encoding = header.encoding, .n_values = (size_t)header.n_values};
    switch (header.kind) {
    case REFS_PAGE_DATA:
    case REFS_PAGE_DICTIONARY:
        return read_v1(source, &header, stored, page, err);
    case REFS_PAGE_DATA_V2:
        return read_v2(source, &header, stored, page, err);
    default:
        page->n_values = 0;
        return REFS_OK;
    }
}
