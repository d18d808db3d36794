/* check.c -- a set against the files that it refers to. */
#include <stdio.h>
#include <string.h>

#include "arrays.h"
#include "refs/array.h"
#include "refs/codec.h"
#include "refs/intern.h"
#include "tool.h"

/* What is known of a target. */
typedef struct target {
    uint64_t n_refs;
    uint64_t end; /* behind the last byte that is referred to */
    char array[128];
} target;

typedef struct checking {
    const tool_session *session;
    const tool_arguments *arguments;
    tool_set set;
    refs_intern locations;
    target *targets; /* one for each */
    size_t capacity;
    uint32_t last;
    const refs_array_meta *array;
    uint64_t n_unused; /* recorded sources that nothing refers to */
    uint64_t n_problems;
    uint64_t n_undecoded; /* arrays that could not be looked at */
} checking;

static void print_problem(const checking *at, const char *name, const char *problem) {
    refs_buf json = REFS_BUF_INIT;
    if (!at->arguments->json) {
        printf("%s: %s\n", name, problem);
        return;
    }
    refs_status status = refs_buf_printf(&json, NULL, "{\"source\":");
    if (status == REFS_OK) status = refs_json_write_string(refs_str_from(name), &json, NULL);
    if (status == REFS_OK) status = refs_buf_printf(&json, NULL, ",\"problem\":");
    if (status == REFS_OK) status = refs_json_write_string(refs_str_from(problem), &json, NULL);
    if (status == REFS_OK) printf("%.*s}\n", (int)json.size, (const char *)json.data);
    refs_buf_clear(&json);
}

static void tell(checking *at, const char *name, const char *problem) {
    refs_buf shown = REFS_BUF_INIT;
    at->n_problems++;
    const refs_status status = tool_append_told(name, &shown);
    const size_t size = shown.size;
    const bool is_told = status == REFS_OK && tool_append_told(problem, &shown) == REFS_OK;
    const char *text = (const char *)shown.data, *no_memory = refs_status_text(REFS_NOMEM);
    print_problem(at, is_told ? text : no_memory, is_told ? text + size : no_memory);
    refs_buf_clear(&shown);
}

/* -- which targets there are ------------------------------------------------------------------- */

static refs_status target_of(checking *at, refs_str location, target **found, refs_error *err) {
    uint32_t id = at->last;
    if (at->locations.count == 0 ||
        !refs_str_equal(refs_intern_get(&at->locations, id), location)) {
        size_t known = at->locations.count;
        if (!refs_grow((void **)&at->targets, &at->capacity, known, sizeof *at->targets))
            return refs_fail_nomem(err);
        REFS_TRY(refs_intern_add(&at->locations, location, &id, err));
        if (id == known) memset(&at->targets[id], 0, sizeof *at->targets);
        at->last = id;
    }
    *found = &at->targets[id];
    return REFS_OK;
}

static refs_status note_ref(void *user, const uint64_t *index, const refs_ref *ref,
                            refs_error *err) {
    checking *at = user;
    target *found = NULL;
    uint64_t end = 0;
    (void)index;
    REFS_TRY(tool_check_interrupted(err));
    if (ref->kind == REFS_REF_INLINE) return REFS_OK;
    REFS_TRY(target_of(at, refs_str_from(ref->location), &found, err));
    found->n_refs++;
    if (ref->kind == REFS_REF_RANGE && !refs_add_u64(ref->offset, ref->length, &end))
        end = UINT64_MAX;
    if (end <= found->end) return REFS_OK;
    found->end = end;
    snprintf(found->array, sizeof found->array, "%s", at->array->path);
    return REFS_OK;
}

