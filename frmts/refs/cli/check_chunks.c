/* check_chunks.c -- decodes the stored chunks of a set: all, or --sample N of each array, evenly
 * spread. They are visited twice: to count them, then to decode them. */
#include <string.h>

#include "check.h"

/* Limit of strings of one array. */
#define MAX_STRINGS 100000000

/* An array with stored chunks. */
typedef struct stored_array {
    tool_checking *at;
    const refs_array_meta *meta;
    refs_array *array;            /* or NULL: it cannot be opened */
    refs_grib_messages *messages; /* NULL: it is not made of GRIB messages */
    tool_reads *reads;
    uint32_t target;         /* target of the current key … */
    uint64_t offset, length; /* … and its bytes in the target, if `length` is not 0 */
    uint64_t encoded;        /* bytes of its value; 0: it is inline, or a shard */
    atomic_bool is_unsupported;
    uint64_t most; /* number of chunks to decode */
    uint64_t n_chunks,
        n_seen; /* number of stored chunks, and of those visited by the second pass */
    uint64_t n_keys[REFS_MAX_RANK];
} stored_array;

static bool region_of(const refs_array_meta *meta, const uint64_t *chunk, uint64_t *start,
                      uint64_t *length) {
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (!refs_array_meta_interval(meta, dim, chunk[dim], &start[dim], &length[dim]))
            return false;
    return true;
}

/* Calls `visit` for each chunk inside the array that the value of a key contains. */
static refs_status each_chunk_of_key(stored_array *in, const uint64_t *key,
                                     refs_status (*visit)(stored_array *in,
                                                          const refs_region *region,
                                                          refs_error *err),
                                     refs_error *err) {
    const refs_array_meta *meta = in->meta;
    const uint64_t n_inner = meta->shard != NULL ? meta->shard->n_inner : 1;
    uint64_t start[REFS_MAX_RANK], length[REFS_MAX_RANK], chunk[REFS_MAX_RANK];
    const refs_region region = {start, length, NULL};
    for (uint64_t inner = 0; inner < n_inner; inner++) {
        uint64_t number = inner;
        bool is_inside = true;
        for (size_t dim = meta->rank; dim-- > 0;) {
            const uint64_t per_key = meta->shard != NULL ? meta->shard->n[dim] : 1;
            const uint64_t first = meta->first_chunk != NULL ? meta->first_chunk[dim] : 0;
            is_inside = is_inside && key[dim] >= first;
            chunk[dim] = (key[dim] - first) * per_key + number % per_key;
            number /= per_key;
        }
        if (is_inside && region_of(meta, chunk, start, length)) REFS_TRY(visit(in, &region, err));
        REFS_TRY(tool_check_interrupted(err));
    }
    return REFS_OK;
}

static refs_status count_chunk(stored_array *in, const refs_region *region, refs_error *err) {
    (void)region;
    (void)err;
    in->n_chunks++;
    return REFS_OK;
}

static refs_status count_key(void *user, const uint64_t *index, const refs_ref *ref,
                             refs_error *err) {
    (void)ref;
    return each_chunk_of_key(user, index, count_chunk, err);
}

/* Whether the chunk is decoded: the first one of each of `most` runs of nearly equal length. */
static bool is_sampled(const stored_array *in, uint64_t k) {
    if (in->most >= in->n_chunks) return true;
    if (in->most == 0) return false;
    const double share = (double)in->most / (double)in->n_chunks;
    return k == 0 || (uint64_t)((double)k * share) != (uint64_t)((double)(k - 1) * share);
}

static refs_status queue_chunk(stored_array *in, const refs_region *region, refs_error *err) {
    if (!is_sampled(in, in->n_seen++)) return REFS_OK;
    const tool_read read = {.meta = in->meta,
                            .array = in->array,
                            .start = region->start,
                            .count = region->count,
                            .encoded = in->encoded,
                            .target = in->target,
                            .messages = in->length > 0 ? in->messages : NULL,
                            .offset = in->offset,
                            .length = in->length,
                            .is_unsupported = &in->is_unsupported};
    return tool_reads_add(in->reads, &read, err);
}

/* Queues the chunks of a key, unless its file could not be opened, which was reported. */
static refs_status queue_key(void *user, const uint64_t *index, const refs_ref *ref,
                             refs_error *err) {
    stored_array *in = user;
    in->target = TOOL_NO_TARGET;
    if (ref->kind != REFS_REF_INLINE)
        REFS_TRY(tool_check_target(in->at, refs_str_from(ref->location), &in->target, err));
    const tool_referenced_file *target =
        in->target != TOOL_NO_TARGET ? &in->at->targets[in->target] : NULL;
    if (target != NULL && target->problem != NULL) return REFS_OK;
    in->encoded = target == NULL || in->meta->shard != NULL ? 0
                  : ref->kind == REFS_REF_RANGE             ? ref->length
                                                            : target->now.size;
    in->offset = ref->kind == REFS_REF_RANGE ? ref->offset : 0;
    in->length = in->encoded;
    return each_chunk_of_key(in, index, queue_chunk, err);
}

