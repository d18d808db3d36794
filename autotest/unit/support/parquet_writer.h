// parquet_writer.h -- parquet files made of values, laid out as a test wants them.
//
// Writes what the reader under test has to understand, by the format's own documents: the compact
// protocol of Thrift, plain and dictionary pages of both versions, row groups.
#ifndef REFS_TEST_PARQUET_WRITER_H
#define REFS_TEST_PARQUET_WRITER_H

#include <libdeflate.h>
#include <snappy-c.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace parquet {

enum Type { kInt32 = 1, kInt64 = 2, kFloat = 4, kDouble = 5, kByteArray = 6, kFixed = 7 };
enum Codec { kUncompressed = 0, kSnappy = 1, kGzip = 2, kLzo = 3, kBrotli = 4, kZstd = 6 };
enum PageKind { kDataPage = 0, kIndexPage = 1, kDictionaryPage = 2, kDataPageV2 = 3 };
enum Encoding { kPlain = 0, kPlainDictionary = 2, kRle = 3, kBitPacked = 4, kRleDictionary = 8 };

// -- bytes ----------------------------------------------------------------------------------------

inline std::string LittleEndian(uint64_t number, size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; i++) bytes += static_cast<char>(number >> 8 * i);
    return bytes;
}

inline std::string Varint(uint64_t number) {
    std::string bytes;
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
    return bytes + static_cast<char>(number);
}

inline std::string Zigzag(int64_t number) {
    return Varint(static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63));
}

// -- thrift ---------------------------------------------------------------------------------------

// A struct in the compact protocol; fields are added in the order of their numbers.
class Struct {
  public:
    enum Kind { kTrue = 1, kFalse = 2, kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

    Struct &Field(int id, int kind, const std::string &value) {
        const int step = id - last_;
        if (step > 0 && step < 16)
            bytes_ += static_cast<char>(step << 4 | kind);
        else
            bytes_ += static_cast<char>(kind) + Zigzag(id);
        bytes_ += value;
        last_ = id;
        return *this;
    }
    Struct &Integer(int id, int64_t value) { return Field(id, kI64, Zigzag(value)); }
    Struct &Flag(int id, bool value) { return Field(id, value ? kTrue : kFalse, ""); }
    Struct &Text(int id, const std::string &text) {
        return Field(id, kBinary, Varint(text.size()) + text);
    }
    /// A list of one text, as the path of a column is.
    Struct &Path(int id, const std::string &name) {
        return Field(id, kList, std::string(1, 1 << 4 | kBinary) + Varint(name.size()) + name);
    }
    Struct &Inner(int id, const Struct &inner) { return Field(id, kStruct, inner.Bytes()); }
    Struct &List(int id, const std::vector<Struct> &items) {
        std::string bytes = items.size() < 15
                                ? std::string(1, static_cast<char>(items.size() << 4 | kStruct))
                                : static_cast<char>(0xf0 | kStruct) + Varint(items.size());
        for (const Struct &item : items) bytes += item.Bytes();
        return Field(id, kList, bytes);
    }
    std::string Bytes() const { return bytes_ + '\0'; }

  private:
    std::string bytes_;
    int last_ = 0;
};

// -- encodings ------------------------------------------------------------------------------------

// Groups of eight numbers, packed into `width` bits each, as one run. The last group is padded.
inline std::string PackedRun(const std::vector<uint32_t> &numbers, unsigned width) {
    const size_t groups = (numbers.size() + 7) / 8;
    std::string bytes(groups * width, '\0');
    for (size_t i = 0; i < numbers.size(); i++)
        for (unsigned bit = 0; bit < width; bit++)
            if (numbers[i] >> bit & 1)
                bytes[(i * width + bit) / 8] =
                    static_cast<char>(bytes[(i * width + bit) / 8] | 1 << (i * width + bit) % 8);
    return Varint(groups << 1 | 1) + bytes;
}

inline std::string RepeatedRun(uint64_t length, uint32_t number, unsigned width) {
    return Varint(length << 1) + LittleEndian(number, (width + 7) / 8);
}

// Repeated numbers as runs of their own, each.
inline std::string Runs(const std::vector<uint32_t> &numbers, unsigned width) {
    std::string bytes;
    for (size_t i = 0, end; i < numbers.size(); i = end) {
        for (end = i; end < numbers.size() && numbers[end] == numbers[i];) end++;
        bytes += RepeatedRun(end - i, numbers[i], width);
    }
    return bytes;
}

inline std::string Compress(Codec codec, const std::string &bytes) {
    std::string out(bytes.size() * 2 + 1000, '\0');
    size_t size = out.size();
    switch (codec) {
    case kUncompressed:
        return bytes;
    case kSnappy:
        if (snappy_compress(bytes.data(), bytes.size(), out.data(), &size) != SNAPPY_OK) size = 0;
        break;
    case kGzip: {
        libdeflate_compressor *deflater = libdeflate_alloc_compressor(6);
        size = libdeflate_gzip_compress(deflater, bytes.data(), bytes.size(), out.data(), size);
        libdeflate_free_compressor(deflater);
        break;
    }
    case kZstd:
        size = ZSTD_compress(out.data(), size, bytes.data(), bytes.size(), 1);
        break;
    default:
        return bytes; // named wrongly on purpose
    }
    return out.substr(0, size);
}

// -- files ----------------------------------------------------------------------------------------

// A column: either integers or strings has the values.
struct Column {
    std::string name;
    Type type = kInt64;
    std::vector<std::optional<int64_t>> integers = {};
    std::vector<std::optional<std::string>> strings = {};
    bool optional = true;
    int converted = -1;
    bool dictionary = false;
    size_t dictionary_pages = SIZE_MAX; // pages behind these are plain

