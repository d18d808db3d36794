/* encoding_cfa04.c -- CFA-0.4: fragments as JSON in the attribute cfa_array; see encoding.h. The
 * convention has inclusive locations; its own examples, and existing files, have exclusive ends.
 * The shape of the sub-array decides which is meant. */
#include <stdio.h>

#include "aggregation_internal.h"
#include "cfa/cfa_internal.h"
#include "refs/own_attributes.h"

/* A container without cfa_array is recognised by its dimensions: its own value means nothing. */
static bool recognise(const refs_json *attributes) {
    if (!refs_str_is(refs_aggregation__text(attributes, "cf_role"), "cfa_variable") ||
        refs_aggregation__text(attributes, "cfa_group").size > 0)
        return false;
    return refs_aggregation__text(attributes, "cfa_array").size > 0 ||
           refs_aggregation__text(attributes, REFS_CFA_DIMENSIONS).size > 0;
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* The partition being decoded. */
typedef struct partition {
    const refs_json *json;
    const refs_json *subarray;
    size_t at;       /* number in the list, for messages */
    uint64_t number; /* number in the matrix */
    uint64_t index[REFS_MAX_RANK];
    uint64_t begin[REFS_MAX_RANK], end[REFS_MAX_RANK];
    refs_fragment_layout layout;
    bool has_layout;
} partition;

/* The list of partitions being decoded. */
typedef struct decoding {
    refs_aggregation *aggregation;
    const refs_json *root;
    size_t n_split;               /* dimensions of the matrix */
    size_t split[REFS_MAX_RANK];  /* dimensions of the aggregation for these */
    size_t *first[REFS_MAX_RANK]; /* for each index along a dimension, the first partition that has
                                     it, by its number in the list */
} decoding;

static refs_status fail_at(const partition *part, refs_status status, const char *what,
                           refs_error *err) {
    return refs_fail(err, status, "partition %zu of cfa_array: %s", part->at, what);
}

static size_t dim_called(const refs_aggregation *aggregation, refs_str name) {
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++)
        if (refs_str_is(name, aggregation->names[dim])) return dim;
    return SIZE_MAX;
}

/* The first dimension of that name that no earlier name has used: a covariance has one dimension
 * twice. */
static size_t next_dim_called(const refs_aggregation *aggregation, refs_str name, bool *is_listed) {
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        if (is_listed[dim] || !refs_str_is(name, aggregation->names[dim])) continue;
        is_listed[dim] = true;
        return dim;
    }
    return SIZE_MAX;
}

/* -- the matrix of partitions ------------------------------------------------------------------ */

static refs_status read_matrix(decoding *job, refs_error *err) {
    const refs_json *names = refs_json_get(job->root, "pmdimensions");
    const refs_json *shape = refs_json_get(job->root, "pmshape");
    refs_aggregation *aggregation = job->aggregation;
    bool is_listed[REFS_MAX_RANK] = {false};
    job->n_split = refs_json_size(names);
    if (job->n_split > aggregation->meta.rank ||
        (shape != NULL && refs_json_size(shape) != job->n_split))
        return refs_fail(err, REFS_CORRUPT, "cfa_array: pmdimensions and pmshape differ in length");
    for (size_t i = 0; i < job->n_split; i++) {
        refs_str name = refs_json_text(refs_json_at(names, i));
        size_t dim = next_dim_called(aggregation, name, is_listed);
        uint64_t n = 1;
        if (dim == SIZE_MAX)
            return refs_fail(err, REFS_CORRUPT,
                             "cfa_array: pmdimensions has %.*s, which cfa_dimensions lacks",
                             REFS_STR_ARG(name));
        if (shape != NULL && (!refs_json_u64(refs_json_at(shape, i), &n) || n == 0))
            return refs_fail(err, REFS_CORRUPT, "cfa_array: pmshape: expected a list of sizes");
        job->split[i] = dim;
        aggregation->grid.dims[dim].is_split = true;
        aggregation->grid.dims[dim].n_parts = n;
    }
    return refs_fragment_grid_count(&aggregation->grid, err);
}

