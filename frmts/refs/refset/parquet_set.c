/* parquet_set.c -- see parquet_set.h. */
#include "parquet_set.h"

#include <pthread.h>

#include "chunk_grid.h"
#include "record_cache.h"
#include "refs/intern.h"

/* What is known of one array. */
typedef struct array_info {
    refs_chunk_grid grid;
    refs_status status; /* other than REFS_OK: its chunks cannot be looked up, because of … */
    char *problem;
} array_info;

struct refs_parquet_set {
    const refs_vfs *vfs;
    char *folder;
    char *base;      /* what URLs are relative to */
    char **rewrites; /* NULL-ended */
    refs_url_context urls;
    uint64_t record_size;
    refs_intern prefixes; /* of chunk keys: names of arrays with a slash after them */
    array_info *arrays;   /* one for each */
    size_t arrays_capacity;
    refs_record_cache *records;

    pthread_mutex_t lock; /* guards what follows */
    refs_intern locations;
};

/* -- opening: metadata ------------------------------------------------------------------------- */

/* Names go into locations: none may lead out of the folder. */
static bool is_plain_name(refs_str name) {
    if (refs_str_find(name, '\0') != SIZE_MAX) return false;
    while (name.size > 0) {
        size_t slash = refs_str_find(name, '/');
        if (refs_str_is(refs_str_part(name, 0, slash), "..")) return false;
        name = slash == SIZE_MAX ? refs_str_view("", 0) : refs_str_part(name, slash + 1, name.size);
    }
    return true;
}

/* Finds out about an array by its metadata; NULL where they are of version 3. */
static refs_status read_array(refs_str prefix, const refs_json *zarray, refs_chunk_grid *grid,
                              refs_error *err) {
    if (zarray == NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "parquet sets hold arrays of Zarr version 2 only");
    if (!is_plain_name(prefix))
        return refs_fail(err, REFS_INVALID, "its name leads out of the set");
    return refs_refset__chunk_grid_read(zarray, grid, err);
}

/* An array that cannot be read leaves the others as they are. */
static refs_status add_array(refs_parquet_set *set, refs_str prefix, const refs_json *zarray,
                             refs_error *err) {
    uint32_t id;
    size_t known = set->prefixes.count;
    if (!refs_grow((void **)&set->arrays, &set->arrays_capacity, known, sizeof *set->arrays))
        return refs_fail_nomem(err);
    REFS_TRY(refs_intern_add(&set->prefixes, prefix, &id, err));
    array_info *array = &set->arrays[id];
    refs_error problem = REFS_ERROR_INIT;
    if (id < known) refs_free(array->problem);
    memset(array, 0, sizeof *array);
    array->status = read_array(prefix, zarray, &array->grid, &problem);
    if (array->status == REFS_OK) return REFS_OK;
    array->problem = refs_str_copy(refs_str_from(problem.message));
    return array->problem != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Objects as they are, or the texts of objects from writers that copied them so. */
static refs_status add_zarray(refs_parquet_set *set, refs_str prefix, const refs_json *value,
                              refs_error *err) {
    refs_json_doc *parsed = NULL;
    if (refs_json_is_string(value) &&
        refs_json_parse(refs_json_text(value), &parsed, NULL) == REFS_NOMEM)
        return refs_fail_nomem(err);
    if (parsed != NULL) value = refs_json_root(parsed);
    refs_status status = add_array(set, prefix, value, err);
    refs_json_doc_free(parsed);
    return status;
}

/* Whether `key` is `name` in some folder, or in none; *prefix is the folder then. */
static bool is_named(refs_str key, const char *name, refs_str *prefix) {
    if (!refs_str_ends(key, name)) return false;
    *prefix = refs_str_part(key, 0, key.size - strlen(name));
    return prefix->size == 0 || prefix->data[prefix->size - 1] == '/';
}

static refs_status add_metadata(refs_parquet_set *set, refs_str key, const refs_json *value,
                                refs_set_builder *builder, refs_error *err) {
    refs_str prefix;
    refs_buf text = REFS_BUF_INIT;
    if (refs_str_starts(key, "/")) key = refs_str_part(key, 1, key.size);
    refs_status status = refs_json_is_string(value)
                             ? refs_buf_append_str(&text, refs_json_text(value), err)
                             : refs_json_write(value, &text, err);
    if (status == REFS_OK)
        status = refs_set_builder_inline(builder, key, refs_buf_view(&text), err);
    refs_buf_clear(&text);
    REFS_TRY(status);
    if (is_named(key, ".zarray", &prefix)) return add_zarray(set, prefix, value, err);
    if (is_named(key, "zarr.json", &prefix)) return add_array(set, prefix, NULL, err);
    return REFS_OK;
}

static refs_status read_document(refs_parquet_set *set, const refs_json *document,
                                 refs_set_builder *builder, refs_error *err) {
    const refs_json *size = refs_json_get(document, "record_size");
    const refs_json *metadata = refs_json_get(document, "metadata");
    if (!refs_json_is_object(metadata))
        return refs_fail(err, REFS_INVALID, "it has no object \"metadata\"");
    if (size == NULL)
        return refs_fail(err, REFS_INVALID,
                         "it has no \"record_size\": this is plain Zarr, no set of references");
    if (!refs_json_u64(size, &set->record_size) || set->record_size == 0)
        return refs_fail(err, REFS_INVALID, "\"record_size\" is \"%.*s\", no positive integer",
                         REFS_STR_ARG(refs_json_text(size)));
    for (size_t i = 0; i < refs_json_size(metadata); i++)
        REFS_TRY(add_metadata(set, refs_json_name_at(metadata, i), refs_json_at(metadata, i),
                              builder, err));
    return REFS_OK;
}

/* -- opening: the rest ------------------------------------------------------------------------- */

/* URLs are relative to where the folder lies; "." and ".." lie where they do not say. */
static char *base_of(refs_str folder) {
    refs_buf base = REFS_BUF_INIT;
    size_t slash = refs_str_find_last(folder, '/');
    refs_str last = refs_str_part(folder, slash == SIZE_MAX ? 0 : slash + 1, folder.size);
    bool unnamed = refs_str_is(last, ".") || refs_str_is(last, "..");
    refs_status status = refs_buf_append_str(&base, folder, NULL);
    if (status == REFS_OK && unnamed) status = refs_buf_append(&base, "/../.", 5, NULL);
    char *text = status == REFS_OK ? refs_buf_take_text(&base) : NULL;
    refs_buf_clear(&base);
    return text;
}

static char **copy_list(const char *const *list) {
    size_t n = 0;
    while (list != NULL && list[n] != NULL) n++;
    char **copy = refs_calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++) {
        copy[i] = refs_str_copy(refs_str_from(list[i]));
        if (copy[i] != NULL) continue;
        while (i > 0) refs_free(copy[--i]);
        refs_free(copy);
        return NULL;
    }
    return copy;
}

