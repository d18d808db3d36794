/* filters.c -- maps codecs to HDF5 filters, see ncrefs.h. IDs are those of the registry of filters
 * (https://github.com/HDFGroup/hdf5_plugins), which netCDF-C uses, too. */
#include "ncrefs.h"

static const struct {
    const char *id;
    unsigned number;
    const char *level; /* member of its configuration, the first parameter; or NULL */
    unsigned otherwise;
} known[] = {{"zlib", 1, "level", 6},
             {"gzip", 1, "level", 6},
             {"shuffle", 2, "elementsize", 0},
             {"fletcher32", 3, NULL, 0},
             {"bz2", 307, "level", 9},
             {"zstd", 32015, "level", 3},
             {"lz4", 32004, NULL, 0},
             {"blosc", 32001, NULL, 0},
             {"lzf", 32000, NULL, 0},
             {"bitshuffle", 32008, NULL, 0},
             {"imagecodecs_lzf", 32000, NULL, 0},
             {"imagecodecs_szip", 4, NULL, 0}};

static void add(ncrefs_storage *storage, const refs_codec_spec *codec, size_t row) {
    uint64_t level = known[row].otherwise;
    if (known[row].level != NULL)
        (void)refs_json_u64(refs_json_get(codec->config, known[row].level), &level);
    unsigned number = known[row].number;
    if (number == 1) storage->deflate_level = level <= 9 ? (int)level : 6;
    storage->shuffles = storage->shuffles || number == 2;
    storage->has_fletcher32 = storage->has_fletcher32 || number == 3;
    if (storage->n_filters == REFS_MAX_RANK) return;
    size_t at = storage->n_filters++;
    storage->filters[at].id = number;
    storage->filters[at].n_parameters = known[row].level != NULL ? 1 : 0;
    storage->filters[at].parameters[0] = (unsigned)level;
}

static bool is_one_chunk(const refs_array_meta *meta) {
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (meta->chunk[dim] < meta->shape[dim]) return false;
    return true;
}

void ncrefs_storage_of(const refs_array_meta *meta, ncrefs_storage *storage) {
    memset(storage, 0, sizeof *storage);
    if (meta->rank == 0) { /* in netCDF, scalars are not chunked */
        storage->is_contiguous = true;
        return;
    }
    for (size_t i = 0; i < meta->n_codecs; i++)
        for (size_t row = 0; row < sizeof known / sizeof known[0]; row++)
            if (strcmp(meta->codecs[i].id, known[row].id) == 0) add(storage, &meta->codecs[i], row);
    storage->is_contiguous =
        meta->aggregation == NULL && storage->n_filters == 0 && is_one_chunk(meta);
}