    size_t n_rows() const { return std::max(integers.size(), strings.size()); }
};

inline Column Integers(const std::string &name, std::vector<std::optional<int64_t>> values) {
    return {name, kInt64, std::move(values)};
}
inline Column Strings(const std::string &name, std::vector<std::optional<std::string>> values) {
    return {name, kByteArray, {}, std::move(values)};
}

struct Layout {
    int page_version = 1;
    Codec codec = kUncompressed;
    size_t rows_per_page = SIZE_MAX;
    size_t rows_per_group = SIZE_MAX;
    unsigned width = 8;             // of dictionary numbers, and …
    bool runs = false;              // … whether they, and levels, come as runs
    bool compressed = true;         // version 2 may say no, page by page
    std::string before_pages = "";  // bytes before the pages of a column
    std::string behind_values = ""; // bytes behind the values of a page
    // Last changes: to a page before it is compressed; to its header.
    std::function<void(std::string &levels, std::string &values)> spoil_page = nullptr;
    std::function<void(Struct &header)> more_header = nullptr;
};

class Writer {
  public:
    Writer(std::vector<Column> columns, Layout layout)
        : columns_(std::move(columns)), layout_(std::move(layout)) {}

    std::string File() {
        const size_t n_rows = columns_.empty() ? 0 : columns_[0].n_rows();
        std::vector<Struct> groups;
        for (size_t row = 0; row < n_rows;) {
            const size_t end = row + std::min(layout_.rows_per_group, n_rows - row);
            std::vector<Struct> chunks;
            for (const Column &column : columns_) chunks.push_back(Chunk(column, row, end));
            groups.push_back(
                Struct().List(1, chunks).Integer(2, 1).Integer(3, static_cast<int64_t>(end - row)));
            row = end;
        }
        const std::string footer = Struct()
                                       .Integer(1, 1)
                                       .List(2, Schema())
                                       .Integer(3, static_cast<int64_t>(n_rows))
                                       .List(4, groups)
                                       .Text(6, "test")
                                       .Bytes();
        return bytes_ + footer + LittleEndian(footer.size(), 4) + "PAR1";
    }

  private:
    std::vector<Struct> Schema() const {
        std::vector<Struct> elements;
        elements.push_back(
            Struct().Text(4, "schema").Integer(5, static_cast<int64_t>(columns_.size())));
        for (const Column &column : columns_) {
            Struct element;
            element.Integer(1, column.type).Integer(3, column.optional).Text(4, column.name);
            if (column.converted >= 0) element.Integer(6, column.converted);
            elements.push_back(element);
        }
        return elements;
    }

    // A column chunk: its pages go to the file at once.
    Struct Chunk(const Column &column, size_t begin, size_t end) {
        const size_t first = bytes_.size();
        bytes_ += layout_.before_pages;
        size_t data = first, page = 0;
        for (size_t row = begin; row < end || page == 0; page++) {
            const size_t page_end = row + std::min(layout_.rows_per_page, end - row);
            const bool numbers = column.dictionary && page < column.dictionary_pages;
            if (page == 0 && column.dictionary) {
                AddDictionary(column, begin, end);
                data = bytes_.size();
            }
            AddDataPage(column, row, page_end, numbers);
            row = page_end;
        }
        Struct meta;
        meta.Integer(1, column.type).Path(3, column.name).Integer(4, layout_.codec);
        meta.Integer(5, static_cast<int64_t>(end - begin));
        meta.Integer(7, static_cast<int64_t>(bytes_.size() - first));
        meta.Integer(9, static_cast<int64_t>(data));
        if (column.dictionary) meta.Integer(11, static_cast<int64_t>(first));
        return Struct().Integer(2, static_cast<int64_t>(first)).Inner(3, meta);
    }

