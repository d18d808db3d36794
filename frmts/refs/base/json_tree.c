/* json_tree.c -- documents as trees of values, see json.h. */
#include "refs/json.h"

#include <stdlib.h>

#define FIRST_BLOCK   (2 * REFS_KIB)
#define LARGEST_BLOCK (256 * REFS_KIB)

typedef struct json_member json_member;

struct refs_json {
    refs_json_kind kind;
    bool truth;  /* of a BOOL */
    size_t size; /* bytes of text, elements, members */
    union {
        const char *text;
        const refs_json *elements;
        const json_member *members;
    };
    const json_member *const *by_name; /* the members of an object, sorted */
};

struct json_member {
    refs_str name;
    refs_json value;
};

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct arena_block {
    struct arena_block *next;
    size_t used, capacity; /* of the bytes that follow */
} arena_block;

struct refs_json_doc {
    arena_block *blocks; /* the one in use first */
    size_t memory;       /* of all blocks, and of the builder's stack while the tree is built */
    refs_json root;
    uint64_t n_controls;
};

/* `size` bytes that live as long as the document, aligned for any value. */
static void *doc_alloc(refs_json_doc *doc, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + 7) & ~(size_t)7;
    arena_block *block = doc->blocks;
    if (block == NULL || block->capacity - block->used < size) {
        size_t capacity = block == NULL ? FIRST_BLOCK : block->capacity * 2;
        if (capacity > LARGEST_BLOCK) capacity = LARGEST_BLOCK;
        if (capacity < size) capacity = size;
        doc->memory += capacity;
        if (doc->memory > REFS_JSON_MAX_TREE_BYTES) return NULL;
        block = refs_alloc(sizeof *block + capacity);
        if (block == NULL) return NULL;
        *block = (arena_block){doc->blocks, 0, capacity};
        doc->blocks = block;
    }
    void *memory = (uint8_t *)(block + 1) + block->used;
    block->used += size;
    return memory;
}

static refs_status keep_text(refs_json_doc *doc, refs_str text, refs_str *kept, refs_error *err) {
    char *copy = doc_alloc(doc, text.size + 1);
    if (copy == NULL) return refs_fail_nomem(err);
    if (text.size > 0) memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *kept = refs_str_view(copy, text.size);
    return REFS_OK;
}

void refs_json_doc_free(refs_json_doc *doc) {
    if (doc == NULL) return;
    while (doc->blocks != NULL) {
        arena_block *block = doc->blocks;
        doc->blocks = block->next;
        refs_free(block);
    }
    refs_free(doc);
}

void refs_json_doc_free_at(refs_json_doc **doc) {
    refs_json_doc_free(*doc);
}

/* -- building ---------------------------------------------------------------------------------- */

/* The values of open containers are on a stack until their container ends; names are stored with
 * values. */
typedef struct builder {
    refs_json_doc *doc;
    refs_json_reader *reader;
    refs_str name; /* of the next value */
    json_member *stack;
    size_t n_stack, capacity;
    size_t open[REFS_JSON_MAX_DEPTH]; /* the positions of open containers on the stack */
    size_t depth;
} builder;

static int compare_members(const void *a, const void *b) {
    const json_member *left = *(const json_member *const *)a;
    const json_member *right = *(const json_member *const *)b;
    int order = refs_str_compare(left->name, right->name);
    return order != 0 ? order : (left > right) - (left < right);
}

static void sort_members(const json_member *members, size_t n, const json_member **by_name) {
    for (size_t i = 0; i < n; i++) by_name[i] = &members[i];
    qsort(by_name, n, sizeof *by_name, compare_members);
}

/* Drops all but the last of equal names; returns how many members are left. */
static size_t drop_duplicates(json_member *members, size_t n, const json_member *const *by_name) {
    for (size_t i = 0; i + 1 < n; i++)
        if (refs_str_equal(by_name[i]->name, by_name[i + 1]->name))
            members[by_name[i] - members].name.data = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (members[i].name.data != NULL) members[kept++] = members[i];
    return kept;
}