static refs_status read_index(const decoding *job, partition *part, refs_error *err) {
    const refs_json *index = refs_json_get(part->json, "index");
    memset(part->index, 0, sizeof part->index);
    if (index == NULL && job->aggregation->grid.n == 1) return REFS_OK;
    if (refs_json_size(index) != job->n_split)
        return fail_at(part, REFS_CORRUPT, "its index and pmdimensions differ in length", err);
    for (size_t i = 0; i < job->n_split; i++) {
        size_t dim = job->split[i];
        if (!refs_json_u64(refs_json_at(index, i), &part->index[dim]) ||
            part->index[dim] >= job->aggregation->grid.dims[dim].n_parts)
            return fail_at(part, REFS_CORRUPT, "its index lies outside pmshape", err);
    }
    part->number = 0;
    for (size_t dim = 0; dim < job->aggregation->meta.rank; dim++)
        part->number = part->number * job->aggregation->grid.dims[dim].n_parts + part->index[dim];
    return REFS_OK;
}

/* -- dimensions of sub-arrays ------------------------------------------------------------------ */

/* Dimensions of the sub-array are those of the aggregation, unless pdimensions says otherwise. */
static refs_status read_dims(const decoding *job, partition *part, refs_error *err) {
    const refs_json *names = refs_json_get(part->json, "pdimensions");
    const refs_json *shape = refs_json_get(part->subarray, "shape");
    refs_fragment_layout *layout = &part->layout;
    size_t rank = job->aggregation->meta.rank;
    bool is_listed[REFS_MAX_RANK] = {false};
    layout->rank = names != NULL ? refs_json_size(names) : rank;
    if (layout->rank > REFS_MAX_RANK ||
        (shape != NULL && names != NULL && refs_json_size(shape) != layout->rank))
        return fail_at(part, REFS_CORRUPT,
                       "pdimensions and the shape of its subarray differ in length", err);
    for (size_t i = 0; i < layout->rank; i++) {
        const refs_str name = refs_json_text(refs_json_at(names, i));
        layout->dim[i] = names != NULL ? next_dim_called(job->aggregation, name, is_listed) : i;
        part->has_layout |= layout->dim[i] != i;
        if (layout->dim[i] == SIZE_MAX && dim_called(job->aggregation, name) != SIZE_MAX)
            return fail_at(part, REFS_CORRUPT, "pdimensions names a dimension twice", err);
    }
    part->has_layout |= names != NULL && layout->rank != rank;
    if (shape == NULL || refs_json_size(shape) != layout->rank) return REFS_OK;
    for (size_t i = 0; i < layout->rank; i++)
        if (!refs_json_u64(refs_json_at(shape, i), &layout->shape[i]) || layout->shape[i] == 0)
            return fail_at(part, REFS_CORRUPT,
                           "the shape of its subarray: expected a list of sizes", err);
    return REFS_OK;
}

static refs_status read_reverse(const decoding *job, partition *part, refs_error *err) {
    const refs_json *names = refs_json_get(part->json, "reverse");
    if (names == NULL) names = refs_json_get(part->json, "flip");
    for (size_t i = 0; i < refs_json_size(names); i++) {
        size_t dim = dim_called(job->aggregation, refs_json_text(refs_json_at(names, i))), k = 0;
        while (k < part->layout.rank && part->layout.dim[k] != dim) k++;
        if (dim == SIZE_MAX || k == part->layout.rank)
            return fail_at(part, REFS_CORRUPT, "reverse names an unknown dimension", err);
        part->layout.is_reversed[k] = part->has_layout = true;
    }
    return REFS_OK;
}

/* -- parts of sub-arrays ----------------------------------------------------------------------- */

/* Parses "[[0, 9, 1], (2, 3, 5)]", in the syntax of Python or JSON. */
typedef struct part_text {
    const char *at, *end;
} part_text;

static char next_char(part_text *text) {
    while (text->at < text->end && strchr(" \t\r\n,", *text->at) != NULL) text->at++;
    return text->at < text->end ? *text->at : '\0';
}

static bool next_number(part_text *text, int64_t *number) {
    char c = next_char(text);
    const char *begin = text->at;
    if (c == '-') text->at++;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') text->at++;
    bool integral;
    return text->at > begin &&
           refs_json_number_to_i64(refs_str_view(begin, (size_t)(text->at - begin)), number,
                                   &integral);
}

