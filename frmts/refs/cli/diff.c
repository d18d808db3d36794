/* diff.c -- lists the differences between two sets. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "refs/array.h"
#include "refs/same_file.h"
#include "tool.h"

/* Limit of bytes of an array whose values are compared. */
#define MAX_COMPARED_BYTES (256 * REFS_MIB)

/* Limit of listed differences between chunks of one array. */
#define MAX_LISTED 10

typedef struct comparison {
    const tool_set *sets; /* two */
    bool is_quiet, is_json;
    uint64_t n_different;
    size_t from; /* number of the set whose keys are visited */
    const refs_array_meta *array;
    const refs_chunk_keys *keys; /* keys of the array's chunks */
    uint64_t n_of_array;
    uint32_t known[2]; /* the last compared locations */
    bool is_known, are_known_same;
    refs_intern by_value; /* paths of arrays whose values were compared instead of their chunks */
} comparison;

static void tell(comparison *at, refs_str key, const char *what) {
    at->n_different++;
    if (at->is_json) {
        printf(at->n_different > 1 ? ",\n{\"key\":" : "\n{\"key\":");
        tool_print_json_text(key);
        printf(",\"difference\":\"%s\"}", what);
    } else if (!at->is_quiet && at->n_of_array++ < MAX_LISTED) {
        printf("%.*s: %s\n", REFS_STR_ARG(key), what);
    }
}

/* -- documents --------------------------------------------------------------------------------- */

static refs_status read_document(const tool_set *set, refs_str key, refs_buf *text, bool *is_there,
                                 refs_error *err) {
    refs_status status = refs_store_get(set->store, key, REFS_MAX_METADATA_BYTES, text, err);
    *is_there = status == REFS_OK;
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

/* Compares numbers by value; 64-bit integers exactly. */
static bool same_number(const refs_json *a, const refs_json *b) {
    uint64_t positive[2];
    int64_t integer[2];
    double number[2];
    if (refs_json_u64(a, &positive[0]) && refs_json_u64(b, &positive[1]))
        return positive[0] == positive[1];
    if (refs_json_i64(a, &integer[0]) && refs_json_i64(b, &integer[1]))
        return integer[0] == integer[1];
    if (!refs_json_double(a, &number[0]) || !refs_json_double(b, &number[1])) return false;
    return number[0] == number[1] || (isnan(number[0]) && isnan(number[1]));
}

static bool same_value(const refs_json *a, const refs_json *b) {
    REFS_SCOPED_BUF one = REFS_BUF_INIT, other = REFS_BUF_INIT;
    return refs_json_write(a, &one, NULL) == REFS_OK &&
           refs_json_write(b, &other, NULL) == REFS_OK &&
           refs_str_equal(refs_buf_text(&one), refs_buf_text(&other));
}

/* Whether both are one number that JSON lacks, with or without quotes. */
static bool are_one_word(const refs_json *a, const refs_json *b) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity", NULL};
    return refs_str_is_among(refs_json_text(a), words) &&
           refs_str_equal(refs_json_text(a), refs_json_text(b));
}

/* Ignores white space, the order of members and the spelling of numbers. */
static bool same_json(const refs_json *a, const refs_json *b) {
    const size_t n = refs_json_size(a);
    if (are_one_word(a, b)) return true;
    if (refs_json_is_number(a) && refs_json_is_number(b)) return same_number(a, b);
    if (refs_json_is_object(a) != refs_json_is_object(b) ||
        refs_json_is_array(a) != refs_json_is_array(b) || n != refs_json_size(b))
        return false;
    if (!refs_json_is_object(a) && !refs_json_is_array(a)) return same_value(a, b);
    for (size_t i = 0; i < n; i++) {
        const refs_json *other = refs_json_is_object(a)
                                     ? refs_json_get_str(b, refs_json_name_at(a, i))
                                     : refs_json_at(b, i);
        if (other == NULL || !same_json(refs_json_at(a, i), other)) return false;
    }
    return true;
}

static bool same_text(const refs_buf *a, const refs_buf *b) {
    refs_json_doc *one = NULL, *other = NULL;
    refs_str left = refs_buf_text(a);
    refs_str right = refs_buf_text(b);
    bool is_same = refs_str_equal(left, right);
    if (!is_same && refs_json_parse(left, &one, NULL) == REFS_OK &&
        refs_json_parse(right, &other, NULL) == REFS_OK)
        is_same = same_json(refs_json_root(one), refs_json_root(other));
    refs_json_doc_free(one);
    refs_json_doc_free(other);
    return is_same;
}

/* -- values ------------------------------------------------------------------------------------ */

