/* split_emit.c -- writes fragments as arrays of the combined set, and the aggregation of them
 * (set_fragments.h). The container is empty: no reader reads a chunk of it. */
#include <stdio.h>
#include <stdlib.h>

#include "combine_internal.h"
#include "refs/attribute_class.h"
#include "refs/fragment_grid.h"
#include "refs/own_attributes.h"

static const char *const layout_names[] = {"dtype", "compressor",         "filters", "fill_value",
                                           "order", REFS_UNFILLED_MEMBER, NULL};
static const char *const fill_names[] = {"fill_value", REFS_UNFILLED_MEMBER, NULL};
/* The kind of an array that is written. */
static const char *const own_names[] = {"_ARRAY_DIMENSIONS", "cf_role", NULL};

/* -- told by attributes ------------------------------------------------------------------------ */

static const char *const no_names[] = {NULL};

/* Appends attributes, except those of aggregations, those in `names`, and those of some classes. */
static refs_status append_except(const refs_json *attributes, const char *const *names,
                                 unsigned classes, refs_buf *text, refs_error *err) {
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const refs_str name = refs_json_name_at(attributes, i);
        if (refs_str_is_among(name, names) || refs_cf_is_attribute_of(name, classes) ||
            refs_aggregation_owns(attributes, name))
            continue;
        REFS_TRY(refs_json_write_member(name, refs_json_at(attributes, i), text, err));
    }
    return REFS_OK;
}

refs_status refs_combine__without_fragments(const refs_json *attributes, refs_buf *text,
                                            refs_error *err) {
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    REFS_TRY(append_except(attributes, own_names, 0, text, err));
    return refs_buf_append(text, "}", 1, err);
}

bool refs_combine__is_part_of(const refs_array_meta *container, const char *path) {
    const size_t size = strlen(container->path);
    return strncmp(path, container->path, size) == 0 &&
           refs_str_starts(refs_str_from(path + size), REFS_SET_FRAGMENTS_SUFFIX "/");
}

bool refs_combine__has_only_values(const refs_combine_array *array) {
    if (!refs_dtype_is_numeric(&array->dtype) || array->has_nodata) return false;
    return array->dtype.size == 1 || (array->keeps_default && !array->declares_fill);
}

static const char *all_of(const refs_combine_array *array) {
    refs_dtype as = array->dtype;
    if (as.size == 1 && (as.type == REFS_TYPE_BOOL || array->unpacking.is_unsigned))
        as.type = REFS_TYPE_UINT;
    return refs_cf_whole_range_text(&as);
}

const char *refs_combine__whole_range(const refs_combine *combine,
                                      const refs_combine_array *array) {
    const bool has_range =
        !refs_str_is(refs_combine__text(combine, array->range), REFS_COMBINE_NO_RANGE);
    return has_range || !refs_combine__has_only_values(array) ? NULL : all_of(array);
}

bool refs_combine__has_whole_range(const refs_combine_array *array, refs_str range) {
    static const char name[] = "valid_range=", others[] = ";valid_min=;valid_max=;";
    const char *all = all_of(array);
    if (all == NULL) return false;
    const size_t size = strlen(all), begin = sizeof name - 1;
    return range.size == begin + size + sizeof others - 1 && memcmp(range.data, name, begin) == 0 &&
           memcmp(range.data + begin, all, size) == 0 &&
           memcmp(range.data + begin + size, others, sizeof others - 1) == 0;
}

/* -- documents --------------------------------------------------------------------------------- */

/* The documents of one array; strings are made in `text` and `key`. */
typedef struct output {
    refs_combine *combine;
    const refs_combine_result *result;
    const refs_combine_sink *sink;
    refs_buf key, text;
} output;

static void clear(output *out) {
    refs_buf_clear(&out->key);
    refs_buf_clear(&out->text);
}

static refs_str path_of(const output *out) {
    return refs_combine__text(out->combine, out->result->path);
}

/* Sets the key to the array's path and a suffix. */
static refs_status set_key(output *out, const char *rest, refs_error *err) {
    out->key.size = 0;
    return refs_buf_printf(&out->key, err, "%.*s%s", REFS_STR_WHOLE(path_of(out)), rest);
}

