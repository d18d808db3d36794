/* split_emit.c -- fragments as arrays of the joined set, and the aggregation of them
 * (set_fragments.h). The container is empty: nobody reads a chunk of it. */
#include <stdio.h>
#include <stdlib.h>

#include "combine_internal.h"
#include "refs/attribute_class.h"
#include "refs/fragment_grid.h"

static const char *const layout_names[] = {"dtype",      "compressor", "filters",
                                           "fill_value", "order",      NULL};
/* The role of an array for others. */
static const char *const own_names[] = {"_ARRAY_DIMENSIONS", "cf_role", NULL};

/* -- told by attributes ------------------------------------------------------------------------ */

static const char *const no_names[] = {NULL};

/* Appends attributes, but for those of aggregations, those that `names` has, and those of some
 * classes. */
static refs_status append_except(const refs_json *attributes, const char *const *names,
                                 unsigned classes, refs_buf *text, refs_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const refs_str name = refs_json_name_at(attributes, i);
        if (refs_join__is_among(name, names) || refs_cf_is_attribute_of(name, classes) ||
            refs_aggregation_owns(attributes, name))
            continue;
        REFS_TRY(refs_buf_append(text, ",", n++ > 0, err));
        REFS_TRY(refs_json_write_string(name, text, err));
        REFS_TRY(refs_buf_append(text, ":", 1, err));
        REFS_TRY(refs_json_write(refs_json_at(attributes, i), text, err));
    }
    return REFS_OK;
}

refs_status refs_join__without_fragments(refs_str attributes, refs_buf *text, refs_error *err) {
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(attributes, &doc, err));
    refs_status status = refs_buf_append(text, "{", 1, err);
    if (status == REFS_OK) status = append_except(refs_json_root(doc), own_names, 0, text, err);
    if (status == REFS_OK) status = refs_buf_append(text, "}", 1, err);
    refs_json_doc_free(doc);
    return status;
}

bool refs_join__is_part_of(const refs_array_meta *container, const char *path) {
    const size_t size = strlen(container->path);
    return strncmp(path, container->path, size) == 0 &&
           refs_str_starts(refs_str_from(path + size), REFS_SET_FRAGMENTS_SUFFIX "/");
}

const char *refs_join__all_bytes(const refs_join *join, const refs_join_array *array) {
    const bool has_range = !refs_str_is(refs_join__text(join, array->range), REFS_JOIN_NO_RANGE);
    if (array->dtype.size != 1 || !refs_dtype_is_numeric(&array->dtype) || array->has_nodata ||
        has_range)
        return NULL;
    const bool is_signed = array->dtype.type == REFS_TYPE_INT && !array->unpacking.is_unsigned;
    return is_signed ? "[-128,127]" : "[0,255]";
}

/* -- documents --------------------------------------------------------------------------------- */

/* The documents of one array; strings are made in `text` and `key`. */
typedef struct output {
    refs_join *join;
    const refs_joined *joined;
    const refs_join_sink *sink;
    refs_buf key, text;
} output;

static void clear(output *out) {
    refs_buf_clear(&out->key);
    refs_buf_clear(&out->text);
}

static refs_str path_of(const output *out) {
    return refs_join__text(out->join, out->joined->path);
}

/* Sets the key to the array's path and what follows. */
static refs_status set_key(output *out, const char *rest, refs_error *err) {
    out->key.size = 0;
    return refs_buf_printf(&out->key, err, "%.*s%s", REFS_STR_WHOLE(path_of(out)), rest);
}

/* A fragment's array is called as the whole, in a group of its own. */
static refs_status set_fragment_key(output *out, size_t number, const char *rest, refs_error *err) {
    out->key.size = 0;
    return refs_buf_printf(&out->key, err, "%.*s" REFS_SET_FRAGMENTS_SUFFIX "/%zu/%.*s%s",
                           REFS_STR_WHOLE(path_of(out)), number,
                           REFS_STR_WHOLE(refs_join__own_name(path_of(out))), rest);
}

