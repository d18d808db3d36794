/* attribute.c -- see hdf5/attribute.h. */
#include "hdf5/attribute.h"

#include <stdlib.h>

#include "hdf5/fractal_heap.h"
#include "hdf5/shared.h"
#include "refs/own_attributes.h"

_Static_assert(REFS_SOURCES_MAX_BYTES < REFS_HDF5_MAX_STRUCTURE_BYTES - 64 * REFS_KIB,
               "expected a name, a type and a shape in the record of fragments");

/* -- dataspaces -------------------------------------------------------------------------------- */

/* Specification IV.A.2.b. */
refs_status refs_hdf5__read_space(const refs_hdf5_file *file, refs_bytes body,
                                  refs_hdf5_space *space, refs_error *err) {
    enum { NULL_SPACE = 2, HAS_MAX = 1 };
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    *space = (refs_hdf5_space){.n = 1};
    uint8_t version = refs_hdf5__u8(&cursor);
    space->rank = refs_hdf5__u8(&cursor);
    uint8_t flags = refs_hdf5__u8(&cursor);
    uint8_t type = refs_hdf5__u8(&cursor);
    if (version == 1) refs_hdf5__take(&cursor, 4);
    if (version < 1 || version > 2)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown dataspace version %u", version);
    if (space->rank > REFS_SCAN_MAX_RANK)
        return refs_fail(err, REFS_CORRUPT, "a dataspace has an invalid rank: %zu", space->rank);
    for (size_t i = 0; i < space->rank; i++) space->shape[i] = refs_hdf5__length(file, &cursor);
    memcpy(space->max_shape, space->shape, sizeof space->shape);
    for (size_t i = 0; (flags & HAS_MAX) != 0 && i < space->rank; i++)
        space->max_shape[i] = refs_hdf5__length(file, &cursor);
    if (cursor.is_short) return refs_fail(err, REFS_CORRUPT, "a dataspace is truncated");
    space->is_null = version == 2 && type == NULL_SPACE;
    if (space->is_null) space->n = 0;
    for (size_t i = 0; i < space->rank; i++)
        if (!refs_mul_u64(space->n, space->shape[i], &space->n))
            return refs_fail(err, REFS_CORRUPT, "a dataspace has more than 2^64 elements");
    return REFS_OK;
}

/* -- attribute messages ------------------------------------------------------------------------ */

static void clear_attribute(refs_hdf5_attribute *attribute) {
    refs_free(attribute->name);
    refs_hdf5__type_clear(&attribute->type);
    refs_buf_clear(&attribute->data);
}

void refs_hdf5__attributes_clear(refs_hdf5_attributes *attributes) {
    for (size_t i = 0; i < attributes->n; i++) clear_attribute(&attributes->attributes[i]);
    refs_free(attributes->attributes);
    memset(attributes, 0, sizeof *attributes);
}

typedef struct attribute_reader {
    refs_hdf5_file *file;
    refs_hdf5_attributes *attributes;
    refs_hdf5_fractal_heap heap;
    refs_buf scratch, body;
} attribute_reader;

/* Reads a message inside an attribute message; it may be a shared one. */
static refs_status part_body(attribute_reader *reader, refs_bytes part, uint16_t type_if_shared,
                             refs_bytes *bytes, refs_error *err) {
    *bytes = part;
    if (type_if_shared == REFS_HDF5_NIL) return REFS_OK;
    refs_hdf5_cursor cursor = refs_hdf5__cursor(part);
    REFS_TRY(refs_hdf5__shared_body(reader->file, &cursor, type_if_shared, &reader->body, err));
    *bytes = refs_buf_view(&reader->body);
    return REFS_OK;
}

static refs_status read_parts(attribute_reader *reader, refs_bytes parts[3], uint8_t flags,
                              refs_hdf5_attribute *attribute, refs_error *err) {
    enum { SHARED_TYPE = 1, SHARED_SPACE = 2 };
    refs_bytes bytes;
    refs_str name = refs_str_view((const char *)parts[0].data, parts[0].size);
    REFS_TRY(
        refs_str_keep(refs_str_part(name, 0, refs_str_find(name, '\0')), &attribute->name, err));
    REFS_TRY(part_body(reader, parts[1], flags & SHARED_TYPE ? REFS_HDF5_DATATYPE : REFS_HDF5_NIL,
                       &bytes, err));
    REFS_TRY(refs_hdf5__read_type(bytes, &attribute->type, err));
    REFS_TRY(part_body(reader, parts[2], flags & SHARED_SPACE ? REFS_HDF5_DATASPACE : REFS_HDF5_NIL,
                       &bytes, err));
    return refs_hdf5__read_space(reader->file, bytes, &attribute->space, err);
}