/* A fragment has the name of the whole array, in a group of its own. */
static refs_status set_fragment_key(output *out, uint64_t number, const char *rest,
                                    refs_error *err) {
    out->key.size = 0;
    return refs_buf_printf(&out->key, err, "%.*s" REFS_SET_FRAGMENTS_SUFFIX "/%llu/%.*s%s",
                           REFS_STR_WHOLE(path_of(out)), (unsigned long long)number,
                           REFS_STR_WHOLE(refs_path_last(path_of(out))), rest);
}

static refs_status put(const output *out, refs_error *err) {
    return out->sink->document(out->sink->self, refs_buf_text(&out->key), refs_buf_view(&out->text),
                               err);
}

static refs_status append_member(const refs_json *object, const char *name, refs_buf *text,
                                 refs_error *err) {
    const refs_json *value = refs_json_get(object, name);
    if (value == NULL) return REFS_OK;
    REFS_TRY(refs_buf_printf(text, err, ",\"%s\":", name));
    return refs_json_write(value, text, err);
}

/* Appends the members listed in `names`, in that order, each after a comma. */
static refs_status append_named(const refs_json *object, const char *const *names, refs_buf *text,
                                refs_error *err) {
    for (; *names != NULL; names++) REFS_TRY(append_member(object, *names, text, err));
    return REFS_OK;
}

/* Appends the attributes of some classes in the same way. */
static refs_status append_classes(const refs_json *attributes, unsigned classes, refs_buf *text,
                                  refs_error *err) {
    const char *name;
    for (size_t i = 0; (name = refs_cf_attribute_at(classes, i)) != NULL; i++)
        REFS_TRY(append_member(attributes, name, text, err));
    return REFS_OK;
}

static refs_str dim_name(const output *out, const refs_combine_array *array, size_t dim) {
    const size_t own = refs_combine__own_dim(out->result, array, dim);
    const size_t concat = out->result->concat[dim];
    return refs_combine__text(out->combine,
                              own == SIZE_MAX ? out->combine->dims[concat] : array->dims[own]);
}

/* -- fragments --------------------------------------------------------------------------------- */

static const refs_combine_place *piece_of(const output *out, uint64_t number) {
    return refs_combine__piece_of(out->result->split, number);
}

static const refs_combine_array *array_of(const output *out, uint64_t number) {
    return piece_of(out, number)->array;
}

/* The shape, chunk shape and chunk count of a fragment, and its begin. */
typedef struct grid {
    uint64_t begin[REFS_MAX_RANK];
    uint64_t shape[REFS_MAX_RANK], chunk[REFS_MAX_RANK], n[REFS_MAX_RANK];
} grid;

/* Steps of a chunk of values: those of the fragment where the set grows, else all. */
static uint64_t steps_of_values(const output *out, uint64_t number, const grid *of) {
    const refs_combine_result *result = out->result;
    const refs_combine_place *first = piece_of(out, number);
    const refs_combine_array *piece = first->array;
    const size_t concat = result->concat[0];
    const bool grows = out->combine->options.values == REFS_COMBINE_VALUES_GROW &&
                       first->member->number == 0 && result->n_concat == 1 &&
                       concat != REFS_COMBINE_MAX_DIMS;
    return grows && piece->is_piece && piece->begin[concat] == of->begin[0] &&
                   refs_combine__chunks_of_values(of->shape[0], piece->chunk[0]) != 0
               ? piece->chunk[0]
               : of->shape[0];
}

static grid grid_of(const output *out, uint64_t number) {
    const refs_combine_result *result = out->result;
    const refs_combine_array *array = array_of(out, number);
    refs_partition at;
    grid of = {{0}, {0}, {0}, {0}};
    refs_fragment_grid_get(&result->split->grid, number, &at);
    for (size_t dim = 0; dim < result->rank; dim++) {
        const size_t own = refs_combine__own_dim(result, array, dim);
        of.begin[dim] = at.begin[dim];
        of.shape[dim] = at.end[dim] - at.begin[dim];
        of.chunk[dim] = array->is_thin ? of.shape[dim] : own == SIZE_MAX ? 1 : array->chunk[own];
        if (array->is_thin && dim == 0) of.chunk[dim] = steps_of_values(out, number, &of);
        of.n[dim] = (of.shape[dim] + of.chunk[dim] - 1) / of.chunk[dim];
    }
    return of;
}