static refs_status put(const output *out, refs_error *err) {
    return out->sink->document(out->sink->self,
                               refs_str_view((const char *)out->key.data, out->key.size),
                               refs_buf_view(&out->text), err);
}

static refs_status append_member(const refs_json *object, const char *name, refs_buf *text,
                                 refs_error *err) {
    const refs_json *value = refs_json_get(object, name);
    if (value == NULL) return REFS_OK;
    REFS_TRY(refs_buf_printf(text, err, ",\"%s\":", name));
    return refs_json_write(value, text, err);
}

/* Appends members of an object that `names` has, in that order, each with a comma before it. */
static refs_status append_named(const refs_json *object, const char *const *names, refs_buf *text,
                                refs_error *err) {
    for (; *names != NULL; names++) REFS_TRY(append_member(object, *names, text, err));
    return REFS_OK;
}

/* The same of the attributes of some classes. */
static refs_status append_classes(const refs_json *attributes, unsigned classes, refs_buf *text,
                                  refs_error *err) {
    const char *name;
    for (size_t i = 0; (name = refs_cf_attribute_at(classes, i)) != NULL; i++)
        REFS_TRY(append_member(attributes, name, text, err));
    return REFS_OK;
}

static refs_str dim_name(const output *out, const refs_join_array *array, size_t dim) {
    const size_t own = refs_join__own_dim(out->joined, array, dim);
    const size_t line = out->joined->line[dim];
    return refs_join__text(out->join, own == SIZE_MAX ? out->join->dims[line] : array->dims[own]);
}

/* -- fragments --------------------------------------------------------------------------------- */

static const refs_join_array *array_of(const output *out, const refs_join_run *run) {
    return out->joined->split->atoms[run->first].at.array;
}

/* The shape, chunk and number of chunks of a fragment. */
typedef struct grid {
    uint64_t shape[REFS_MAX_RANK], chunk[REFS_MAX_RANK], n[REFS_MAX_RANK];
} grid;

/* Steps of a chunk of values, where the set grows those that the fragment had: or all. */
static uint64_t steps_of_values(const output *out, const refs_join_run *run) {
    const refs_join_split *split = out->joined->split;
    const refs_join_place *first = &split->atoms[run->first].at;
    const uint64_t n = run->end - run->begin;
    const bool grows = out->join->options.values == REFS_JOIN_VALUES_GROW &&
                       first->member->number == 0 && split->dim == 0;
    const refs_join_array *piece = first->array;
    return grows && piece->is_piece && piece->begin == run->begin &&
                   refs_join__chunks_of_values(n, piece->chunk[0]) != 0
               ? piece->chunk[0]
               : n;
}

static grid grid_of(const output *out, const refs_join_run *run) {
    const refs_joined *joined = out->joined;
    const refs_join_array *array = array_of(out, run);
    grid of = {{0}, {0}, {0}};
    for (size_t dim = 0; dim < joined->rank; dim++) {
        const size_t own = refs_join__own_dim(joined, array, dim);
        of.shape[dim] = dim == joined->split->dim ? run->end - run->begin : joined->shape[dim];
        of.chunk[dim] = array->is_thin ? of.shape[dim] : own == SIZE_MAX ? 1 : array->chunk[own];
        if (array->is_thin && dim == joined->split->dim) of.chunk[dim] = steps_of_values(out, run);
        of.n[dim] = (of.shape[dim] + of.chunk[dim] - 1) / of.chunk[dim];
    }
    return of;
}