/* Specification IV.A.2.m: fields of an attribute message. */
static refs_status read_fields(attribute_reader *reader, refs_bytes body,
                               refs_hdf5_attribute *attribute, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    size_t sizes[3];
    refs_bytes parts[3];
    uint64_t size;
    uint8_t version = refs_hdf5__u8(&cursor);
    uint8_t flags = refs_hdf5__u8(&cursor);
    for (size_t i = 0; i < 3; i++) sizes[i] = refs_hdf5__u16(&cursor);
    if (version < 1 || version > 3)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown attribute message version %u", version);
    if (version == 3) refs_hdf5__u8(&cursor);
    for (size_t i = 0; i < 3; i++) {
        parts[i] = refs_hdf5__take(&cursor, sizes[i]);
        if (version == 1) refs_hdf5__take(&cursor, (8 - sizes[i] % 8) % 8);
    }
    if (cursor.is_short) return refs_fail(err, REFS_CORRUPT, "an attribute is truncated");
    REFS_TRY(read_parts(reader, parts, version > 1 ? flags : 0, attribute, err));
    if (!refs_mul_u64(attribute->space.n, attribute->type.size, &size)) size = UINT64_MAX;
    refs_bytes data = refs_hdf5__take(&cursor, size);
    if (cursor.is_short)
        return refs_fail(err, REFS_CORRUPT, "attribute \"%s\" is truncated", attribute->name);
    return refs_buf_append(&attribute->data, data.data, data.size, err);
}

/* Whether a failure concerns this attribute only. */
static bool is_its_own(refs_status status) {
    return status == REFS_CORRUPT || status == REFS_UNSUPPORTED;
}

static refs_status add_attribute(attribute_reader *reader, refs_bytes body, uint64_t order,
                                 refs_error *err) {
    refs_hdf5_attributes *list = reader->attributes;
    refs_error why = REFS_ERROR_INIT;
    REFS_GROW(list->attributes, list->capacity, list->n, err);
    refs_hdf5_attribute *attribute = &list->attributes[list->n];
    memset(attribute, 0, sizeof *attribute);
    attribute->order = order;
    refs_status status = read_fields(reader, body, attribute, &why);
    if (status == REFS_OK) {
        list->n++;
        return REFS_OK;
    }
    clear_attribute(attribute);
    if (!is_its_own(status)) return refs_fail(err, status, "%s", why.message);
    refs_hdf5__note(reader->file, "an attribute is left out: %s", why.message);
    return REFS_OK;
}

/* -- dense attributes -------------------------------------------------------------------------- */

#define BTREE_BY_NAME 8
#define IS_SHARED     0x02u

/* A record: ID in the heap, flags of the message, creation order, hash of the name. */
static refs_status visit_record_now(void *user, refs_bytes record, refs_error *err) {
    attribute_reader *reader = user;
    refs_hdf5_cursor cursor = refs_hdf5__cursor(record);
    refs_bytes id = refs_hdf5__take(&cursor, 8);
    uint8_t flags = refs_hdf5__u8(&cursor);
    uint64_t order = refs_hdf5__u32(&cursor);
    REFS_TRY(refs_hdf5__finish(&cursor, "record of an attribute", 0, err));
    if (flags & IS_SHARED)
        REFS_TRY(refs_hdf5__shared_in_heap(reader->file, id, REFS_HDF5_ATTRIBUTE, &reader->scratch,
                                           err));
    else if (reader->heap.id_size == 0)
        return REFS_NOT_FOUND; /* not read yet, see refs_hdf5__in_rounds */
    else
        REFS_TRY(refs_hdf5__heap_get(reader->file, &reader->heap, id, &reader->scratch, err));
    return add_attribute(reader, refs_buf_view(&reader->scratch), order, err);
}

static refs_status visit_record(void *user, refs_bytes record, refs_error *err) {
    const attribute_reader *reader = user;
    return refs_hdf5__later(reader->file, visit_record_now(user, record, err));
}

/* Specification IV.A.2.v: version, flags, [maximum order], heap, B-tree by name, [by order]. */
static refs_status read_dense(attribute_reader *reader, refs_bytes body, refs_error *err) {
    const refs_hdf5_dense all = {
        body, "attribute info message", 2, BTREE_BY_NAME, {visit_record, reader}};
    return refs_hdf5__read_dense(reader->file, &all, &reader->heap, err);
}

/* -- all attributes ---------------------------------------------------------------------------- */

static int compare_attributes(const void *left, const void *right) {
    const refs_hdf5_attribute *a = left, *b = right;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return strcmp(a->name, b->name);
}

static refs_status read_message(attribute_reader *reader, const refs_hdf5_object *object,
                                const refs_hdf5_message *message, refs_error *err) {
    refs_hdf5_body body;
    refs_status status = refs_hdf5__message_body(reader->file, object, message, &body, err);
    if (status == REFS_OK && message->type == REFS_HDF5_ATTRIBUTE)
        status = add_attribute(reader, body.bytes, message->order, err);
    else if (status == REFS_OK)
        status = read_dense(reader, body.bytes, err);
    refs_buf_clear(&body.shared);
    return status;
}