static refs_status note_refs(checking *at, refs_error *err) {
    const refs_chunk_visitor visitor = {note_ref, at};
    uint64_t n[REFS_MAX_RANK];
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->set.hierarchy); i++) {
        at->array = refs_hierarchy_array(at->set.hierarchy, i);
        if (at->array->status != REFS_OK) {
            tell(at, at->array->path, at->array->problem);
            continue;
        }
        const refs_chunk_keys keys = tool_keys(at->array, n);
        refs_error problem = REFS_ERROR_INIT;
        const refs_status status = refs_set_each_chunk(at->set.set, &keys, &visitor, &problem);
        if (status == REFS_INVALID) /* of a name, by which nothing can be looked at */
            tell(at, at->array->path, problem.message);
        else if (status != REFS_OK)
            return refs_fail(err, status, "%s", problem.message);
    }
    return REFS_OK;
}

/* -- as they are now --------------------------------------------------------------------------- */

static refs_status measure(const checking *at, const char *location, refs_vfs_validators *now,
                           refs_error *err) {
    const refs_vfs *vfs = at->session->vfs;
    void *handle;
    memset(now, 0, sizeof *now);
    REFS_TRY(vfs->open(vfs->self, location, &handle, err));
    refs_status status = vfs->size(vfs->self, handle, &now->size, err);
    vfs->close(vfs->self, handle);
    uint64_t size = now->size;
    if (status == REFS_OK && vfs->validators != NULL)
        (void)vfs->validators(vfs->self, location, now, NULL);
    now->size = size;
    return status;
}

static refs_status check_target(checking *at, uint32_t id, refs_error *err) {
    refs_vfs_validators now;
    refs_error problem = REFS_ERROR_INIT;
    char text[256];
    const char *location = refs_intern_get(&at->locations, id).data;
    const target *found = &at->targets[id];
    refs_status status = measure(at, location, &now, &problem);
    if (status == REFS_NOMEM || status == REFS_CANCELLED)
        return refs_fail(err, status, "%s", problem.message);
    if (status != REFS_OK) {
        tell(at, location, problem.message);
    } else if (found->end > now.size) {
        snprintf(text, sizeof text, "has %llu bytes, and %s refers to bytes up to %llu",
                 (unsigned long long)now.size, found->array, (unsigned long long)found->end);
        tell(at, location, text);
    }
    return REFS_OK;
}

/* Of some sources all that the set has are values in it, or it took from others what they had. */
static refs_status find_unused(checking *at, const char *location, refs_error *err) {
    const size_t known = at->locations.count;
    target *found;
    REFS_TRY(target_of(at, refs_str_from(location), &found, err));
    if (at->locations.count == known) return REFS_OK;
    at->n_unused++;
    return check_target(at, (uint32_t)known, err);
}

/* A source whose name means nothing here, or may not be looked at. */
static void tell_source(checking *at, refs_str url, const char *problem) {
    char *name = refs_str_copy(url);
    tell(at, name != NULL ? name : refs_status_text(REFS_NOMEM), problem);
    refs_free(name);
}

static refs_status compare_state(void *user, const refs_source_state *state, refs_error *err) {
    checking *at = user;
    const refs_url_context context = refs_set_url_context(at->set.set);
    refs_buf location = REFS_BUF_INIT;
    refs_vfs_validators now;
    refs_error problem = REFS_ERROR_INIT;
    char text[512] = "";
    refs_status status = refs_url_map(state->url, &context, &location, &problem);
    if (status == REFS_INVALID || status == REFS_UNSUPPORTED) {
        tell_source(at, state->url, problem.message);
        return REFS_OK;
    }
    if (status != REFS_OK) return refs_fail(err, status, "%s", problem.message);
    status = refs_buf_append(&location, "", 1, err);
    const char *name = (const char *)location.data;
    if (status == REFS_OK) status = find_unused(at, name, err);
    char *etag = refs_str_copy(state->etag);
    if (status == REFS_OK && etag == NULL) status = refs_fail_nomem(err);
    const refs_expected was = {.etag = state->etag.size > 0 ? etag : NULL,
                               .modified_s = state->modified_s,
                               .modified_ns = state->modified_ns,
                               .size = state->size != REFS_SOURCE_UNKNOWN ? state->size : 0};
    if (status == REFS_OK && measure(at, name, &now, NULL) == REFS_OK) {
        const refs_known_state is = {now.etag, now.modified_s, now.size, now.modified_ns};
        if (refs_expected_differs(&was, &is, text, sizeof text)) tell(at, name, text);
    }
    refs_free(etag);
    refs_buf_clear(&location);
    return status;
}

