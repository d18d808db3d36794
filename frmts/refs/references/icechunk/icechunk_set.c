/* icechunk_set.c -- see icechunk_set.h. */
#include "icechunk/icechunk_set.h"

#include "chunk_list.h"
#include "ref_strings.h"
#include "refs/block.h"
#include "refs/fork.h"
#include "refs/percent.h"
#include "refs/url.h"
#include "rewrites.h"

#define CONTAINER_SCHEME "vcc://"
#define FILE_SCHEME      "file://"

typedef struct icechunk_set {
    refs_icechunk *repository;
    char *base;      /* the repository's folder; a remote one must not refer to local files */
    char **rewrites; /* NULL-ended */
    refs_url_context urls;

    pthread_mutex_t lock; /* guards the following member */
    refs_intern locations;
} icechunk_set;

/* -- URLs of virtual chunks -------------------------------------------------------------------- */

/* Decodes a location: it is percent-encoded like any URL, but names of objects and files are
 * not. */
static refs_status append_decoded(refs_str url, refs_buf *text, refs_error *err) {
    const size_t begin = text->size;
    if (url.size == 0) return REFS_OK;
    REFS_TRY(refs_buf_append_str(text, url, err));
    text->size = begin + refs_percent_decode((char *)text->data + begin, url.size);
    return REFS_OK;
}

static bool is_rewritten(const icechunk_set *set, refs_str url) {
    for (char **rewrite = set->rewrites; *rewrite != NULL; rewrite++) {
        const char *arrow = strstr(*rewrite, "=>");
        const refs_str old =
            refs_str_view(*rewrite, arrow != NULL ? (size_t)(arrow - *rewrite) : 0);
        if (old.size > 0 && refs_str_equal(refs_str_part(url, 0, old.size), old)) return true;
    }
    return false;
}

/* Expands "vcc://name/path": the container `name` has the prefix. */
static refs_status append_expanded(const icechunk_set *set, refs_str url, refs_buf *text,
                                   refs_error *err) {
    const refs_str rest = refs_str_part(url, sizeof CONTAINER_SCHEME - 1, url.size);
    const refs_str name = refs_str_part(rest, 0, refs_str_find(rest, '/'));
    refs_str prefix;
    REFS_TRY(refs_icechunk_container(set->repository, name, &prefix, err));
    if (prefix.data == NULL || name.size == rest.size)
        return refs_fail(err, REFS_INVALID,
                         "the repository has no virtual chunk container \"%.*s\" (give its "
                         "location: -oo URL_REWRITE=" CONTAINER_SCHEME "%.*s/=>s3://bucket/)",
                         REFS_STR_ARG(name), REFS_STR_ARG(name));
    REFS_TRY(refs_buf_append_str(text, prefix, err));
    if (!refs_str_ends(prefix, "/")) REFS_TRY(refs_buf_append(text, "/", 1, err));
    return refs_buf_append_str(text, refs_str_part(rest, name.size + 1, rest.size), err);
}

/* Appends a location as other sets have it: expanded, and local files by their paths. */
static refs_status append_plain(const icechunk_set *set, refs_str location, refs_buf *url,
                                refs_error *err) {
    REFS_SCOPED_BUF whole = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    if (refs_str_starts(location, CONTAINER_SCHEME) && !is_rewritten(set, location)) {
        status = append_expanded(set, location, &whole, err);
        location = refs_buf_text(&whole);
    }
    if (refs_str_starts(location, FILE_SCHEME "/") && !is_rewritten(set, location))
        location = refs_str_part(location, sizeof FILE_SCHEME - 1, location.size);
    if (status == REFS_OK)
        status = refs_url_is_http(location) ? refs_buf_append_str(url, location, err)
                                            : append_decoded(location, url, err);
    return status;
}

/* -- looking up -------------------------------------------------------------------------------- */

static refs_status number_location(icechunk_set *set, refs_ref *ref, refs_error *err) {
    REFS_LOCKED(&set->lock);
    return refs_intern_add(&set->locations, refs_str_from(ref->location), &ref->location_id, err);
}

/* Failures name the location as the manifest has it. */
static refs_status set_virtual(icechunk_set *set, const refs_icechunk_chunk *chunk, refs_ref *ref,
                               refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT, plain = REFS_BUF_INIT;
    refs_status status = append_plain(set, chunk->url, &plain, err);
    const refs_str url = refs_buf_text(&plain);
    if (status == REFS_OK) status = refs_url_map(url, &set->urls, &location, err);
    if (status == REFS_OK) {
        const refs_str name = refs_buf_text(&location);
        status = refs_references__own_strings(ref, name, url, chunk->etag, err);
    }
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(chunk->url));
    ref->modified_s = chunk->modified_s;
    return status;
}

