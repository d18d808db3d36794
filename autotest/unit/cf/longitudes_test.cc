/* longitudes_test.cc -- which pixels of a raster of longitudes are wrapped. */
#include "dataset.h"

#include <cmath>

namespace {

/** A band of longitudes: rows as they are shown. */
class Band {
  public:
    Band(size_t width, Values values) : width_(width), values_(std::move(values)) {
        wrap.width = width;
        wrap.height = values_.size() / width;
        wrap.block_width = width;
        wrap.block_height = 1;
    }

    /** 'w' for pixels that are wrapped, '.' for others, row by row. Looks up to `row` first. */
    std::string wrapped(uint64_t row) {
        const refs_cf_rows rows = {read, this};
        EXPECT_EQ(refs_cf_look_for_wrapped(&wrap, row, &rows, &known_, nullptr), REFS_OK);
        std::string shown;
        for (uint64_t y = 0; y <= row; y++)
            for (uint64_t x = 0, end; x < wrap.width; x = end)
                shown.append(refs_cf_is_wrapped(&wrap, &known_, y, x, &end) ? end - x : 0, 'w')
                    .append(y * wrap.width + end - shown.size(), '.');
        return shown;
    }
    std::string wrapped() { return wrapped(wrap.height - 1); }

    refs_cf_wrap wrap = {};
    std::vector<uint64_t> rowsRead;

  private:
    static refs_status read(void *user, uint64_t row, double *values, refs_error *) {
        Band *self = static_cast<Band *>(user);
        self->rowsRead.push_back(row);
        std::copy_n(self->values_.begin() + static_cast<long>(row * self->width_), self->width_,
                    values);
        return REFS_OK;
    }
    size_t width_;
    Values values_;
    refs_cf_wrapped known_ = {0, 0, false};
};

/** The wrap of an array "v" that a data set describes. */
bool find(Dataset &set, refs_cf_wrap *wrap) {
    set.describe();
    return refs_cf_find_wrap(set.find("v"), &set.description, wrap);
}

const char *const east = R"("units":"degrees_east")";

} // namespace

TEST(WrappedLongitudes, AreThoseOfBlocksBeforeTheFirstThatStays) {
    EXPECT_EQ(Band(2, {190, 200, 210, 220}).wrapped(), "wwww");
    EXPECT_EQ(Band(2, {190, 200, 10, 220, 190, 200}).wrapped(), "ww....");
    EXPECT_EQ(Band(2, {180, 200, 210, 220}).wrapped(), "....");
    EXPECT_EQ(Band(2, {190, NAN, NAN, 190}).wrapped(), "ww..");
}

TEST(WrappedLongitudes, AreToldByTheEndsOfABlocksFirstRow) {
    Band band(4, {190, 0, 190, 10, 0, 0, 0, 0, 190, 190, 190, 190});
    band.wrap.block_width = 3;
    band.wrap.block_height = 2;
    EXPECT_EQ(band.wrapped(), "www.www.....");
}

TEST(WrappedLongitudes, BeginInTheBlockThatIsStoredBeforeThePartOfOne) {
    Band band(1, {50, 99, 100, 250, 300});
    band.wrap.block_height = 3;
    band.wrap.flip_y = true;
    EXPECT_EQ(band.wrapped(0), ".");
    EXPECT_EQ(band.rowsRead, (std::vector<uint64_t>{4, 1}));
    EXPECT_EQ(band.wrapped(), "..www");
}

TEST(WrappedLongitudes, AreLookedForOnceAndNoFartherThanNeeded) {
    Band band(1, {190, 200, 210, 10, 220});
    EXPECT_EQ(band.wrapped(1), "ww");
    EXPECT_EQ(band.rowsRead, (std::vector<uint64_t>{0, 1}));
    EXPECT_EQ(band.wrapped(), "www..");
    EXPECT_EQ(band.wrapped(), "www..");
    EXPECT_EQ(band.rowsRead, (std::vector<uint64_t>{0, 1, 2, 3}));
}

TEST(WrappedLongitudes, AreNeverNodata) {
    Band band(2, {190, 300, 300, 210});
    band.wrap.has_nodata = true;
    band.wrap.nodata = 300;
    EXPECT_EQ(band.wrapped(), "....");
    EXPECT_TRUE(refs_cf_wrap_keeps(&band.wrap, 300));
    EXPECT_FALSE(refs_cf_wrap_keeps(&band.wrap, 190));
}

TEST(WrappedLongitudes, AreNotGuessedWhereRowsDoNotArrive) {
    Band band(1, {190});
    const refs_cf_rows rows = {[](void *, uint64_t, double *, refs_error *err) {
                                   return refs_fail(err, REFS_IO, "no row");
                               },
                               nullptr};
    refs_cf_wrapped known = {0, 0, false};
    EXPECT_EQ(refs_cf_look_for_wrapped(&band.wrap, 0, &rows, &known, nullptr), REFS_IO);
    EXPECT_EQ(known.n_groups, 0u);
}

TEST(WrappedLongitudes, AreThoseOfArraysOfLongitudes) {
    refs_cf_wrap wrap;
    Dataset longitudes, temperatures, scalar;
    longitudes.array("v", {{"a", "b"}, {4, 6}, east});
    ASSERT_TRUE(find(longitudes, &wrap));
    EXPECT_EQ(wrap.width, 6u);
    EXPECT_EQ(wrap.height, 4u);
    EXPECT_EQ(wrap.block_width, 6u);
    EXPECT_EQ(wrap.block_height, 1u);
    temperatures.array("v", {{"a", "b"}, {4, 6}, R"("units":"K")"});
    EXPECT_FALSE(find(temperatures, &wrap));
    scalar.array("v", {{}, {}, east});
    EXPECT_FALSE(find(scalar, &wrap));
}
