/* fits_ascii.c -- codec "FITSAscii": the rows of an ASCII table of FITS as records of numbers and
 * strings.
 *
 * Source: FITS standard 4.0, section 7.2.
 */
#include "numbers.h"
#include "record.h"

typedef struct fits_column {
    refs_field field; /* in the table; name and type are only valid while opening */
    size_t size;      /* in the record */
    bool is_number;
    refs_number_type number;
} fits_column;

typedef struct fits_table {
    size_t row_size;
    size_t record_size;
    size_t n;
    fits_column columns[];
} fits_table;

/* Longest number that is parsed: FITS has none of more than 30 characters. */
#define MAX_NUMBER 64

static refs_status read_column(const refs_codec_context *context, size_t i, fits_table *table,
                               refs_error *err) {
    fits_column *column = &table->columns[i];
    refs_field record;
    REFS_TRY(refs_codec__read_field(refs_json_get(context->config, "indtypes"), i, &table->row_size,
                                    &column->field, err));
    REFS_TRY(refs_codec__read_field(refs_json_get(context->config, "outdtypes"), i,
                                    &table->record_size, &record, err));
    column->size = record.size;
    column->is_number = refs_codec__number_parse(record.type, &column->number, NULL) == REFS_OK;
    return REFS_OK;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    size_t n = refs_json_size(refs_json_get(context->config, "indtypes")), size;
    if (n == 0 || n != refs_json_size(refs_json_get(context->config, "outdtypes")))
        return refs_fail(err, REFS_INVALID,
                         "expected indtypes and outdtypes as lists of one length");
    if (!refs_mul_size(n, sizeof(fits_column), &size) ||
        !refs_add_size(size, sizeof(fits_table), &size))
        return refs_fail_nomem(err);
    fits_table *opened = refs_calloc(1, size);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->n = n;
    for (size_t i = 0; i < n; i++) REFS_TRY(read_column(context, i, opened, err));
    if (opened->row_size == 0 || opened->record_size == 0)
        return refs_fail(err, REFS_INVALID, "the size of rows or records is 0");
    if (refs_mul_size(context->decoded_size / opened->record_size, opened->row_size, encoded_size))
        return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%zu bytes of records are too many", context->decoded_size);
}

/* Parses a Fortran number: with blanks around it, a sign, D for E, or no digit before the point. */
static refs_status parse_number(refs_str text, double *number, refs_error *err) {
    char plain[MAX_NUMBER];
    size_t n = 0;
    bool valid = true;
    for (size_t i = 0; i < text.size && n + 2 < MAX_NUMBER; i++) {
        char c = text.data[i];
        if (c == ' ' || c == '\0' || (c == '+' && n == 0)) continue;
        if (c == '.' && (n == 0 || plain[n - 1] == '-')) plain[n++] = '0';
        plain[n++] = c == 'D' || c == 'd' ? 'e' : c;
        valid = valid && strchr("0123456789.-+eEdD", c) != NULL;
    }
    refs_str digits = refs_str_view(plain, n);
    if (refs_str_starts(digits, "-")) digits = refs_str_part(digits, 1, n);
    if (!valid || digits.size == 0 || digits.data[0] < '0' || digits.data[0] > '9')
        return refs_fail(err, REFS_CORRUPT, "\"%.*s\" is not a number", REFS_STR_ARG(text));
    *number = refs_json_number_to_double(refs_str_view(plain, n));
    return REFS_OK;
}

static refs_status put_column(const fits_column *column, const uint8_t *row, uint8_t *at,
                              refs_error *err) {
    const uint8_t *text = row + column->field.begin;
    size_t size = column->field.size;
    if (column->is_number) {
        double number = 0;
        REFS_TRY(parse_number(refs_str_view((const char *)text, size), &number, err));
        refs_codec__store_double(&column->number, number, at);
        return REFS_OK;
    }
    size_t n = size < column->size ? size : column->size;
    memcpy(at, text, n);
    memset(at + n, 0, column->size - n);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const fits_table *table = self;
    size_t n_rows = encoded.size / table->row_size, size;
    uint8_t *at;
    if (encoded.size % table->row_size != 0)
        return refs_fail(err, REFS_CORRUPT, "expected whole rows of %zu bytes, found %zu bytes",
                         table->row_size, encoded.size);
    if (!refs_mul_size(n_rows, table->record_size, &size))
        return refs_fail(err, REFS_LIMIT, "%zu rows are too many", n_rows);
    REFS_TRY(refs_codec__output_add(output, size, &at, err));
    for (size_t row = 0; row < n_rows; row++)
        for (size_t i = 0; i < table->n; i++) {
            REFS_TRY(put_column(&table->columns[i], encoded.data + row * table->row_size, at, err));
            at += table->columns[i].size;
        }
    return REFS_OK;
}

const refs_codec_type refs_codec_fits_ascii = {.name = "FITSAscii",
                                               .reads = "FITS ASCII tables",
                                               .library = "REFS",
                                               .open = open_codec,
                                               .decode = decode,
                                               .close = refs_free};
