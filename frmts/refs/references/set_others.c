/* set_others.c -- the keys of a set that are neither metadata nor chunks of an array. */
#include "set.h"
#include "set_list.h"

#include <string.h>

typedef struct key_search {
    const refs_set *set;
    const refs_chunk_keys *arrays;
    refs_intern prefixes; /* of the arrays */
    uint32_t *array_of;   /* one for each prefix */
    const refs_key_visitor *visitor;
    refs_buf key;
} key_search;

static refs_status index_prefixes(key_search *at, size_t n, refs_error *err) {
    REFS_NEW(at->array_of, n + 1, err);
    for (size_t i = 0; i < n; i++) {
        uint32_t id;
        REFS_TRY(refs_intern_add(&at->prefixes, at->arrays[i].prefix, &id, err));
        at->array_of[id] = (uint32_t)i;
    }
    return REFS_OK;
}

static const refs_chunk_keys *array_with(const key_search *at, refs_str prefix) {
    const uint32_t id = refs_intern_find(&at->prefixes, prefix);
    return id != REFS_INTERN_NONE ? &at->arrays[at->array_of[id]] : NULL;
}

/* Cuts a number without leading zeros from the front of `*text`. */
static bool next_number(refs_str *text, uint64_t *number) {
    size_t size = 0;
    while (size < text->size && text->data[size] >= '0' && text->data[size] <= '9') size++;
    if (size == 0 || (size > 1 && text->data[0] == '0') ||
        !refs_str_to_u64(refs_str_part(*text, 0, size), number))
        return false;
    *text = refs_str_part(*text, size, text->size);
    return true;
}

/* Whether the text after the prefix is the index of a chunk (refs_chunk_keys_append). */
static bool is_index_of(const refs_chunk_keys *keys, refs_str rest) {
    if (keys->rank == 0)
        return refs_str_ends(keys->prefix, "/") ? refs_str_is(rest, "0") : rest.size == 0;
    for (size_t dim = 0; dim < keys->rank; dim++) {
        uint64_t number;
        if (dim > 0) {
            if (rest.size == 0 || rest.data[0] != keys->separator) return false;
            rest = refs_str_part(rest, 1, rest.size);
        }
        if (!next_number(&rest, &number) || number >= keys->n[dim]) return false;
    }
    return rest.size == 0;
}

/* Tries all prefixes of the key: they end after a slash or a dot, or are the whole key. */
static bool is_chunk(const key_search *at, refs_str key) {
    for (size_t end = 0; end <= key.size; end++) {
        if (end > 0 && end < key.size && key.data[end - 1] != '/' && key.data[end - 1] != '.')
            continue;
        const refs_chunk_keys *keys = array_with(at, refs_str_part(key, 0, end));
        if (keys != NULL && is_index_of(keys, refs_str_part(key, end, key.size))) return true;
    }
    return false;
}

static refs_status show(const key_search *at, refs_str key, refs_error *err) {
    refs_ref ref = {0};
    if (is_chunk(at, key)) return REFS_OK;
    refs_status status = refs_set_find(at->set, key, &ref, err);
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(key));
    if (status == REFS_OK) status = at->visitor->visit(at->visitor->user, key, &ref, err);
    refs_ref_release(&ref);
    return status;
}

/* -- keys that look like chunks ---------------------------------------------------------------- */

static refs_status show_index(key_search *at, const refs_chunk_table *table, const uint64_t *index,
                              refs_error *err) {
    const refs_chunk_keys keys = {refs_intern_get(&at->set->prefixes, table->prefix),
                                  table->separator, table->rank, NULL};
    at->key.size = 0;
    REFS_TRY(refs_chunk_keys_append(&keys, index, &at->key, err));
    return show(at, refs_buf_text(&at->key), err);
}

/* Whether all keys of a table are chunks of one array, so that they need not be printed. */
static bool is_inside(const refs_chunk_keys *keys, const refs_chunk_table *table,
                      const uint64_t *index) {
    if (keys == NULL || keys->rank != table->rank ||
        (table->rank > 1 && keys->separator != table->separator))
        return false;
    for (size_t dim = 0; dim < keys->rank; dim++)
        if (index[dim] >= keys->n[dim]) return false;
    return true;
}

static refs_status show_table(key_search *at, const refs_chunk_table *table, refs_error *err) {
    const refs_str prefix = refs_intern_get(&at->set->prefixes, table->prefix);
    const refs_chunk_keys *keys = array_with(at, prefix);
    uint64_t index[REFS_CHUNK_MAX_RANK];
    for (size_t i = 0; i < table->count; i++) {
        refs_references__table_index(table, i, index);
        if (!is_inside(keys, table, index)) REFS_TRY(show_index(at, table, index, err));
    }
    return REFS_OK;
}

static refs_status show_all(key_search *at, refs_error *err) {
    for (uint32_t id = 0; id < at->set->names.count; id++) {
        const refs_str key = refs_intern_get(&at->set->names, id);
        const bool is_zmetadata =
            refs_str_is(key, ".zmetadata") || refs_str_ends(key, "/.zmetadata");
        if (refs_str_starts(key, REFS_SOURCES_GROUP "/") ||
            (refs_key_is_metadata(key) && !is_zmetadata))
            continue;
        REFS_TRY(show(at, key, err));
    }
    for (size_t i = 0; i < at->set->n_tables; i++) {
        const refs_str prefix = refs_intern_get(&at->set->prefixes, at->set->tables[i].prefix);
        if (!refs_str_starts(prefix, REFS_SOURCES_GROUP "/"))
            REFS_TRY(show_table(at, &at->set->tables[i], err));
    }
    return REFS_OK;
}

refs_status refs_set_each_other(const refs_set *set, const refs_chunk_keys *arrays, size_t n,
                                const refs_key_visitor *visitor, refs_error *err) {
    key_search at = {.set = set, .arrays = arrays, .visitor = visitor, .key = REFS_BUF_INIT};
    refs_status status = index_prefixes(&at, n, err);
    if (status == REFS_OK) status = show_all(&at, err);
    refs_intern_clear(&at.prefixes);
    refs_free(at.array_of);
    refs_buf_clear(&at.key);
    return status;
}
