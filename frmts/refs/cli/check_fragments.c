/* check_fragments.c -- see check.h. */
#include "check.h"
#include "refs/cfa/cfa.h"

typedef struct inspecting {
    tool_checking *at;
    size_t i; /* of the array */
    tool_reads reads;
} inspecting;

static refs_status inspect(void *user, const refs_partition *partition, refs_error *err) {
    inspecting *in = user;
    const tool_arrays *arrays = &in->at->arrays;
    const refs_array_meta *meta = arrays->described.metas[in->i];
    tool_read read = {.meta = meta,
                      .array = arrays->arrays[in->i],
                      .start = partition->begin,
                      .target = TOOL_NO_TARGET};
    uint64_t count[REFS_MAX_RANK];
    REFS_TRY(tool_check_interrupted(err));
    for (size_t d = 0; d < meta->rank; d++) count[d] = partition->end[d] - partition->begin[d];
    if (*partition->file != '\0') {
        REFS_TRY(tool_check_target(in->at, refs_str_from(partition->file), &read.target, err));
        in->at->targets[read.target].is_filler =
            refs_cfa_is_filler(partition->file, meta->path, count, meta->rank);
    }
    if (meta->dtype.type == REFS_TYPE_OBJECT) return REFS_OK;
    for (size_t d = 0; d < meta->rank; d++) {
        if (!in->at->arguments->deep) count[d] = 1;
        if (partition->end[d] == partition->begin[d]) return REFS_OK;
    }
    read.count = count;
    return tool_reads_add(&in->reads, &read, err);
}

static refs_status inspect_array(inspecting *in, tool_arrays *arrays, refs_error *err) {
    const refs_array_meta *meta = arrays->described.metas[in->i];
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = tool_arrays_open_array(arrays, in->i, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    const tool_found found = {TOOL_PROBLEM, status, problem.message};
    if (status != REFS_OK) return tool_findings_add(&in->at->findings, meta->path, found, err);
    return refs_aggregation_each(meta, inspect, in, err);
}

static bool has_fragments(const tool_checking *at) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->set.hierarchy); i++)
        if (refs_aggregation_recognise(refs_hierarchy_array(at->set.hierarchy, i)->attributes))
            return true;
    return false;
}

refs_status tool_check_open_arrays(tool_checking *at, refs_error *err) {
    return has_fragments(at) ? tool_arrays_open_whole(at->session, at->arguments->names.items[0],
                                                      &at->arrays, err)
                             : REFS_OK;
}

refs_status tool_check_fragments(tool_checking *at, refs_error *err) {
    tool_arrays *arrays = &at->arrays;
    inspecting in = {.at = at, .reads = {.at = at, .items = "fragments"}};
    refs_status status = REFS_OK;
    for (in.i = 0; in.i < arrays->described.source.n_arrays && status == REFS_OK; in.i++)
        if (arrays->described.metas[in.i]->aggregation != NULL)
            status = inspect_array(&in, arrays, err);
    if (status == REFS_OK) status = tool_reads_finish(&in.reads, err);
    tool_reads_clear(&in.reads);
    return status;
}
