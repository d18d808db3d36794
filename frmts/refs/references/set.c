/* set.c -- looking up in a finished set, see refset.h. */
#include "set.h"

#include "chunk_list.h"
#include "data_url.h"
#include "refs/block.h"

/* Most lookups to find the first chunk if there is no index of chunks. */
#define MAX_KEYS_LOOKED_AT 65536

void refs_set_free(refs_set *set) {
    if (set == NULL) return;
    for (size_t i = 0; i < set->n_tables; i++) refs_references__chunk_table_clear(&set->tables[i]);
    refs_intern_clear(&set->names);
    refs_intern_clear(&set->prefixes);
    refs_intern_clear(&set->urls);
    refs_intern_clear(&set->locations);
    refs_intern_clear(&set->problems);
    refs_buf_clear(&set->inline_bytes);
    refs_free(set->named);
    refs_free(set->first_table);
    refs_free(set->tables);
    refs_free(set->url_of);
    refs_free(set->wide);
    refs_free(set->contents);
    if (set->chunks.self != NULL) set->chunks.free(set->chunks.self);
    refs_free(set->location);
    refs_free(set->document);
    refs_free(set);
}

bool refs_set_is_whole(const refs_set *set) {
    return set->chunks.self == NULL;
}

bool refs_set_is_file(const refs_set *set) {
    return set->chunks.is_file;
}

static size_t memory_of_table(const refs_chunk_table *table) {
    size_t keys = table->keys != NULL ? table->count * sizeof *table->keys : 0;
    return keys + table->count * sizeof *table->entries;
}

size_t refs_set_memory(const refs_set *set) {
    size_t bytes = sizeof *set + refs_intern_memory(&set->names) +
                   refs_intern_memory(&set->prefixes) + refs_intern_memory(&set->urls) +
                   refs_intern_memory(&set->locations) + refs_intern_memory(&set->problems) +
                   set->inline_bytes.capacity;
    bytes += set->named_capacity * sizeof *set->named;
    bytes += set->first_table_capacity * sizeof *set->first_table;
    bytes += set->table_capacity * sizeof *set->tables;
    bytes += set->url_of_capacity * sizeof *set->url_of;
    bytes += set->wide_capacity * sizeof *set->wide;
    bytes += set->contents_capacity * sizeof *set->contents;
    for (size_t i = 0; i < set->n_tables; i++) bytes += memory_of_table(&set->tables[i]);
    if (set->chunks.memory != NULL) bytes += set->chunks.memory(set->chunks.self);
    return bytes;
}

refs_chunk_table *refs_references__set_table(const refs_set *set, const refs_split_key *split) {
    uint32_t prefix = refs_intern_find(&set->prefixes, split->prefix);
    if (prefix == REFS_INTERN_NONE) return NULL;
    for (uint32_t i = set->first_table[prefix]; i != REFS_INTERN_NONE; i = set->tables[i].next)
        if (set->tables[i].rank == split->rank && set->tables[i].separator == split->separator)
            return &set->tables[i];
    return NULL;
}

/* `split` is the split chunk key, or NULL for other keys. */
static const refs_entry *find_entry(const refs_set *set, refs_str key,
                                    const refs_split_key *split) {
    uint64_t packed;
    if (split != NULL && refs_references__chunk_index_pack(split->index, split->rank, &packed)) {
        const refs_chunk_table *table = refs_references__set_table(set, split);
        return table != NULL ? refs_references__chunk_table_find(table, packed) : NULL;
    }
    uint32_t name = refs_intern_find(&set->names, key);
    return name != REFS_INTERN_NONE ? &set->named[name] : NULL;
}

static refs_bytes inline_bytes_of(const refs_set *set, const refs_entry *entry) {
    if (entry->length == 0) return refs_bytes_view("", 0);
    return refs_bytes_view(set->inline_bytes.data + entry->offset, entry->length);
}

