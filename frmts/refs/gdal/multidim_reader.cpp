/* multidim_reader.cpp -- see multidim_reader.h. */
#include "multidim_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fork_guard.h"
#include "interrupt.h"

namespace {

/** The most bytes that are converted through a buffer at a time. */
constexpr uint64_t maxPartBytes = 64 * 1024 * 1024;

/** Strings are read all at once and kept. */
constexpr uint64_t maxStrings = 10 * 1000 * 1000;
constexpr uint64_t maxTextBytes = 256 * 1024 * 1024;

GDALExtendedDataType typeOf(const refs_array_meta *meta, RefsElements elements,
                            const RefsPixelType &pixels) {
    switch (elements) {
    case RefsElements::Strings: // a code point of four bytes has at most four bytes in UTF-8
        return GDALExtendedDataType::CreateString(meta->dtype.size);
    case RefsElements::Characters:
        return GDALExtendedDataType::CreateString(static_cast<size_t>(meta->shape[1]));
    default:
        return GDALExtendedDataType::Create(pixels.gdal);
    }
}

/** Elements [first, first + n) of a slice along one dimension. */
RefsSlice partOf(const RefsSlice &slice, size_t dim, uint64_t first, uint64_t n) {
    RefsSlice part = slice;
    part.start[dim] += first * static_cast<uint64_t>(slice.step[dim]);
    part.count[dim] = n;
    return part;
}

/** Counts the elements of a slice; false if the number overflows. */
bool countElements(const RefsSlice &slice, uint64_t *n) {
    *n = 1;
    for (size_t dim = 0; dim < slice.rank; dim++)
        if (!refs_mul_u64(*n, slice.count[dim], n)) return false;
    return true;
}

/** Copies packed elements to their positions in a slice's buffer. */
class Scatter {
  public:
    Scatter(const RefsSlice &slice, const GDALExtendedDataType &from,
            const GDALExtendedDataType &to)
        : slice_(slice), from_(from), to_(to) {}

    /** Copies the elements along `dim` and faster dimensions; returns the next source element. */
    const GByte *copy(size_t dim, const GByte *source, GByte *target) const {
        const size_t n = dim < slice_.rank ? static_cast<size_t>(slice_.count[dim]) : 1;
        const int64_t stride = dim < slice_.rank ? slice_.stride[dim] : 1;
        if (dim + 1 >= slice_.rank) {
            GDALExtendedDataType::CopyValues(source, from_, 1, target, to_, stride, n);
            return source + n * from_.GetSize();
        }
        const int64_t bytes = stride * static_cast<int64_t>(to_.GetSize());
        for (size_t i = 0; i < n; i++, target += bytes) source = copy(dim + 1, source, target);
        return source;
    }

  private:
    const RefsSlice &slice_;
    const GDALExtendedDataType &from_, &to_;
};

} // namespace

RefsElements RefsElementsOf(const refs_dtype &dtype) {
    switch (dtype.type) {
    case REFS_TYPE_BYTES:
        return dtype.size == 1 ? RefsElements::Numbers : RefsElements::Strings;
    case REFS_TYPE_UNICODE:
    case REFS_TYPE_OBJECT:
        return RefsElements::Strings;
    default:
        return RefsPixelTypeOf(dtype).gdal != GDT_Unknown ? RefsElements::Numbers
                                                          : RefsElements::Opaque;
    }
}

RefsReader::RefsReader(std::shared_ptr<RefsArchive> archive, refs_array *array,
                       RefsElements elements, RefsIntegers integers)
    : archive_(std::move(archive)), reader_(archive_, array, nullptr),
      meta_(refs_array_meta_of(array)), elements_(elements),
      pixels_(RefsPixelTypeOf(meta_->dtype, integers)), type_(typeOf(meta_, elements, pixels_)) {}

refs_status RefsReader::read(const RefsSlice &slice, const GDALExtendedDataType &bufferType,
                             void *buffer, refs_error *error) const {
    const bool asIs =
        elements_ == RefsElements::Numbers && pixels_.promote == nullptr && bufferType == type_;
    const RefsInterruptible interruptible;
    return asIs ? readAsIs(slice, buffer, error)
                : readParts(slice, bufferType, static_cast<GByte *>(buffer), error);
}

refs_status RefsReader::readAsIs(const RefsSlice &slice, void *buffer, refs_error *error) const {
    std::array<int64_t, REFS_MAX_RANK> bytes{};
    for (size_t dim = 0; dim < slice.rank; dim++)
        bytes[dim] = slice.stride[dim] * static_cast<int64_t>(type_.GetSize());
    const refs_region region = slice.region();
    const refs_read_target target = {buffer, bytes.data(), nullptr};
    return reader_.read(region, target, error);
}

