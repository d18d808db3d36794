/* scanned_format.c -- data files (HDF5, …) as a format of sets, see format.h and refs/scan.h. */
#include "chunk_key.h"
#include "format.h"
#include "refs/own_attributes.h"
#include "refs/refset.h"
#include "refs/scan.h"
#include "set.h"

static bool sniff(const refs_set_input *input, refs_bytes head) {
    (void)input;
    return refs_scan_sniff(head) != NULL;
}

static refs_status put_document(void *user, refs_str key, refs_bytes document, refs_error *err) {
    if (refs_str_is(key, REFS_SOURCES_ATTRIBUTE))
        key = refs_str_from(REFS_SOURCES_GROUP "/.zattrs");
    return refs_set_builder_inline(user, key, document, err);
}

static refs_status put_problem(void *user, refs_str key, const refs_error *why, refs_error *err) {
    return refs_set_builder_broken(user, key, why->status, why->message, err);
}

static void set_ref(refs_scan *scan, const refs_scan_chunk *chunk, refs_ref *ref) {
    ref->filter_mask = chunk->filter_mask;
    ref->kind = REFS_REF_RANGE;
    ref->url = ref->location = refs_scan_location(scan, chunk->location_id);
    ref->location_id = chunk->location_id;
    ref->offset = chunk->offset;
    ref->length = chunk->length;
    if (chunk->bytes.data == NULL) return;
    ref->kind = REFS_REF_INLINE;
    ref->bytes = chunk->bytes;
}

/* Chunk keys are "path/3.0.1", and "path/0" for an array without dimensions. Numbers before the
 * last slash are names. */
static refs_status find(void *self, const refs_split_key *key, refs_ref *ref, refs_error *err) {
    refs_scan_chunk chunk;
    const size_t slash = refs_str_find_last(key->text, '/');
    const size_t n_names = key->separator == '/' ? key->rank - 1 : 0;
    if (slash == SIZE_MAX) return REFS_NOT_FOUND;
    refs_scan_key wanted = {refs_str_part(key->text, 0, slash), key->index + n_names,
                            key->rank - n_names};
    refs_status status = refs_scan_find(self, &wanted, &chunk, err);
    if (status != REFS_OK) return status;
    set_ref(self, &chunk, ref);
    return REFS_OK;
}

/* Returns a range of the file, even if the scan has its bytes in memory. */
static refs_status visit_one(refs_scan *scan, const refs_scan_key *key,
                             const refs_chunk_visitor *visitor, refs_error *err) {
    refs_scan_chunk chunk;
    refs_ref ref = {0};
    refs_status status = refs_scan_find(scan, key, &chunk, err);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    REFS_TRY(status);
    if (refs_scan_location(scan, chunk.location_id) != NULL) chunk.bytes.data = NULL;
    set_ref(scan, &chunk, &ref);
    return visitor->visit(visitor->user, key->index, &ref, err);
}

static refs_status each(void *self, const refs_chunk_keys *keys, const refs_chunk_visitor *visitor,
                        refs_error *err) {
    uint64_t index[REFS_CHUNK_MAX_RANK] = {0};
    refs_str path = keys->prefix;
    if (path.size > 0) path.size--;
    const refs_scan_key key = {path, index, keys->rank};
    for (uint64_t number = 0;; number++) {
        const refs_status status = refs_scan_next(self, &key, &number, index, err);
        if (status == REFS_NOT_FOUND) return REFS_OK;
        if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(path));
        REFS_TRY(status);
        if (refs_references__is_inside(keys, index)) REFS_TRY(visit_one(self, &key, visitor, err));
    }
}

static uint32_t n_locations(void *self) {
    return refs_scan_n_locations(self);
}

static const char *seen_file(void *self, uint32_t id, refs_vfs_validators *seen) {
    return refs_scan_seen(self, id, seen) ? refs_scan_location(self, id) : NULL;
}

static refs_set_scan_costs costs(void *self) {
    refs_scan_stats stats;
    refs_scan_stats_of(self, &stats);
    return (refs_set_scan_costs){true,        stats.reads,          stats.rounds,
                                 stats.bytes, stats.indexed_chunks, stats.microseconds};
}

static void free_scan(void *self) {
    refs_scan_free(self);
}

static refs_status build(const refs_set_input *input, refs_scan *scan, refs_set **set,
                         refs_error *err) {
    refs_set_builder *builder;
    REFS_TRY(refs_set_builder_open(input->name, input->options, &builder, err));
    refs_status status = refs_scan_each_document(scan, put_document, builder, err);
    if (status == REFS_OK) status = refs_scan_each_problem(scan, put_problem, builder, err);
    if (status == REFS_OK) return refs_set_builder_finish(builder, set, err);
    refs_set_builder_free(builder);
    return status;
}

static refs_status open_scanned(const refs_set_input *input, refs_set **set, refs_error *err) {
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
    refs_scan *scan;
    options.notes = input->options->notes;
    options.remote_to_local = input->options->remote_to_local;
    options.shared = input->options->shared;
    REFS_TRY(refs_scan_open(input->vfs, input->location, &options, &scan, err));
    refs_status status = build(input, scan, set, err);
    if (status == REFS_OK)
        (*set)->chunks = (refs_chunk_source){.self = scan,
                                             .find = find,
                                             .each = each,
                                             .n_locations = n_locations,
                                             .free = free_scan,
                                             .is_file = true,
                                             .seen_file = seen_file,
                                             .costs = costs};
    else
        refs_scan_free(scan);
    return status;
}

const refs_set_format refs_references__scanned = {"scanned", sniff, open_scanned, open_scanned};