static refs_status set_ref(icechunk_set *set, refs_icechunk_chunk *chunk, refs_ref *ref,
                           refs_error *err) {
    if (chunk->kind == REFS_ICECHUNK_INLINE) {
        ref->bytes = chunk->bytes;
        ref->block = refs_block_hold(chunk->block);
        return REFS_OK;
    }
    ref->kind = REFS_REF_RANGE;
    ref->offset = chunk->offset;
    ref->length = chunk->length;
    const refs_str none = refs_str_view(NULL, 0);
    if (chunk->kind == REFS_ICECHUNK_NATIVE)
        REFS_TRY(refs_references__own_strings(ref, chunk->url, chunk->url, none, err));
    else
        REFS_TRY(set_virtual(set, chunk, ref, err));
    return number_location(set, ref, err);
}

static refs_status find_at(icechunk_set *set, const refs_icechunk_place *place, refs_ref *ref,
                           refs_error *err) {
    refs_icechunk_chunk chunk;
    REFS_TRY(refs_icechunk_find(set->repository, place, &chunk, err));
    refs_status status = set_ref(set, &chunk, ref, err);
    refs_block_release(chunk.block);
    if (status != REFS_OK) refs_ref_release(ref);
    return status;
}

static refs_str drop_end(refs_str text, size_t size) {
    return refs_str_part(text, 0, text.size > size ? text.size - size : 0);
}

/* Extends `path`, the beginning of `text`, by the next name in `text`. */
static refs_str up_to_next_slash(refs_str text, refs_str path) {
    size_t end = path.size > 0 ? path.size + 1 : 0;
    while (end < text.size && text.data[end] != '/') end++;
    return refs_str_part(text, 0, end);
}

/* Accepts "array/c/0/1", and "array/0.1" or "array/0/1" if the array's metadata have keys of
 * version 2; with these, the first numbers may be part of the path. */
static refs_status find(void *self, const refs_split_key *key, refs_ref *ref, refs_error *err) {
    const size_t most = key->separator == '/' && key->text.size > 0 ? key->rank - 1 : 0;
    refs_icechunk_place place = {drop_end(key->prefix, 1), key->index, key->rank};
    const refs_str path = place.path;
    refs_status status = REFS_NOT_FOUND;
    if (refs_str_is(path, "c") || refs_str_ends(path, "/c")) {
        place.path = drop_end(path, 2);
        status = find_at(self, &place, ref, err);
        place.path = path;
    }
    for (size_t n_names = 0; n_names <= most && status == REFS_NOT_FOUND; n_names++) {
        place.rank = key->rank - n_names;
        place.index = key->index + n_names;
        status = find_at(self, &place, ref, err);
        place.path = up_to_next_slash(key->text, place.path);
    }
    return status;
}

/* Accepts "array/c" of an array without dimensions. */
static refs_status find_scalar(void *self, refs_str key, refs_ref *ref, refs_error *err) {
    const uint64_t none = 0;
    if (!refs_str_is(key, "c") && !refs_str_ends(key, "/c")) return REFS_NOT_FOUND;
    const refs_icechunk_place place = {drop_end(key, 2), &none, 0};
    return find_at(self, &place, ref, err);
}

static refs_status note_stored(void *user, const uint64_t *index, refs_error *err) {
    return refs_references__chunk_list_add(user, index, err);
}

/* Lists the arrays whose chunks `find` finds under such keys. Manifests may overlap, and only the
 * references within each ascend. */
static refs_status list_stored(const icechunk_set *set, refs_chunk_list *stored, refs_error *err) {
    const refs_icechunk_index_visitor visitor = {note_stored, stored};
    refs_icechunk_place place = {drop_end(stored->keys->prefix, 1), NULL, stored->keys->rank};
    const refs_str path = place.path;
    if (refs_str_is(path, "c") || refs_str_ends(path, "/c")) {
        place.path = drop_end(path, 2);
        REFS_TRY(refs_icechunk_each_index(set->repository, &place, &visitor, err));
        place.path = path;
    }
    REFS_TRY(refs_icechunk_each_index(set->repository, &place, &visitor, err));
    refs_references__chunk_list_sort(stored);
    return REFS_OK;
}