/* Converts indices to a range, which includes both ends. */
static bool as_range(const int64_t *numbers, size_t n, refs_fragment_part *part) {
    int64_t step = n == 3 ? numbers[2] : 1;
    if (n < 2 || n > 3 || step == 0 || numbers[0] < 0 || numbers[1] < 0 ||
        (step > 0 ? numbers[1] < numbers[0] : numbers[1] > numbers[0]))
        return false;
    uint64_t elements = (uint64_t)((numbers[1] - numbers[0]) / step) + 1;
    *part = (refs_fragment_part){numbers[0], elements > 1 ? step : 1, elements, NULL};
    return true;
}

static refs_status as_list(refs_aggregation *aggregation, const int64_t *numbers, size_t n,
                           refs_fragment_part *part) {
    uint64_t *list = refs_fragment_grid_take(&aggregation->grid, n, sizeof *list);
    if (list == NULL) return REFS_NOMEM;
    if (n == 0) return REFS_CORRUPT;
    for (size_t i = 0; i < n; i++) {
        if (numbers[i] < 0) return REFS_CORRUPT;
        list[i] = (uint64_t)numbers[i];
    }
    *part = (refs_fragment_part){0, 1, n, list};
    return REFS_OK;
}

/* Most numbers that a part of a sub-array can list: as many as its text has. No message. */
static refs_status read_one_part(refs_aggregation *aggregation, part_text *text,
                                 refs_fragment_part *part) {
    char open = next_char(text);
    if (open != '[' && open != '(') return REFS_CORRUPT;
    size_t most = (size_t)(text->end - text->at) / 2 + 1, n = 0;
    REFS_SCOPED int64_t *numbers = refs_calloc(most, sizeof *numbers);
    if (numbers == NULL) return REFS_NOMEM;
    text->at++;
    while (n < most && next_number(text, &numbers[n])) n++;
    refs_status status = next_char(text) == (open == '[' ? ']' : ')') ? REFS_OK : REFS_CORRUPT;
    text->at++;
    if (status == REFS_OK && open == '(') status = as_list(aggregation, numbers, n, part);
    if (status == REFS_OK && open == '[' && !as_range(numbers, n, part)) status = REFS_CORRUPT;
    return status;
}

static refs_status read_part_text(refs_aggregation *aggregation, refs_str whole,
                                  refs_fragment_layout *layout, size_t *n) {
    part_text text = {whole.data, whole.data + whole.size};
    *n = 0;
    if (next_char(&text) != '[') return REFS_CORRUPT;
    text.at++;
    while (next_char(&text) != ']') {
        if (*n == layout->rank) return REFS_CORRUPT;
        REFS_TRY(read_one_part(aggregation, &text, &layout->part[*n]));
        *n += 1;
    }
    return REFS_OK;
}

static refs_status read_part(const decoding *job, partition *part, refs_error *err) {
    const refs_json *json = refs_json_get(part->json, "part");
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    size_t n = 0;
    if (json == NULL) return REFS_OK;
    refs_status status = refs_json_is_string(json)
                             ? refs_buf_append_str(&text, refs_json_text(json), err)
                             : refs_json_write(json, &text, err);
    if (status == REFS_OK) {
        status = read_part_text(job->aggregation, refs_buf_text(&text), &part->layout, &n);
        if (status == REFS_NOMEM) (void)refs_fail_nomem(err);
        if (status == REFS_CORRUPT || (status == REFS_OK && n > 0 && n != part->layout.rank))
            status = fail_at(part, REFS_CORRUPT,
                             "part: expected a list of ranges and of lists of elements", err);
    }
    if (status != REFS_OK) return status;
    part->has_layout |= n > 0;
    return REFS_OK;
}

/* -- locations --------------------------------------------------------------------------------- */

/* Elements of the sub-array along a dimension of the aggregation; 0: not stated. */
static uint64_t elements_along(const partition *part, size_t dim) {
    const refs_fragment_layout *layout = &part->layout;
    for (size_t i = 0; i < layout->rank; i++)
        if (layout->dim[i] == dim)
            return layout->part[i].n > 0 ? layout->part[i].n : layout->shape[i];
    return 1;
}

