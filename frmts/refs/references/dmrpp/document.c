/* document.c -- see dmrpp/document.h. */
#include "dmrpp/document.h"

#include "builder.h"
#include "dmrpp/attribute.h"
#include "dmrpp/scope.h"
#include "dmrpp/strings.h"
#include "dmrpp/url.h"
#include "dmrpp/variable.h"

/* The kinds of elements. Everything inside an unknown element is ignored. */
typedef enum element {
    UNKNOWN,
    GROUP, /* or the root element */
    DIMENSION,
    ENUMERATION,
    VARIABLE,
    DIM,
    MAP,
    ATTRIBUTE,
    CONTAINER,
    VALUE,
    CHUNKS,
    CHUNK_SIZES,
    CHUNK,
    BLOCK,
    FIXED_STRINGS,
    COMPACT,
    MISSING,
    STRINGS,
    STRING,
    N_ELEMENTS
} element;

struct refs_dmrpp_document {
    const refs_dmrpp_job *job;
    refs_dmrpp_names names;
    char *href; /* of the root element, or NULL */
    uint32_t data_url;
    bool has_old_filters;

    element open[REFS_XML_MAX_DEPTH + 1];
    size_t depth;
    refs_dmrpp_scope scope;
    refs_dmrpp_variable variable;
    bool is_elsewhere; /* the variable has another path in the file */
    refs_dmrpp_attribute attribute;
    refs_dmrpp_string string;
    refs_buf text; /* of the current element */
};

typedef refs_status (*on_begin)(refs_dmrpp_document *document, const char *name,
                                const char *const *attributes, refs_error *err);
typedef refs_status (*on_end)(refs_dmrpp_document *document, refs_error *err);

static const char *get(const char *const *attributes, const char *name) {
    return refs_references__xml_attribute(attributes, name);
}

static refs_status require(const char *const *attributes, const char *name, const char *of,
                           const char **value, refs_error *err) {
    *value = get(attributes, name);
    if (*value != NULL && **value != '\0') return REFS_OK;
    return refs_fail(err, REFS_INVALID, "an element %s lacks the attribute \"%s\"", of, name);
}

/* A fault in a variable makes only that variable unreadable. */
static refs_status blame(refs_dmrpp_document *document, refs_status status, refs_error *problem,
                         refs_error *err) {
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    (void)refs_fail(&document->variable.problem, status, "%s", problem->message);
    return REFS_OK;
}

static void blame_text(refs_dmrpp_document *document, const char *what, const char *text) {
    (void)refs_fail(&document->variable.problem, REFS_CORRUPT, "its %s is \"%.100s\"", what, text);
}

/* -- groups and what is declared in them ------------------------------------------------------- */

static refs_status add_url(refs_dmrpp_document *document, const char *href, uint32_t *id,
                           refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    REFS_TRY(refs_references__dmrpp_url(&document->names, href, &url, err));
    return refs_references__builder_url(document->job->builder, refs_buf_text(&url), id, err);
}

static refs_status begin_root(refs_dmrpp_document *document, const char *const *attributes,
                              refs_error *err) {
    const refs_dmrpp_job *job = document->job;
    const char *href = get(attributes, "dmrpp:href"), *version = get(attributes, "dmrpp:version");
    document->has_old_filters = version == NULL || *version == '\0';
    document->href = href != NULL && *href != '\0' ? refs_str_copy(refs_str_from(href)) : NULL;
    if (href != NULL && *href != '\0' && document->href == NULL) return refs_fail_nomem(err);
    document->names =
        refs_references__dmrpp_names(job->location, document->href, job->options->target);
    return add_url(document, job->options->target == NULL ? document->href : NULL,
                   &document->data_url, err);
}

static refs_status begin_group(refs_dmrpp_document *document, const char *name,
                               const char *const *attributes, refs_error *err) {
    const char *called = "";
    if (document->depth == 1)
        REFS_TRY(begin_root(document, attributes, err));
    else
        REFS_TRY(require(attributes, "name", name, &called, err));
    return refs_references__scope_enter(&document->scope, called, err);
}

static refs_status end_group(refs_dmrpp_document *document, refs_error *err) {
    return refs_references__scope_leave(&document->scope, document->job->builder, err);
}