/* Divides the slice along its slowest dimension with more than one element. */
refs_status RefsReader::readParts(const RefsSlice &slice, const GDALExtendedDataType &bufferType,
                                  GByte *buffer, refs_error *error) const {
    const uint64_t maxElements = maxPartBytes / type_.GetSize();
    uint64_t n;
    if (countElements(slice, &n) && n <= maxElements)
        return readPart(slice, static_cast<size_t>(n), bufferType, buffer, error);

    size_t dim = 0;
    while (slice.count[dim] == 1) dim++;
    RefsSlice row = slice;
    row.count[dim] = 1;
    const uint64_t inRow = countElements(row, &n) ? n : UINT64_MAX;
    const uint64_t rows = std::max<uint64_t>(1, maxElements / inRow);
    for (uint64_t first = 0; first < slice.count[dim]; first += rows) {
        const RefsSlice part = partOf(slice, dim, first, std::min(rows, slice.count[dim] - first));
        const int64_t skipped = static_cast<int64_t>(first) * slice.stride[dim];
        REFS_TRY(readParts(part, bufferType,
                           buffer + skipped * static_cast<int64_t>(bufferType.GetSize()), error));
    }
    return REFS_OK;
}

refs_status RefsReader::readPart(const RefsSlice &slice, size_t n,
                                 const GDALExtendedDataType &bufferType, GByte *buffer,
                                 refs_error *error) const {
    std::vector<GByte> packed(n * type_.GetSize());
    REFS_TRY(elements_ == RefsElements::Numbers ? readNumbers(slice, n, packed, error)
                                                : pickStrings(slice, packed, error));
    Scatter(slice, type_, bufferType).copy(0, packed.data(), buffer);
    return REFS_OK;
}

refs_status RefsReader::readNumbers(const RefsSlice &slice, size_t n, std::vector<GByte> &packed,
                                    refs_error *error) const {
    const refs_region region = slice.region();
    refs_read_target target = {packed.data(), nullptr, nullptr};
    if (pixels_.promote == nullptr) return reader_.read(region, target, error);
    std::vector<GByte> elements(n * pixels_.elementSize);
    target.dst = elements.data();
    REFS_TRY(reader_.read(region, target, error));
    pixels_.promote(elements.data(), packed.data(), n);
    return REFS_OK;
}

/* -- strings --------------------------------------------------------------------------------- */

/* Pointers to strings, as GDAL's strings are. */
refs_status RefsReader::pickStrings(const RefsSlice &slice, std::vector<GByte> &packed,
                                    refs_error *error) const {
    REFS_TRY(loadStrings(error));
    std::array<uint64_t, REFS_MAX_RANK> index{};
    const size_t n = packed.size() / sizeof(char *);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = 0;
        for (size_t dim = 0; dim < slice.rank; dim++)
            number = number * meta_->shape[dim] + slice.start[dim] +
                     index[dim] * static_cast<uint64_t>(slice.step[dim]);
        memcpy(&packed[i * sizeof(char *)], &strings_[number], sizeof(char *));
        for (size_t dim = slice.rank; dim-- > 0 && ++index[dim] == slice.count[dim];)
            index[dim] = 0;
    }
    return REFS_OK;
}

refs_status RefsReader::loadStrings(refs_error *error) const {
    {
        RefsLocked guard(stringsLock_);
        if (!strings_.empty()) return REFS_OK;
    }
    RefsBuffer bytes;
    const auto readStrings = [&](refs_array *array, refs_error *err) {
        bytes.size = 0;
        return refs_array_read_strings(array, maxStrings, &bytes, err);
    };
    REFS_TRY(elements_ == RefsElements::Characters
                 ? loadCharacters(bytes, error)
                 : archive_->readArray(meta_, readStrings, error));
    std::vector<const char *> strings;
    refs_str rest = refs_buf_text(&bytes);
    for (const char *text = nullptr; refs_str_next_text(&rest, &text);) strings.push_back(text);
    RefsLocked guard(stringsLock_);
    if (!strings_.empty()) return REFS_OK; // another thread was faster
    std::swap<refs_buf>(textBytes_, bytes);
    strings_.swap(strings);
    return REFS_OK;
}

refs_status RefsReader::loadCharacters(refs_buf &bytes, refs_error *error) const {
    uint64_t n;
    if (!refs_array_meta_elements(meta_, &n) || n > maxTextBytes)
        return refs_fail(error, REFS_LIMIT, "%s: expected at most %llu characters, found more",
                         meta_->path, static_cast<unsigned long long>(maxTextBytes));
    std::vector<char> characters(static_cast<size_t>(n));
    const std::array<uint64_t, 2> origin{};
    const refs_region region = {origin.data(), meta_->shape, nullptr};
    REFS_TRY(reader_.read(region, {characters.data(), nullptr, nullptr}, error));
    const size_t length = static_cast<size_t>(meta_->shape[1]);
    for (const char *row = characters.data(), *end = row + n; row != end; row += length) {
        REFS_TRY(refs_buf_append(&bytes, row, strnlen(row, length), error));
        REFS_TRY(refs_buf_append(&bytes, "", 1, error));
    }
    return REFS_OK;
}