/* Values put into the set are stored as they are. */
static refs_status append_layout(output *out, const refs_join_array *array,
                                 const refs_json *document, refs_error *err) {
    static const char *const fill[] = {"fill_value", NULL};
    char dtype[64];
    if (!array->is_thin) return append_named(document, layout_names, &out->text, err);
    refs_dtype native = array->dtype;
    native.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    refs_dtype_format(&native, dtype, sizeof dtype);
    REFS_TRY(refs_buf_printf(&out->text, err,
                             ",\"dtype\":\"%s\",\"compressor\":null,\"filters\":null", dtype));
    REFS_TRY(append_named(document, fill, &out->text, err));
    return refs_buf_printf(&out->text, err, ",\"order\":\"C\"");
}

/* Members come in one order, whoever wrote the source: parts of parts give the same bytes. */
static refs_status put_fragment_array(output *out, const refs_join_run *run, refs_error *err) {
    const size_t rank = out->joined->rank;
    const grid of = grid_of(out, run);
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(refs_join__text(out->join, array_of(out, run)->document), &doc, err));
    out->text.size = 0;
    refs_status status = refs_buf_printf(&out->text, err, "{\"zarr_format\":2,\"shape\":");
    if (status == REFS_OK) status = refs_join__write_list(of.shape, rank, &out->text, err);
    if (status == REFS_OK) status = refs_buf_printf(&out->text, err, ",\"chunks\":");
    if (status == REFS_OK) status = refs_join__write_list(of.chunk, rank, &out->text, err);
    if (status == REFS_OK)
        status = append_layout(out, array_of(out, run), refs_json_root(doc), err);
    if (status == REFS_OK)
        status = refs_buf_printf(&out->text, err, ",\"dimension_separator\":\".\"}");
    refs_json_doc_free(doc);
    return status == REFS_OK ? put(out, err) : status;
}

static refs_status put_fragment_attributes(output *out, const refs_join_run *run, refs_error *err) {
    const refs_join_array *array = array_of(out, run);
    refs_json_doc *doc = NULL;
    refs_str own = array->attributes != REFS_JOIN_NONE
                       ? refs_join__text(out->join, array->attributes)
                       : refs_str_from("{}");
    REFS_TRY(refs_json_parse(own, &doc, err));
    out->text.size = 0;
    refs_status status = refs_buf_printf(&out->text, err, "{\"_ARRAY_DIMENSIONS\":[");
    for (size_t dim = 0; dim < out->joined->rank && status == REFS_OK; dim++) {
        status = refs_buf_append(&out->text, ",", dim > 0, err);
        if (status == REFS_OK)
            status = refs_json_write_string(dim_name(out, array, dim), &out->text, err);
    }
    /* CFA's word for variables that only serve an aggregation. */
    if (status == REFS_OK)
        status = refs_buf_printf(&out->text, err, "],\"cf_role\":\"cfa_private\"");
    if (status == REFS_OK)
        status = append_classes(refs_json_root(doc),
                                REFS_CF_PACKING | REFS_CF_VALID | REFS_CF_UNITS, &out->text, err);
    if (status == REFS_OK) status = refs_buf_append(&out->text, "}", 1, err);
    refs_json_doc_free(doc);
    return status == REFS_OK ? put(out, err) : status;
}

static refs_status put_group(output *out, refs_error *err) {
    out->text.size = 0;
    REFS_TRY(refs_buf_printf(&out->text, err, "{\"zarr_format\":2}"));
    return put(out, err);
}

static refs_status put_groups(output *out, refs_error *err) {
    const refs_join_split *split = out->joined->split;
    REFS_TRY(set_key(out, REFS_SET_FRAGMENTS_SUFFIX "/.zgroup", err));
    REFS_TRY(put_group(out, err));
    for (size_t i = 0; i < split->n_runs; i++) {
        if (split->runs[i].n == 0) continue;
        out->key.size = 0;
        REFS_TRY(refs_buf_printf(&out->key, err, "%.*s" REFS_SET_FRAGMENTS_SUFFIX "/%zu/.zgroup",
                                 REFS_STR_WHOLE(path_of(out)), i));
        REFS_TRY(put_group(out, err));
    }
    return REFS_OK;
}