/* A location is [first, last], or [first, end). */
static refs_status read_place(const decoding *job, partition *part, size_t dim, refs_error *err) {
    const refs_json *pair = refs_json_at(refs_json_get(part->json, "location"), dim);
    uint64_t first, last, size = elements_along(part, dim);
    char what[256];
    if (!refs_json_u64(refs_json_at(pair, 0), &first) ||
        !refs_json_u64(refs_json_at(pair, 1), &last) || last < first || last > INT64_MAX)
        return fail_at(part, REFS_CORRUPT, "location: expected a list of first and last elements",
                       err);
    part->begin[dim] = first;
    part->end[dim] = size > 0 && last - first == size ? last : last + 1;
    if (size == 0 || part->end[dim] - first == size) return REFS_OK;
    snprintf(
        what, sizeof what,
        "its location along dimension %s is %llu to %llu, its subarray has %llu elements there",
        job->aggregation->names[dim], (unsigned long long)first, (unsigned long long)last,
        (unsigned long long)size);
    return fail_at(part, REFS_CORRUPT, what, err);
}

static refs_status read_location(const decoding *job, partition *part, refs_error *err) {
    const refs_json *location = refs_json_get(part->json, "location");
    refs_aggregation *aggregation = job->aggregation;
    if (location != NULL && refs_json_size(location) != aggregation->meta.rank)
        return fail_at(part, REFS_CORRUPT, "location and cfa_dimensions differ in length", err);
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        if (location != NULL) {
            REFS_TRY(read_place(job, part, dim, err));
            continue;
        }
        part->begin[dim] = 0;
        part->end[dim] =
            refs_aggregation__size_of(aggregation, refs_str_from(aggregation->names[dim]));
        if (part->end[dim] == 0) part->end[dim] = elements_along(part, dim);
        if (part->end[dim] == 0 || aggregation->grid.dims[dim].n_parts > 1)
            return fail_at(part, REFS_CORRUPT, "it lacks its location", err);
    }
    return REFS_OK;
}

/* -- spans ------------------------------------------------------------------------------------- */

/* Whether the list has a constant step from element `first` to element `k`. */
static bool goes_on(const uint64_t *list, uint64_t first, uint64_t k) {
    return list[k] != list[k - 1] &&
           (k == first + 1 || list[k] - list[k - 1] == list[first + 1] - list[first]);
}

/* Splits a list into intervals with a constant step. */
static refs_status note_breaks(const decoding *job, const partition *part, refs_error *err) {
    for (size_t i = 0; i < part->layout.rank; i++) {
        const refs_fragment_part *listed = &part->layout.part[i];
        size_t dim = part->layout.dim[i];
        uint64_t first = 0;
        if (listed->list == NULL || dim == SIZE_MAX) continue;
        for (uint64_t k = 1; k < listed->n; k++) {
            if (goes_on(listed->list, first, k)) continue;
            first = k;
            uint64_t behind = part->layout.is_reversed[i] ? listed->n - k : k;
            REFS_TRY(refs_fragment_dim_break(&job->aggregation->grid.dims[dim],
                                             part->begin[dim] + behind, err));
        }
    }
    return REFS_OK;
}

/* Checks that partitions with the same index along a dimension have the same location along it. */
static refs_status take_places(decoding *job, const partition *part, refs_error *err) {
    for (size_t dim = 0; dim < job->aggregation->meta.rank; dim++) {
        refs_fragment_dim *parts = &job->aggregation->grid.dims[dim];
        const uint64_t index = part->index[dim];
        char what[256];
        if (parts->intervals[index].end == 0) job->first[dim][index] = part->at;
        if (refs_fragment_dim_state(
                parts, (refs_fragment_interval){part->begin[dim], part->end[dim], index}))
            continue;
        snprintf(what, sizeof what,
                 "its location along dimension %s is not that of partition %zu, which has the "
                 "same index",
                 job->aggregation->names[dim], job->first[dim][index]);
        return fail_at(part, REFS_CORRUPT, what, err);
    }
    return REFS_OK;
}

/* -- fragments --------------------------------------------------------------------------------- */

static refs_status keep_layout(refs_aggregation *aggregation, const partition *part,
                               refs_fragment_source *fragment, refs_error *err) {
    if (!part->has_layout) return REFS_OK;
    refs_fragment_layout *layout = refs_fragment_grid_take(&aggregation->grid, 1, sizeof *layout);
    if (layout == NULL) return refs_fail_nomem(err);
    *layout = part->layout;
    fragment->layout = layout;
    return REFS_OK;
}