/* Whether the value is inline. A data file may have bytes in memory that are in the file, too. */
static bool is_text(const refs_ref *ref) {
    return ref->kind == REFS_REF_INLINE && ref->location == NULL;
}

/* Whether documents of arrays differ only in the chunk shape. */
static bool differ_in_chunks(const refs_buf texts[2]) {
    refs_json_doc *docs[2] = {NULL, NULL};
    bool do_differ = true;
    for (size_t i = 0; i < 2 && do_differ; i++)
        do_differ = refs_json_parse(refs_str_view((const char *)texts[i].data, texts[i].size),
                                    &docs[i], NULL) == REFS_OK;
    const refs_json *one = refs_json_root(docs[0]), *other = refs_json_root(docs[1]);
    do_differ = do_differ && refs_json_size(one) == refs_json_size(other);
    for (size_t i = 0; do_differ && i < refs_json_size(one); i++) {
        const refs_str name = refs_json_name_at(one, i);
        const refs_json *value = refs_json_get_str(other, name);
        do_differ = value != NULL &&
                    (refs_str_is(name, "chunks") || same_json(refs_json_at(one, i), value));
    }
    refs_json_doc_free(docs[0]);
    refs_json_doc_free(docs[1]);
    return do_differ;
}

static refs_status note_reference(void *user, const uint64_t *index, const refs_ref *ref,
                                  refs_error *err) {
    (void)index, (void)err;
    if (!is_text(ref)) *(bool *)user = true;
    return REFS_OK;
}

/* Finds an array whose values are stored in the set. */
static refs_status find_stored(const tool_set *set, refs_str path, const refs_array_meta **found,
                               refs_error *err) {
    const refs_array_meta *meta = refs_hierarchy_find_array(set->hierarchy, path);
    uint64_t n[REFS_MAX_RANK], elements = 0;
    bool has_references = false;
    const refs_chunk_visitor visitor = {note_reference, &has_references};
    *found = NULL;
    if (meta == NULL || meta->status != REFS_OK || meta->dtype.size == 0 ||
        !refs_array_meta_elements(meta, &elements) ||
        elements > MAX_COMPARED_BYTES / meta->dtype.size)
        return REFS_OK;
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    REFS_TRY(refs_set_each_chunk(set->set, &keys, &visitor, err));
    if (!has_references) *found = meta;
    return REFS_OK;
}

static refs_status read_values(const tool_set *set, const refs_array_meta *meta, refs_buf *values,
                               refs_error *err) {
    const refs_array_context context = {.store = set->store};
    static const uint64_t origin[REFS_MAX_RANK] = {0};
    const refs_region region = {origin, meta->shape, NULL};
    refs_array *array = NULL;
    uint64_t n = 0;
    (void)refs_array_meta_elements(meta, &n);
    REFS_TRY(refs_buf_resize(values, (size_t)n * meta->dtype.size, err));
    REFS_TRY(refs_array_open(&context, meta, &array, err));
    refs_status status = n > 0 ? refs_array_read(array, &region, values->data, NULL, err) : REFS_OK;
    refs_array_free(array);
    return status;
}

/* Compares values if only the chunk shape differs (*are_compared): values stored in a set have
 * other chunks after it grew (decision 19). */
