/* aggregate.c -- parts as the fragments of an aggregation on disk, see refs/join.h.
 *
 * Here a fragment is an array of a part, whatever its chunks are: parts are boxes of the grid that
 * all of them make up.
 */
#include <stdlib.h>

#include "combine_internal.h"
#include "refs/cf.h"
#include "refs/cfa/cfa.h"
#include "refs/utf8.h"

/* Fragments along one joined dimension: those of `begin` ascend, and gaps are some, too. */
typedef struct spans {
    uint64_t *begin, *size;
    size_t n;
} spans;

typedef struct aggregating {
    refs_join *join;
    const refs_join_plan *plan;
    refs_master *master;
    spans lines[REFS_JOIN_MAX_DIMS];
    char **urls;                     /* of each member */
    const refs_join_member **owners; /* of fragments of the array that is placed */
    refs_buf path, text;
} aggregating;

/* -- fragments along dimensions ---------------------------------------------------------------- */

typedef struct range {
    uint64_t begin, end;
    size_t member;
} range;

static int by_begin(const void *left, const void *right) {
    const range *a = left, *b = right;
    if (a->begin != b->begin) return a->begin > b->begin ? 1 : -1;
    return (a->end > b->end) - (a->end < b->end);
}

static refs_status range_of(const refs_join *join, size_t line, size_t i, range *of,
                            refs_error *err) {
    const refs_join_axis *axis = &join->members[i].axes[line];
    *of = (range){axis->n > 0 ? axis->position[0] : 0, 0, i};
    of->end = of->begin + axis->n;
    for (uint64_t k = 1; k < axis->n; k++)
        if (axis->position[k] != of->begin + k)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: its steps along %s are not ascending, or those of other sources "
                             "lie between them: they do not make a fragment",
                             join->members[i].name, join->options.dims[line]);
    return REFS_OK;
}

static void add_span(spans *line, uint64_t begin, uint64_t end) {
    if (begin == end) return;
    line->begin[line->n] = begin;
    line->size[line->n++] = end - begin;
}

static refs_status make_spans(const aggregating *at, size_t number, range *ranges, spans *line,
                              refs_error *err) {
    const refs_join *join = at->join;
    uint64_t end = 0;
    for (size_t i = 0; i < join->n_members; i++)
        REFS_TRY(range_of(join, number, i, &ranges[i], err));
    qsort(ranges, join->n_members, sizeof *ranges, by_begin);
    for (size_t i = 0; i < join->n_members; i++) {
        const bool is_same =
            i > 0 && ranges[i].begin == ranges[i - 1].begin && ranges[i].end == ranges[i - 1].end;
        if (is_same) continue;
        if (ranges[i].begin < end)
            return refs_fail(err, REFS_INVALID, "%s and %s have some of the same steps along %s",
                             join->members[ranges[i - 1].member].name,
                             join->members[ranges[i].member].name, join->options.dims[number]);
        add_span(line, end, ranges[i].begin);
        add_span(line, ranges[i].begin, ranges[i].end);
        end = ranges[i].end;
    }
    add_span(line, end, at->plan->lines[number].n);
    return REFS_OK;
}

static refs_status find_spans(aggregating *at, refs_error *err) {
    const size_t n = at->join->n_members;
    range *ranges = refs_calloc(n, sizeof *ranges);
    refs_status status = ranges != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < at->join->n_dims && status == REFS_OK; i++) {
        spans *line = &at->lines[i];
        line->begin = refs_calloc(2 * n + 1, sizeof *line->begin);
        line->size = refs_calloc(2 * n + 1, sizeof *line->size);
        status = line->begin != NULL && line->size != NULL ? make_spans(at, i, ranges, line, err)
                                                           : refs_fail_nomem(err);
    }
    refs_free(ranges);
    return status;
}