static refs_status keep_text(refs_aggregation *aggregation, const refs_json *json,
                             const char **text, refs_error *err) {
    if (!refs_json_is_string(json)) return REFS_OK;
    refs_str from = refs_json_text(json);
    char *copy = refs_fragment_grid_take(&aggregation->grid, from.size + 1, 1);
    if (copy == NULL) return refs_fail_nomem(err);
    memcpy(copy, from.data, from.size);
    *text = copy;
    return REFS_OK;
}

/* Decodes the members that do not state the location. */
static refs_status read_rest(const decoding *job, partition *part, refs_error *err) {
    refs_fragment_layout *layout = &part->layout;
    const refs_json *varid = refs_json_get(part->subarray, "varid");
    layout->varid = -1;
    if (refs_json_get(part->subarray, "ncvar") == NULL && refs_json_i64(varid, &layout->varid))
        part->has_layout = true;
    REFS_TRY(keep_text(job->aggregation, refs_json_get(part->json, "punits"), &layout->units, err));
    REFS_TRY(keep_text(job->aggregation, refs_json_get(part->json, "pcalendar"), &layout->calendar,
                       err));
    part->has_layout |= layout->units != NULL || layout->calendar != NULL;
    return refs_aggregation__check_format(refs_json_text(refs_json_get(part->subarray, "format")),
                                          err);
}

static refs_status add_fragment(const decoding *job, const partition *part, refs_error *err) {
    refs_aggregation *aggregation = job->aggregation;
    refs_fragment_source *fragment = &aggregation->grid.sources[part->number];
    refs_str file = refs_json_text(refs_json_get(part->subarray, "file"));
    refs_str variable = refs_json_text(refs_json_get(part->subarray, "ncvar"));
    if (fragment->is_there)
        return fail_at(part, REFS_CORRUPT, "another partition has the same index", err);
    REFS_TRY(refs_fragment_grid_number(&aggregation->grid, file,
                                       &aggregation->grid.files[fragment->first_file], err));
    REFS_TRY(refs_fragment_grid_number(&aggregation->grid, variable, &fragment->variable, err));
    if (fragment->variable == REFS_NO_TEXT && part->layout.varid < 0)
        return fail_at(part, REFS_CORRUPT, "its subarray: expected ncvar or varid", err);
    fragment->is_there = true;
    fragment->is_own = file.size == 0;
    return keep_layout(aggregation, part, fragment, err);
}

static refs_status read_partition(decoding *job, partition *part, refs_error *err) {
    part->subarray = refs_json_get(part->json, "subarray");
    if (!refs_json_is_object(part->subarray))
        return fail_at(part, REFS_CORRUPT, "it lacks its subarray", err);
    REFS_TRY(read_index(job, part, err));
    REFS_TRY(read_dims(job, part, err));
    REFS_TRY(read_reverse(job, part, err));
    REFS_TRY(read_part(job, part, err));
    REFS_TRY(read_location(job, part, err));
    REFS_TRY(read_rest(job, part, err));
    REFS_TRY(add_fragment(job, part, err));
    REFS_TRY(note_breaks(job, part, err));
    return take_places(job, part, err);
}

static refs_status open_places(decoding *job, refs_error *err) {
    for (size_t dim = 0; dim < job->aggregation->meta.rank; dim++) {
        refs_fragment_dim *parts = &job->aggregation->grid.dims[dim];
        job->first[dim] = refs_calloc((size_t)parts->n_parts, sizeof(size_t));
        if (job->first[dim] == NULL) return refs_fail_nomem(err);
        REFS_TRY(refs_fragment_dim_begin(parts, err));
    }
    return REFS_OK;
}