static refs_status compare_values(comparison *at, refs_str key, const refs_buf texts[2],
                                  bool *are_compared, refs_error *err) {
    const refs_array_meta *metas[2] = {NULL, NULL};
    refs_buf values[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    uint32_t id;
    *are_compared = false;
    if (!refs_str_ends(key, "/.zarray") || !differ_in_chunks(texts)) return REFS_OK;
    const refs_str path = refs_path_parent(key);
    for (size_t i = 0; i < 2; i++) {
        REFS_TRY(find_stored(&at->sets[i], path, &metas[i], err));
        if (metas[i] == NULL) return REFS_OK;
    }
    refs_status status = read_values(&at->sets[0], metas[0], &values[0], err);
    if (status == REFS_OK) status = read_values(&at->sets[1], metas[1], &values[1], err);
    if (status == REFS_OK)
        status = refs_intern_add(&at->by_value, refs_str_from(metas[0]->path), &id, err);
    *are_compared = status == REFS_OK;
    if (*are_compared && !refs_bytes_equal(refs_buf_view(&values[0]), refs_buf_view(&values[1])))
        tell(at, path, "other values");
    refs_buf_clear(&values[0]);
    refs_buf_clear(&values[1]);
    return status;
}

static refs_status compare_document(void *user, refs_str key, refs_error *err) {
    comparison *at = user;
    refs_buf strings[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    bool is_there[2] = {false, false};
    if (refs_str_starts(key, REFS_SOURCES_GROUP "/") || !refs_key_is_metadata(key)) return REFS_OK;
    refs_status status = read_document(&at->sets[0], key, &strings[0], &is_there[0], err);
    if (status == REFS_OK)
        status = read_document(&at->sets[1], key, &strings[1], &is_there[1], err);
    at->n_of_array = 0;
    if (status == REFS_OK && !is_there[1 - at->from])
        tell(at, key, at->from == 0 ? "only in the first" : "only in the second");
    else if (status == REFS_OK && at->from == 0 && !same_text(&strings[0], &strings[1])) {
        bool are_compared = false;
        status = compare_values(at, key, strings, &are_compared, err);
        if (status == REFS_OK && !are_compared) tell(at, key, "other metadata");
    }
    refs_buf_clear(&strings[0]);
    refs_buf_clear(&strings[1]);
    return status;
}

/* -- chunks ------------------------------------------------------------------------------------ */

/* Whether two locations are the same file: they are relative if the set was opened by a relative
 * name. Consecutive chunks are mostly in one file. */
static bool same_location(comparison *at, const refs_ref *a, const refs_ref *b) {
    if (strcmp(a->location, b->location) == 0) return true;
    if (at->is_known && a->location_id == at->known[0] && b->location_id == at->known[1])
        return at->are_known_same;
    at->is_known = true;
    at->known[0] = a->location_id;
    at->known[1] = b->location_id;
    return at->are_known_same = refs_is_same_file(a->location, b->location);
}

static bool same_ref(comparison *at, const refs_ref *a, const refs_ref *b) {
    if (is_text(a) != is_text(b)) return false;
    if (is_text(a)) return refs_bytes_equal(a->bytes, b->bytes);
    return (a->kind == REFS_REF_WHOLE) == (b->kind == REFS_REF_WHOLE) && same_location(at, a, b) &&
           a->offset == b->offset && a->length == b->length && a->filter_mask == b->filter_mask;
}

/* For a data file, compares content instead of positions. */
static bool is_within(const tool_set *set, const refs_ref *ref) {
    return ref->location != NULL && strcmp(ref->location, refs_set_location(set->set)) == 0;
}

static refs_status compare_bytes(comparison *at, refs_str key, const refs_ref *const refs[2],
                                 bool *are_same, refs_error *err) {
    refs_buf bytes[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = REFS_OK;
    *are_same = same_ref(at, refs[0], refs[1]);
    if (*are_same || refs[0]->filter_mask != refs[1]->filter_mask ||
        !is_within(&at->sets[0], refs[0]) || !is_within(&at->sets[1], refs[1]))
        return REFS_OK;
    for (size_t i = 0; i < 2 && status == REFS_OK; i++)
        status = refs_store_get(at->sets[i].store, key, MAX_COMPARED_BYTES, &bytes[i], err);
    *are_same =
        status == REFS_OK && refs_bytes_equal(refs_buf_view(&bytes[0]), refs_buf_view(&bytes[1]));
    refs_buf_clear(&bytes[0]);
    refs_buf_clear(&bytes[1]);
    return status;
}

static refs_status compare_key(comparison *at, refs_str key, const refs_ref *ref, refs_error *err) {
    refs_ref other = {0};
    refs_status status = refs_set_find(at->sets[1 - at->from].set, key, &other, err);
    if (status == REFS_NOT_FOUND) {
        tell(at, key, at->from == 0 ? "only in the first" : "only in the second");
        status = REFS_OK;
    } else if (status == REFS_OK && at->from == 0) {
        const refs_ref *const both[2] = {ref, &other};
        bool are_same = false;
        status = compare_bytes(at, key, both, &are_same, err);
        if (status == REFS_OK && !are_same) tell(at, key, "other bytes");
    }
    refs_ref_release(&other);
    return status == REFS_OK ? tool_check_interrupted(err) : status;
}

static refs_status compare_chunk(void *user, const uint64_t *index, const refs_ref *ref,
                                 refs_error *err) {
    comparison *at = user;
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(refs_chunk_keys_append(at->keys, index, &key, err));
    return compare_key(at, refs_buf_text(&key), ref, err);
}

static refs_status compare_chunks(comparison *at, refs_error *err) {
    const tool_set *set = &at->sets[at->from];
    const refs_chunk_visitor visitor = {compare_chunk, at};
    uint64_t n[REFS_MAX_RANK];
    for (size_t i = 0; i < refs_hierarchy_n_arrays(set->hierarchy); i++) {
        at->array = refs_hierarchy_array(set->hierarchy, i);
        at->n_of_array = 0;
        if (at->array->status != REFS_OK ||
            refs_intern_find(&at->by_value, refs_str_from(at->array->path)) != REFS_INTERN_NONE)
            continue;
        const refs_chunk_keys keys = refs_array_meta_keys(at->array, n);
        at->keys = &keys;
        REFS_TRY(refs_set_each_chunk(set->set, &keys, &visitor, err));
        if (!at->is_quiet && !at->is_json && at->n_of_array > MAX_LISTED)
            printf("%s: and %llu more\n", at->array->path,
                   (unsigned long long)(at->n_of_array - MAX_LISTED));
    }
    return REFS_OK;
}

/* -- keys that belong to no array -------------------------------------------------------------- */

static refs_status compare_other(void *user, refs_str key, const refs_ref *ref, refs_error *err) {
    return refs_key_is_metadata(key) ? REFS_OK : compare_key(user, key, ref, err);
}

static refs_status compare_others(comparison *at, refs_error *err) {
    const tool_set *set = &at->sets[at->from];
    const refs_key_visitor visitor = {compare_other, at};
    const size_t n_arrays = refs_hierarchy_n_arrays(set->hierarchy);
    size_t n = 0;
    REFS_SCOPED refs_chunk_keys *keys = refs_calloc(n_arrays + 1, sizeof *keys);
    uint64_t(*grids)[REFS_MAX_RANK] = refs_calloc(n_arrays + 1, sizeof *grids);
    refs_status status = keys != NULL && grids != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < n_arrays && status == REFS_OK; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(set->hierarchy, i);
        if (meta->status != REFS_OK) continue;
        keys[n] = refs_array_meta_keys(meta, grids[n]);
        n++;
    }
    at->n_of_array = 0;
    if (status == REFS_OK) status = refs_set_each_other(set->set, keys, n, &visitor, err);
    if (status == REFS_OK && !at->is_quiet && !at->is_json && at->n_of_array > MAX_LISTED)
        printf("keys of no array: and %llu more\n",
               (unsigned long long)(at->n_of_array - MAX_LISTED));
    refs_free(grids);
    return status;
}

/* Fails if the Zarr versions differ: their keys and documents have nothing in common. */
static refs_status check_versions(const comparison *at, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->sets[0].hierarchy); i++) {
        const refs_array_meta *one = refs_hierarchy_array(at->sets[0].hierarchy, i);
        const refs_array_meta *other =
            refs_hierarchy_find_array(at->sets[1].hierarchy, refs_str_from(one->path + 1));
        if (other != NULL && one->status == REFS_OK && other->status == REFS_OK &&
            one->zarr_format != other->zarr_format)
            return refs_fail(
                err, REFS_UNSUPPORTED,
                "%s: expected two sets of one version of Zarr, found versions %d and "
                "%d: write the repository as a set in JSON (refs convert), which is of "
                "version 2 again, and compare that",
                one->path + 1, one->zarr_format, other->zarr_format);
    }
    return REFS_OK;
}

