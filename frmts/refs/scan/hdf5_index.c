/* hdf5_index.c -- see hdf5_index.h. */
#include "hdf5_index.h"

refs_status refs_hdf5__read_index(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                  refs_chunk_index *index, refs_error *err) {
    refs_hdf5__begin_task(file);
    REFS_TRY(refs_chunk_index_init(index, layout->rank, layout->shape, layout->chunk, err));
    return refs_fail(err, REFS_UNSUPPORTED, "its chunks are not read yet");
}