static refs_status each(void *self, const refs_chunk_keys *keys, const refs_chunk_visitor *visitor,
                        refs_error *err) {
    refs_split_key key = {.prefix = keys->prefix, .separator = keys->separator, .rank = keys->rank};
    REFS_SCOPED_BY(refs_references__chunk_list_clear) refs_chunk_list stored = {keys, NULL, 0, 0};
    refs_status status = list_stored(self, &stored, err);
    for (size_t i = 0; i < stored.n && status == REFS_OK; i++) {
        refs_ref ref = {.kind = REFS_REF_INLINE};
        refs_references__index_at(keys, stored.numbers[i], key.index);
        status = find(self, &key, &ref, err);
        if (status != REFS_OK && status != REFS_NOT_FOUND)
            refs_references__name_chunk(keys, key.index, err);
        if (status == REFS_OK) status = visitor->visit(visitor->user, key.index, &ref, err);
        refs_ref_release(&ref);
        if (status == REFS_NOT_FOUND) status = REFS_OK;
    }
    return status;
}

static uint32_t n_locations(void *self) {
    icechunk_set *set = self;
    REFS_LOCKED(&set->lock);
    return (uint32_t)set->locations.count;
}

/* -- history ----------------------------------------------------------------------------------- */

/* Receives the references. */
typedef struct listener {
    const refs_set_version_visitor *visitor;
} listener;

static refs_status pass_on(void *user, const refs_icechunk_entry *entry, refs_error *err) {
    static const refs_set_version_kind kinds[] = {
        [REFS_ICECHUNK_IS_BRANCH] = REFS_VERSION_BRANCH,
        [REFS_ICECHUNK_IS_TAG] = REFS_VERSION_TAG,
        [REFS_ICECHUNK_IS_DELETED_TAG] = REFS_VERSION_DELETED_TAG,
        [REFS_ICECHUNK_IS_SNAPSHOT] = REFS_VERSION_SNAPSHOT,
        [REFS_ICECHUNK_IS_FLAG] = REFS_VERSION_FLAG,
        [REFS_ICECHUNK_IS_STATUS] = REFS_VERSION_STATUS};
    const refs_set_version_visitor *visitor = ((const listener *)user)->visitor;
    const refs_set_version_entry shown = {.kind = kinds[entry->kind],
                                          .name = entry->name,
                                          .snapshot = entry->snapshot,
                                          .parent = entry->parent,
                                          .message = entry->message,
                                          .written_us = entry->written_us,
                                          .is_enabled = entry->is_enabled,
                                          .is_current = entry->is_current};
    return visitor->visit(visitor->user, &shown, err);
}

static refs_status each_version(void *self, const refs_set_version_visitor *visitor,
                                refs_error *err) {
    const icechunk_set *set = self;
    listener hears = {visitor};
    const refs_icechunk_entry_visitor entries = {pass_on, &hears};
    return refs_icechunk_each_entry(set->repository, &entries, err);
}

/* -- whole sets -------------------------------------------------------------------------------- */

static size_t memory(const void *self) {
    const icechunk_set *set = self;
    return sizeof *set + refs_icechunk_memory(set->repository);
}

static void free_set(void *self) {
    REFS_SCOPED icechunk_set *set = self;
    refs_icechunk_free(set->repository);
    refs_intern_clear(&set->locations);
    refs_references__rewrites_free(set->rewrites);
    refs_free(set->base);
    pthread_mutex_destroy(&set->lock);
}

static refs_status fill(icechunk_set *set, const refs_set_input *input, refs_error *err) {
    REFS_TRY(refs_str_keep(refs_str_from(input->location), &set->base, err));
    REFS_TRY(refs_references__rewrites_copy(input->options->rewrites, &set->rewrites, err));
    set->urls = (refs_url_context){set->base, (const char *const *)set->rewrites,
                                   input->options->remote_to_local};
    return REFS_OK;
}

refs_status refs_references__icechunk_source(const refs_set_input *input, refs_icechunk *repository,
                                             refs_chunk_source *source, refs_error *err) {
    icechunk_set *set = refs_calloc(1, sizeof *set);
    if (set == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&set->lock, NULL);
    refs_status status = fill(set, input, err);
    if (status != REFS_OK) {
        free_set(set);
        return status;
    }
    set->repository = repository;
    *source = (refs_chunk_source){.self = set,
                                  .find = find,
                                  .each = each,
                                  .n_locations = n_locations,
                                  .free = free_set,
                                  .find_scalar = find_scalar,
                                  .each_version = each_version,
                                  .memory = memory};
    return REFS_OK;
}
