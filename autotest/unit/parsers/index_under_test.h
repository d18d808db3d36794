/* index_under_test.h -- a chunk index of an HDF5 file that is read for a layout that tests make. */
#ifndef REFS_INDEX_UNDER_TEST_H
#define REFS_INDEX_UNDER_TEST_H

#include <string>
#include <vector>

#define class layout_class // a member has this name
extern "C" {
#include "hdf5/index.h"
}
#undef class

#include "memory_vfs.h"

class IndexUnderTest {
  public:
    IndexUnderTest() {
        layout.layout_class = REFS_HDF5_CHUNKED;
        layout.version = 4;
        layout.element_size = 2;
        layout.address = REFS_HDF5_UNDEFINED;
        file.offset_size = file.length_size = 8;
        file.chunk_k = 32;
        file.options = &options;
    }
    ~IndexUnderTest() {
        refs_chunk_index_clear(&index);
        refs_source_free(file.source);
    }

    /// The shape now and at most, and that of chunks.
    void Shape(const std::vector<uint64_t> &shape, const std::vector<uint64_t> &most,
               const std::vector<uint64_t> &chunk) {
        layout.rank = shape.size();
        std::copy(shape.begin(), shape.end(), layout.shape);
        std::copy(most.begin(), most.end(), layout.max_shape);
        std::copy(chunk.begin(), chunk.end(), layout.chunk);
    }

    refs_status Read(const refs_vfs *from, const std::string &location) {
        refs_status status = refs_source_open(from, location.c_str(), &file.source, &error);
        if (status == REFS_OK) status = refs_source_size(file.source, &file.size, &error);
        if (status == REFS_OK) status = refs_hdf5__read_index(&file, &layout, &index, &error);
        if (status == REFS_OK) status = refs_chunk_index_finish(&index, &error);
        return status;
    }

    /// The same of a file in memory.
    refs_status Read(const std::string &content) {
        vfs.files["f.h5"] = content;
        return Read(vfs.get(), "f.h5");
    }

    const refs_index_entry *At(const std::vector<uint64_t> &at) {
        uint64_t number;
        if (!refs_chunk_index_number(&index, at.data(), &number)) return nullptr;
        return refs_chunk_index_find(&index, number, &found) ? &found : nullptr;
    }

    refs_index_entry found = {};

    MemoryVfs vfs;
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
    refs_hdf5_file file = {};
    refs_hdf5_layout layout = {};
    refs_chunk_index index = {};
    refs_error error = REFS_ERROR_INIT;
};

#endif
