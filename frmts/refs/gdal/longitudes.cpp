/* longitudes.cpp -- see longitudes.h. */
#include "longitudes.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fork_guard.h"
#include "window.h"

namespace {

bool isSigned(GDALDataType type) {
    return type == GDT_Int16 || type == GDT_Int32 || type == GDT_Float32 || type == GDT_Float64;
}

/** Whether a file holds this array in chunks, for all that its references tell: what is stored as
 * it is and in one piece is likely no chunk, and netCDF-3, whose numbers are big-endian, has none.
 */
bool isChunked(const refs_array_meta *meta) {
    if (meta->n_codecs > 0) return true;
    bool split = false;
    for (size_t dim = 0; dim < meta->rank; dim++) split |= meta->chunk[dim] < meta->shape[dim];
    return split && !meta->dtype.big_endian;
}

uint64_t extent(const uint64_t *sizes, size_t dim) {
    return dim != REFS_CF_NO_DIM ? sizes[dim] : 1;
}

} // namespace

RefsLongitudes::RefsLongitudes(const refs_array_meta *meta, const refs_cf_description &description,
                               GDALDataType type)
    : description_(description), type_(type),
      needed_(description.longitudes && description.x_dim != REFS_CF_NO_DIM && isSigned(type)) {
    if (!needed_) return;
    width_ = extent(meta->shape, description.x_dim);
    height_ = extent(meta->shape, description.y_dim);
    blockWidth_ = width_;
    if (isChunked(meta)) {
        blockWidth_ = std::min(width_, extent(meta->chunk, description.x_dim));
        blockHeight_ = std::min(height_, extent(meta->chunk, description.y_dim));
    }
    nColumns_ = (width_ + blockWidth_ - 1) / blockWidth_;
    if (description.flip_y && height_ % blockHeight_ != 0) inFirstGroup_ = 2;
}

bool RefsLongitudes::isNodata(double value) const {
    return description_.nodata_kind == REFS_CF_NODATA_DOUBLE && value == description_.nodata;
}

/* -- the order of reading ---------------------------------------------------------------------- */

uint64_t RefsLongitudes::storedRow(uint64_t shownRow) const {
    return description_.flip_y ? height_ - 1 - shownRow : shownRow;
}

/* Blocks of a column that are read together: those that hold the rows of a block that is shown.
 * Where rows are turned and the last block is a part of one, the first that is shown takes two, of
 * which the earlier one comes first. */
uint64_t RefsLongitudes::groupOf(uint64_t storedRow, uint64_t *place) const {
    const uint64_t block = storedRow / blockHeight_;
    const uint64_t n = (height_ + blockHeight_ - 1) / blockHeight_;
    *place = 0;
    if (!description_.flip_y) return block;
    const uint64_t fromLast = n - 1 - block;
    if (inFirstGroup_ == 1) return fromLast;
    *place = fromLast == 0 ? 1 : 0;
    return fromLast > 0 ? fromLast - 1 : 0;
}

uint64_t RefsLongitudes::orderOf(uint64_t shownRow, uint64_t blockColumn) const {
    uint64_t place = 0;
    const uint64_t group = groupOf(storedRow(shownRow), &place);
    if (group == 0) return blockColumn * inFirstGroup_ + place;
    return nColumns_ * (inFirstGroup_ + group - 1) + blockColumn;
}

/* -- looking at blocks ------------------------------------------------------------------------- */

bool RefsLongitudes::isBeyond(const double *row, uint64_t blockColumn) const {
    const uint64_t begin = blockColumn * blockWidth_;
    const double first = row[begin], last = row[std::min(begin + blockWidth_, width_) - 1];
    return !isNodata(first) && !isNodata(last) && std::min(first, last) > 180;
}

refs_status RefsLongitudes::lookAtGroup(uint64_t band, const RefsWindowReader &reader, Known *known,
                                        refs_error *error) const {
    const uint64_t n = known->groups == 0 ? inFirstGroup_ : 1;
    const uint64_t blocks = (height_ + blockHeight_ - 1) / blockHeight_;
    const uint64_t before = known->groups == 0 ? 0 : known->groups + inFirstGroup_ - 1;
    std::vector<double> rows(n * width_);
    const int number = static_cast<int>(band) + 1, width = static_cast<int>(width_);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t block =
            description_.flip_y ? blocks - 1 - before - (n - 1 - i) : known->groups;
        const int shown = static_cast<int>(storedRow(block * blockHeight_));
        REFS_TRY(
            reader.readStored({0, shown, width, 1, &number, 1, &rows[i * width_], GDT_Float64,
                               sizeof(double), static_cast<GSpacing>(sizeof(double)) * width, 0},
                              error));
    }
    for (uint64_t column = 0; column < nColumns_ && !known->ended; column++)
        for (uint64_t i = 0; i < n && !known->ended; i++) {
            known->ended = !isBeyond(&rows[i * width_], column);
            if (!known->ended) known->moved++;
        }
    known->groups++;
    return REFS_OK;
}

/* Without the lock while values are read: other threads may look at the same blocks meanwhile. */
refs_status RefsLongitudes::look(uint64_t band, uint64_t nGroups, const RefsWindowReader &reader,
                                 Known *known, refs_error *error) const {
    while (!known->ended && known->groups < nGroups)
        REFS_TRY(lookAtGroup(band, reader, known, error));
    return REFS_OK;
}

/* -- moving ------------------------------------------------------------------------------------ */

template <class Pixel> void RefsLongitudes::moveAs(GByte *pixels, size_t n, GSpacing space) const {
    for (size_t i = 0; i < n; i++, pixels += space) {
        Pixel pixel;
        memcpy(&pixel, pixels, sizeof pixel);
        if (isNodata(static_cast<double>(pixel))) continue;
        pixel = static_cast<Pixel>(pixel - 360);
        memcpy(pixels, &pixel, sizeof pixel);
    }
}

void RefsLongitudes::moveRun(GByte *pixels, size_t n, GSpacing space) const {
    if (type_ == GDT_Int16)
        moveAs<GInt16>(pixels, n, space);
    else if (type_ == GDT_Int32)
        moveAs<GInt32>(pixels, n, space);
    else if (type_ == GDT_Float32)
        moveAs<float>(pixels, n, space);
    else
        moveAs<double>(pixels, n, space);
}

refs_status RefsLongitudes::move(const Rows &rows, const RefsWindowReader &reader,
                                 refs_error *error) {
    Known known;
    {
        RefsLocked guard(lock_);
        known = known_[rows.band];
    }
    uint64_t place = 0;
    const auto first = static_cast<uint64_t>(rows.y), x = static_cast<uint64_t>(rows.x);
    const uint64_t last = first + static_cast<uint64_t>(rows.height) - 1;
    REFS_TRY(look(rows.band, groupOf(storedRow(last), &place) + 1, reader, &known, error));
    const uint64_t end = x + static_cast<uint64_t>(rows.width);
    for (uint64_t row = first; row <= last; row++)
        for (uint64_t begin = x, next; begin < end; begin = next) {
            const uint64_t column = begin / blockWidth_;
            next = std::min(end, (column + 1) * blockWidth_);
            if (orderOf(row, column) < known.moved)
                moveRun(rows.pixels + static_cast<GSpacing>(row - first) * rows.lineSpace +
                            static_cast<GSpacing>(begin - x) * rows.pixelSpace,
                        static_cast<size_t>(next - begin), rows.pixelSpace);
        }
    RefsLocked guard(lock_);
    if (known.groups > known_[rows.band].groups) known_[rows.band] = known;
    return REFS_OK;
}