static refs_status set_location(const refs_set *set, uint32_t url, refs_ref *ref, refs_error *err) {
    const refs_set_url *info = &set->url_of[url];
    ref->url = refs_intern_get(&set->urls, url).data;
    if (info->location == REFS_URL_CONTENT)
        return refs_references__data_url_part(inline_bytes_of(set, &set->contents[info->detail]),
                                              ref, err);
    if (info->location == REFS_URL_UNUSABLE)
        return refs_fail(err, info->status, "%s",
                         refs_intern_get(&set->problems, info->detail).data);
    ref->location = refs_intern_get(&set->locations, info->location).data;
    ref->location_id = info->location;
    return REFS_OK;
}

static refs_status resolve(const refs_set *set, const refs_entry *entry, refs_ref *ref,
                           refs_error *err) {
    if (entry->url == REFS_ENTRY_INLINE) {
        ref->kind = REFS_REF_INLINE;
        ref->bytes = inline_bytes_of(set, entry);
        return REFS_OK;
    }
    if (entry->url == REFS_ENTRY_WIDE) {
        const refs_wide_range *wide = &set->wide[entry->offset];
        ref->kind = REFS_REF_RANGE;
        ref->offset = wide->offset;
        ref->length = wide->length;
        ref->filter_mask = wide->filter_mask;
        return set_location(set, wide->url, ref, err);
    }
    if (entry->url >= REFS_ENTRY_BROKEN) {
        refs_bytes message = inline_bytes_of(set, entry);
        return refs_fail(err, (refs_status)(entry->url - REFS_ENTRY_BROKEN), "%.*s",
                         (int)message.size, (const char *)message.data);
    }
    bool whole = entry->length == REFS_ENTRY_WHOLE;
    ref->kind = whole ? REFS_REF_WHOLE : REFS_REF_RANGE;
    ref->offset = entry->offset;
    ref->length = whole ? 0 : entry->length;
    return set_location(set, entry->url, ref, err);
}

refs_status refs_set_find(const refs_set *set, refs_str key, refs_ref *ref, refs_error *err) {
    memset(ref, 0, sizeof *ref);
    refs_split_key split;
    bool is_chunk = refs_references__chunk_key_split(key, &split);
    const refs_entry *entry = find_entry(set, key, is_chunk ? &split : NULL);
    if (entry == NULL && is_chunk && set->chunks.self != NULL)
        return set->chunks.find(set->chunks.self, &split, ref, err);
    if (entry == NULL && set->chunks.find_scalar != NULL)
        return set->chunks.find_scalar(set->chunks.self, key, ref, err);
    return entry != NULL ? resolve(set, entry, ref, err) : REFS_NOT_FOUND;
}

void refs_ref_release(refs_ref *ref) {
    refs_block_release(ref->block);
    ref->block = NULL;
}

refs_status refs_set_each_name(const refs_set *set,
                               refs_status (*visit)(void *user, refs_str key, refs_error *err),
                               void *user, refs_error *err) {
    for (uint32_t id = 0; id < set->names.count; id++) {
        refs_split_key split;
        refs_str key = refs_intern_get(&set->names, id);
        if (!refs_references__chunk_key_split(key, &split)) REFS_TRY(visit(user, key, err));
    }
    return REFS_OK;
}

/* -- chunk by chunk ---------------------------------------------------------------------------- */

void refs_references__index_at(const refs_chunk_keys *keys, uint64_t number, uint64_t *index) {
    for (size_t dim = keys->rank; dim-- > 0;) {
        index[dim] = number % keys->n[dim];
        number /= keys->n[dim];
    }
}

bool refs_references__next_index(const refs_chunk_keys *keys, uint64_t *index) {
    for (size_t dim = keys->rank; dim-- > 0;) {
        if (++index[dim] < keys->n[dim]) return true;
        index[dim] = 0;
    }
    return false;
}