/* Values in the set are stored without codecs. */
static refs_status append_layout(output *out, const refs_combine_array *array,
                                 const refs_json *document, refs_error *err) {
    char dtype[64];
    if (!array->is_thin) return append_named(document, layout_names, &out->text, err);
    refs_dtype native = array->dtype;
    native.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    refs_dtype_format(&native, dtype, sizeof dtype);
    REFS_TRY(refs_buf_printf(&out->text, err,
                             ",\"dtype\":\"%s\",\"compressor\":null,\"filters\":null", dtype));
    REFS_TRY(append_named(document, fill_names, &out->text, err));
    return refs_buf_printf(&out->text, err, ",\"order\":\"C\"");
}

/* Members are written in a fixed order, so that combining in groups gives the same bytes. */
static refs_status put_fragment_array(output *out, uint64_t number, refs_error *err) {
    const size_t rank = out->result->rank;
    const grid of = grid_of(out, number);
    const refs_combine_array *array = array_of(out, number);
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(refs_combine__text(out->combine, array->document), &doc, err));
    out->text.size = 0;
    REFS_TRY(refs_buf_printf(&out->text, err, "{\"zarr_format\":2,\"shape\":"));
    REFS_TRY(refs_combine__write_list(of.shape, rank, &out->text, err));
    REFS_TRY(refs_buf_printf(&out->text, err, ",\"chunks\":"));
    REFS_TRY(refs_combine__write_list(of.chunk, rank, &out->text, err));
    REFS_TRY(append_layout(out, array, refs_json_root(doc), err));
    REFS_TRY(refs_buf_printf(&out->text, err, ",\"dimension_separator\":\".\"}"));
    return put(out, err);
}

static refs_status put_fragment_attributes(output *out, uint64_t number, refs_error *err) {
    const refs_combine_array *array = array_of(out, number);
    REFS_SCOPED_JSON *doc = NULL;
    refs_str own = array->attributes != REFS_COMBINE_NONE
                       ? refs_combine__text(out->combine, array->attributes)
                       : refs_str_from("{}");
    REFS_TRY(refs_json_parse(own, &doc, err));
    out->text.size = 0;
    REFS_TRY(refs_buf_printf(&out->text, err, "{\"_ARRAY_DIMENSIONS\":["));
    for (size_t dim = 0; dim < out->result->rank; dim++) {
        REFS_TRY(refs_buf_append(&out->text, ",", dim > 0, err));
        REFS_TRY(refs_json_write_string(dim_name(out, array, dim), &out->text, err));
    }
    /* CFA's word for variables that only serve an aggregation. */
    REFS_TRY(refs_buf_printf(&out->text, err, "],\"cf_role\":\"cfa_private\""));
    REFS_TRY(append_classes(refs_json_root(doc), REFS_CF_PACKING | REFS_CF_VALID | REFS_CF_UNITS,
                            &out->text, err));
    REFS_TRY(refs_buf_append(&out->text, "}", 1, err));
    return put(out, err);
}

static refs_status put_group(output *out, refs_error *err) {
    out->text.size = 0;
    REFS_TRY(refs_buf_printf(&out->text, err, "{\"zarr_format\":2}"));
    return put(out, err);
}

static refs_status put_groups(output *out, refs_error *err) {
    const refs_fragment_grid *all = &out->result->split->grid;
    REFS_TRY(set_key(out, REFS_SET_FRAGMENTS_SUFFIX "/.zgroup", err));
    REFS_TRY(put_group(out, err));
    for (uint64_t i = 0; i < all->n; i++) {
        if (!all->sources[i].is_there) continue;
        out->key.size = 0;
        REFS_TRY(refs_buf_printf(&out->key, err, "%.*s" REFS_SET_FRAGMENTS_SUFFIX "/%llu/.zgroup",
                                 REFS_STR_WHOLE(path_of(out)), (unsigned long long)i));
        REFS_TRY(put_group(out, err));
    }
    return REFS_OK;
}