static refs_status read_partitions(decoding *job, refs_error *err) {
    refs_aggregation *aggregation = job->aggregation;
    const refs_json *list = refs_json_get(job->root, "Partitions");
    if (!refs_json_is_array(list))
        return refs_fail(err, REFS_CORRUPT, "cfa_array: expected a list as Partitions");
    REFS_TRY(read_matrix(job, err));
    if (refs_json_size(list) > REFS_MAX_PARTITIONS)
        return refs_fail(err, REFS_LIMIT,
                         "cfa_array has %zu partitions, more than the limit of %llu",
                         refs_json_size(list), (unsigned long long)REFS_MAX_PARTITIONS);
    REFS_TRY(refs_aggregation__check_stored("pmshape of cfa_array", aggregation->grid.n,
                                            refs_json_size(list), err));
    REFS_TRY(open_places(job, err));
    REFS_TRY(refs_fragment_grid_allocate(&aggregation->grid, 1, err));
    for (size_t i = 0; i < refs_json_size(list); i++) {
        partition part = {.json = refs_json_at(list, i), .at = i};
        REFS_TRY(read_partition(job, &part, err));
    }
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++)
        REFS_TRY(refs_aggregation__settle_dim(aggregation, dim, err));
    return REFS_OK;
}

static refs_status decode(refs_aggregation *aggregation, refs_error *err) {
    refs_str text = refs_aggregation__text(aggregation->container.attributes, "cfa_array");
    refs_json_doc *doc = NULL;
    if (text.size == 0)
        return refs_fail(err, REFS_CORRUPT,
                         "cfa_array is missing or empty: expected partitions in JSON");
    if (text.size > REFS_MAX_PARTITION_TEXT)
        return refs_fail(err, REFS_LIMIT, "cfa_array has %zu bytes, more than the limit of %llu",
                         text.size, (unsigned long long)REFS_MAX_PARTITION_TEXT);
    refs_status status = refs_json_parse(text, &doc, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "cfa_array");
        return status;
    }
    decoding job = {.aggregation = aggregation, .root = refs_json_root(doc)};
    const refs_json *base = refs_json_get(job.root, "base");
    status = read_partitions(&job, err);
    if (status == REFS_OK && refs_json_is_string(base))
        status = refs_buf_append_str(&aggregation->base, refs_json_text(base), err);
    for (size_t dim = 0; dim < REFS_MAX_RANK; dim++) refs_free(job.first[dim]);
    refs_json_doc_free(doc);
    aggregation->is_loaded = status == REFS_OK;
    return status;
}

/* -- renaming ---------------------------------------------------------------------------------- */

/* The state of copying the JSON with new names. */
typedef struct rewriting {
    refs_renaming *names;
    const refs_json *root;
    refs_buf *text;
} rewriting;

static refs_status write_value(rewriting *job, const refs_json *value, size_t depth,
                               refs_error *err);

static refs_status write_name(rewriting *job, const refs_json *value, refs_error *err) {
    REFS_SCOPED_BUF renamed = REFS_BUF_INIT;
    REFS_TRY(refs_renaming_append(job->names, refs_json_text(value), &renamed, err));
    return refs_json_write_string(refs_buf_text(&renamed), job->text, err);
}

/* Depths in the JSON: the root, its Partitions, one of them, its subarray. */
enum { ROOT, PARTITIONS, PARTITION, SUBARRAY };

static refs_status write_member(rewriting *job, const refs_json *object, size_t i, size_t depth,
                                refs_error *err) {
    const refs_str name = refs_json_name_at(object, i);
    const refs_json *value = refs_json_at(object, i);
    REFS_TRY(refs_json_write_name(name, job->text, err));
    if (depth == SUBARRAY && refs_str_is(name, "file") && refs_json_is_string(value))
        return write_name(job, value, err);
    const bool is_walked = (depth == ROOT && refs_str_is(name, "Partitions")) ||
                           (depth == PARTITION && refs_str_is(name, "subarray"));
    return is_walked ? write_value(job, value, depth + 1, err)
                     : refs_json_write(value, job->text, err);
}

/* Whether the partition is renamed; its index along dimensions that are not split is 0. */
static bool selects_partition(const rewriting *job, const refs_json *listed) {
    const refs_json *names = refs_json_get(job->root, "pmdimensions");
    const refs_json *numbers = refs_json_get(listed, "index");
    uint64_t index[REFS_MAX_RANK] = {0};
    bool is_listed[REFS_MAX_RANK] = {false};
    if (job->names->renamer->selects == NULL) return true;
    for (size_t i = 0; i < refs_json_size(names); i++) {
        const size_t dim = next_dim_called(job->names->aggregation,
                                           refs_json_text(refs_json_at(names, i)), is_listed);
        if (dim != SIZE_MAX) (void)refs_json_u64(refs_json_at(numbers, i), &index[dim]);
    }
    return refs_renaming_selects(job->names, index);
}