static refs_status load_record(void *user, refs_record_id id, refs_record **record,
                               refs_error *err) {
    refs_parquet_set *set = user;
    refs_str prefix = refs_intern_get(&set->prefixes, id.array);
    uint64_t first = id.number * set->record_size;
    uint64_t n_rows = refs_refset__chunk_grid_total(&set->arrays[id.array].grid) - first;
    if (n_rows > set->record_size) n_rows = set->record_size;
    refs_buf name = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&name, err, "%s/%srefs.%llu.parq", set->folder,
                                         prefix.data, (unsigned long long)id.number);
    if (status == REFS_OK)
        status = refs_refset__record_open(set->vfs, (const char *)name.data, n_rows, record, err);
    refs_buf_clear(&name);
    if (status != REFS_NOT_FOUND) return status;
    *record = NULL;
    return REFS_OK;
}

static refs_status fill(refs_parquet_set *set, const refs_parquet_source *source,
                        refs_set_builder *builder, refs_error *err) {
    const refs_set_options *options = source->options;
    set->vfs = source->vfs;
    set->folder = refs_str_copy(source->folder);
    set->base = base_of(source->folder);
    set->rewrites = copy_list(options->rewrites);
    if (set->folder == NULL || set->base == NULL || set->rewrites == NULL)
        return refs_fail_nomem(err);
    set->urls =
        (refs_url_context){set->base, (const char *const *)set->rewrites, options->remote_to_local};
    REFS_TRY(refs_refset__record_cache_open(options->limits.max_record_bytes, load_record, set,
                                            &set->records, err));
    return read_document(set, source->document, builder, err);
}

refs_status refs_refset__parquet_open(const refs_parquet_source *source, refs_set_builder *builder,
                                      refs_parquet_set **set, refs_error *err) {
    refs_parquet_set *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&opened->lock, NULL);
    refs_status status = fill(opened, source, builder, err);
    if (status == REFS_OK)
        *set = opened;
    else
        refs_refset__parquet_free(opened);
    return status;
}

void refs_refset__parquet_free(refs_parquet_set *set) {
    if (set == NULL) return;
    refs_refset__record_cache_free(set->records);
    for (size_t i = 0; i < set->prefixes.count; i++) refs_free(set->arrays[i].problem);
    refs_free(set->arrays);
    refs_intern_clear(&set->prefixes);
    refs_intern_clear(&set->locations);
    for (char **rewrite = set->rewrites; rewrite != NULL && *rewrite != NULL; rewrite++)
        refs_free(*rewrite);
    refs_free(set->rewrites);
    refs_free(set->base);
    refs_free(set->folder);
    pthread_mutex_destroy(&set->lock);
    refs_free(set);
}