/* Decodes an array of variable-length strings as a whole. */
static refs_status decode_strings(stored_array *in, refs_error *err) {
    tool_findings *findings = &in->at->findings;
    refs_error problem = REFS_ERROR_INIT;
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    const tool_found too_many = {
        TOOL_NOT_DECODED, REFS_LIMIT,
        "strings are decoded as a whole, which needs more chunks than --sample allows"};
    if (in->most < in->n_chunks) return tool_findings_add(findings, in->meta->path, too_many, err);
    const refs_status status = refs_array_read_strings(in->array, MAX_STRINGS, &values, &problem);
    if (status == REFS_OK) return REFS_OK;
    if (status == REFS_NOMEM || status == REFS_CANCELLED)
        return refs_fail(err, status, "%s", problem.message);
    const tool_found found = {status == REFS_UNSUPPORTED ? TOOL_NOT_DECODED : TOOL_FAILED_READ,
                              status, problem.message};
    return tool_findings_add(findings, in->meta->path, found, err);
}

static refs_status count_chunks(stored_array *in, refs_error *err) {
    const refs_array_context context = {.store = in->at->set.store};
    const refs_chunk_keys keys = refs_array_meta_keys(in->meta, in->n_keys);
    const refs_chunk_visitor counter = {count_key, in};
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = refs_array_open(&context, in->meta, &in->array, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    const tool_found found = {TOOL_NOT_DECODED, status, problem.message};
    if (status != REFS_OK) return tool_findings_add(&in->at->findings, in->meta->path, found, err);
    const refs_grib_set set = {in->at->session->vfs, in->at->set.store, in->at->set.hierarchy};
    REFS_TRY(refs_grib_messages_open(&set, in->meta, &in->messages, err));
    const refs_status counted = refs_set_each_chunk(in->at->set.set, &keys, &counter, &problem);
    if (counted != REFS_INVALID) return refs_fail(err, counted, "%s", problem.message);
    /* an invalid name, which check.c has reported */
    refs_array_free(in->array);
    in->array = NULL;
    in->n_chunks = 0;
    return REFS_OK;
}

static refs_status decode_chunks(stored_array *in, refs_error *err) {
    const refs_chunk_visitor decoder = {queue_key, in};
    if (in->array == NULL) return REFS_OK;
    if (in->meta->dtype.type == REFS_TYPE_OBJECT) return decode_strings(in, err);
    const refs_chunk_keys keys = refs_array_meta_keys(in->meta, in->n_keys);
    return refs_set_each_chunk(in->at->set.set, &keys, &decoder, err);
}

static refs_status check_arrays(tool_checking *at, stored_array *arrays, refs_error *err) {
    tool_reads reads = {.at = at, .items = "chunks"};
    const uint64_t most = tool_number(at->arguments->sample, UINT64_MAX);
    size_t n = 0;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->set.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(at->set.hierarchy, i);
        if (meta->status != REFS_OK) continue;
        stored_array *in = &arrays[n++];
        in->at = at;
        in->meta = meta;
        in->reads = &reads;
        in->most = most;
        REFS_TRY(count_chunks(in, err));
        if (meta->dtype.type != REFS_TYPE_OBJECT)
            reads.n_all += (size_t)(in->n_chunks < most ? in->n_chunks : most);
    }
    refs_status status = REFS_OK;
    for (size_t i = 0; i < n && status == REFS_OK; i++) status = decode_chunks(&arrays[i], err);
    if (status == REFS_OK) status = tool_reads_finish(&reads, err);
    tool_reads_clear(&reads);
    return status;
}

refs_status tool_check_chunks(tool_checking *at, refs_error *err) {
    const size_t n = refs_hierarchy_n_arrays(at->set.hierarchy);
    REFS_SCOPED stored_array *arrays = refs_calloc(n + 1, sizeof *arrays);
    if (arrays == NULL) return refs_fail_nomem(err);
    const refs_status status = check_arrays(at, arrays, err);
    for (size_t i = 0; i < n; i++) {
        if (arrays[i].array != NULL) refs_array_free(arrays[i].array);
        refs_grib_messages_free(arrays[i].messages);
    }
    return status;
}