static refs_status begin_dimension(refs_dmrpp_document *document, const char *name,
                                   const char *const *attributes, refs_error *err) {
    const char *called, *text;
    uint64_t size;
    REFS_TRY(require(attributes, "name", name, &called, err));
    REFS_TRY(require(attributes, "size", name, &text, err));
    if (!refs_str_to_u64(refs_str_from(text), &size))
        return refs_fail(err, REFS_INVALID,
                         "dimension \"%.100s\": expected a size, found \"%.100s\"", called, text);
    return refs_references__scope_add_dimension(&document->scope, called, size, err);
}

static refs_status begin_enumeration(refs_dmrpp_document *document, const char *name,
                                     const char *const *attributes, refs_error *err) {
    const char *called, *base;
    REFS_TRY(require(attributes, "name", name, &called, err));
    REFS_TRY(require(attributes, "basetype", name, &base, err));
    const refs_dmrpp_type *type = refs_references__dmrpp_type(base);
    if (type == NULL || (type->kind != 'i' && type->kind != 'u'))
        return refs_fail(err, REFS_INVALID,
                         "enumeration \"%.100s\": expected an integer type, found \"%.100s\"",
                         called, base);
    return refs_references__scope_add_enumeration(&document->scope, called, type, err);
}

/* -- variables --------------------------------------------------------------------------------- */

static refs_status begin_variable(refs_dmrpp_document *document, const char *name,
                                  const char *const *attributes, refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    const char *called, *of = get(attributes, "enum");
    refs_references__dmrpp_variable_clear(variable);
    document->is_elsewhere = false;
    variable->type = refs_references__dmrpp_type(name);
    REFS_TRY(require(attributes, "name", name, &called, err));
    REFS_TRY(refs_references__scope_path(&document->scope, called, &variable->path, err));
    if (variable->type->kind != 'e') return REFS_OK;
    const refs_dmrpp_declared *declared =
        of != NULL ? refs_references__scope_enumeration(&document->scope, of) : NULL;
    if (declared != NULL)
        variable->type = declared->type;
    else
        blame_text(document, "enumeration", of != NULL ? of : "");
    return REFS_OK;
}

static refs_status end_variable(refs_dmrpp_document *document, refs_error *err) {
    const refs_dmrpp_job *job = document->job;
    const refs_dmrpp_set set = {job->builder, job->blocks, document->has_old_filters};
    refs_dmrpp_group *group = refs_references__scope_group(&document->scope);
    group->has_children = true;
    if (document->is_elsewhere)
        REFS_TRY(refs_references__scope_list_above(
            &document->scope, refs_buf_text(&document->variable.path), job->builder, err));
    else
        group->has_kept = true;
    return refs_references__dmrpp_variable_put(&document->variable, &set, err);
}

static refs_status name_dim(refs_dmrpp_variable *variable, const char *name, refs_error *err) {
    variable->dim_name[variable->rank] = variable->dim_names.size;
    if (name == NULL)
        return refs_buf_printf(&variable->dim_names, err, "phony_dim_%zu%c", variable->rank, '\0');
    variable->has_named_dims = true;
    name = refs_path_leaf(name);
    return refs_buf_append_text(&variable->dim_names, refs_str_from(name), err);
}

static refs_status add_dim(refs_dmrpp_document *document, const char *const *attributes,
                           refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    const char *called = get(attributes, "name"), *text = get(attributes, "size");
    uint64_t size;
    if (variable->rank == REFS_CHUNK_MAX_RANK)
        return refs_fail(err, REFS_UNSUPPORTED, "more dimensions than the limit of %d",
                         REFS_CHUNK_MAX_RANK);
    if ((called == NULL) == (text == NULL))
        return refs_fail(err, REFS_INVALID, "an element Dim: expected either a name or a size");
    if (called != NULL) {
        const refs_dmrpp_declared *declared =
            refs_references__scope_dimension(&document->scope, called);
        if (declared == NULL)
            return refs_fail(err, REFS_INVALID,
                             "an element Dim names the unknown dimension \"%.100s\"", called);
        size = declared->size;
    } else if (!refs_str_to_u64(refs_str_from(text), &size)) {
        return refs_fail(err, REFS_INVALID, "an element Dim: expected a size, found \"%.100s\"",
                         text);
    }
    REFS_TRY(name_dim(variable, called, err));
    variable->shape[variable->rank++] = size;
    return REFS_OK;
}