/* -- looking up -------------------------------------------------------------------------------- */

/* The innermost array that `key` is in. */
static uint32_t find_array(const refs_parquet_set *set, refs_str key, refs_str *prefix) {
    for (refs_str rest = key;;) {
        size_t slash = refs_str_find_last(rest, '/');
        *prefix = refs_str_part(key, 0, slash == SIZE_MAX ? 0 : slash + 1);
        uint32_t array = refs_intern_find(&set->prefixes, *prefix);
        if (array != REFS_INTERN_NONE || slash == SIZE_MAX) return array;
        rest = refs_str_part(key, 0, slash);
    }
}

static refs_status number_location(refs_parquet_set *set, refs_str location, uint32_t *id,
                                   refs_error *err) {
    pthread_mutex_lock(&set->lock);
    refs_status status = refs_intern_add(&set->locations, location, id, err);
    pthread_mutex_unlock(&set->lock);
    return status;
}

static refs_status map_url(refs_parquet_set *set, refs_str url, refs_buf *location,
                           refs_error *err) {
    for (size_t i = 0; i + 1 < url.size; i++)
        if (url.data[i] == '{' && url.data[i + 1] == '{')
            return refs_fail(err, REFS_INVALID,
                             "a template that was not rendered when the set was written");
    return refs_url_map(url, &set->urls, location, err);
}

/* The location and the URL of a row go into a block of their own: a fetch then holds some hundred
 * bytes for each, not whole records. */
static refs_status set_texts(refs_ref *ref, refs_str location, refs_str url, refs_error *err) {
    ref->block = refs_block_new(location.size + url.size + 2, NULL, NULL);
    if (ref->block == NULL) return refs_fail_nomem(err);
    char *text = (char *)refs_block_data(ref->block);
    ref->location = text;
    memcpy(text, location.data, location.size);
    text[location.size] = '\0';
    text += location.size + 1;
    ref->url = text;
    memcpy(text, url.data, url.size);
    text[url.size] = '\0';
    return REFS_OK;
}

static refs_status set_location(refs_parquet_set *set, refs_str url, refs_ref *ref,
                                refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = map_url(set, url, &text, err);
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(url));
    refs_str location = refs_str_view((const char *)text.data, text.size);
    if (status == REFS_OK) status = number_location(set, location, &ref->location_id, err);
    if (status == REFS_OK) status = set_texts(ref, location, url, err);
    refs_buf_clear(&text);
    return status;
}

static refs_status make_ref(refs_parquet_set *set, refs_record *record, uint64_t row, refs_ref *ref,
                            refs_error *err) {
    refs_record_row found;
    REFS_TRY(refs_refset__record_row(record, row, &found, err));
    if (found.kind == REFS_REF_INLINE) {
        ref->bytes = found.bytes;
        ref->block = refs_block_hold(refs_refset__record_block(record));
        return REFS_OK;
    }
    REFS_TRY(set_location(set, found.url, ref, err));
    ref->kind = found.kind;
    ref->offset = found.offset;
    ref->length = found.length;
    return REFS_OK;
}

refs_status refs_refset__parquet_find(refs_parquet_set *set, refs_str key, refs_ref *ref,
                                      refs_error *err) {
    refs_chunk_key split;
    refs_str prefix;
    uint64_t number;
    refs_record *record;
    if (!refs_refset__chunk_key_split(key, &split)) return REFS_NOT_FOUND;
    uint32_t id = find_array(set, key, &prefix);
    if (id == REFS_INTERN_NONE) return REFS_NOT_FOUND;
    const array_info *array = &set->arrays[id];
    if (array->status != REFS_OK) return refs_fail(err, array->status, "%s", array->problem);
    if (!refs_refset__chunk_grid_number(&array->grid, key, prefix, &number)) return REFS_NOT_FOUND;
    const refs_record_id where = {id, number / set->record_size};
    REFS_TRY(refs_refset__record_cache_get(set->records, where, &record, err));
    if (record == NULL) return REFS_NOT_FOUND;
    refs_status status = make_ref(set, record, number % set->record_size, ref, err);
    refs_block_release(refs_refset__record_block(record));
    return status;
}

uint32_t refs_refset__parquet_n_locations(refs_parquet_set *set) {
    pthread_mutex_lock(&set->lock);
    uint32_t n = (uint32_t)set->locations.count;
    pthread_mutex_unlock(&set->lock);
    return n;
}
