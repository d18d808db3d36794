/* longitudes.cpp -- see longitudes.h. */
#include "longitudes.h"

#include <algorithm>
#include <cstring>

#include "fork_guard.h"
#include "guard.h"
#include "window.h"

namespace {

using WrapRun = void (*)(const refs_cf_wrap &wrap, GByte *pixels, uint64_t n, GSpacing space);

template <class Pixel>
void wrapRunOf(const refs_cf_wrap &wrap, GByte *pixels, uint64_t n, GSpacing space) {
    for (uint64_t i = 0; i < n; i++, pixels += space) {
        Pixel pixel;
        memcpy(&pixel, pixels, sizeof pixel);
        if (refs_cf_wrap_keeps(&wrap, static_cast<double>(pixel))) continue;
        pixel = static_cast<Pixel>(pixel - 360);
        memcpy(pixels, &pixel, sizeof pixel);
    }
}

/** The function for types that can hold longitudes west of Greenwich; null for other types. */
WrapRun wrapRunFor(GDALDataType type) {
    switch (type) {
    case GDT_Int16:
        return wrapRunOf<GInt16>;
    case GDT_Int32:
        return wrapRunOf<GInt32>;
    case GDT_Float32:
        return wrapRunOf<float>;
    case GDT_Float64:
        return wrapRunOf<double>;
    default:
        return nullptr;
    }
}

/** Reads rows of one band. */
struct BandRows {
    const RefsWindowReader &reader;
    int number; // from 1
    int width;

    refs_cf_rows view() { return {read, this}; }

    static refs_status read(void *user, uint64_t row, double *values, refs_error *error) {
        const auto *self = static_cast<BandRows *>(user);
        return RefsGuard(error, [&] {
            return self->reader.readStored({0, static_cast<int>(row), self->width, 1, &self->number,
                                            1, values, GDT_Float64, sizeof(double),
                                            static_cast<GSpacing>(sizeof(double)) * self->width, 0},
                                           error);
        });
    }
};

} // namespace

RefsLongitudes::RefsLongitudes(const refs_array_meta *meta, const refs_cf_description &description,
                               GDALDataType type) {
    if (refs_cf_find_wrap(meta, &description, &wrap_)) wrapRun_ = wrapRunFor(type);
}

refs_cf_wrapped RefsLongitudes::known(uint64_t band) {
    RefsLocked guard(lock_);
    return known_[band];
}

void RefsLongitudes::remember(uint64_t band, const refs_cf_wrapped &wrapped) {
    RefsLocked guard(lock_);
    if (wrapped.n_groups > known_[band].n_groups) known_[band] = wrapped;
}

/* Releases the lock while values are read: other threads may read the same blocks. */
refs_status RefsLongitudes::wrap(const Rows &rows, const RefsWindowReader &reader,
                                 refs_error *error) {
    refs_cf_wrapped wrapped = known(rows.band);
    BandRows band{reader, static_cast<int>(rows.band) + 1, static_cast<int>(wrap_.width)};
    const refs_cf_rows source = band.view();
    const auto first = static_cast<uint64_t>(rows.y), x = static_cast<uint64_t>(rows.x);
    const uint64_t endRow = first + static_cast<uint64_t>(rows.height);
    REFS_TRY(refs_cf_look_for_wrapped(&wrap_, endRow - 1, &source, &wrapped, error));
    const uint64_t endColumn = x + static_cast<uint64_t>(rows.width);
    for (uint64_t row = first; row < endRow; row++)
        for (uint64_t column = x, end; column < endColumn; column = end) {
            const bool isWrapped = refs_cf_is_wrapped(&wrap_, &wrapped, row, column, &end);
            end = std::min(end, endColumn);
            if (isWrapped)
                wrapRun_(wrap_,
                         rows.pixels + static_cast<GSpacing>(row - first) * rows.lineSpace +
                             static_cast<GSpacing>(column - x) * rows.pixelSpace,
                         end - column, rows.pixelSpace);
        }
    remember(rows.band, wrapped);
    return REFS_OK;
}