refs_status refs_chunk_keys_append(const refs_chunk_keys *keys, const uint64_t *index,
                                   refs_buf *key, refs_error *err) {
    REFS_TRY(refs_buf_append_str(key, keys->prefix, err));
    if (keys->rank == 0 && refs_str_ends(keys->prefix, "/"))
        return refs_buf_append(key, "0", 1, err);
    for (size_t dim = 0; dim < keys->rank; dim++)
        REFS_TRY(refs_buf_printf(key, err, "%.*s%llu", dim > 0, &keys->separator,
                                 (unsigned long long)index[dim]));
    return REFS_OK;
}

void refs_references__name_chunk(const refs_chunk_keys *keys, const uint64_t *index,
                                 refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    refs_status status = refs_chunk_keys_append(keys, index, &name, NULL);
    if (status == REFS_OK && name.size > 0)
        refs_error_prefix(err, "%.*s", (int)name.size, (const char *)name.data);
}

bool refs_references__is_inside(const refs_chunk_keys *keys, const uint64_t *index) {
    for (size_t dim = 0; dim < keys->rank; dim++)
        if (index[dim] >= keys->n[dim]) return false;
    return keys->rank > 0 || index[0] == 0;
}

void refs_references__table_index(const refs_chunk_table *table, size_t i, uint64_t *index) {
    uint64_t place = i;
    for (size_t dim = table->rank; dim-- > 0;) {
        if (table->keys != NULL) {
            index[dim] = refs_references__chunk_index_part(table->keys[i], table->rank, dim);
        } else {
            index[dim] = place % table->extent[dim];
            place /= table->extent[dim];
        }
    }
}

static refs_status each_of_table(const refs_set *set, const refs_chunk_table *table,
                                 const refs_chunk_keys *keys, const refs_chunk_visitor *visitor,
                                 refs_error *err) {
    uint64_t index[REFS_CHUNK_MAX_RANK];
    for (size_t i = 0; i < table->count; i++) {
        refs_ref ref = {0};
        refs_references__table_index(table, i, index);
        if (!refs_references__is_inside(keys, index)) continue;
        refs_status status = resolve(set, &table->entries[i], &ref, err);
        if (status != REFS_OK) refs_references__name_chunk(keys, index, err);
        if (status == REFS_OK) status = visitor->visit(visitor->user, index, &ref, err);
        REFS_TRY(status);
    }
    return REFS_OK;
}

/* Whether the tables split these keys in another way: if an array's name ends in a number, that
 * number is part of the index there. */
static bool is_split_elsewhere(const refs_chunk_keys *keys) {
    if (keys->prefix.size == 0 || (keys->rank > 1 && keys->separator != '/')) return false;
    const refs_str path = refs_str_part(keys->prefix, 0, keys->prefix.size - 1);
    refs_split_key name;
    return refs_references__chunk_key_split(refs_path_last(path), &name) && name.rank == 1;
}