static refs_status close_object(builder *b, refs_json *object, refs_error *err) {
    const json_member *waiting = b->stack + b->open[b->depth] + 1;
    size_t n = b->n_stack - b->open[b->depth] - 1;
    json_member *members = doc_alloc(b->doc, n * sizeof *members);
    const json_member **by_name = doc_alloc(b->doc, n * sizeof *by_name);
    if (members == NULL || by_name == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) members[i] = waiting[i];
    sort_members(members, n, by_name);
    object->size = drop_duplicates(members, n, by_name);
    if (object->size < n) sort_members(members, object->size, by_name);
    object->members = members;
    object->by_name = by_name;
    return REFS_OK;
}

static refs_status close_array(builder *b, refs_json *array, refs_error *err) {
    const json_member *waiting = b->stack + b->open[b->depth] + 1;
    array->size = b->n_stack - b->open[b->depth] - 1;
    refs_json *elements = doc_alloc(b->doc, array->size * sizeof *elements);
    if (elements == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < array->size; i++) elements[i] = waiting[i].value;
    array->elements = elements;
    return REFS_OK;
}

static refs_status close_container(builder *b, refs_error *err) {
    refs_json *container = &b->stack[b->open[--b->depth]].value;
    REFS_TRY(container->kind == REFS_JSON_KIND_OBJECT ? close_object(b, container, err)
                                                      : close_array(b, container, err));
    b->n_stack = b->open[b->depth] + 1;
    return REFS_OK;
}

static refs_json_kind kind_of_token(refs_json_token token) {
    switch (token) {
    case REFS_JSON_OBJECT_BEGIN:
        return REFS_JSON_KIND_OBJECT;
    case REFS_JSON_ARRAY_BEGIN:
        return REFS_JSON_KIND_ARRAY;
    case REFS_JSON_STRING:
        return REFS_JSON_KIND_STRING;
    case REFS_JSON_NUMBER:
        return REFS_JSON_KIND_NUMBER;
    case REFS_JSON_TRUE:
    case REFS_JSON_FALSE:
        return REFS_JSON_KIND_BOOL;
    default:
        return REFS_JSON_KIND_NULL;
    }
}

static refs_status push_value(builder *b, refs_json_token token, refs_str text, refs_error *err) {
    size_t before = b->capacity;
    REFS_GROW(b->stack, b->capacity, b->n_stack, err);
    b->doc->memory += (b->capacity - before) * sizeof *b->stack;
    refs_json value = {.kind = kind_of_token(token), .truth = token == REFS_JSON_TRUE};
    if (value.kind == REFS_JSON_KIND_STRING || value.kind == REFS_JSON_KIND_NUMBER) {
        REFS_TRY(keep_text(b->doc, text, &text, err));
        value.text = text.data;
        value.size = text.size;
    }
    if (token == REFS_JSON_OBJECT_BEGIN || token == REFS_JSON_ARRAY_BEGIN)
        b->open[b->depth++] = b->n_stack;
    b->stack[b->n_stack++] = (json_member){b->name, value};
    return REFS_OK;
}

static refs_status build(builder *b, refs_error *err) {
    for (;;) {
        if (b->doc->memory > REFS_JSON_MAX_TREE_BYTES)
            return REFS_NOMEM; /* the caller sets the
                                  message */
        refs_json_token token;
        refs_str text;
        REFS_TRY(refs_json_next(b->reader, &token, &text, err));
        if (token == REFS_JSON_END) break;
        if (token == REFS_JSON_KEY)
            REFS_TRY(keep_text(b->doc, text, &b->name, err));
        else if (token == REFS_JSON_OBJECT_END || token == REFS_JSON_ARRAY_END)
            REFS_TRY(close_container(b, err));
        else
            REFS_TRY(push_value(b, token, text, err));
    }
    b->doc->root = b->stack[0].value;
    b->doc->memory -= b->capacity * sizeof *b->stack;
    return REFS_OK;
}