static refs_status put_fragments(output *out, refs_error *err) {
    const refs_join_split *split = out->joined->split;
    for (size_t i = 0; i < split->n_runs; i++) {
        if (split->runs[i].n == 0) continue;
        REFS_TRY(set_fragment_key(out, i, "/.zarray", err));
        REFS_TRY(put_fragment_array(out, &split->runs[i], err));
        REFS_TRY(set_fragment_key(out, i, "/.zattrs", err));
        REFS_TRY(put_fragment_attributes(out, &split->runs[i], err));
        REFS_TRY(refs_join__go_on(out->join, err));
    }
    return REFS_OK;
}

/* -- the container ----------------------------------------------------------------------------- */

static const char *hole_text(const output *out) {
    return refs_join__text(out->join, out->joined->hole_text).data;
}

static refs_status put_container_array(output *out, refs_error *err) {
    const refs_join_split *split = out->joined->split;
    refs_dtype native = split->type.dtype;
    refs_json_doc *doc = NULL;
    char dtype[64];
    native.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    refs_dtype_format(&native, dtype, sizeof dtype);
    REFS_TRY(
        refs_json_parse(refs_join__text(out->join, split->atoms[0].at.array->document), &doc, err));
    out->text.size = 0;
    refs_status status =
        refs_buf_printf(&out->text, err,
                        "{\"zarr_format\":2,\"shape\":[0],\"chunks\":[1],\"dtype\":"
                        "\"%s\",\"compressor\":null,\"filters\":null,\"order\":"
                        "\"C\"",
                        dtype);
    const char *const fill[] = {"fill_value", NULL};
    if (status == REFS_OK && split->type.is_unpacked)
        status = refs_buf_printf(&out->text, err, ",\"fill_value\":%s",
                                 refs_cf_default_fill_text(&split->type.dtype));
    else if (status == REFS_OK && out->joined->has_hole_fill)
        status = refs_buf_printf(&out->text, err, ",\"fill_value\":%s", hole_text(out));
    else if (status == REFS_OK)
        status = append_named(refs_json_root(doc), fill, &out->text, err);
    if (status == REFS_OK) status = refs_buf_append(&out->text, "}", 1, err);
    refs_json_doc_free(doc);
    return status == REFS_OK ? put(out, err) : status;
}

refs_status refs_join__without_packing(const refs_json *attributes, refs_buf *text,
                                       refs_error *err) {
    const unsigned classes = REFS_CF_PACKING | REFS_CF_VALID | REFS_CF_ACTUAL;
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    REFS_TRY(append_except(attributes, no_names, classes, text, err));
    return refs_buf_append(text, "}", 1, err);
}

/* The attributes of the earliest source's array, but for what its fragments say each for
 * themselves. */
static refs_status append_attributes(output *out, const refs_json *attributes, refs_error *err) {
    unsigned classes = REFS_CF_PACKING | REFS_CF_VALID;
    if (out->joined->split->type.is_unpacked) classes |= REFS_CF_ACTUAL;
    if (out->joined->drops_flags) classes |= REFS_CF_FLAGS;
    const size_t begin = out->text.size;
    REFS_TRY(append_except(attributes, own_names, classes, &out->text, err));
    return refs_buf_append(&out->text, ",", out->text.size > begin, err);
}

/* Steps that no part has are no fragment. */
static refs_status fill_grid(const output *out, refs_fragment_grid *made, refs_error *err) {
    const refs_join_split *split = out->joined->split;
    const refs_str own_name = refs_join__own_name(path_of(out));
    refs_buf name = REFS_BUF_INIT;
    refs_status status = refs_fragment_grid_allocate(made, 1, err);
    for (size_t i = 0; i < split->n_runs && status == REFS_OK; i++) {
        if (split->runs[i].n == 0) continue;
        name.size = 0;
        status = refs_set_fragments_name(own_name, i, &name, err);
        if (status == REFS_OK) status = refs_buf_append(&name, "", 1, err);
        const refs_partition fragment = {
            .file = "", .variable = (const char *)name.data, .format = ""};
        if (status == REFS_OK) status = refs_fragment_grid_set(made, i, &fragment, err);
    }
    refs_buf_clear(&name);
    return status;
}