static refs_status begin_dim(refs_dmrpp_document *document, const char *name,
                             const char *const *attributes, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    (void)name;
    return blame(document, add_dim(document, attributes, &problem), &problem, err);
}

static bool is_own_dim(const refs_dmrpp_variable *variable, const char *name) {
    for (size_t i = 0; i < variable->rank; i++)
        if (strcmp((const char *)variable->dim_names.data + variable->dim_name[i], name) == 0)
            return true;
    return false;
}

/* Coordinates of the variable's own dimensions are found by name and need no map. */
static refs_status begin_map(refs_dmrpp_document *document, const char *name,
                             const char *const *attributes, refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    const char *path = get(attributes, "name");
    (void)name;
    if (path == NULL || is_own_dim(variable, refs_path_leaf(path))) return REFS_OK;
    return refs_buf_printf(&variable->maps, err, "%s%s", variable->maps.size > 0 ? " " : "", path);
}

/* -- attributes -------------------------------------------------------------------------------- */

/* The attributes of the current variable or group. */
static refs_buf *members(refs_dmrpp_document *document) {
    for (size_t i = document->depth; i-- > 0;)
        if (document->open[i] == VARIABLE) return &document->variable.attributes;
    return &refs_references__scope_group(&document->scope)->attributes;
}

static bool is_of_variable(const refs_dmrpp_document *document) {
    return document->depth > 1 && document->open[document->depth - 2] == VARIABLE;
}

static refs_status begin_attribute(refs_dmrpp_document *document, const char *name,
                                   const char *const *attributes, refs_error *err) {
    const char *called, *type;
    REFS_TRY(require(attributes, "name", name, &called, err));
    REFS_TRY(require(attributes, "type", name, &type, err));
    element *self = &document->open[document->depth - 1];
    if (strcmp(type, "OtherXML") == 0) {
        *self = UNKNOWN;
        return REFS_OK;
    }
    if (strcmp(type, "Container") != 0)
        return refs_references__attribute_begin(&document->attribute, called, type, err);
    *self = CONTAINER;
    return refs_references__container_begin(called, members(document), err);
}

static refs_status end_container(refs_dmrpp_document *document, refs_error *err) {
    return refs_buf_append(members(document), "}", 1, err);
}

static refs_status end_value(refs_dmrpp_document *document, refs_error *err) {
    return refs_references__attribute_value(&document->attribute, refs_buf_text(&document->text),
                                            err);
}

/* Whether the text is "/group/name" without empty parts. */
static bool is_path(refs_str path) {
    if (path.size < 2 || path.data[0] != '/') return false;
    for (size_t begin = 1; begin <= path.size;) {
        refs_str rest = refs_str_part(path, begin, path.size);
        refs_str part = refs_str_part(rest, 0, refs_str_find(rest, '/'));
        if (part.size == 0 || part.data[0] == '.' || memchr(part.data, '\0', part.size) != NULL)
            return false;
        begin += part.size + 1;
    }
    return true;
}

/* Servers flatten groups and rename variables; this attribute has the path in the file. */
static refs_status restore_path(refs_dmrpp_document *document, refs_error *err) {
    refs_buf *path = &document->variable.path;
    refs_str given = refs_buf_text(&document->attribute.first);
    if (!is_path(given)) return REFS_OK;
    given = refs_str_part(given, 1, given.size);
    if (refs_str_equal(given, refs_buf_text(path))) return REFS_OK;
    document->is_elsewhere = true;
    path->size = 0;
    return refs_buf_append_str(path, given, err);
}

static refs_status end_attribute(refs_dmrpp_document *document, refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    const refs_dmrpp_attribute *attribute = &document->attribute;
    if (!is_of_variable(document))
        return refs_references__attribute_end(attribute, members(document), err);
    if (refs_references__attribute_is(attribute, "fullnamepath"))
        return restore_path(document, err);
    if (refs_references__attribute_is(attribute, "origname")) return REFS_OK;
    if (refs_references__attribute_is(attribute, "coordinates")) variable->has_coordinates = true;
    if (refs_references__attribute_is(attribute, "_FillValue") && attribute->n == 1)
        REFS_TRY(
            refs_buf_append_str(&variable->fill_attribute, refs_buf_text(&attribute->values), err));
    return refs_references__attribute_end(attribute, &variable->attributes, err);
}