size_t refs_json_doc_memory(const refs_json_doc *doc) {
    return doc->memory;
}

/* The number of values of a text, minus one: each comma outside strings separates two values. */
static size_t count_commas(refs_str text) {
    size_t n = 0;
    bool is_string = false;
    for (size_t i = 0; i < text.size; i++) {
        if (is_string && text.data[i] == '\\')
            i++;
        else if (text.data[i] == '"')
            is_string = !is_string;
        else
            n += !is_string && text.data[i] == ',';
    }
    return n;
}

/* Checked before parsing millions of values that would not fit. */
static bool is_too_large(refs_str text) {
    const size_t most = REFS_JSON_MAX_TREE_BYTES / sizeof(refs_json);
    return text.size / 2 > most && count_commas(text) > most;
}

refs_status refs_json_parse(refs_str text, refs_json_doc **doc, refs_error *err) {
    builder b = {.doc = refs_calloc(1, sizeof *b.doc)};
    refs_status status = b.doc != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) status = refs_json_reader_open_text(text, &b.reader, err);
    refs_error problem = REFS_ERROR_INIT;
    const bool is_refused = status == REFS_OK && is_too_large(text);
    if (status == REFS_OK && !is_refused) status = build(&b, &problem);
    if (is_refused ||
        (status == REFS_NOMEM && b.doc != NULL && b.doc->memory > REFS_JSON_MAX_TREE_BYTES))
        status = refs_fail(err, REFS_LIMIT,
                           "JSON of %zu bytes needs more memory than the limit of %zu bytes",
                           text.size, REFS_JSON_MAX_TREE_BYTES);
    else if (problem.status != REFS_OK)
        status = refs_fail(err, problem.status, "%s", problem.message);
    if (status == REFS_OK) b.doc->n_controls = refs_json_reader_n_controls(b.reader);
    refs_json_reader_free(b.reader);
    refs_free(b.stack);
    if (status != REFS_OK) {
        refs_json_doc_free(b.doc);
        b.doc = NULL;
    }
    *doc = b.doc;
    return status;
}

/* -- reading ----------------------------------------------------------------------------------- */

uint64_t refs_json_doc_n_controls(const refs_json_doc *doc) {
    return doc->n_controls;
}

const refs_json *refs_json_root(const refs_json_doc *doc) {
    return doc != NULL ? &doc->root : NULL;
}

refs_json_kind refs_json_kind_of(const refs_json *value) {
    return value != NULL ? value->kind : REFS_JSON_KIND_NULL;
}

bool refs_json_is_object(const refs_json *value) {
    return refs_json_kind_of(value) == REFS_JSON_KIND_OBJECT;
}

bool refs_json_is_array(const refs_json *value) {
    return refs_json_kind_of(value) == REFS_JSON_KIND_ARRAY;
}

bool refs_json_is_string(const refs_json *value) {
    return refs_json_kind_of(value) == REFS_JSON_KIND_STRING;
}

bool refs_json_is_number(const refs_json *value) {
    return refs_json_kind_of(value) == REFS_JSON_KIND_NUMBER;
}

size_t refs_json_size(const refs_json *value) {
    return refs_json_is_object(value) || refs_json_is_array(value) ? value->size : 0;
}

const refs_json *refs_json_at(const refs_json *value, size_t i) {
    if (i >= refs_json_size(value)) return NULL;
    return value->kind == REFS_JSON_KIND_OBJECT ? &value->members[i].value : &value->elements[i];
}

refs_str refs_json_name_at(const refs_json *object, size_t i) {
    if (!refs_json_is_object(object) || i >= object->size) return refs_str_view("", 0);
    return object->members[i].name;
}

const refs_json *refs_json_get_str(const refs_json *object, refs_str name) {
    if (!refs_json_is_object(object)) return NULL;
    size_t i = 0;
    REFS_BISECT(i, object->size, refs_str_compare(object->by_name[i]->name, name) < 0);
    const bool is_there = i < object->size && refs_str_equal(object->by_name[i]->name, name);
    return is_there ? &object->by_name[i]->value : NULL;
}