static refs_status make_grid(const output *out, refs_fragment_grid *made, refs_error *err) {
    const refs_joined *joined = out->joined;
    const refs_join_split *split = joined->split;
    made->rank = joined->rank;
    for (size_t dim = 0; dim < joined->rank; dim++) {
        refs_fragment_dim *added = &made->dims[dim];
        added->is_split = dim == split->dim;
        added->n_parts = added->is_split ? split->n_runs : 1;
        for (size_t i = 0; i < added->n_parts; i++) {
            const refs_join_run *run = &split->runs[i];
            refs_fragment_interval interval = {0, joined->shape[dim], i};
            if (added->is_split) interval = (refs_fragment_interval){run->begin, run->end, i};
            REFS_TRY(refs_fragment_dim_add(added, interval, err));
        }
    }
    REFS_TRY(refs_fragment_grid_count(made, err));
    return fill_grid(out, made, err);
}

static refs_status append_aggregation(output *out, refs_error *err) {
    const refs_join_array *first = out->joined->split->atoms[0].at.array;
    const char *dims[REFS_MAX_RANK];
    for (size_t dim = 0; dim < out->joined->rank; dim++)
        dims[dim] = refs_join__own_name(dim_name(out, first, dim)).data;
    const refs_set_container container = {refs_join__own_name(path_of(out)).data, dims,
                                          out->joined->shape};
    refs_fragment_grid made = {.rank = 0};
    refs_status status = make_grid(out, &made, err);
    if (status == REFS_OK) status = refs_set_fragments_encode(&container, &made, &out->text, err);
    refs_fragment_grid_clear(&made);
    return status;
}

static refs_status put_container_attributes(output *out, refs_error *err) {
    const refs_join_split *split = out->joined->split;
    const refs_join_array *first = split->atoms[0].at.array;
    refs_json_doc *whole = NULL, *own = NULL;
    refs_str none = refs_str_from("{}");
    out->text.size = 0;
    refs_status status = refs_json_parse(
        first->whole != REFS_JOIN_NONE ? refs_join__text(out->join, first->whole) : none, &whole,
        err);
    if (status == REFS_OK)
        status = refs_json_parse(first->attributes != REFS_JOIN_NONE
                                     ? refs_join__text(out->join, first->attributes)
                                     : none,
                                 &own, err);
    if (status == REFS_OK) status = refs_buf_append(&out->text, "{", 1, err);
    if (status == REFS_OK) status = append_attributes(out, refs_json_root(whole), err);
    if (status == REFS_OK) status = append_aggregation(out, err);
    if (status == REFS_OK && split->type.is_unpacked)
        status = refs_buf_printf(&out->text, err, ",\"_FillValue\":%s",
                                 refs_cf_default_fill_text(&split->type.dtype));
    else if (status == REFS_OK)
        status = append_classes(refs_json_root(own), REFS_CF_PACKING, &out->text, err);
    if (status == REFS_OK && !split->type.is_unpacked)
        status = append_classes(refs_json_root(own), REFS_CF_VALID, &out->text, err);
    const char *valid = split->type.is_unpacked ? NULL : refs_join__all_bytes(out->join, first);
    if (status == REFS_OK && valid != NULL)
        status = refs_buf_printf(&out->text, err, ",\"valid_range\":%s", valid);
    if (status == REFS_OK && !split->type.is_unpacked && out->joined->tells_hole_fill)
        status = refs_buf_printf(&out->text, err, ",\"_FillValue\":%s", hole_text(out));
    if (status == REFS_OK) status = refs_buf_append(&out->text, "}", 1, err);
    refs_json_doc_free(whole);
    refs_json_doc_free(own);
    return status == REFS_OK ? put(out, err) : status;
}

