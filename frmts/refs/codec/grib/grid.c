/* grid.c -- makes a message with the grid of another one, see message.h. All values are zero, and
 * take no bits. */
#include "message.h"

#include "rows.h"

/* Appends the grid section, with the scanning mode set to rows. */
static refs_status append_grid(const refs_grib_message *message, refs_buf *alone, refs_error *err) {
    refs_grib_rows rows;
    size_t begin = alone->size;
    REFS_TRY(refs_buf_append(alone, message->grid.data, message->grid.size, err));
    if (refs_grib_rows_read(message->whole.data[7], message->grid, &rows) && rows.mode_at > 0)
        alone->data[begin + rows.mode_at] &= REFS_GRIB_LEFTWARDS | REFS_GRIB_UPWARDS;
    return REFS_OK;
}

/* -- numbers, the highest byte first ----------------------------------------------------------- */

static refs_status append(refs_buf *message, const uint8_t *bytes, size_t size, refs_error *err) {
    return refs_buf_append(message, bytes, size, err);
}

/* -- edition 2 --------------------------------------------------------------------------------- */

/* Sections 0 and 1: tables of version 4, an analysis of 2000-01-01. */
static const uint8_t begin_2[] = {'G', 'R', 'I', 'B',  0xff, 0xff, 0,  2, 0, 0, 0, 0, 0,
                                  0,   0,   0,   0,    0,    0,    21, 1, 0, 0, 0, 0, 4,
                                  0,   0,   7,   0xd0, 1,    1,    0,  0, 0, 0, 0};

/* Sections 4 to 8: temperature at the surface, simple packing with no bits, no bitmap. */
static const uint8_t end_2[] = {
    0, 0, 0, 34, 4, 0,   0,   0,   0,   0,   0,   2,   0,   0, 0, 0, 0, 1, 0, 0, 0,
    0, 1, 0, 0,  0, 0,   0,   255, 255, 255, 255, 255, 255,                         /* section 5 */
    0, 0, 0, 21, 5, 0,   0,   0,   0,   0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0, /* 6 */
    0, 0, 0, 6,  6, 255,                                                            /* 7 */
    0, 0, 0, 5,  7, '7', '7', '7', '7'};

enum { SIZE_AT_2 = 8, N_VALUES_AT_2 = 34 + 5 };

static refs_status write_2(const refs_grib_message *message, refs_buf *alone, refs_error *err) {
    REFS_TRY(append(alone, begin_2, sizeof begin_2, err));
    REFS_TRY(append_grid(message, alone, err));
    size_t end = alone->size;
    REFS_TRY(append(alone, end_2, sizeof end_2, err));
    refs_store_be(alone->data + SIZE_AT_2, 8, alone->size);
    refs_store_be(alone->data + end + N_VALUES_AT_2, 4, message->n_points);
    return REFS_OK;
}

/* -- edition 1 --------------------------------------------------------------------------------- */

/* Sections 0 and 1: the same by table 128 of centre 98, followed by a grid. */
static const uint8_t begin_1[] = {'G', 'R', 'I', 'B', 0,   0, 0, 1, 0,   0, 28, 128,
                                  98,  255, 255, 128, 130, 1, 0, 0, 100, 1, 1,  0,
                                  0,   1,   0,   0,   0,   0, 0, 0, 20,  0, 0,  0};

/* Section 4, and the end. */
static const uint8_t end_1[] = {0, 0, 12, 8, 0, 0, 0, 0, 0, 0, 0, 0, '7', '7', '7', '7'};

enum { SIZE_AT_1 = 4 };

static refs_status write_1(const refs_grib_message *message, refs_buf *alone, refs_error *err) {
    REFS_TRY(append(alone, begin_1, sizeof begin_1, err));
    REFS_TRY(append_grid(message, alone, err));
    REFS_TRY(append(alone, end_1, sizeof end_1, err));
    if (alone->size >> 24 != 0)
        return refs_fail(err, REFS_LIMIT, "the grid description is too short: %zu bytes",
                         message->grid.size);
    refs_store_be(alone->data + SIZE_AT_1, 3, alone->size);
    return REFS_OK;
}

refs_status refs_codec__grib_grid_alone(const refs_grib_message *message, refs_buf *alone,
                                        refs_error *err) {
    return message->whole.data[7] == 1 ? write_1(message, alone, err)
                                       : write_2(message, alone, err);
}
