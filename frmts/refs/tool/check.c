/* check.c -- a set against the files that it refers to. */
#include <stdio.h>
#include <string.h>

#include "arrays.h"
#include "refs/array.h"
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

/* -- deep -------------------------------------------------------------------------------------- */

/* Reads one chunk after the other; of a sample, as many, evenly spread. */
static refs_status decode(checking *at, const refs_array_meta *meta, uint64_t most,
                          refs_error *err) {
    const refs_array_context context = {.store = at->set.store};
    uint64_t n[REFS_MAX_RANK], total = 1, bytes = meta->dtype.size;
    refs_array *array = NULL;
    if (meta->dtype.type == REFS_TYPE_OBJECT || meta->edges != NULL) return REFS_OK;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        n[dim] = refs_array_meta_n_chunks(meta, dim);
        if (!refs_mul_u64(total, n[dim], &total) || !refs_mul_u64(bytes, meta->chunk[dim], &bytes))
            return refs_fail(err, REFS_LIMIT, "%s is too large to be decoded", meta->path);
    }
    uint8_t *values = bytes < SIZE_MAX ? refs_alloc((size_t)bytes) : NULL;
    if (values == NULL) return refs_fail_nomem(err);
    refs_status status = refs_array_open(&context, meta, &array, err);
    uint64_t step = most > 0 && total > most ? total / most : 1;
    for (uint64_t i = 0; i < total && status == REFS_OK; i += step) {
        uint64_t start[REFS_MAX_RANK], length[REFS_MAX_RANK], number = i;
        for (size_t dim = meta->rank; dim-- > 0; number /= n[dim]) {
            start[dim] = number % n[dim] * meta->chunk[dim];
            length[dim] = meta->shape[dim] - start[dim] < meta->chunk[dim]
                              ? meta->shape[dim] - start[dim]
                              : meta->chunk[dim];
        }
        const refs_region region = {start, length, NULL};
        refs_error problem = REFS_ERROR_INIT;
        refs_status result = refs_array_read(array, &region, values, NULL, &problem);
        if (result == REFS_NOMEM) status = refs_fail_nomem(err);
        if (result != REFS_OK) tell(at, meta->path, problem.message);
        if (status == REFS_OK) status = tool_check_interrupted(err);
    }
    refs_array_free(array);
    refs_free(values);
    return status;
}

static refs_status decode_all(checking *at, refs_error *err) {
    uint64_t most = 0;
    if (!tool_number(at->arguments->sample, "sample", 0, &most))
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
    printf(", %llu problem%s\n", (unsigned long long)at->n_problems,
           at->n_problems == 1 ? "" : "s");
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
    return at.n_problems > 0 ? TOOL_FAILED : TOOL_OK;
}
