/* multidim_raw_block.cpp -- see multidim_raw_block.h. */
#include "multidim_raw_block.h"

#if REFS_HAS_RAW_BLOCK_INFO

#include <algorithm>
#include <array>
#include <string>

#include "guard.h"

namespace {

bool isAll(const refs_store_part &part) {
    return part.length == 0;
}

refs_status setInline(const refs_ref &ref, const refs_store_part &part,
                      GDALMDArrayRawBlockInfo &info, refs_error *error) {
    const refs_bytes bytes = isAll(part) ? ref.bytes
                                         : refs_bytes_view(ref.bytes.data + part.begin,
                                                           static_cast<size_t>(part.length));
    info.pabyInlineData = static_cast<GByte *>(VSIMalloc(std::max<size_t>(1, bytes.size)));
    if (info.pabyInlineData == nullptr) return refs_fail_nomem(error);
    std::copy_n(bytes.data, bytes.size, info.pabyInlineData);
    info.nSize = bytes.size;
    return REFS_OK;
}

refs_status setFile(const refs_ref &ref, const refs_store_part &part, GDALMDArrayRawBlockInfo &info,
                    refs_error *error) {
    info.pszFilename = VSIStrdup(ref.location);
    if (info.pszFilename == nullptr) return refs_fail_nomem(error);
    VSIStatBufL status;
    if (!isAll(part)) {
        info.nOffset = (ref.kind == REFS_REF_RANGE ? ref.offset : 0) + part.begin;
        info.nSize = part.length;
    } else if (ref.kind == REFS_REF_RANGE) {
        info.nOffset = ref.offset;
        info.nSize = ref.length;
    } else if (VSIStatL(ref.location, &status) == 0) {
        info.nSize = static_cast<uint64_t>(status.st_size);
    } else {
        return refs_fail(error, REFS_IO, "%s: cannot be located", ref.url);
    }
    return REFS_OK;
}

/** The codecs in encoding order: "CODECS=shuffle,zlib". */
CPLStringList codecsOf(const refs_array_meta *meta, uint32_t filterMask) {
    std::string names;
    for (size_t i = 0; i < meta->n_codecs; i++)
        if (i >= 32 || (filterMask >> i & 1) == 0)
            names += (names.empty() ? "" : ",") + std::string(meta->codecs[i].id);
    CPLStringList list;
    if (!names.empty()) list.SetNameValue("CODECS", names.c_str());
    return list;
}

} // namespace

refs_status RefsFindRawBlock(const RefsArchive &archive, refs_array *array,
                             const std::vector<uint64_t> &block, GDALMDArrayRawBlockInfo &info,
                             refs_error *error) {
    const refs_array_meta *meta = refs_array_meta_of(array);
    info.clear();
    std::array<uint64_t, REFS_MAX_RANK> index{};
    for (size_t dim = 0; dim < block.size(); dim++) {
        index[dim] = block[dim];
        if (block[dim] >= refs_array_meta_n_chunks(meta, dim))
            return refs_fail(error, REFS_INVALID,
                             "%s: chunk %llu lies outside dimension %zu, which has %llu chunks",
                             meta->path, static_cast<unsigned long long>(block[dim]), dim,
                             static_cast<unsigned long long>(refs_array_meta_n_chunks(meta, dim)));
    }
    RefsBuffer key;
    refs_ref ref;
    refs_store_part part;
    const refs_status placed = refs_array_find_part(array, index.data(), &part, error);
    if (placed != REFS_OK) return placed == REFS_NOT_FOUND ? REFS_OK : placed;
    REFS_TRY(refs_chunk_key(meta, index.data(), &key, error));
    const std::string text = key.text();
    const refs_status found =
        refs_set_find(archive.set(), refs_str_view(text.data(), text.size()), &ref, error);
    if (found == REFS_NOT_FOUND) return REFS_OK;
    if (found != REFS_OK) return found;
    const refs_status status = RefsGuard(error, [&] {
        info.papszInfo = codecsOf(meta, ref.filter_mask).StealList();
        return ref.kind == REFS_REF_INLINE ? setInline(ref, part, info, error)
                                           : setFile(ref, part, info, error);
    });
    refs_ref_release(&ref);
    return status;
}

#endif