static refs_status visit_by_name(const refs_set *set, const refs_chunk_keys *keys,
                                 const uint64_t *index, const refs_chunk_visitor *visitor,
                                 refs_error *err) {
    refs_ref ref = {0};
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_status status = refs_chunk_keys_append(keys, index, &key, err);
    if (status == REFS_OK) status = refs_set_find(set, refs_buf_text(&key), &ref, err);
    if (status != REFS_OK && status != REFS_NOT_FOUND)
        refs_error_prefix(err, "%.*s", (int)key.size, (const char *)key.data);
    if (status == REFS_OK) status = visitor->visit(visitor->user, index, &ref, err);
    refs_ref_release(&ref);
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

/* Adds the keys of a table, as text, that may belong to these keys. */
static refs_status list_table(const refs_set *set, const refs_chunk_table *table,
                              refs_chunk_list *list, refs_error *err) {
    const refs_str prefix = refs_intern_get(&set->prefixes, table->prefix);
    const refs_chunk_keys own = {prefix, table->separator, table->rank, NULL};
    const refs_str wanted = refs_str_part(list->keys->prefix, 0, prefix.size);
    uint64_t index[REFS_CHUNK_MAX_RANK];
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    if (!refs_str_equal(wanted, prefix)) return REFS_OK;
    for (size_t i = 0; i < table->count; i++) {
        key.size = 0;
        refs_references__table_index(table, i, index);
        REFS_TRY(refs_chunk_keys_append(&own, index, &key, err));
        REFS_TRY(refs_references__chunk_list_add_key(list, refs_buf_text(&key), err));
    }
    return REFS_OK;
}

/* Visits the chunks by listing all keys of the set, for grids with many more chunks than the set
 * has. */
static refs_status each_listed(const refs_set *set, const refs_chunk_keys *keys,
                               const refs_chunk_visitor *visitor, refs_error *err) {
    REFS_SCOPED_BY(refs_references__chunk_list_clear) refs_chunk_list list = {keys, NULL, 0, 0};
    refs_status status = REFS_OK;
    for (uint32_t id = 0; id < set->names.count && status == REFS_OK; id++)
        status = refs_references__chunk_list_add_key(&list, refs_intern_get(&set->names, id), err);
    for (size_t i = 0; i < set->n_tables && status == REFS_OK; i++)
        status = list_table(set, &set->tables[i], &list, err);
    refs_references__chunk_list_sort(&list);
    for (size_t i = 0; i < list.n && status == REFS_OK; i++) {
        uint64_t index[REFS_CHUNK_MAX_RANK] = {0};
        refs_references__index_at(keys, list.numbers[i], index);
        status = visit_by_name(set, keys, index, visitor, err);
    }
    return status;
}

/* Whether the grid has many more chunks than the set has keys. */
static bool is_sparse(const refs_set *set, const refs_chunk_keys *keys) {
    uint64_t total = 1;
    for (size_t dim = 0; dim < keys->rank; dim++)
        if (!refs_mul_u64(total, keys->n[dim], &total)) return true;
    return total > MAX_KEYS_LOOKED_AT && total > set->size;
}

/* Chunk keys without a number after the prefix, such as "t2m/c" and "t2m/c.0.1", are in no
 * table. */
static refs_status each_by_name(const refs_set *set, const refs_chunk_keys *keys,
                                const refs_chunk_visitor *visitor, uint64_t max_keys,
                                refs_error *err) {
    uint64_t index[REFS_CHUNK_MAX_RANK] = {0};
    if (max_keys == UINT64_MAX && set->chunks.self == NULL && is_sparse(set, keys))
        return each_listed(set, keys, visitor, err);
    do {
        REFS_TRY(visit_by_name(set, keys, index, visitor, err));
    } while (--max_keys > 0 && refs_references__next_index(keys, index));
    return REFS_OK;
}

/* Looks up at most `max_keys` keys if there is no index of chunks. */
static refs_status each_chunk(const refs_set *set, const refs_chunk_keys *keys,
                              const refs_chunk_visitor *visitor, uint64_t max_keys,
                              refs_error *err) {
    const refs_split_key wanted = {.prefix = keys->prefix,
                                   .separator = keys->separator,
                                   .rank = keys->rank > 0 ? keys->rank : 1};
    for (size_t dim = 0; dim < keys->rank; dim++)
        if (keys->n[dim] == 0) return REFS_OK;
    if (keys->prefix.size > 0 && !refs_str_ends(keys->prefix, "/"))
        return each_by_name(set, keys, visitor, max_keys, err);
    if (set->chunks.self == NULL && is_split_elsewhere(keys)) {
        const uint64_t one = 1;
        const refs_chunk_keys scalar = {keys->prefix, keys->separator, 1, &one};
        return each_by_name(set, keys->rank > 0 ? keys : &scalar, visitor, max_keys, err);
    }
    const refs_chunk_table *table = refs_references__set_table(set, &wanted);
    /* A single number has no separator, so both are tried. */
    refs_split_key other = wanted;
    other.separator = '/';
    if (table == NULL && wanted.rank == 1) table = refs_references__set_table(set, &other);
    if (table != NULL) return each_of_table(set, table, keys, visitor, err);
    if (set->chunks.self == NULL) return REFS_OK;
    return set->chunks.each(set->chunks.self, keys, visitor, err);
}

refs_status refs_set_each_chunk(const refs_set *set, const refs_chunk_keys *keys,
                                const refs_chunk_visitor *visitor, refs_error *err) {
    return each_chunk(set, keys, visitor, UINT64_MAX, err);
}

/* Receives the first chunk. */
typedef struct first_chunk {
    uint64_t *index;
    size_t rank;
    bool is_found;
} first_chunk;

static refs_status take_first(void *user, const uint64_t *index, const refs_ref *ref,
                              refs_error *err) {
    first_chunk *first = user;
    (void)ref;
    if (first->rank > 0) memcpy(first->index, index, first->rank * sizeof *index);
    first->is_found = true;
    return refs_fail(err, REFS_CANCELLED, "found");
}

refs_status refs_set_first_chunk(const refs_set *set, const refs_chunk_keys *keys, uint64_t *index,
                                 refs_error *err) {
    first_chunk first = {index, keys->rank, false};
    const refs_chunk_visitor visitor = {take_first, &first};
    refs_error found = REFS_ERROR_INIT;
    for (size_t dim = 0; dim < keys->rank; dim++)
        if (keys->n[dim] == 0) return REFS_NOT_FOUND;
    if (set->chunks.first != NULL) return set->chunks.first(set->chunks.self, keys, index, err);
    const refs_status status = each_chunk(set, keys, &visitor, MAX_KEYS_LOOKED_AT, &found);
    if (first.is_found) return REFS_OK;
    return status != REFS_OK ? refs_fail(err, status, "%s", found.message) : REFS_NOT_FOUND;
}

static refs_status count_one(void *user, const uint64_t *index, const refs_ref *ref,
                             refs_error *err) {
    (void)index;
    (void)ref;
    (void)err;
    ++*(uint64_t *)user;
    return REFS_OK;
}

refs_status refs_set_count_chunks(const refs_set *set, const refs_chunk_keys *keys, uint64_t *n,
                                  refs_error *err) {
    const refs_chunk_visitor visitor = {count_one, n};
    *n = 0;
    return refs_set_each_chunk(set, keys, &visitor, err);
}

uint64_t refs_set_size(const refs_set *set) {
    return set->size;
}

uint32_t refs_set_n_locations(const refs_set *set) {
    if (set->chunks.self != NULL) return set->chunks.n_locations(set->chunks.self);
    return (uint32_t)set->locations.count;
}

const char *refs_set_location_at(const refs_set *set, uint32_t id) {
    return refs_set_is_whole(set) ? refs_intern_get(&set->locations, id).data : NULL;
}

const char *refs_set_seen_file(const refs_set *set, uint32_t id, refs_vfs_validators *seen) {
    if (set->chunks.seen_file == NULL) return NULL;
    return set->chunks.seen_file(set->chunks.self, id, seen);
}

const char *refs_set_location(const refs_set *set) {
    return set->location;
}

refs_url_context refs_set_url_context(const refs_set *set) {
    return (refs_url_context){.base = set->location, .remote_to_local = set->remote_to_local};
}

const char *refs_set_document(const refs_set *set) {
    return set->document != NULL ? set->document : set->location;
}

refs_status refs_set_each_version(const refs_set *set, const refs_set_version_visitor *visitor,
                                  refs_error *err) {
    const refs_chunk_source *chunks = &set->chunks;
    return chunks->each_version != NULL ? chunks->each_version(chunks->self, visitor, err)
                                        : REFS_OK;
}

refs_set_scan_costs refs_set_scan_costs_of(const refs_set *set) {
    const refs_chunk_source *chunks = &set->chunks;
    if (chunks->self == NULL || chunks->costs == NULL) return (refs_set_scan_costs){.reads = 0};
    return chunks->costs(chunks->self);
}
