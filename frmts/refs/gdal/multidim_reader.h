/* multidim_reader.h -- slices of an array -> elements of any type in the caller's buffer. */
#ifndef REFS_MULTIDIM_READER_H
#define REFS_MULTIDIM_READER_H

#include <array>
#include <mutex>
#include <vector>

#include "array_reader.h"
#include "pixel_type.h"

/** Which elements of an array, and where they go: strides are in elements of the buffer. */
struct RefsSlice {
    size_t rank = 0;
    std::array<uint64_t, REFS_MAX_RANK> start{}, count{};
    std::array<int64_t, REFS_MAX_RANK> step{}, stride{};

    refs_region region() const { return {start.data(), count.data(), step.data()}; }
};

/** How elements are seen through GDAL. */
enum class RefsElements {
    Opaque,    ///< not at all
    Numbers,   ///< as numbers
    Strings,   ///< as strings
    Characters ///< as strings that run along the last dimension, which is not seen
};

/** Characters are elements of one byte, which are seen as numbers where they are not known to be
 * strings. */
RefsElements RefsElementsOf(const refs_dtype &dtype);

/** Reads one array; may be used from several threads. */
class RefsReader {
  public:
    RefsReader(std::shared_ptr<RefsArchive> archive, refs_array *array, RefsElements elements,
               RefsIntegers integers);

    /** The kind of elements. */
    const GDALExtendedDataType &type() const { return type_; }

    /** Reads a slice into `buffer`, elements of `bufferType` there. */
    refs_status read(const RefsSlice &slice, const GDALExtendedDataType &bufferType, void *buffer,
                     refs_error *error) const;

    /** Says that a region is going to be read soon. */
    void advise(const refs_region &region) const { reader_.advise(region); }

  private:
    refs_status readAsIs(const RefsSlice &slice, void *buffer, refs_error *error) const;
    refs_status readParts(const RefsSlice &slice, const GDALExtendedDataType &bufferType,
                          GByte *buffer, refs_error *error) const;
    refs_status readPart(const RefsSlice &slice, size_t n, const GDALExtendedDataType &bufferType,
                         GByte *buffer, refs_error *error) const;
    refs_status readNumbers(const RefsSlice &slice, size_t n, std::vector<GByte> &packed,
                            refs_error *error) const;
    refs_status pickStrings(const RefsSlice &slice, std::vector<GByte> &packed,
                            refs_error *error) const;
    refs_status loadStrings(refs_error *error) const;
    refs_status loadCharacters(refs_buf &bytes, refs_error *error) const;

    const std::shared_ptr<RefsArchive> archive_;
    RefsArrayReader reader_;
    const refs_array_meta *meta_;
    RefsElements elements_;
    RefsPixelType pixels_;
    GDALExtendedDataType type_;
    mutable std::mutex stringsLock_; // guards the strings, which stay once they are loaded
    mutable RefsBuffer textBytes_;
    mutable std::vector<const char *> strings_;
};

#endif