/* -- chunks ------------------------------------------------------------------------------------ */

static void set_storage(refs_dmrpp_document *document, refs_dmrpp_storage storage) {
    document->variable.storage = storage;
}

static refs_status begin_chunks(refs_dmrpp_document *document, const char *name,
                                const char *const *attributes, refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    const char *order = get(attributes, "byteOrder"), *fill = get(attributes, "fillValue");
    const char *filters = get(attributes, "compressionType");
    (void)name;
    /* An empty one may accompany values that are in the DMR++. */
    if (variable->storage == REFS_DMRPP_NOT_SAID) set_storage(document, REFS_DMRPP_CHUNKS);
    if (order != NULL && strcmp(order, "BE") == 0)
        variable->is_big_endian = true;
    else if (order != NULL && *order != '\0' && strcmp(order, "LE") != 0)
        blame_text(document, "byteOrder", order);
    variable->has_fill = fill != NULL;
    if (fill != NULL) REFS_TRY(refs_buf_append_str(&variable->fill, refs_str_from(fill), err));
    return filters != NULL ? refs_buf_append_str(&variable->filters, refs_str_from(filters), err)
                           : REFS_OK;
}

/* If the element is repeated, the last one counts. */
static refs_status end_chunk_sizes(refs_dmrpp_document *document, refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    variable->chunk_rank = 0;
    if (refs_references__dmrpp_numbers(refs_buf_text(&document->text), ' ', variable->chunk_shape,
                                       REFS_CHUNK_MAX_RANK, &variable->chunk_rank))
        return REFS_OK;
    if (refs_buf_append(&document->text, "", 1, err) != REFS_OK) return REFS_NOMEM;
    blame_text(document, "chunkDimensionSizes", (const char *)document->text.data);
    return REFS_OK;
}

/* Parses "[0,50]". */
static bool read_position(refs_dmrpp_variable *variable, const char *text,
                          refs_dmrpp_chunk *chunk) {
    refs_str position = refs_str_trim(refs_str_from(text), " ");
    uint64_t numbers[REFS_CHUNK_MAX_RANK];
    chunk->first = variable->n_positions;
    if (position.size == 0) return true;
    if (position.size < 2 || position.data[0] != '[' || position.data[position.size - 1] != ']' ||
        !refs_references__dmrpp_numbers(refs_str_part(position, 1, position.size - 1), ',', numbers,
                                        REFS_CHUNK_MAX_RANK, &chunk->n))
        return false;
    for (size_t i = 0; i < chunk->n; i++) {
        if (!refs_grow((void **)&variable->positions, &variable->position_capacity,
                       variable->n_positions, sizeof *variable->positions))
            return false;
        variable->positions[variable->n_positions++] = numbers[i];
    }
    return true;
}

static bool read_number(const char *text, uint64_t *number) {
    return text != NULL && refs_str_to_u64(refs_str_from(text), number);
}

static refs_status add_chunk(refs_dmrpp_document *document, const char *const *attributes,
                             refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    const char *href = get(attributes, "href"), *mask = get(attributes, "fm");
    const char *position = get(attributes, "chunkPositionInArray");
    const char *piece = get(attributes, "LinkedBlockIndex");
    refs_dmrpp_chunk chunk = {.url = document->data_url};
    uint64_t filter_mask = 0;
    if (!read_number(get(attributes, "offset"), &chunk.offset) ||
        !read_number(get(attributes, "nBytes"), &chunk.length))
        return refs_fail(err, REFS_CORRUPT, "a chunk lacks its offset or its size");
    if ((mask != NULL && !read_number(mask, &filter_mask)) || filter_mask > UINT32_MAX)
        return refs_fail(err, REFS_CORRUPT,
                         "the filter mask of a chunk: expected a number, found \"%.100s\"", mask);
    if (position != NULL && !read_position(variable, position, &chunk))
        return refs_fail(err, REFS_CORRUPT,
                         "the position of a chunk: expected [N,N,...], found \"%.100s\"", position);
    if (href != NULL && *href != '\0') REFS_TRY(add_url(document, href, &chunk.url, err));
    chunk.filter_mask = (uint32_t)filter_mask;
    chunk.goes_on = piece != NULL && strcmp(piece, "0") != 0 && variable->n_chunks > 0;
    REFS_GROW(variable->chunks, variable->chunk_capacity, variable->n_chunks, err);
    variable->chunks[variable->n_chunks++] = chunk;
    return REFS_OK;
}