/* Drops the member "base": renamed files have full names. */
static bool is_left_out(const rewriting *job, refs_str member) {
    return job->names->renamer->location != NULL && refs_str_is(member, "base");
}

static refs_status write_value(rewriting *job, const refs_json *value, size_t depth,
                               refs_error *err) {
    refs_buf *text = job->text;
    const bool is_list = refs_json_is_array(value);
    size_t n = 0;
    if (!is_list && !refs_json_is_object(value)) return refs_json_write(value, text, err);
    if (depth == PARTITION && !is_list) job->names->is_selected = selects_partition(job, value);
    REFS_TRY(refs_buf_append(text, is_list ? "[" : "{", 1, err));
    for (size_t i = 0; i < refs_json_size(value); i++) {
        if (depth == ROOT && !is_list && is_left_out(job, refs_json_name_at(value, i))) continue;
        REFS_TRY(refs_buf_append(text, ",", n++ > 0, err));
        REFS_TRY(is_list ? write_value(job, refs_json_at(value, i), depth + 1, err)
                         : write_member(job, value, i, depth, err));
    }
    return refs_buf_append(text, is_list ? "]" : "}", 1, err);
}

static refs_status look_for_all(refs_renaming *names, refs_error *err) {
    const refs_aggregation *aggregation = names->aggregation;
    const refs_fragment_grid *grid = &aggregation->grid;
    if (aggregation->meta.status != REFS_OK) return REFS_OK;
    for (uint64_t i = 0; i < grid->n; i++) {
        const uint32_t id = grid->files[grid->sources[i].first_file];
        if (id != REFS_NO_TEXT)
            REFS_TRY(refs_renaming_look(names, refs_intern_get(&grid->strings, id), err));
    }
    return REFS_OK;
}

static refs_status rename_files(refs_renaming *names, refs_error *err) {
    const refs_array_meta *container = &names->aggregation->container;
    REFS_SCOPED_JSON *doc = NULL;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(look_for_all(names, err));
    REFS_TRY(
        refs_json_parse(refs_aggregation__text(container->attributes, "cfa_array"), &doc, err));
    rewriting job = {names, refs_json_root(doc), &text};
    REFS_TRY(write_value(&job, job.root, ROOT, err));
    if (names->changes)
        REFS_TRY(names->renamer->attribute(names->renamer->user, container, "cfa_array",
                                           refs_buf_text(&text), err));
    return REFS_OK;
}

/* -- encoding ---------------------------------------------------------------------------------- */

static refs_status append_numbers(const uint64_t *numbers, size_t n, refs_buf *json,
                                  refs_error *err) {
    REFS_TRY(refs_buf_append(json, "[", 1, err));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(
            refs_buf_printf(json, err, "%s%llu", i > 0 ? "," : "", (unsigned long long)numbers[i]));
    return refs_buf_append(json, "]", 1, err);
}

/* Appends the dimensions that are split. */
static refs_status append_split(const refs_fragment_grid *grid, const uint64_t *numbers,
                                refs_buf *json, refs_error *err) {
    uint64_t split[REFS_MAX_RANK];
    size_t n = 0;
    for (size_t d = 0; d < grid->rank; d++)
        if (grid->dims[d].is_split) split[n++] = numbers[d];
    return append_numbers(split, n, json, err);
}

/* CFA-0.4 has one format name for all netCDF data models; CFA-0.5 has one for each. */
static const char *format_of(const refs_partition *at) {
    return refs_str_starts(refs_str_from(at->format), "NETCDF") ? "netCDF" : at->format;
}