static refs_status compare(comparison *at, refs_error *err) {
    for (at->from = 0; at->from < 2; at->from++) {
        REFS_TRY(refs_set_each_name(at->sets[at->from].set, compare_document, at, err));
        REFS_TRY(compare_chunks(at, err));
        REFS_TRY(compare_others(at, err));
    }
    return REFS_OK;
}

tool_exit tool_diff(const tool_arguments *arguments) {
    tool_session session;
    tool_set sets[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
    refs_error err = REFS_ERROR_INIT;
    comparison at = {.sets = sets, .is_quiet = arguments->quiet, .is_json = arguments->json};
    if (arguments->names.n != 2) {
        fprintf(stderr, "usage: refs diff SET SET\n");
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(arguments, &session, &err);
    for (size_t i = 0; i < 2 && status == REFS_OK; i++)
        status = tool_set_open(&session, arguments->names.items[i], &sets[i], &err);
    if (status == REFS_OK) status = check_versions(&at, &err);
    if (at.is_json && status == REFS_OK) printf("{\"differences\":[");
    if (status == REFS_OK) status = compare(&at, &err);
    refs_intern_clear(&at.by_value);
    for (size_t i = 0; i < 2; i++) tool_set_close(&sets[i]);
    tool_session_close(&session);
    if (status != REFS_OK) {
        tool_complain(&err);
        return TOOL_FAILED;
    }
    if (arguments->json) printf("],\n\"different\":%llu}\n", (unsigned long long)at.n_different);
    return at.n_different > 0 ? TOOL_FAILED : TOOL_OK;
}