static refs_status put_fragments(output *out, refs_error *err) {
    const refs_fragment_grid *all = &out->result->split->grid;
    for (uint64_t i = 0; i < all->n; i++) {
        if (!all->sources[i].is_there) continue;
        REFS_TRY(set_fragment_key(out, i, "/.zarray", err));
        REFS_TRY(put_fragment_array(out, i, err));
        REFS_TRY(set_fragment_key(out, i, "/.zattrs", err));
        REFS_TRY(put_fragment_attributes(out, i, err));
        REFS_TRY(refs_combine__go_on(out->combine, err));
    }
    return REFS_OK;
}

/* -- the container ----------------------------------------------------------------------------- */

/* The valid_range that says that nothing is missing; NULL where something may be. */
static const char *whole_range(const output *out) {
    const refs_combine_split *split = out->result->split;
    const refs_combine_array *first = refs_combine__first_of(split);
    const bool needs_missing = first->dtype.size > 1 && split->cells.n_missing > 0;
    return split->type.is_unpacked || needs_missing
               ? NULL
               : refs_combine__whole_range(out->combine, first);
}

/* The fill value of the container; NULL where it is that of the fragments. */
static const char *own_fill_text(const output *out) {
    const refs_common_type *type = &out->result->split->type;
    const bool has_only_values = type->keeps_default && type->dtype.type == REFS_TYPE_FLOAT;
    return type->is_unpacked || has_only_values ? refs_combine__missing_text(type) : NULL;
}

static const char *hole_text(const output *out) {
    return refs_combine__text(out->combine, out->result->hole_text).data;
}

static refs_status put_container_array(output *out, refs_error *err) {
    const refs_combine_split *split = out->result->split;
    refs_dtype native = split->type.dtype;
    REFS_SCOPED_JSON *doc = NULL;
    char dtype[64];
    native.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    refs_dtype_format(&native, dtype, sizeof dtype);
    REFS_TRY(refs_json_parse(
        refs_combine__text(out->combine, refs_combine__first_of(split)->document), &doc, err));
    out->text.size = 0;
    REFS_TRY(refs_buf_printf(&out->text, err,
                             "{\"zarr_format\":2,\"shape\":[0],\"chunks\":[1],\"dtype\":"
                             "\"%s\",\"compressor\":null,\"filters\":null,\"order\":"
                             "\"C\"",
                             dtype));
    const char *own = own_fill_text(out);
    if (own == NULL && whole_range(out) != NULL && split->type.dtype.size > 1) own = "0";
    if (own == NULL && out->result->has_hole_fill) own = hole_text(out);
    if (own != NULL)
        REFS_TRY(refs_buf_printf(&out->text, err, ",\"fill_value\":%s", own));
    else
        REFS_TRY(append_named(refs_json_root(doc), fill_names, &out->text, err));
    REFS_TRY(refs_buf_append(&out->text, "}", 1, err));
    return put(out, err);
}

refs_status refs_combine__without_packing(const refs_json *attributes, refs_buf *text,
                                          refs_error *err) {
    const unsigned classes = REFS_CF_PACKING | REFS_CF_VALID | REFS_CF_ACTUAL;
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    REFS_TRY(append_except(attributes, no_names, classes, text, err));
    return refs_buf_append(text, "}", 1, err);
}

/* The attributes of the first fragment, except those that each fragment states itself. */
static refs_status append_attributes(output *out, const refs_json *attributes, refs_error *err) {
    unsigned classes = REFS_CF_PACKING | REFS_CF_VALID;
    if (out->result->split->type.is_unpacked) classes |= REFS_CF_ACTUAL;
    if (out->result->drops_flags) classes |= REFS_CF_FLAGS;
    if (out->result->drops_start) classes |= REFS_CF_START;
    if (out->result->drops_length) classes |= REFS_CF_LENGTH;
    const size_t begin = out->text.size;
    REFS_TRY(append_except(attributes, own_names, classes, &out->text, err));
    return refs_buf_append(&out->text, ",", out->text.size > begin, err);
}

