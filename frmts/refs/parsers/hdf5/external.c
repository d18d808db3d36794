/* external.c -- datasets with external files. Specification IV.A.2.h. */
#include "hdf5/group.h"
#include "hdf5/hdf5.h"
#include "hdf5/index.h"

refs_status refs_hdf5__read_external(const refs_hdf5_file *file, refs_bytes body,
                                     refs_hdf5_external *external, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    uint8_t version = refs_hdf5__u8(&cursor);
    refs_hdf5__take(&cursor, 5);
    size_t n = refs_hdf5__u16(&cursor);
    if (version != 1)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown version of the external file list: %u",
                         version);
    external->names = refs_hdf5__address(file, &cursor);
    REFS_NEW(external->slots, n, err);
    external->n = n;
    for (size_t i = 0; i < n; i++) {
        refs_hdf5_slot *slot = &external->slots[i];
        slot->name = refs_hdf5__length(file, &cursor);
        slot->offset = refs_hdf5__length(file, &cursor);
        slot->size = refs_hdf5__length(file, &cursor);
        slot->begin = i > 0 ? slot[-1].end : 0;
        if (!refs_add_u64(slot->begin, slot->size, &slot->end)) slot->end = UINT64_MAX;
    }
    if (!cursor.is_short) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the external file list is truncated");
}

/* Divides dimension `dim`, where consecutive indices are `step` bytes apart, at all ends of files;
 * false if an end is within an index. */
static bool cut_along(const refs_hdf5_external *external, size_t dim, uint64_t step,
                      refs_hdf5_layout *layout) {
    uint64_t size = layout->shape[dim], grain = dim > 0 ? size : 0;
    for (size_t i = 0; i + 1 < external->n; i++) {
        uint64_t end = external->slots[i].end;
        if (end % step != 0) return false;
        grain = refs_hdf5__common_divisor(grain, end / step);
    }
    uint64_t most = REFS_HDF5_CONTIGUOUS_CHUNK_BYTES / step;
    layout->chunk[dim] = refs_hdf5__divisor_below(grain > 0 ? grain : size, most > 0 ? most : 1);
    for (size_t i = 0; i < layout->rank; i++)
        if (i != dim) layout->chunk[i] = i < dim ? 1 : layout->shape[i];
    return true;
}

/* Chooses chunks so that none extends over two files. */
refs_status refs_hdf5__cut_external(const refs_hdf5_external *external, refs_hdf5_layout *layout,
                                    refs_error *err) {
    uint64_t step = layout->element_size;
    if (external->n < 2 || step == 0) return REFS_OK;
    for (size_t dim = 0; dim < layout->rank; dim++)
        if (layout->shape[dim] == 0 || !refs_mul_u64(step, layout->shape[dim], &step))
            return REFS_OK; /* reading fails instead */
    for (size_t dim = 0; dim < layout->rank; dim++) {
        step /= layout->shape[dim];
        if (cut_along(external, dim, step, layout)) return REFS_OK;
    }
    return refs_fail(err, REFS_UNSUPPORTED, "an element of it is split between two external files");
}

/* The files, in the order of the slots. */
static refs_status find_files(refs_hdf5_scan *scan, const refs_hdf5_external *external,
                              uint32_t *ids, refs_error *err) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    refs_status status = refs_hdf5__read_names(&scan->file, external->names, &names, err);
    for (size_t i = 0; status == REFS_OK && i < external->n; i++) {
        refs_file_name name = {
            .from = scan->number, .variable = "HDF5_EXTFILE_PREFIX", .options = scan->file.options};
        status = refs_hdf5__name_at(&names, external->slots[i].name, &name.name, err);
        if (status != REFS_OK) break;
        status = refs_scan_files_find(scan->files, &name, &ids[i], err);
        if (status != REFS_NOT_FOUND) continue;
        refs_error_clear(err);
        status = refs_fail(err, REFS_IO, "its external file %.*s does not exist",
                           REFS_STR_ARG(name.name));
    }
    return status;
}

static refs_status add_chunks(const refs_hdf5_external *external, const refs_hdf5_layout *layout,
                              const uint32_t *ids, refs_chunk_index *index, refs_error *err) {
    refs_chunk_index places = {.rank = 0}; /* in the concatenated files */
    REFS_TRY(refs_chunk_index_init(&places, layout->rank, layout->shape, layout->chunk, err));
    const refs_chunk_steps steps = refs_hdf5__contiguous_steps(layout, 0);
    refs_status status = refs_chunk_index_in_steps(&places, &steps, err);
    size_t at = 0;
    for (uint64_t i = 0; status == REFS_OK && i < index->n_chunks; i++) {
        refs_index_entry entry;
        if (!refs_chunk_index_find(&places, i, &entry)) continue;
        while (at < external->n && external->slots[at].end <= entry.offset) at++;
        const refs_hdf5_slot *slot = &external->slots[at];
        if (at == external->n || slot->end - entry.offset < entry.length ||
            !refs_add_u64(slot->offset, entry.offset - slot->begin, &entry.offset))
            status =
                refs_fail(err, REFS_CORRUPT, "its external files are too short for its values");
        if (status == REFS_OK)
            status = refs_chunk_index_add_elsewhere(index, i, entry, ids[at], err);
    }
    refs_chunk_index_clear(&places);
    return status;
}

refs_status refs_hdf5__index_external(refs_hdf5_scan *scan, const refs_hdf5_dataset *dataset,
                                      refs_chunk_index *index, refs_error *err) {
    const refs_hdf5_layout *layout = &dataset->layout;
    const refs_hdf5_external *external = &dataset->external;
    refs_hdf5__begin_task(&scan->file);
    REFS_TRY(refs_chunk_index_init(index, layout->rank, layout->shape, layout->chunk, err));
    if (layout->class != REFS_HDF5_CONTIGUOUS || layout->element != REFS_HDF5_PLAIN)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "its values are in external files, which need a contiguous layout");
    if (!refs_hdf5__can_be_counted(layout))
        return refs_fail(err, REFS_CORRUPT, "it has more than 2^64 bytes");
    if (index->n_chunks == 0) return REFS_OK;
    REFS_SCOPED uint32_t *ids = refs_calloc(external->n, sizeof *ids);
    if (ids == NULL) return refs_fail_nomem(err);
    REFS_TRY(find_files(scan, external, ids, err));
    return add_chunks(external, layout, ids, index, err);
}