static refs_status begin_chunk(refs_dmrpp_document *document, const char *name,
                               const char *const *attributes, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    (void)name;
    set_storage(document, REFS_DMRPP_CHUNKS);
    return blame(document, add_chunk(document, attributes, &problem), &problem, err);
}

static refs_status begin_block(refs_dmrpp_document *document, const char *name,
                               const char *const *attributes, refs_error *err) {
    document->variable.has_blocks = true;
    return begin_chunk(document, name, attributes, err);
}

/* -- values in the DMR++ ----------------------------------------------------------------------- */

static refs_status begin_fixed_strings(refs_dmrpp_document *document, const char *name,
                                       const char *const *attributes, refs_error *err) {
    const char *length = get(attributes, "string_length");
    (void)name;
    (void)err;
    document->variable.is_fixed_string = true;
    if (length != NULL && !read_number(length, &document->variable.string_length))
        blame_text(document, "string_length", length);
    return REFS_OK;
}

static refs_status decode(refs_dmrpp_document *document, refs_dmrpp_storage storage,
                          refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_buf *bytes = &document->variable.bytes;
    bytes->size = 0;
    set_storage(document, storage);
    return blame(document, refs_base64_decode(refs_buf_text(&document->text), bytes, &problem),
                 &problem, err);
}

static refs_status end_compact(refs_dmrpp_document *document, refs_error *err) {
    return decode(document, REFS_DMRPP_COMPACT, err);
}

static refs_status end_missing(refs_dmrpp_document *document, refs_error *err) {
    return decode(document, REFS_DMRPP_MISSING, err);
}

static refs_status begin_strings(refs_dmrpp_document *document, const char *name,
                                 const char *const *attributes, refs_error *err) {
    static const uint8_t number[4];
    (void)name;
    (void)attributes;
    set_storage(document, REFS_DMRPP_STRINGS);
    document->variable.bytes.size = 0; /* end_strings sets the count, which comes first */
    return refs_buf_append(&document->variable.bytes, number, sizeof number, err);
}

static refs_status end_strings(refs_dmrpp_document *document, refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    (void)err;
    refs_store_le(variable->bytes.data, 4, variable->n_strings);
    return REFS_OK;
}

static refs_status begin_string(refs_dmrpp_document *document, const char *name,
                                const char *const *attributes, refs_error *err) {
    const char *count = get(attributes, "c"), *size = get(attributes, "s");
    refs_dmrpp_string *string = &document->string;
    (void)name;
    (void)err;
    *string = (refs_dmrpp_string){.count = 1, .is_packed = size != NULL};
    if (count != NULL && !read_number(count, &string->count))
        blame_text(document, "number of equal strings", count);
    if (size != NULL && !read_number(size, &string->size))
        blame_text(document, "size of a string", size);
    return REFS_OK;
}

static refs_status end_string(refs_dmrpp_document *document, refs_error *err) {
    refs_dmrpp_variable *variable = &document->variable;
    refs_error problem = REFS_ERROR_INIT;
    if (!refs_add_u64(variable->n_strings, document->string.count, &variable->n_strings))
        variable->n_strings = UINT64_MAX;
    return blame(document,
                 refs_references__dmrpp_append_string(
                     &document->string, refs_buf_text(&document->text), &variable->bytes, &problem),
                 &problem, err);
}

/* -- elements ---------------------------------------------------------------------------------- */

static const struct {
    on_begin begin;
    on_end end;
    bool has_text;
} elements[N_ELEMENTS] = {[GROUP] = {begin_group, end_group, false},
                          [DIMENSION] = {begin_dimension, NULL, false},
                          [ENUMERATION] = {begin_enumeration, NULL, false},
                          [VARIABLE] = {begin_variable, end_variable, false},
                          [DIM] = {begin_dim, NULL, false},
                          [MAP] = {begin_map, NULL, false},
                          [ATTRIBUTE] = {begin_attribute, end_attribute, false},
                          [CONTAINER] = {NULL, end_container, false},
                          [VALUE] = {NULL, end_value, true},
                          [CHUNKS] = {begin_chunks, NULL, false},
                          [CHUNK_SIZES] = {NULL, end_chunk_sizes, true},
                          [CHUNK] = {begin_chunk, NULL, false},
                          [BLOCK] = {begin_block, NULL, false},
                          [FIXED_STRINGS] = {begin_fixed_strings, NULL, false},
                          [COMPACT] = {NULL, end_compact, true},
                          [MISSING] = {NULL, end_missing, true},
                          [STRINGS] = {begin_strings, end_strings, false},
                          [STRING] = {begin_string, end_string, true}};