/* -- deep --------------------------------------------------------------------------------------
 *
 * Visits what is stored, twice: to count the chunks, then to decode them, or so many of them as
 * --sample says, evenly spread. */

/* Strings of one array. */
#define MAX_STRINGS 100000000

typedef struct decoding {
    checking *at;
    const refs_array_meta *meta;
    refs_array *array;
    refs_buf values;
    bool is_unsupported;       /* which was told */
    uint64_t most;             /* chunks to be decoded */
    uint64_t n_chunks, n_seen; /* stored chunks: all; visited by the second pass */
    uint64_t n_keys[REFS_MAX_RANK];
} decoding;

static void tell_undecoded(checking *at, const refs_array_meta *meta, const char *why) {
    refs_buf text = REFS_BUF_INIT;
    const uint64_t n_problems = at->n_problems;
    const refs_status status = refs_buf_printf(&text, NULL, "was not decoded: %s", why);
    tell(at, meta->path, status == REFS_OK ? (const char *)text.data : why);
    at->n_problems = n_problems;
    at->n_undecoded++;
    refs_buf_clear(&text);
}

/* The elements of the chunk at `chunk` along a dimension: false where it lies outside the array. */
static bool elements_of(const refs_array_meta *meta, size_t dim, uint64_t chunk, uint64_t *start,
                        uint64_t *length) {
    *start = 0;
    if (meta->edges == NULL) {
        if (!refs_mul_u64(chunk, meta->chunk[dim], start) || *start >= meta->shape[dim])
            return false;
        const uint64_t left = meta->shape[dim] - *start;
        *length = left < meta->chunk[dim] ? left : meta->chunk[dim];
        return true;
    }
    for (size_t i = 0; i < meta->edges[dim].n_runs; i++) {
        const refs_chunk_run *run = &meta->edges[dim].runs[i];
        if (chunk < run->count) {
            *start += chunk * run->size;
            *length = run->size;
            return *length > 0 && *start < meta->shape[dim];
        }
        chunk -= run->count;
        *start += run->count * run->size;
    }
    return false;
}

static bool region_of(const refs_array_meta *meta, const uint64_t *chunk, uint64_t *start,
                      uint64_t *length) {
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (!elements_of(meta, dim, chunk[dim], &start[dim], &length[dim])) return false;
    return true;
}

