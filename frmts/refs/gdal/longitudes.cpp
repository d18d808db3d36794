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

} // namespace

RefsLongitudes::RefsLongitudes(const refs_array_meta *meta, const refs_cf_meaning &meaning,
                               GDALDataType type)
    : meta_(meta), meaning_(meaning), type_(type),
      needed_(meaning.longitudes && meaning.x_dim != REFS_CF_NO_DIM && isSigned(type)) {}

bool RefsLongitudes::isNodata(double value) const {
    return meaning_.nodata_kind == REFS_CF_NODATA_DOUBLE && value == meaning_.nodata;
}

/* The first row of the chunk that is read first: with rows turned, that is not the first shown. */
int RefsLongitudes::firstRow() const {
    if (meaning_.y_dim == REFS_CF_NO_DIM || !meaning_.flip_y) return 0;
    const uint64_t rows = meta_->shape[meaning_.y_dim], chunk = meta_->chunk[meaning_.y_dim];
    if (chunk == 1 || chunk >= rows) return 0;
    const uint64_t stored = (rows - chunk) / chunk * chunk;
    return static_cast<int>(rows - 1 - stored);
}

refs_status RefsLongitudes::readEnds(uint64_t band, const RefsWindowReader &reader, double ends[2],
                                     refs_error *error) const {
    const uint64_t width = std::min(meta_->shape[meaning_.x_dim], meta_->chunk[meaning_.x_dim]);
    const int number = static_cast<int>(band) + 1;
    for (int i = 0; i < 2; i++)
        REFS_TRY(
            reader.readStored({i == 0 ? 0 : static_cast<int>(width - 1), firstRow(), 1, 1, &number,
                               1, &ends[i], GDT_Float64, sizeof(double), sizeof(double), 0},
                              error));
    return REFS_OK;
}

refs_status RefsLongitudes::isMoved(uint64_t band, const RefsWindowReader &reader, bool *moved,
                                    refs_error *error) {
    {
        RefsLocked guard(lock_);
        const auto found = known_.find(band);
        if (found != known_.end()) {
            *moved = found->second;
            return REFS_OK;
        }
    }
    double ends[2] = {0, 0};
    REFS_TRY(readEnds(band, reader, ends, error));
    *moved = !isNodata(ends[0]) && !isNodata(ends[1]) && std::min(ends[0], ends[1]) > 180;
    RefsLocked guard(lock_);
    known_[band] = *moved;
    return REFS_OK;
}

template <class Pixel>
void RefsLongitudes::moveAs(const RefsLongitudes &self, GByte *pixels, size_t n, GSpacing space) {
    for (size_t i = 0; i < n; i++, pixels += space) {
        Pixel pixel;
        memcpy(&pixel, pixels, sizeof pixel);
        if (self.isNodata(static_cast<double>(pixel))) continue;
        pixel = static_cast<Pixel>(pixel - 360);
        memcpy(pixels, &pixel, sizeof pixel);
    }
}

void RefsLongitudes::move(void *pixels, size_t n, GSpacing space) const {
    auto *bytes = static_cast<GByte *>(pixels);
    if (type_ == GDT_Int16)
        moveAs<GInt16>(*this, bytes, n, space);
    else if (type_ == GDT_Int32)
        moveAs<GInt32>(*this, bytes, n, space);
    else if (type_ == GDT_Float32)
        moveAs<float>(*this, bytes, n, space);
    else
        moveAs<double>(*this, bytes, n, space);
}