static element find_element(element parent, const char *name) {
    static const struct {
        element parent;
        const char *name;
        element is;
    } rules[] = {{CHUNKS, "dmrpp:chunk", CHUNK},
                 {CHUNKS, "dmrpp:block", BLOCK},
                 {CHUNKS, "dmrpp:chunkDimensionSizes", CHUNK_SIZES},
                 {VARIABLE, "Dim", DIM},
                 {VARIABLE, "Map", MAP},
                 {VARIABLE, "Attribute", ATTRIBUTE},
                 {VARIABLE, "dmrpp:chunks", CHUNKS},
                 {VARIABLE, "dmrpp:chunk", CHUNK},
                 {VARIABLE, "dmrpp:FixedLengthStringArray", FIXED_STRINGS},
                 {VARIABLE, "dmrpp:compact", COMPACT},
                 {VARIABLE, "dmrpp:missingdata", MISSING},
                 {VARIABLE, "dmrpp:vlsa", STRINGS},
                 {STRINGS, "v", STRING},
                 {ATTRIBUTE, "Value", VALUE},
                 {CONTAINER, "Attribute", ATTRIBUTE},
                 {GROUP, "Attribute", ATTRIBUTE},
                 {GROUP, "Group", GROUP},
                 {GROUP, "Dimension", DIMENSION},
                 {GROUP, "Enumeration", ENUMERATION}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].parent == parent && strcmp(rules[i].name, name) == 0) return rules[i].is;
    bool is_variable = parent == GROUP && refs_references__dmrpp_type(name) != NULL;
    return is_variable ? VARIABLE : UNKNOWN;
}

static refs_status begin(void *user, const char *name, const char *const *attributes,
                         refs_error *err) {
    refs_dmrpp_document *document = user;
    element is;
    if (document->depth == 0 && strcmp(name, "Dataset") != 0)
        return refs_fail(err, REFS_INVALID,
                         "expected <Dataset>, the root of a DMR++, found <%.100s>", name);
    is = document->depth > 0 ? find_element(document->open[document->depth - 1], name) : GROUP;
    document->open[document->depth++] = is;
    document->text.size = 0;
    return elements[is].begin != NULL ? elements[is].begin(document, name, attributes, err)
                                      : REFS_OK;
}

static refs_status add_text(void *user, refs_str piece, refs_error *err) {
    refs_dmrpp_document *document = user;
    size_t most = document->job->options->limits.max_value_bytes;
    if (document->depth == 0 || !elements[document->open[document->depth - 1]].has_text)
        return REFS_OK;
    if (piece.size > most || document->text.size > most - piece.size)
        return refs_fail(err, REFS_LIMIT, "a string is longer than the limit of %zu bytes", most);
    return refs_buf_append_str(&document->text, piece, err);
}

static refs_status end(void *user, refs_error *err) {
    refs_dmrpp_document *document = user;
    element is = document->open[document->depth - 1];
    refs_status status = elements[is].end != NULL ? elements[is].end(document, err) : REFS_OK;
    document->depth--;
    return status;
}

/* -- whole documents --------------------------------------------------------------------------- */

refs_status refs_references__dmrpp_open(const refs_dmrpp_job *job, refs_dmrpp_document **document,
                                        refs_error *err) {
    REFS_NEW(*document, 1, err);
    (*document)->job = job;
    return REFS_OK;
}

void refs_references__dmrpp_free(refs_dmrpp_document *document) {
    if (document == NULL) return;
    refs_references__scope_clear(&document->scope);
    refs_references__dmrpp_variable_clear(&document->variable);
    refs_references__attribute_clear(&document->attribute);
    refs_buf_clear(&document->text);
    refs_free(document->href);
    refs_free(document);
}

refs_xml_handler refs_references__dmrpp_handler(refs_dmrpp_document *document) {
    return (refs_xml_handler){document, begin, add_text, end};
}
