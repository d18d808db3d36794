/* shared.c -- see hdf5/shared.h. Specification III.H. */
#include "hdf5/shared.h"

#include "hdf5/fractal_heap.h"

/* Message types. The index of fill values lists old ones, too. */
enum { OLD_FILL = 4, FILL = 5 };

/* Finds the heap of the index that holds messages of a type. */
static refs_status find_heap(refs_hdf5_file *file, refs_bytes table, uint16_t type, uint64_t *heap,
                             refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(table);
    if (type == OLD_FILL) type = FILL;
    REFS_TRY(refs_hdf5__check(table, "SMTB", file->shared_table, err));
    refs_hdf5__take(&cursor, 4);
    for (size_t i = 0; i < file->n_shared_indexes; i++) {
        refs_hdf5__take(&cursor, 2);
        uint16_t types = refs_hdf5__u16(&cursor);
        refs_hdf5__take(&cursor, 4 + 2 + 2 + 2);
        refs_hdf5__address(file, &cursor);
        *heap = refs_hdf5__address(file, &cursor);
        if (!cursor.is_short && type < 16 && (types >> type & 1) != 0) return REFS_OK;
    }
    return refs_fail(err, REFS_CORRUPT, "no shared message table holds messages of type %u", type);
}

refs_status refs_hdf5__shared_in_heap(refs_hdf5_file *file, refs_bytes id, uint16_t type,
                                      refs_buf *body, refs_error *err) {
    uint64_t address = 0;
    uint64_t size = 8u + file->n_shared_indexes * (14u + 2u * file->offset_size);
    REFS_SCOPED_BY(refs_hdf5__heap_clear) refs_hdf5_fractal_heap heap = {0};
    REFS_SCOPED_BUF table = REFS_BUF_INIT;
    if (file->shared_table == REFS_HDF5_UNDEFINED)
        return refs_fail(err, REFS_CORRUPT,
                         "a header message is shared, but the file has no shared message table");
    REFS_TRY(refs_hdf5__read(file, (refs_source_range){file->shared_table, size}, &table,
                             "table of shared messages", err));
    REFS_TRY(find_heap(file, refs_buf_view(&table), type, &address, err));
    REFS_TRY(refs_hdf5__open_heap(file, address, &heap, err));
    return refs_hdf5__heap_get(file, &heap, id, body, err);
}