/* Appends a sub-array; without a file it is a variable in the file of the container. */
static refs_status append_subarray(const refs_partition *at, size_t rank, refs_buf *json,
                                   refs_error *err) {
    uint64_t shape[REFS_MAX_RANK];
    for (size_t d = 0; d < rank; d++) shape[d] = at->end[d] - at->begin[d];
    REFS_TRY(refs_buf_printf(json, err, "{\"ncvar\":"));
    REFS_TRY(refs_json_write_string(refs_str_from(at->variable), json, err));
    if (*at->file == '\0') return refs_buf_append(json, "}", 1, err);
    REFS_TRY(refs_buf_printf(json, err, ",\"file\":"));
    REFS_TRY(refs_json_write_string(refs_str_from(at->file), json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"format\":"));
    REFS_TRY(refs_json_write_string(refs_str_from(format_of(at)), json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"shape\":"));
    REFS_TRY(append_numbers(shape, rank, json, err));
    return refs_buf_append(json, "}", 1, err);
}

/* Appends a partition; locations include both ends. */
static refs_status append_partition(const refs_fragment_grid *grid, const refs_partition *at,
                                    refs_buf *json, refs_error *err) {
    REFS_TRY(refs_buf_printf(json, err, "{\"index\":"));
    REFS_TRY(append_split(grid, at->index, json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"location\":["));
    for (size_t d = 0; d < grid->rank; d++) {
        const uint64_t range[] = {at->begin[d], at->end[d] > 0 ? at->end[d] - 1 : 0};
        REFS_TRY(refs_buf_append(json, ",", d > 0, err));
        REFS_TRY(append_numbers(range, 2, json, err));
    }
    REFS_TRY(refs_buf_printf(json, err, "],\"subarray\":"));
    REFS_TRY(append_subarray(at, grid->rank, json, err));
    return refs_buf_append(json, "}", 1, err);
}

static refs_status append_dims(const refs_fragment_grid *grid, const char *const *dims,
                               refs_buf *json, refs_error *err) {
    bool has_any = false;
    for (size_t d = 0; d < grid->rank; d++) {
        if (!grid->dims[d].is_split) continue;
        REFS_TRY(refs_buf_append(json, ",", has_any, err));
        REFS_TRY(refs_json_write_string(refs_str_from(dims[d]), json, err));
        has_any = true;
    }
    return REFS_OK;
}

/* Missing partitions are not listed. An empty "base" means the folder of the master. */
refs_status refs_encoding_cfa04_append(const refs_fragment_grid *grid, const char *const *dims,
                                       refs_buf *json, refs_error *err) {
    uint64_t n[REFS_MAX_RANK];
    bool has_any = false;
    for (size_t d = 0; d < grid->rank; d++) n[d] = grid->dims[d].n_parts;
    REFS_TRY(refs_buf_printf(json, err, "{\"base\":\"\",\"pmshape\":"));
    REFS_TRY(append_split(grid, n, json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"pmdimensions\":["));
    REFS_TRY(append_dims(grid, dims, json, err));
    REFS_TRY(refs_buf_printf(json, err, "],\"Partitions\":["));
    for (uint64_t i = 0; i < grid->n; i++) {
        refs_partition at;
        refs_fragment_grid_get(grid, i, &at);
        if (!at.has_fragment) continue;
        REFS_TRY(refs_buf_append(json, ",", has_any, err));
        REFS_TRY(append_partition(grid, &at, json, err));
        has_any = true;
    }
    return refs_buf_append(json, "]}", 2, err);
}

static refs_status put_text(const cfa_job *job, const char *name, const refs_buf *text,
                            refs_error *err) {
    refs_str view = refs_buf_text(text);
    return refs_cfa__file_text(job->file, job->container, name, view, err);
}

static refs_status put_attributes(const cfa_job *job, refs_buf *text, refs_error *err) {
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "cf_role",
                                 refs_str_from("cfa_variable"), err));
    REFS_TRY(refs_cfa__append_dims(job->variable, " ", text, err));
    REFS_TRY(put_text(job, "cfa_dimensions", text, err));
    text->size = 0;
    REFS_TRY(refs_encoding_cfa04_append(job->grid, job->variable->dims, text, err));
    return put_text(job, "cfa_array", text, err);
}

static refs_status encode(const cfa_job *job, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    return put_attributes(job, &text, err);
}

const refs_encoding refs_encoding_cfa04 = {.name = "CFA-0.4",
                                           .dims = REFS_CFA_DIMENSIONS,
                                           .recognise = recognise,
                                           .decode = decode,
                                           .rename = rename_files,
                                           .encode = encode,
                                           .is_of_s3netcdf4 = true};