refs_status refs_hdf5__read_attributes(refs_hdf5_file *file, const refs_hdf5_object *object,
                                       refs_hdf5_attributes *attributes, refs_error *err) {
    attribute_reader reader = {.file = file, .attributes = attributes};
    refs_status status = REFS_OK;
    for (size_t i = 0; status == REFS_OK && i < object->n_messages; i++) {
        const refs_hdf5_message *message = &object->messages[i];
        if (message->type == REFS_HDF5_ATTRIBUTE || message->type == REFS_HDF5_ATTRIBUTE_INFO)
            status = refs_hdf5__later(file, read_message(&reader, object, message, err));
    }
    if (status == REFS_OK) status = refs_hdf5__all_there(file);
    refs_hdf5__heap_clear(&reader.heap);
    refs_buf_clear(&reader.scratch);
    refs_buf_clear(&reader.body);
    if (status == REFS_OK && attributes->n > 0)
        qsort(attributes->attributes, attributes->n, sizeof *attributes->attributes,
              compare_attributes);
    return status;
}

const refs_hdf5_attribute *refs_hdf5__find_attribute(const refs_hdf5_attributes *attributes,
                                                     const char *name) {
    for (size_t i = 0; i < attributes->n; i++)
        if (strcmp(attributes->attributes[i].name, name) == 0) return &attributes->attributes[i];
    return NULL;
}

/* -- values ------------------------------------------------------------------------------------ */

typedef struct elements {
    const refs_hdf5_values *values;
    const refs_hdf5_attribute *attribute;
    const uint8_t *at; /* the next element */
} elements;

/* Appends the elements of dimension `dim` as nested lists. */
static refs_status nested(elements *self, size_t dim, json_t **value, refs_error *err) {
    const refs_hdf5_attribute *attribute = self->attribute;
    refs_hdf5_file *file = self->values->file;
    if (dim == attribute->space.rank) {
        const uint8_t *element = self->at;
        self->at += attribute->type.size;
        return refs_hdf5__value(self->values, &attribute->type, element, value, err);
    }
    json_t *list = json_array();
    for (uint64_t i = 0; i < attribute->space.shape[dim]; i++) {
        json_t *inner = NULL;
        refs_status status = refs_hdf5__later(file, nested(self, dim + 1, &inner, err));
        if (status != REFS_OK || (inner == NULL && !file->is_missing)) {
            json_decref(list);
            *value = NULL;
            return status;
        }
        if (inner != NULL) json_array_append_new(list, inner);
    }
    *value = list;
    return REFS_OK;
}

/* Sets *value to the attribute as JSON; NULL if JSON cannot express it. One element is a value,
 * several are a list, nested by dimension; none is "". */
static refs_status value_of(const refs_hdf5_values *values, const refs_hdf5_attribute *attribute,
                            json_t **value, refs_error *err) {
    const refs_hdf5_space *space = &attribute->space;
    const uint8_t *at = attribute->data.data;
    *value = NULL;
    if (space->is_null) {
        *value = json_string("");
        return REFS_OK;
    }
    if (space->n == 0) {
        *value = json_array();
        return REFS_OK;
    }
    if (space->n == 1) return refs_hdf5__value(values, &attribute->type, at, value, err);
    elements self = {values, attribute, at};
    return nested(&self, 0, value, err);
}

static bool is_hidden(const char *name) {
    static const char *const hidden[] = {"CLASS",          "NAME",
                                         "REFERENCE_LIST", "DIMENSION_LIST",
                                         "_Netcdf4Dimid",  "_Netcdf4Coordinates",
                                         "_NCProperties",  "_nc3_strict",
                                         "_NCCOPY",        NULL};
    return refs_str_is_among(refs_str_from(name), hidden);
}

static void set_member(json_t *object, const char *name, json_t *value) {
    json_t *key = refs_document_string(name, strlen(name));
    if (key != NULL)
        json_object_set_new(object, json_string_value(key), value);
    else
        json_decref(value);
    json_decref(key);
}

refs_status refs_hdf5__attributes_json(const refs_hdf5_values *values,
                                       const refs_hdf5_attributes *attributes, json_t **object,
                                       refs_error *err) {
    json_t *filled = json_object();
    if (filled == NULL) return refs_fail_nomem(err);
    refs_status status = REFS_OK;
    for (size_t i = 0; status == REFS_OK && i < attributes->n; i++) {
        const refs_hdf5_attribute *attribute = &attributes->attributes[i];
        json_t *value = NULL;
        if (is_hidden(attribute->name)) continue;
        status = value_of(values, attribute, &value, err);
        status = refs_hdf5__later(values->file, status);
        if (is_its_own(status)) {
            refs_hdf5__note(values->file, "attribute \"%s\" is left out: %s", attribute->name,
                            err != NULL ? err->message : "");
            refs_error_clear(err);
            status = REFS_OK;
        }
        if (value != NULL) set_member(filled, attribute->name, value);
    }
    if (status == REFS_OK) status = refs_hdf5__all_there(values->file);
    if (status != REFS_OK)
        json_decref(filled);
    else
        *object = filled;
    return status;
}