/* Calls `visit` for each chunk that the value of a key holds and that lies in the array. */
static refs_status each_chunk_of_key(decoding *in, const uint64_t *key,
                                     refs_status (*visit)(decoding *in, const refs_region *region,
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

static refs_status count_chunk(decoding *in, const refs_region *region, refs_error *err) {
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

/* Of n chunks the k-th is one of the `most` that are decoded if k * most / n is another number than
 * for the chunk before. */
static bool is_sampled(const decoding *in, uint64_t k) {
    if (in->most >= in->n_chunks) return true;
    if (in->most == 0) return false;
    const double share = (double)in->most / (double)in->n_chunks;
    return k == 0 || (uint64_t)((double)k * share) != (uint64_t)((double)(k - 1) * share);
}

static refs_status decode_chunk(decoding *in, const refs_region *region, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    uint64_t bytes = in->meta->dtype.size;
    if (in->is_unsupported || !is_sampled(in, in->n_seen++)) return REFS_OK;
    for (size_t dim = 0; dim < in->meta->rank; dim++)
        if (!refs_mul_u64(bytes, region->count[dim], &bytes)) bytes = UINT64_MAX;
    refs_status status = bytes <= REFS_MAX_CHUNK_BYTES
                             ? refs_buf_resize(&in->values, (size_t)bytes, err)
                             : refs_fail(&problem, REFS_LIMIT,
                                         "a chunk decodes to %llu bytes, and no more than %zu may "
                                         "be decoded at a time",
                                         (unsigned long long)bytes, (size_t)REFS_MAX_CHUNK_BYTES);
    if (status == REFS_NOMEM) return status;
    if (status == REFS_OK)
        status = refs_array_read(in->array, region, in->values.data, NULL, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status == REFS_CANCELLED) return refs_fail(err, status, "%s", problem.message);
    if (status == REFS_UNSUPPORTED) {
        in->is_unsupported = true;
        tell_undecoded(in->at, in->meta, problem.message);
    } else if (status != REFS_OK) {
        tell(in->at, in->meta->path, problem.message);
    }
    return REFS_OK;
}

static refs_status decode_key(void *user, const uint64_t *index, const refs_ref *ref,
                              refs_error *err) {
    (void)ref;
    return each_chunk_of_key(user, index, decode_chunk, err);
}

/* Strings of variable length are read whole. */
static refs_status decode_strings(decoding *in, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    if (in->most < in->n_chunks) {
        tell_undecoded(in->at, in->meta,
                       "strings are decoded whole, which takes more chunks than --sample allows");
        return REFS_OK;
    }
    const refs_status status =
        refs_array_read_strings(in->array, MAX_STRINGS, &in->values, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status == REFS_UNSUPPORTED)
        tell_undecoded(in->at, in->meta, problem.message);
    else if (status != REFS_OK)
        tell(in->at, in->meta->path, problem.message);
    return REFS_OK;
}

static refs_status decode_chunks(decoding *in, refs_error *err) {
    const refs_chunk_keys keys = tool_keys(in->meta, in->n_keys);
    const refs_chunk_visitor counter = {count_key, in}, decoder = {decode_key, in};
    REFS_TRY(refs_set_each_chunk(in->at->set.set, &keys, &counter, err));
    if (in->meta->dtype.type == REFS_TYPE_OBJECT) return decode_strings(in, err);
    return refs_set_each_chunk(in->at->set.set, &keys, &decoder, err);
}

static refs_status decode(checking *at, const refs_array_meta *meta, uint64_t most,
                          refs_error *err) {
    const refs_array_context context = {.store = at->set.store};
    decoding in = {.at = at, .meta = meta, .most = most, .values = REFS_BUF_INIT};
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = refs_array_open(&context, meta, &in.array, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status != REFS_OK) {
        tell_undecoded(at, meta, problem.message);
        return REFS_OK;
    }
    status = decode_chunks(&in, err);
    refs_array_free(in.array);
    refs_buf_clear(&in.values);
    return status;
}

static refs_status decode_all(checking *at, refs_error *err) {
    uint64_t most = UINT64_MAX;
    if (!tool_number(at->arguments->sample, "sample", UINT64_MAX, &most))
        return refs_fail(err, REFS_INVALID, "--sample cannot be read");
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->set.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(at->set.hierarchy, i);
        if (meta->status == REFS_OK) REFS_TRY(decode(at, meta, most, err));
    }
    return REFS_OK;
}

/* -- fragments of masters ----------------------------------------------------------------------
 *
 * They are opened as readers open them, and one value of each is read; with --deep, all. */

typedef struct inspecting {
    checking *at;
    const refs_cfa_source *source;
    size_t i; /* of the array */
    bool is_deep;
    refs_buf values;
} inspecting;

static refs_status read_fragment(inspecting *in, const refs_partition *partition,
                                 refs_error *problem) {
    const refs_cfa_variable *variable = &in->source->arrays[in->i].variable;
    uint64_t count[REFS_MAX_RANK], bytes = variable->dtype.size;
    if (variable->dtype.type == REFS_TYPE_OBJECT) return REFS_OK;
    for (size_t d = 0; d < variable->rank; d++) {
        count[d] = in->is_deep ? partition->end[d] - partition->begin[d] : 1;
        if (count[d] == 0) return REFS_OK;
        if (!refs_mul_u64(bytes, count[d], &bytes) || bytes > REFS_CFA_MAX_VALUE_BYTES)
            return refs_fail(problem, REFS_LIMIT, "is too large to be decoded");
    }
    REFS_TRY(refs_buf_resize(&in->values, (size_t)bytes, problem));
    const refs_cfa_box box = {in->i, partition->begin, count};
    return in->source->read(in->source->self, &box, in->values.data, problem);
}

static refs_status inspect(void *user, const refs_partition *partition, refs_error *err) {
    inspecting *in = user;
    refs_error problem = REFS_ERROR_INIT;
    target *found;
    REFS_TRY(tool_check_interrupted(err));
    if (*partition->file != '\0')
        REFS_TRY(target_of(in->at, refs_str_from(partition->file), &found, err));
    const refs_status status = read_fragment(in, partition, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status != REFS_OK)
        tell(in->at, *partition->file != '\0' ? partition->file : "the master", problem.message);
    return REFS_OK;
}

static refs_status check_fragments(checking *at, bool is_deep, refs_error *err) {
    tool_arrays arrays;
    inspecting in = {.at = at, .is_deep = is_deep, .values = REFS_BUF_INIT};
    bool has_any = false;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->set.hierarchy); i++)
        has_any = has_any || refs_aggregation_is_told_by(
                                 refs_hierarchy_array(at->set.hierarchy, i)->attributes);
    if (!has_any) return REFS_OK;
    REFS_TRY(tool_arrays_open_whole(at->session, at->arguments->names.items[0], &arrays, err));
    refs_status status = REFS_OK;
    in.source = &arrays.source;
    for (in.i = 0; in.i < arrays.source.n_arrays && status == REFS_OK; in.i++)
        if (arrays.metas[in.i]->aggregation != NULL)
            status = refs_aggregation_each(arrays.metas[in.i], inspect, &in, err);
    refs_buf_clear(&in.values);
    tool_arrays_close(&arrays);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

static refs_status check(checking *at, refs_error *err) {
    const refs_source_visitor visitor = {compare_state, at};
    REFS_TRY(tool_set_open(at->session, at->arguments->names.items[0], &at->set, err));
    REFS_TRY(note_refs(at, err));
    for (uint32_t id = 0; id < at->locations.count; id++) REFS_TRY(check_target(at, id, err));
    REFS_TRY(refs_sources_read(at->set.set, &visitor, err));
    REFS_TRY(check_fragments(at, at->arguments->deep, err));
    return at->arguments->deep || at->arguments->sample != NULL ? decode_all(at, err) : REFS_OK;
}

static void print_result(const checking *at) {
    printf("%zu source%s", at->locations.count, at->locations.count == 1 ? "" : "s");
    if (at->n_unused > 0)
        printf(" (%llu of them recorded only: nothing refers to them)",
               (unsigned long long)at->n_unused);
    printf(", %llu problem%s", (unsigned long long)at->n_problems, at->n_problems == 1 ? "" : "s");
    if (at->n_undecoded > 0)
        printf(", %llu array%s not decoded", (unsigned long long)at->n_undecoded,
               at->n_undecoded == 1 ? "" : "s");
    printf("\n");
}

tool_exit tool_check(const tool_arguments *arguments) {
    tool_session session;
    checking at = {.session = &session, .arguments = arguments};
    refs_error err = REFS_ERROR_INIT;
    if (arguments->names.n != 1) {
        fprintf(stderr, "refs: check takes one set\n");
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(&session, &err);
    if (status == REFS_OK) status = check(&at, &err);
    if (status == REFS_OK && !arguments->quiet && !arguments->json) print_result(&at);
    refs_intern_clear(&at.locations);
    refs_free(at.targets);
    tool_set_close(&at.set);
    tool_session_close(&session);
    if (status != REFS_OK) {
        tool_complain(&err);
        return TOOL_FAILED;
    }
    return at.n_problems + at.n_undecoded > 0 ? TOOL_FAILED : TOOL_OK;
}