refs_status refs_join__put_split_groups(refs_join *join, const refs_joined *joined,
                                        const refs_join_sink *sink, refs_error *err) {
    output out = {join, joined, sink, REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = put_groups(&out, err);
    clear(&out);
    return status;
}

refs_status refs_join__put_split(refs_join *join, const refs_joined *joined,
                                 const refs_join_sink *sink, refs_error *err) {
    output out = {join, joined, sink, REFS_BUF_INIT, REFS_BUF_INIT};
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
    const refs_join_member *member;
    refs_stream_ref ref;
} moved;

/* Chunks of one fragment, and where the stream of the array was left that was read last: rows of
 * one array mostly come one after the other. */
typedef struct gathering {
    const refs_joined *joined;
    grid of;
    moved *all;
    size_t n, capacity;
    const refs_join_array *array;
    refs_stream_reader reader;
    refs_stream_ref ref;
    bool has_ref;
} gathering;

static int by_number(const void *left, const void *right) {
    const moved *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static void rewind_to(gathering *all, const refs_join_place *at) {
    all->array = at->array;
    all->reader = refs_join__stream_of(at);
    all->has_ref = refs_stream_get(&all->reader, &all->ref);
}

/* Splits the number of a chunk of the array; *row is along the joined dimension. Returns its number
 * in a fragment in which that is row `to`. */
static uint64_t move(const gathering *all, const refs_join_array *array, uint64_t to,
                     uint64_t *row) {
    uint64_t number = all->ref.number, moved_to = 0, stride = 1;
    *row = 0;
    for (size_t dim = all->joined->rank; dim-- > 0;) {
        const size_t own = refs_join__own_dim(all->joined, array, dim);
        const uint64_t n = own == SIZE_MAX ? 1 : array->n[own];
        uint64_t index = number % n;
        number /= n;
        if (dim == all->joined->split->dim) {
            *row = index;
            index = to;
        }
        moved_to += index * stride;
        stride *= all->of.n[dim];
    }
    return moved_to;
}

static refs_status gather_row(gathering *all, const refs_join_atom *atom, uint64_t to,
                              refs_error *err) {
    const bool is_slowest = all->joined->split->dim == 0;
    uint64_t row = 0;
    if (!is_slowest || all->array != atom->at.array || !all->has_ref)
        rewind_to(all, &atom->at);
    else if (move(all, atom->at.array, to, &row), row > atom->row)
        rewind_to(all, &atom->at);
    for (; all->has_ref; all->has_ref = refs_stream_get(&all->reader, &all->ref)) {
        const uint64_t number = move(all, atom->at.array, to, &row);
        if (is_slowest && row > atom->row) break;
        if (row != atom->row) continue;
        if (!refs_grow((void **)&all->all, &all->capacity, all->n, sizeof *all->all))
            return refs_fail_nomem(err);
        all->all[all->n++] = (moved){number, atom->at.member, all->ref};
    }
    return REFS_OK;
}

/* Rows along the slowest dimension go to the sink as they come. */
static refs_status put_gathered(const output *out, gathering *all, refs_error *err) {
    if (all->n > 0) qsort(all->all, all->n, sizeof *all->all, by_number);
    for (size_t i = 0; i < all->n; i++)
        REFS_TRY(refs_join__put_chunk(
            out->join, out->sink,
            (refs_join_chunk){all->all[i].member, &all->all[i].ref, all->all[i].number}, err));
    all->n = 0;
    return REFS_OK;
}

/* Elements of a step in an array: `inner` bytes each, `outer` times, `stride` bytes apart. */
typedef struct slab {
    size_t inner, outer, stride, begin;
} slab;

static slab slab_of(const output *out, const refs_join_array *array, uint64_t step) {
    const refs_joined *joined = out->joined;
    slab of = {.inner = array->dtype.size, .outer = 1};
    for (size_t dim = 0; dim < joined->rank; dim++) {
        if (dim < joined->split->dim) of.outer *= (size_t)joined->shape[dim];
        if (dim > joined->split->dim) of.inner *= (size_t)joined->shape[dim];
    }
    const size_t own = refs_join__own_dim(joined, array, joined->split->dim);
    of.stride = of.inner * (own == SIZE_MAX ? 1 : (size_t)array->shape[own]);
    of.begin = of.inner * (size_t)step;
    return of;
}

static refs_status fail_short(const output *out, const refs_join_atom *atom, const slab *expected,
                              refs_error *err) {
    const refs_str bytes = refs_join__text(out->join, atom->at.array->values);
    return refs_fail(err, REFS_CORRUPT, "%.*s of %s: expected %zu bytes of values, found %zu",
                     REFS_STR_ARG(path_of(out)), atom->at.member->name,
                     expected->stride * expected->outer, bytes.size);
}

static refs_status put_values(const output *out, const refs_join_run *run, const grid *to,
                              refs_error *err) {
    const refs_join_split *split = out->joined->split;
    const size_t n_steps = (size_t)(run->end - run->begin);
    refs_buf values = REFS_BUF_INIT;
    slab of = slab_of(out, array_of(out, run), 0);
    refs_status status = refs_buf_resize(&values, of.inner * of.outer * n_steps, err);
    for (size_t i = 0; i < run->n && status == REFS_OK; i++) {
        const refs_join_atom *atom = &split->atoms[run->first + i];
        const refs_str bytes = refs_join__text(out->join, atom->at.array->values);
        of = slab_of(out, atom->at.array, atom->row);
        if (of.begin + of.inner > of.stride || bytes.size < of.stride * of.outer)
            status = fail_short(out, atom, &of, err);
        for (size_t k = 0; k < of.outer && status == REFS_OK; k++)
            memcpy(values.data + (k * n_steps + i) * of.inner,
                   bytes.data + k * of.stride + of.begin, of.inner);
    }
    const size_t size = values.size / n_steps * (size_t)to->chunk[split->dim];
    if (status == REFS_OK)
        status = refs_join__put_values(out->sink, refs_buf_view(&values), size, err);
    refs_buf_clear(&values);
    return status;
}

static refs_status put_fragment_chunks(output *out, gathering *all, size_t number,
                                       refs_error *err) {
    const refs_join_split *split = out->joined->split;
    const refs_join_run *run = &split->runs[number];
    all->of = grid_of(out, run);
    all->n = 0;
    REFS_TRY(set_fragment_key(out, number, "/", err));
    const refs_chunk_keys keys = {refs_str_view((const char *)out->key.data, out->key.size), '.',
                                  out->joined->rank, all->of.n};
    REFS_TRY(out->sink->array(out->sink->self, &keys, err));
    if (array_of(out, run)->is_thin) return put_values(out, run, &all->of, err);
    for (size_t i = 0; i < run->n; i++) {
        REFS_TRY(gather_row(all, &split->atoms[run->first + i], i, err));
        if (split->dim == 0) REFS_TRY(put_gathered(out, all, err));
    }
    REFS_TRY(put_gathered(out, all, err));
    return refs_join__go_on(out->join, err);
}

/* The container has no chunk. */
refs_status refs_join__put_split_chunks(refs_join *join, const refs_joined *joined,
                                        const refs_join_sink *sink, refs_error *err) {
    output out = {join, joined, sink, REFS_BUF_INIT, REFS_BUF_INIT};
    gathering all = {.joined = joined};
    refs_status status = REFS_OK;
    for (size_t i = 0; i < joined->split->n_runs && status == REFS_OK; i++)
        if (joined->split->runs[i].n > 0) status = put_fragment_chunks(&out, &all, i, err);
    refs_free(all.all);
    clear(&out);
    return status;
}