/* Names the fragments; cells that no part has have none. */
static refs_status name_fragments(const output *out, refs_error *err) {
    refs_fragment_grid *all = &out->result->split->grid;
    const refs_str own_name = refs_path_last(path_of(out));
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    for (uint64_t i = 0; i < all->n; i++) {
        if (!all->sources[i].is_there) continue;
        name.size = 0;
        REFS_TRY(refs_set_fragments_name(own_name, i, &name, err));
        REFS_TRY(refs_buf_append(&name, "", 1, err));
        const refs_partition fragment = {
            .file = "", .variable = (const char *)name.data, .format = ""};
        REFS_TRY(refs_fragment_grid_set(all, i, &fragment, err));
    }
    return REFS_OK;
}

static refs_status append_aggregation(output *out, refs_error *err) {
    const refs_combine_array *first = refs_combine__first_of(out->result->split);
    const char *dims[REFS_MAX_RANK];
    for (size_t dim = 0; dim < out->result->rank; dim++)
        dims[dim] = refs_path_last(dim_name(out, first, dim)).data;
    const refs_set_container container = {refs_path_last(path_of(out)).data, dims,
                                          out->result->shape};
    REFS_TRY(name_fragments(out, err));
    return refs_set_fragments_encode(&container, &out->result->split->grid, &out->text, err);
}

static refs_status put_container_attributes(output *out, refs_error *err) {
    const refs_combine_split *split = out->result->split;
    const refs_combine_array *first = refs_combine__first_of(split);
    REFS_SCOPED_JSON *whole = NULL, *own = NULL;
    refs_str none = refs_str_from("{}");
    out->text.size = 0;
    REFS_TRY(refs_json_parse(
        first->whole != REFS_COMBINE_NONE ? refs_combine__text(out->combine, first->whole) : none,
        &whole, err));
    REFS_TRY(refs_json_parse(first->attributes != REFS_COMBINE_NONE
                                 ? refs_combine__text(out->combine, first->attributes)
                                 : none,
                             &own, err));
    REFS_TRY(refs_buf_append(&out->text, "{", 1, err));
    REFS_TRY(append_attributes(out, refs_json_root(whole), err));
    REFS_TRY(append_aggregation(out, err));
    const char *fill = own_fill_text(out), *valid = whole_range(out);
    if (fill != NULL) REFS_TRY(refs_buf_printf(&out->text, err, ",\"_FillValue\":%s", fill));
    if (!split->type.is_unpacked) {
        REFS_TRY(append_classes(refs_json_root(own), REFS_CF_PACKING, &out->text, err));
        REFS_TRY(append_classes(refs_json_root(own), REFS_CF_VALID, &out->text, err));
    }
    if (valid != NULL) REFS_TRY(refs_buf_printf(&out->text, err, ",\"valid_range\":%s", valid));
    if (!split->type.is_unpacked && out->result->tells_hole_fill)
        REFS_TRY(refs_buf_printf(&out->text, err, ",\"_FillValue\":%s", hole_text(out)));
    REFS_TRY(refs_buf_append(&out->text, "}", 1, err));
    return put(out, err);
}