    static bool IsNull(const Column &column, size_t row) {
        return column.type == kByteArray ? !column.strings[row] : !column.integers[row];
    }

    static std::string Plain(const Column &column, size_t row) {
        if (column.type == kByteArray)
            return LittleEndian(column.strings[row]->size(), 4) + *column.strings[row];
        return LittleEndian(static_cast<uint64_t>(*column.integers[row]),
                            column.type == kInt32 || column.type == kFloat ? 4 : 8);
    }

    void AddDictionary(const Column &column, size_t begin, size_t end) {
        dictionary_.clear();
        std::string values;
        for (size_t row = begin; row < end; row++) {
            if (IsNull(column, row) || NumberOf(Plain(column, row)) < dictionary_.size()) continue;
            dictionary_.push_back(Plain(column, row));
            values += dictionary_.back();
        }
        Struct inner;
        inner.Integer(1, static_cast<int64_t>(dictionary_.size())).Integer(2, kPlainDictionary);
        AddPage(kDictionaryPage, 7, inner, "", values);
    }

    uint32_t NumberOf(const std::string &value) const {
        return static_cast<uint32_t>(std::find(dictionary_.begin(), dictionary_.end(), value) -
                                     dictionary_.begin());
    }

    std::string Hybrid(const std::vector<uint32_t> &numbers, unsigned width) const {
        return layout_.runs ? Runs(numbers, width) : PackedRun(numbers, width);
    }

    void AddDataPage(const Column &column, size_t begin, size_t end, bool as_numbers) {
        std::vector<uint32_t> levels, numbers;
        std::string values;
        for (size_t row = begin; row < end; row++) {
            levels.push_back(!IsNull(column, row));
            if (IsNull(column, row)) continue;
            if (as_numbers)
                numbers.push_back(NumberOf(Plain(column, row)));
            else
                values += Plain(column, row);
        }
        if (as_numbers) values = static_cast<char>(layout_.width) + Hybrid(numbers, layout_.width);
        const auto n = static_cast<int64_t>(end - begin);
        const Encoding encoding = as_numbers ? kRleDictionary : kPlain;
        std::string level_bytes = column.optional ? Hybrid(levels, 1) : "";
        values += layout_.behind_values;
        if (layout_.spoil_page) layout_.spoil_page(level_bytes, values);
        Struct inner;
        if (layout_.page_version == 1) {
            inner.Integer(1, n).Integer(2, encoding).Integer(3, kRle).Integer(4, kBitPacked);
            if (column.optional) level_bytes = LittleEndian(level_bytes.size(), 4) + level_bytes;
            AddPage(kDataPage, 5, inner, "", level_bytes + values);
        } else {
            inner.Integer(1, n).Integer(2, 0).Integer(3, n).Integer(4, encoding);
            inner.Integer(5, static_cast<int64_t>(level_bytes.size())).Integer(6, 0);
            inner.Flag(7, layout_.compressed);
            AddPage(kDataPageV2, 8, inner, level_bytes, values);
        }
    }

    void AddPage(PageKind kind, int id, const Struct &inner, const std::string &bare,
                 const std::string &values) {
        const bool compressed = kind != kDataPageV2 || layout_.compressed;
        const std::string stored = compressed ? Compress(layout_.codec, values) : values;
        Struct header;
        header.Integer(1, kind);
        header.Integer(2, static_cast<int64_t>(bare.size() + values.size()));
        header.Integer(3, static_cast<int64_t>(bare.size() + stored.size()));
        header.Inner(id, inner);
        if (layout_.more_header) layout_.more_header(header);
        bytes_ += header.Bytes() + bare + stored;
    }

    std::vector<Column> columns_;
    Layout layout_;
    std::string bytes_ = "PAR1";
    std::vector<std::string> dictionary_;
};

inline std::string File(const std::vector<Column> &columns, const Layout &layout = {}) {
    return Writer(columns, layout).File();
}

} // namespace parquet

#endif