const refs_json *refs_json_get(const refs_json *object, const char *name) {
    return refs_json_get_str(object, refs_str_from(name));
}

refs_str refs_json_text(const refs_json *value) {
    bool has_text = refs_json_is_string(value) || refs_json_is_number(value);
    return has_text ? refs_str_view(value->text, value->size) : refs_str_view("", 0);
}

bool refs_json_bool(const refs_json *value, bool *result) {
    if (refs_json_kind_of(value) != REFS_JSON_KIND_BOOL) return false;
    *result = value->truth;
    return true;
}

bool refs_json_u64(const refs_json *value, uint64_t *number) {
    bool integral;
    return refs_json_is_number(value) &&
           refs_json_number_to_u64(refs_json_text(value), number, &integral);
}

bool refs_json_i64(const refs_json *value, int64_t *number) {
    bool integral;
    return refs_json_is_number(value) &&
           refs_json_number_to_i64(refs_json_text(value), number, &integral);
}

bool refs_json_double(const refs_json *value, double *number) {
    if (!refs_json_is_number(value)) return false;
    *number = refs_json_number_to_double(refs_json_text(value));
    return true;
}

/* -- writing ----------------------------------------------------------------------------------- */

refs_status refs_json_write_string(refs_str text, refs_buf *json, refs_error *err) {
    static const char specials[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    REFS_TRY(refs_buf_append(json, "\"", 1, err));
    size_t plain = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        REFS_TRY(refs_buf_append(json, text.data + plain, i - plain, err));
        plain = i + 1;
        const char *special = c != 0 ? strchr(specials, c) : NULL;
        REFS_TRY(special != NULL ? refs_buf_printf(json, err, "\\%c", letters[special - specials])
                                 : refs_buf_printf(json, err, "\\u%04x", c));
    }
    REFS_TRY(refs_buf_append(json, text.data + plain, text.size - plain, err));
    return refs_buf_append(json, "\"", 1, err);
}

refs_status refs_json_write_name(refs_str name, refs_buf *json, refs_error *err) {
    const bool is_first = json->size == 0 || strchr("{,\n", json->data[json->size - 1]) != NULL;
    REFS_TRY(refs_buf_append(json, ",", !is_first, err));
    REFS_TRY(refs_json_write_string(name, json, err));
    return refs_buf_append(json, ":", 1, err);
}

refs_status refs_json_write_member(refs_str name, const refs_json *value, refs_buf *json,
                                   refs_error *err) {
    REFS_TRY(refs_json_write_name(name, json, err));
    return refs_json_write(value, json, err);
}

static refs_status write_container(const refs_json *value, refs_buf *text, refs_error *err) {
    bool object = refs_json_is_object(value);
    REFS_TRY(refs_buf_append(text, object ? "{" : "[", 1, err));
    for (size_t i = 0; i < value->size; i++) {
        if (i > 0) REFS_TRY(refs_buf_append(text, ",", 1, err));
        if (object) REFS_TRY(refs_json_write_name(refs_json_name_at(value, i), text, err));
        REFS_TRY(refs_json_write(refs_json_at(value, i), text, err));
    }
    return refs_buf_append(text, object ? "}" : "]", 1, err);
}

refs_status refs_json_write(const refs_json *value, refs_buf *text, refs_error *err) {
    switch (refs_json_kind_of(value)) {
    case REFS_JSON_KIND_NULL:
        return refs_buf_append_str(text, refs_str_from("null"), err);
    case REFS_JSON_KIND_BOOL:
        return refs_buf_append_str(text, refs_str_from(value->truth ? "true" : "false"), err);
    case REFS_JSON_KIND_NUMBER:
        return refs_buf_append_str(text, refs_json_text(value), err);
    case REFS_JSON_KIND_STRING:
        return refs_json_write_string(refs_json_text(value), text, err);
    case REFS_JSON_KIND_ARRAY:
    case REFS_JSON_KIND_OBJECT:
        break;
    }
    return write_container(value, text, err);
}