refs_status refs_combine__put_split_groups(refs_combine *combine, const refs_combine_result *result,
                                           const refs_combine_sink *sink, refs_error *err) {
    output out = {combine, result, sink, REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = put_groups(&out, err);
    clear(&out);
    return status;
}

refs_status refs_combine__put_split(refs_combine *combine, const refs_combine_result *result,
                                    const refs_combine_sink *sink, refs_error *err) {
    output out = {combine, result, sink, REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = set_key(&out, "/.zarray", err);
    if (status == REFS_OK) status = put_container_array(&out, err);
    if (status == REFS_OK) status = set_key(&out, "/.zattrs", err);
    if (status == REFS_OK) status = put_container_attributes(&out, err);
    if (status == REFS_OK) status = put_fragments(&out, err);
    clear(&out);
    return status;
}

/* -- chunks of fragments ----------------------------------------------------------------------- */

/* A chunk and its number in the fragment. */
typedef struct moved {
    uint64_t number;
    const refs_combine_member *member;
    refs_stream_ref ref;
} moved;

/* A stream and its position: cells of one piece are mostly written one after the other. */
typedef struct cursor {
    refs_stream_reader reader;
    refs_stream_ref ref;
    bool is_open, has_ref;
} cursor;

/* The chunks of one fragment that are being written. */
typedef struct gathering {
    const output *out;
    const refs_combine_result *result;
    grid of;
    cursor *cursors; /* of each piece */
    moved *all;
    size_t n, capacity;
} gathering;

/* A cell of a fragment: the chunks of a piece that begin in it, and their positions in the
 * fragment. */
typedef struct moving {
    const refs_combine_place *piece;
    cursor *at;
    uint64_t first[REFS_MAX_RANK], end[REFS_MAX_RANK]; /* rows of chunks along each dimension */
    uint64_t to[REFS_MAX_RANK];   /* position of the first of them in the fragment */
    uint64_t step[REFS_MAX_RANK]; /* step of the piece at which the cell begins */
    uint64_t n_steps[REFS_MAX_RANK],
        begin[REFS_MAX_RANK]; /* extent and begin of the cell in the fragment */
} moving;

static int by_number(const void *left, const void *right) {
    const moved *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static uint64_t divide_up(uint64_t n, uint64_t by) {
    return n / by + (n % by > 0);
}

/* Locates the cell at `index` of the concat dimensions. */
static void place_cell(const gathering *all, const size_t *index, moving *cell) {
    const refs_combine_result *result = all->result;
    const refs_combine_split *split = result->split;
    const uint32_t owner = split->cells.owners[refs_combine__cell_number(&split->cells, index)];
    *cell = (moving){
        &split->cells.pieces[owner - 1], &all->cursors[owner - 1], {0}, {0}, {0}, {0}, {0}, {0}};
    for (size_t dim = 0, i = 0; dim < result->rank; dim++) {
        const refs_combine_array *array = cell->piece->array;
        const size_t own = refs_combine__own_dim(result, array, dim), concat = result->concat[dim];
        cell->end[dim] = own == SIZE_MAX ? 1 : array->n[own];
        cell->n_steps[dim] = result->shape[dim];
        if (concat == REFS_COMBINE_MAX_DIMS) continue;
        const uint64_t *edge = &split->cells.cuts[i].at[index[i]];
        const uint64_t k = refs_combine__steps_per_chunk(result, array, dim);
        cell->step[dim] = refs_combine__step_at(&cell->piece->member->axes[concat], edge[0]) -
                          array->begin[concat];
        cell->n_steps[dim] = edge[1] - edge[0];
        cell->begin[dim] = edge[0] - all->of.begin[dim];
        cell->first[dim] = divide_up(cell->step[dim], k);
        cell->end[dim] = divide_up(cell->step[dim] + cell->n_steps[dim], k);
        cell->to[dim] = divide_up(cell->begin[dim], k);
        i++;
    }
}

/* The number in the fragment of the cursor's chunk; false: it is not in the cell. *row is its index
 * along the first dimension. */
static bool move(const gathering *all, const moving *cell, uint64_t *number, uint64_t *row) {
    uint64_t rest = cell->at->ref.number, stride = 1;
    bool is_inside = true;
    *number = 0;
    for (size_t dim = all->result->rank; dim-- > 0;) {
        const size_t own = refs_combine__own_dim(all->result, cell->piece->array, dim);
        const uint64_t n = own == SIZE_MAX ? 1 : cell->piece->array->n[own];
        *row = rest % n;
        rest /= n;
        is_inside = is_inside && *row >= cell->first[dim] && *row < cell->end[dim];
        *number += (*row - cell->first[dim] + cell->to[dim]) * stride;
        stride *= all->of.n[dim];
    }
    return is_inside;
}

static refs_status take(gathering *all, const moving *cell, uint64_t number, refs_error *err) {
    REFS_GROW(all->all, all->capacity, all->n, err);
    all->all[all->n++] = (moved){number, cell->piece->member, cell->at->ref};
    return REFS_OK;
}

/* Sorts and writes chunks: those of one cell are in order. */
typedef enum chunk_order { SORTED, UNSORTED } chunk_order;

static refs_status gather_cell(gathering *all, const moving *cell, chunk_order order,
                               refs_error *err) {
    cursor *at = cell->at;
    uint64_t number, row = 0;
    if (at->is_open && at->has_ref) (void)move(all, cell, &number, &row);
    if (!at->is_open || !at->has_ref || row > cell->first[0]) {
        REFS_TRY(refs_stream_close(&at->reader, REFS_OK, err));
        at->reader = refs_combine__stream_of(cell->piece);
        at->has_ref = refs_stream_get(&at->reader, &at->ref);
        at->is_open = true;
    }
    for (; at->has_ref; at->has_ref = refs_stream_get(&at->reader, &at->ref)) {
        const bool is_inside = move(all, cell, &number, &row);
        if (row >= cell->end[0]) break;
        if (!is_inside) continue;
        REFS_TRY(order == UNSORTED
                     ? take(all, cell, number, err)
                     : refs_combine__put_chunk(
                           all->out->combine, all->out->sink,
                           (refs_combine_chunk){cell->piece->member, &at->ref, number}, err));
    }
    return REFS_OK;
}

static refs_status put_gathered(gathering *all, refs_error *err) {
    const output *out = all->out;
    if (all->n > 0) qsort(all->all, all->n, sizeof *all->all, by_number);
    for (size_t i = 0; i < all->n; i++)
        REFS_TRY(refs_combine__put_chunk(
            out->combine, out->sink,
            (refs_combine_chunk){all->all[i].member, &all->all[i].ref, all->all[i].number}, err));
    all->n = 0;
    return REFS_OK;
}

/* Moves to the next cell of a box, the last dimension fastest, starting with dimension `from`;
 * false after the last one. */
static bool next_cell(const refs_combine_cell_box *box, size_t n_concat, size_t from,
                      size_t *index) {
    for (size_t i = n_concat; i-- > from; index[i] = box->begin[i])
        if (++index[i] < box->end[i]) return true;
    return false;
}

/* Writes cells row by row where the first dimension of the array is a concat dimension: only those
 * of one row are held. */
static refs_status put_chunks(gathering *all, uint64_t number, refs_error *err) {
    const refs_combine_split *split = all->result->split;
    const refs_combine_cell_box box = refs_combine__cells_of(split, number);
    const size_t n_concat = split->cells.n_concat, n_slowest = split->dim[0] == 0 ? 1 : 0;
    size_t index[REFS_COMBINE_MAX_DIMS], n = 1;
    memcpy(index, box.begin, sizeof index);
    for (size_t i = n_slowest; i < n_concat; i++) n *= box.end[i] - box.begin[i];
    do {
        bool has_more = true;
        for (; has_more; has_more = next_cell(&box, n_concat, n_slowest, index)) {
            moving cell;
            place_cell(all, index, &cell);
            REFS_TRY(gather_cell(all, &cell, n == 1 ? SORTED : UNSORTED, err));
        }
        REFS_TRY(put_gathered(all, err));
    } while (n_slowest > 0 && ++index[0] < box.end[0]);
    return REFS_OK;
}

/* -- values of fragments ----------------------------------------------------------------------- */

/* Bytes of the values of a piece. */
static refs_status check_values(const output *out, const refs_combine_place *piece,
                                refs_error *err) {
    const refs_str bytes = refs_combine__text(out->combine, piece->array->values);
    uint64_t expected = piece->array->dtype.size;
    for (size_t dim = 0; dim < piece->array->rank; dim++)
        if (!refs_mul_u64(expected, piece->array->shape[dim], &expected)) expected = UINT64_MAX;
    if (bytes.size >= expected) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "%.*s of %s: expected %llu bytes of values, found %zu",
                     REFS_STR_ARG(path_of(out)), piece->member->name, (unsigned long long)expected,
                     bytes.size);
}

/* Copies the values of a cell into the fragment. */
static refs_status copy_cell(const gathering *all, const moving *cell, refs_buf *values,
                             refs_error *err) {
    const refs_combine_result *result = all->result;
    const refs_combine_array *array = cell->piece->array;
    const refs_str bytes = refs_combine__text(all->out->combine, array->values);
    const size_t size = array->dtype.size;
    uint64_t index[REFS_MAX_RANK] = {0};
    size_t dim;
    REFS_TRY(check_values(all->out, cell->piece, err));
    do {
        uint64_t from = 0, to = 0;
        for (dim = 0; dim < result->rank; dim++) {
            const size_t own = refs_combine__own_dim(result, array, dim);
            if (own != SIZE_MAX) from = from * array->shape[own] + cell->step[dim] + index[dim];
            to = to * all->of.shape[dim] + cell->begin[dim] + index[dim];
        }
        memcpy(values->data + to * size, bytes.data + from * size, size);
        for (dim = result->rank; dim-- > 0; index[dim] = 0)
            if (++index[dim] < cell->n_steps[dim]) break;
    } while (dim != SIZE_MAX);
    return REFS_OK;
}

static refs_status put_values(gathering *all, uint64_t number, refs_error *err) {
    const refs_combine_split *split = all->result->split;
    const refs_combine_cell_box box = refs_combine__cells_of(split, number);
    size_t index[REFS_COMBINE_MAX_DIMS], n = array_of(all->out, number)->dtype.size;
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    bool has_more = true;
    for (size_t dim = 0; dim < all->result->rank; dim++) n *= (size_t)all->of.shape[dim];
    memcpy(index, box.begin, sizeof index);
    REFS_TRY(refs_buf_resize(&values, n, err));
    for (; has_more; has_more = next_cell(&box, split->cells.n_concat, 0, index)) {
        moving cell;
        place_cell(all, index, &cell);
        REFS_TRY(copy_cell(all, &cell, &values, err));
    }
    const size_t size = n / (size_t)all->of.shape[0] * (size_t)all->of.chunk[0];
    return refs_combine__put_values(all->out->sink, refs_buf_view(&values), size, err);
}

static refs_status put_fragment(output *out, gathering *all, uint64_t number, refs_error *err) {
    all->of = grid_of(out, number);
    REFS_TRY(set_fragment_key(out, number, "/", err));
    const refs_chunk_keys keys = {refs_buf_text(&out->key), '.', out->result->rank, all->of.n};
    REFS_TRY(out->sink->array(out->sink->self, &keys, err));
    REFS_TRY(array_of(out, number)->is_thin ? put_values(all, number, err)
                                            : put_chunks(all, number, err));
    return refs_combine__go_on(out->combine, err);
}

/* Writes the container, which has no chunk. */
refs_status refs_combine__put_split_chunks(refs_combine *combine, const refs_combine_result *result,
                                           const refs_combine_sink *sink, refs_error *err) {
    const refs_combine_split *split = result->split;
    output out = {combine, result, sink, REFS_BUF_INIT, REFS_BUF_INIT};
    gathering all = {.out = &out,
                     .result = result,
                     .cursors = refs_calloc(split->cells.n_pieces, sizeof *all.cursors)};
    refs_status status = all.cursors != NULL ? REFS_OK : refs_fail_nomem(err);
    for (uint64_t i = 0; i < split->grid.n && status == REFS_OK; i++)
        if (split->grid.sources[i].is_there) status = put_fragment(&out, &all, i, err);
    for (size_t i = 0; all.cursors != NULL && i < split->cells.n_pieces; i++)
        status = refs_stream_close(&all.cursors[i].reader, status, err);
    refs_free(all.cursors);
    refs_free(all.all);
    clear(&out);
    return status;
}