static size_t span_at(const spans *line, uint64_t begin) {
    size_t low = 0, high = line->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (line->begin[middle] < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static refs_status name_files(aggregating *at, refs_error *err) {
    at->urls = refs_calloc(at->join->n_members, sizeof *at->urls);
    if (at->urls == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < at->join->n_members; i++) {
        at->text.size = 0;
        REFS_TRY(refs_join_url(&at->join->options.urls, refs_str_from(at->join->members[i].name),
                               &at->text, err));
        const refs_str url = refs_str_view((const char *)at->text.data, at->text.size);
        if (!refs_utf8_is_valid(url))
            return refs_fail(err, REFS_UNSUPPORTED, "%.*s: is not UTF-8, which names in netCDF are",
                             REFS_STR_ARG(url));
        if ((at->urls[i] = refs_str_copy(url)) == NULL) return refs_fail_nomem(err);
    }
    return REFS_OK;
}

/* -- variables --------------------------------------------------------------------------------- */

/* A variable as the master is told of it. */
typedef struct described {
    refs_cfa_variable variable;
    const char *dims[REFS_MAX_RANK];
    refs_buf names; /* of dimensions, each with a NUL */
    refs_json_doc *attributes;
    uint8_t fill[16];
} described;

static void clear(described *of) {
    refs_buf_clear(&of->names);
    refs_json_doc_free(of->attributes);
}

static refs_str dim_text(const refs_join *join, const refs_joined *joined, size_t dim) {
    const size_t own = refs_join__own_dim(joined, joined->like, dim);
    return refs_join__text(join, own == SIZE_MAX ? join->dims[joined->line[dim]]
                                                 : joined->like->dims[own]);
}

/* Dimensions are the file's; only where one of this name has another size, the group's. */
static refs_status put_dim(aggregating *at, const refs_joined *joined, size_t dim,
                           refs_error *err) {
    const refs_str name = refs_join__own_name(dim_text(at->join, joined, dim));
    const refs_str path = refs_join__text(at->join, joined->path);
    refs_error problem = REFS_ERROR_INIT;
    at->text.size = 0;
    REFS_TRY(refs_buf_printf(&at->text, err, "/%.*s", REFS_STR_WHOLE(name)));
    if (refs_master_dimension(at->master, (const char *)at->text.data, joined->shape[dim],
                              REFS_CFA_FIXED, &problem) == REFS_OK)
        return REFS_OK;
    const size_t group = path.size - refs_join__own_name(path).size;
    at->text.size = 0;
    REFS_TRY(
        refs_buf_printf(&at->text, err, "/%.*s%.*s", (int)group, path.data, REFS_STR_WHOLE(name)));
    return refs_master_dimension(at->master, (const char *)at->text.data, joined->shape[dim],
                                 REFS_CFA_FIXED, err);
}

static refs_str attributes_of(const aggregating *at, const refs_joined *joined) {
    return joined->like->attributes != REFS_JOIN_NONE
               ? refs_join__text(at->join, joined->like->attributes)
               : refs_str_from("{}");
}

static refs_status read_attributes(aggregating *at, const refs_joined *joined, described *of,
                                   refs_error *err) {
    refs_str text = attributes_of(at, joined);
    const char *pairs[REFS_JOIN_MAX_LEFT_OUT + 1];
    const size_t n = refs_join__left_out(joined, pairs);
    pairs[n] = NULL;
    at->text.size = 0;
    if (n > 0) REFS_TRY(refs_join__replace(text, pairs, &at->text, err));
    if (n > 0) text = refs_str_view((const char *)at->text.data, at->text.size);
    return refs_json_parse(text, &of->attributes, err);
}

static refs_status describe(aggregating *at, const refs_joined *joined, described *of,
                            refs_error *err) {
    const refs_join *join = at->join;
    *of = (described){.names = REFS_BUF_INIT};
    at->path.size = 0;
    REFS_TRY(refs_buf_printf(&at->path, err, "/%.*s",
                             REFS_STR_WHOLE(refs_join__text(join, joined->path))));
    for (size_t dim = 0; dim < joined->rank; dim++) {
        const refs_str name = refs_join__own_name(dim_text(join, joined, dim));
        REFS_TRY(put_dim(at, joined, dim, err));
        REFS_TRY(refs_buf_printf(&of->names, err, "%.*s", REFS_STR_WHOLE(name)));
        REFS_TRY(refs_buf_append(&of->names, "", 1, err));
    }
    const char *name = (const char *)of->names.data;
    for (size_t dim = 0; dim < joined->rank; dim++, name += strlen(name) + 1) of->dims[dim] = name;
    REFS_TRY(read_attributes(at, joined, of, err));
    of->variable = (refs_cfa_variable){.path = (const char *)at->path.data,
                                       .dtype = joined->like->dtype,
                                       .rank = joined->rank,
                                       .dims = of->dims,
                                       .attributes = refs_json_root(of->attributes)};
    if (joined->like->declares_fill) {
        memcpy(of->fill, joined->like->declared, sizeof of->fill);
        of->variable.fill = of->fill;
    }
    if (joined->has_hole_fill) {
        memcpy(of->fill, joined->hole, sizeof of->fill);
        of->variable.fill = of->fill;
    }
    return REFS_OK;
}

/* -- values ------------------------------------------------------------------------------------ */

/* Strings of one length become strings with a NUL behind each. */
static refs_status append_strings(const refs_dtype *dtype, refs_str values, refs_buf *strings,
                                  refs_error *err) {
    for (size_t begin = 0; begin + dtype->size <= values.size; begin += dtype->size) {
        const char *at = values.data + begin;
        for (size_t i = 0; dtype->type == REFS_TYPE_UNICODE && i + 4 <= dtype->size; i += 4) {
            uint32_t c;
            uint8_t bytes[4];
            memcpy(&c, at + i, 4);
            if (c == 0) break;
            REFS_TRY(refs_buf_append(strings, bytes, refs_utf8_encode(c, bytes), err));
        }
        if (dtype->type == REFS_TYPE_BYTES)
            REFS_TRY(refs_buf_append(strings, at, strnlen(at, dtype->size), err));
        REFS_TRY(refs_buf_append(strings, "", 1, err));
    }
    return REFS_OK;
}

/* Times in single precision may have become double. */
static void widen_type(const refs_joined *joined, described *of) {
    if (!refs_join__is_single(&of->variable.dtype) || joined->dtype.size != sizeof(double)) return;
    float single;
    memcpy(&single, of->fill, sizeof single);
    const double wide = (double)single;
    memcpy(of->fill, &wide, sizeof wide);
    of->variable.dtype = joined->dtype;
}

static refs_status put_values(aggregating *at, const refs_joined *joined, refs_str values,
                              refs_error *err) {
    described of;
    refs_buf strings = REFS_BUF_INIT;
    refs_status status = describe(at, joined, &of, err);
    if (status == REFS_OK && joined->is_loaded) widen_type(joined, &of);
    const bool are_strings =
        of.variable.dtype.type == REFS_TYPE_BYTES || of.variable.dtype.type == REFS_TYPE_UNICODE;
    if (are_strings) of.variable.fill = NULL;
    if (status == REFS_OK && are_strings)
        status = append_strings(joined->is_loaded ? &joined->dtype : &of.variable.dtype, values,
                                &strings, err);
    if (status == REFS_OK)
        status = refs_master_variable(
            at->master, &of.variable,
            are_strings ? refs_buf_view(&strings) : refs_bytes_view(values.data, values.size), err);
    refs_buf_clear(&strings);
    clear(&of);
    return status;
}

/* -- fragments --------------------------------------------------------------------------------- */

/* What the variable is called in its part, whose group may have become the root. */
static refs_status name_variable(aggregating *at, const refs_joined *joined, refs_buf *name,
                                 refs_error *err) {
    const char *group = at->join->options.group != NULL ? at->join->options.group : "";
    size_t size = strlen(group);
    while (size > 0 && group[size - 1] == '/') size--;
    while (size > 0 && *group == '/') {
        group++;
        size--;
    }
    const refs_str path = refs_join__text(at->join, joined->path);
    const bool is_deep = size > 0 || refs_str_find(path, '/') != SIZE_MAX;
    REFS_TRY(refs_buf_printf(name, err, "%s%.*s%s%.*s", is_deep ? "/" : "", (int)size, group,
                             size > 0 ? "/" : "", REFS_STR_WHOLE(path)));
    return refs_buf_append(name, "", 1, err);
}

static refs_status place_members(const aggregating *at, const refs_joined *joined,
                                 const refs_cfa_grid *grid, refs_cfa_fragment *fragments,
                                 refs_error *err) {
    const refs_join *join = at->join;
    bool differs = false;
    for (size_t i = 0; i < join->n_members; i++) {
        const refs_join_member *member = &join->members[i];
        const refs_join_array *array = refs_join__find(member, joined->path);
        size_t place = 0;
        if (array == NULL || (joined->n_lines == 0 && i != joined->first)) continue;
        if (array->is_piece)
            return refs_fail(
                err, REFS_UNSUPPORTED,
                "%.*s of %s is an aggregation, which cannot be a fragment: give the files",
                REFS_STR_ARG(refs_join__text(join, joined->path)), member->name);
        for (size_t dim = 0; dim < joined->rank; dim++) {
            const size_t line = joined->line[dim];
            const size_t index = line < REFS_JOIN_MAX_DIMS
                                     ? span_at(&at->lines[line], member->axes[line].position[0])
                                     : 0;
            place = place * (size_t)grid->n[dim] + index;
        }
        if (fragments[place].file != NULL && joined->n_lines == join->n_dims)
            return refs_fail(err, REFS_INVALID,
                             "%.*s: %s and %s both have one place: one of them is to be left out",
                             REFS_STR_ARG(refs_join__text(join, joined->path)),
                             fragments[place].file, at->urls[i]);
        if (fragments[place].file == NULL) fragments[place].file = at->urls[i];
        if (at->owners[place] == NULL)
            at->owners[place] = member;
        else if (!differs && !refs_join__have_one_digest(joined, at->owners[place], member)) {
            differs = true;
            refs_note(&join->options.notes, REFS_NOTE_WARNING,
                      "%.*s: not the same in %s and %s: the fragment is that of the first",
                      REFS_STR_ARG(refs_join__text(join, joined->path)), fragments[place].file,
                      member->name);
        }
    }
    return REFS_OK;
}

static refs_status grid_of(const aggregating *at, const refs_joined *joined, refs_cfa_grid *grid,
                           size_t *n, refs_error *err) {
    *n = 1;
    for (size_t dim = 0; dim < joined->rank; dim++) {
        const size_t line = joined->line[dim];
        const bool is_joined = line < REFS_JOIN_MAX_DIMS;
        grid->n[dim] = is_joined ? at->lines[line].n : 1;
        grid->sizes[dim] = is_joined ? at->lines[line].size : &joined->shape[dim];
        if (!refs_mul_size(*n, (size_t)grid->n[dim], n))
            return refs_fail(err, REFS_LIMIT, "too many fragments");
    }
    return REFS_OK;
}

static refs_status replace_attributes(described *of, const refs_buf *text, refs_error *err) {
    refs_json_doc_free(of->attributes);
    of->attributes = NULL;
    REFS_TRY(
        refs_json_parse(refs_str_view((const char *)text->data, text->size), &of->attributes, err));
    of->variable.attributes = refs_json_root(of->attributes);
    return REFS_OK;
}

/* The attributes with one more. */
static refs_status add_valid_range(const aggregating *at, const refs_joined *joined,
                                   const char *bytes, refs_buf *text, refs_error *err) {
    const char *pairs[REFS_JOIN_MAX_LEFT_OUT + 3];
    size_t n = refs_join__left_out(joined, pairs);
    pairs[n++] = "valid_range";
    pairs[n++] = bytes;
    pairs[n] = NULL;
    return refs_join__replace(attributes_of(at, joined), pairs, text, err);
}

/* Its type, fill value and packing are those of all fragments, or none is packed. */
static refs_status settle_type(aggregating *at, const refs_joined *joined, described *of,
                               refs_error *err) {
    const refs_join *join = at->join;
    const refs_join_array **arrays = refs_calloc(join->n_members, sizeof *arrays);
    size_t n = 0;
    if (arrays == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < join->n_members; i++) {
        const refs_join_array *array = refs_join__find(&join->members[i], joined->path);
        if (array != NULL) arrays[n++] = array;
    }
    refs_common_type common = {.dtype = joined->like->dtype};
    if (joined->n_lines > 0) common = refs_join__common_type(join, arrays, n);
    refs_free(arrays);
    if (!common.is_unpacked && joined->has_holes && common.dtype.size == 1 &&
        !joined->like->has_nodata)
        common = refs_join__wider_than_bytes();
    const char *valid = refs_join__all_bytes(join, joined->like);
    refs_buf text = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    if (common.is_unpacked)
        status = refs_join__without_packing(of->variable.attributes, &text, err);
    else if (valid != NULL)
        status = add_valid_range(at, joined, valid, &text, err);
    if (status == REFS_OK && text.size > 0) status = replace_attributes(of, &text, err);
    refs_buf_clear(&text);
    if (status != REFS_OK || !common.is_unpacked) return status;
    of->variable.dtype = common.dtype;
    (void)refs_cf_default_fill(&common.dtype, of->fill);
    of->variable.fill = of->fill;
    return REFS_OK;
}

static refs_status put_fragments(aggregating *at, const refs_joined *joined, refs_error *err) {
    described of;
    refs_cfa_grid grid;
    refs_buf name = REFS_BUF_INIT;
    refs_cfa_fragment *fragments = NULL;
    size_t n = 0;
    refs_status status = describe(at, joined, &of, err);
    if (status == REFS_OK) status = settle_type(at, joined, &of, err);
    if (status == REFS_OK) status = grid_of(at, joined, &grid, &n, err);
    if (status == REFS_OK) status = name_variable(at, joined, &name, err);
    if (status == REFS_OK && ((fragments = refs_calloc(n, sizeof *fragments)) == NULL ||
                              (at->owners = refs_calloc(n, sizeof *at->owners)) == NULL))
        status = refs_fail_nomem(err);
    for (size_t i = 0; i < n && status == REFS_OK; i++)
        fragments[i].variable = (const char *)name.data;
    if (status == REFS_OK) status = place_members(at, joined, &grid, fragments, err);
    if (status == REFS_OK)
        status = refs_master_aggregation(at->master, &of.variable, &grid, fragments, err);
    refs_free(fragments);
    refs_free(at->owners);
    at->owners = NULL;
    refs_buf_clear(&name);
    clear(&of);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

static bool has_values(const refs_joined *joined) {
    return joined->n_lines == 0 && joined->like->values != REFS_JOIN_NONE;
}

/* Whether values are read from fragments; those of NumPy's times have units of their own, and are
 * not. */
static bool can_be_fragments(const refs_dtype *dtype) {
    return refs_dtype_is_numeric(dtype) && dtype->type != REFS_TYPE_COMPLEX &&
           dtype->type != REFS_TYPE_DATETIME && dtype->type != REFS_TYPE_TIMEDELTA;
}

static refs_status put_array(aggregating *at, refs_joined *joined, refs_error *err) {
    const refs_dtype *dtype = &joined->like->dtype;
    if (joined->is_loaded) {
        REFS_TRY(refs_join__gather(at->join, at->plan, joined, err));
        return put_values(
            at, joined, refs_str_view((const char *)joined->values.data, joined->values.size), err);
    }
    if (has_values(joined))
        return put_values(at, joined, refs_join__text(at->join, joined->like->values), err);
    if (can_be_fragments(dtype)) return put_fragments(at, joined, err);
    refs_note(&at->join->options.notes, REFS_NOTE_WARNING,
              "%.*s is left out: its values are not numbers, and aggregations hold only numbers",
              REFS_STR_ARG(refs_join__text(at->join, joined->path)));
    return REFS_OK;
}

static refs_status put_group(aggregating *at, refs_str group, refs_str attributes,
                             refs_error *err) {
    refs_json_doc *doc = NULL;
    at->path.size = 0;
    if (group.size > 0)
        REFS_TRY(refs_buf_printf(&at->path, err, "/%.*s", (int)group.size - 1, group.data));
    REFS_TRY(refs_buf_append(&at->path, "", 1, err));
    REFS_TRY(refs_json_parse(attributes, &doc, err));
    const refs_status status =
        refs_master_attributes(at->master, (const char *)at->path.data, refs_json_root(doc), err);
    refs_json_doc_free(doc);
    return status;
}

/* Attributes of groups, each those of the first part that has them. */
static refs_status put_groups(aggregating *at, refs_error *err) {
    const refs_join *join = at->join;
    uint8_t *seen = refs_calloc(join->strings.count + 1, 1);
    refs_status status = seen != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < join->n_members && status == REFS_OK; i++) {
        const refs_join_member *member = &join->members[at->plan->order[i]];
        for (size_t k = 0; k < member->n_documents && status == REFS_OK; k++) {
            const refs_join_document *document = &member->documents[k];
            const refs_str key = refs_join__text(join, document->key);
            const refs_str name = refs_join__own_name(key);
            if (seen[document->key] || !refs_str_is(name, ".zattrs") ||
                refs_str_starts(key, REFS_SOURCES_GROUP "/"))
                continue;
            seen[document->key] = 1;
            status = put_group(at, refs_str_part(key, 0, key.size - name.size),
                               refs_join__text(join, document->text), err);
        }
    }
    refs_free(seen);
    return status;
}

static refs_status aggregate(aggregating *at, refs_error *err) {
    REFS_TRY(find_spans(at, err));
    REFS_TRY(name_files(at, err));
    REFS_TRY(put_groups(at, err));
    for (size_t i = 0; i < at->plan->n_paths; i++) {
        refs_joined joined = {0};
        refs_status status =
            refs_join__joined(at->join, at->plan, at->plan->paths[i], &joined, err);
        if (status == REFS_OK) status = refs_join__go_on(at->join, err);
        if (status == REFS_OK) status = put_array(at, &joined, err);
        refs_join__joined_clear(&joined);
        REFS_TRY(status);
    }
    return REFS_OK;
}

static void clear_spans(aggregating *at) {
    for (size_t i = 0; i < at->join->n_dims; i++) {
        refs_free(at->lines[i].begin);
        refs_free(at->lines[i].size);
    }
}

refs_status refs_join__check_spans(refs_join *join, const refs_join_plan *plan, refs_error *err) {
    aggregating at = {.join = join, .plan = plan};
    const refs_status status = find_spans(&at, err);
    clear_spans(&at);
    return status;
}

refs_status refs_join__aggregate(refs_join *join, const refs_join_plan *plan, refs_master *master,
                                 refs_error *err) {
    aggregating at = {.join = join, .plan = plan, .master = master};
    refs_status status = aggregate(&at, err);
    for (size_t i = 0; at.urls != NULL && i < join->n_members; i++) refs_free(at.urls[i]);
    refs_free(at.urls);
    clear_spans(&at);
    refs_buf_clear(&at.path);
    refs_buf_clear(&at.text);
    return status;
}
