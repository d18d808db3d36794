/* longitudes.c -- which values of a raster of longitudes lie beyond 180 and are wrapped. */
#include "cf_internal.h"

/* Whether a file holds this array in chunks, for all that its references tell: what is stored as it
 * is and in one piece is likely no chunk, and netCDF-3, whose numbers are big-endian, has none. */
static bool is_chunked(const refs_array_meta *array) {
    if (array->n_codecs > 0) return true;
    bool split = false;
    for (size_t dim = 0; dim < array->rank; dim++)
        split = split || array->chunk[dim] < array->shape[dim];
    return split && !array->dtype.big_endian;
}

static uint64_t extent(const uint64_t *sizes, size_t dim) {
    return dim != REFS_CF_NO_DIM ? sizes[dim] : 1;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t blocks_of(uint64_t size, uint64_t block) {
    return size / block + (size % block != 0);
}

bool refs_cf_find_wrap(const refs_array_meta *array, const refs_cf_description *description,
                       refs_cf_wrap *wrap) {
    if (!description->longitudes || description->x_dim == REFS_CF_NO_DIM) return false;
    *wrap = (refs_cf_wrap){.width = extent(array->shape, description->x_dim),
                           .height = extent(array->shape, description->y_dim),
                           .block_height = 1,
                           .flip_y = description->flip_y,
                           .has_nodata = description->nodata_kind == REFS_CF_NODATA_DOUBLE,
                           .nodata = description->nodata};
    if (wrap->width == 0 || wrap->height == 0) return false;
    wrap->block_width = wrap->width;
    if (is_chunked(array)) {
        wrap->block_width = smaller(wrap->width, extent(array->chunk, description->x_dim));
        wrap->block_height = smaller(wrap->height, extent(array->chunk, description->y_dim));
    }
    return true;
}

static bool is_nodata(const refs_cf_wrap *wrap, double value) {
    return wrap->has_nodata && value == wrap->nodata;
}

/* -- the order of reading ---------------------------------------------------------------------- */

/* Rows as shown to rows as stored, and back. */
static uint64_t turned_row(const refs_cf_wrap *wrap, uint64_t row) {
    return wrap->flip_y ? wrap->height - 1 - row : row;
}

/* Blocks of a column that are read together, a group, hold the rows of one block that is shown. If
 * rows are turned and the last block is a part of one, the first that is shown takes two, of which
 * the earlier one comes first. */
static uint64_t in_first_group(const refs_cf_wrap *wrap) {
    return wrap->flip_y && wrap->height % wrap->block_height != 0 ? 2 : 1;
}

static uint64_t group_of(const refs_cf_wrap *wrap, uint64_t row, uint64_t *place) {
    uint64_t block = turned_row(wrap, row) / wrap->block_height;
    *place = 0;
    if (!wrap->flip_y) return block;
    uint64_t from_last = blocks_of(wrap->height, wrap->block_height) - 1 - block;
    if (in_first_group(wrap) == 1) return from_last;
    *place = from_last == 0;
    return from_last > 0 ? from_last - 1 : 0;
}

static uint64_t order_of(const refs_cf_wrap *wrap, uint64_t row, uint64_t block_column) {
    uint64_t place = 0, group = group_of(wrap, row, &place);
    if (group == 0) return block_column * in_first_group(wrap) + place;
    return blocks_of(wrap->width, wrap->block_width) * (in_first_group(wrap) + group - 1) +
           block_column;
}

bool refs_cf_is_wrapped(const refs_cf_wrap *wrap, const refs_cf_wrapped *wrapped, uint64_t row,
                        uint64_t column, uint64_t *end) {
    uint64_t block_column = column / wrap->block_width;
    *end = column - column % wrap->block_width +
           smaller(wrap->block_width, wrap->width - block_column * wrap->block_width);
    return order_of(wrap, row, block_column) < wrapped->n_blocks;
}

bool refs_cf_wrap_keeps(const refs_cf_wrap *wrap, double value) {
    return is_nodata(wrap, value);
}

/* -- looking at blocks ------------------------------------------------------------------------- */

/* Whether a block whose first row is `row` lies beyond 180: its first and last value do. The netCDF
 * driver asks std::min, which passes over NaN behind the first value. */
static bool is_beyond(const refs_cf_wrap *wrap, const double *row, uint64_t block_column) {
    uint64_t begin = block_column * wrap->block_width;
    double first = row[begin], last = row[smaller(begin + wrap->block_width, wrap->width) - 1];
    double least = last < first ? last : first;
    return !is_nodata(wrap, first) && !is_nodata(wrap, last) && least > 180;
}

/* The row that is shown of the first row of block `i` of the next group. */
static uint64_t first_row(const refs_cf_wrap *wrap, const refs_cf_wrapped *wrapped, uint64_t i) {
    uint64_t block = wrapped->n_groups;
    if (wrap->flip_y) {
        uint64_t n = blocks_of(wrap->height, wrap->block_height);
        block = wrapped->n_groups == 0 ? n - in_first_group(wrap) + i
                                       : n - in_first_group(wrap) - wrapped->n_groups;
    }
    return turned_row(wrap, block * wrap->block_height);
}

static refs_status look_at_group(const refs_cf_wrap *wrap, const refs_cf_rows *rows, double *values,
                                 refs_cf_wrapped *wrapped, refs_error *err) {
    uint64_t n = wrapped->n_groups == 0 ? in_first_group(wrap) : 1;
    for (uint64_t i = 0; i < n; i++)
        REFS_TRY(
            rows->read(rows->user, first_row(wrap, wrapped, i), values + i * wrap->width, err));
    uint64_t n_columns = blocks_of(wrap->width, wrap->block_width);
    for (uint64_t i = 0; i < n * n_columns && !wrapped->ended; i++) {
        wrapped->ended = !is_beyond(wrap, values + i % n * wrap->width, i / n);
        if (!wrapped->ended) wrapped->n_blocks++;
    }
    wrapped->n_groups++;
    return REFS_OK;
}

refs_status refs_cf_look_for_wrapped(const refs_cf_wrap *wrap, uint64_t row,
                                     const refs_cf_rows *rows, refs_cf_wrapped *wrapped,
                                     refs_error *err) {
    uint64_t place = 0, n_groups = group_of(wrap, row, &place) + 1;
    if (wrapped->ended || wrapped->n_groups >= n_groups) return REFS_OK;
    size_t size = 0;
    if (!refs_mul_size((size_t)wrap->width, 2 * sizeof(double), &size)) return refs_fail_nomem(err);
    REFS_SCOPED double *values = refs_alloc(size);
    if (values == NULL) return refs_fail_nomem(err);
    while (!wrapped->ended && wrapped->n_groups < n_groups)
        REFS_TRY(look_at_group(wrap, rows, values, wrapped, err));
    return REFS_OK;
}
