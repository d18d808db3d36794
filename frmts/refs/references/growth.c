/* growth.c -- see growth.h. */
#include "growth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "parquet/replaced.h"
#include "refs/file_name.h"
#include "refs/json.h"
#include "refs/vfs.h"

#define METADATA           "/.zmetadata"
#define MAX_METADATA_BYTES (1024 * REFS_MIB)
#define MAX_RECORD_BYTES   (2048 * REFS_MIB)

/* An array of the new set. */
typedef struct grown {
    char *prefix;
    uint64_t n_old;   /* old chunks */
    uint64_t n_steps; /* old indices along the first dimension in the last chunk, if that was not
                         full; else 0 */
    uint64_t chunk;   /* indices along the first dimension in a chunk */
    bool is_new;      /* not in the old set */
    bool is_emptied;  /* it no longer has chunks: its old record files stay, unused */
    bool fills_holes; /* it has its old size, and new chunks where it had none */
} grown;

/* A record file: its name in the set. */
typedef struct record_file {
    char *name;
    bool is_written;
} record_file;

struct refs_growth {
    const char *folder, *staged;
    refs_buf guarded;        /* the path of `guard` */
    refs_staged_guard guard; /* for callers without one */
    bool is_guarded;
    uint64_t record_size;
    refs_json_doc *doc;
    bool is_rewritten; /* the set cannot grow in place … */
    refs_buf reason;   /* … for this reason */
    refs_notes notes;
    grown *arrays;
    size_t n_arrays, array_capacity;
    size_t next;    /* where the search for an array begins: they come in one order */
    grown *array;   /* whose chunks are written */
    char separator; /* of its keys, since the writer's array may already be the next one */
    size_t rank;
    uint64_t n[REFS_WRITE_MAX_RANK], n_chunks;
    refs_set *was;        /* the existing set, opened on demand */
    uint64_t next_record; /* of it */
    bool is_same;         /* the current record file is unchanged */
    record_file *files;
    size_t n_files, file_capacity;
};

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status make_path(const char *folder, const char *name, refs_buf *path,
                             refs_error *err) {
    path->size = 0;
    REFS_TRY(refs_buf_printf(path, err, "%s/%s", folder, name));
    return refs_buf_append(path, "", 1, err);
}

static const refs_json *documents(const refs_growth *growth) {
    return refs_json_get(refs_json_root(growth->doc), "metadata");
}

/* If the existing metadata is invalid, the set is rewritten. */
static bool read_metadata(refs_growth *growth) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT, text = REFS_BUF_INIT;
    uint64_t record_size = 0;
    bool is_read =
        refs_buf_printf(&path, NULL, "%s" METADATA, growth->folder) == REFS_OK &&
        refs_vfs_read_whole(refs_vfs_posix(), (const char *)path.data, MAX_METADATA_BYTES, &text,
                            NULL) == REFS_OK &&
        refs_json_parse(refs_buf_text(&text), &growth->doc, NULL) == REFS_OK &&
        refs_json_u64(refs_json_get(refs_json_root(growth->doc), "record_size"), &record_size);
    return is_read && record_size == growth->record_size && refs_json_is_object(documents(growth));
}

/* The first reason is kept. */
static void mark_rewritten(refs_growth *growth, refs_str prefix, const char *reason) {
    const size_t size = prefix.size > 0 ? prefix.size - 1 : 0; /* without the slash */
    if (!growth->is_rewritten)
        (void)refs_buf_printf(&growth->reason, NULL, "%.*s%s", (int)size, prefix.data, reason);
    growth->is_rewritten = true;
}

/* The set must not change after its metadata are read. */
static refs_status guard_metadata(refs_growth *growth, refs_error *err) {
    REFS_TRY(make_path(growth->folder, &METADATA[1], &growth->guarded, err));
    growth->is_guarded = refs_staged_guard_open((const char *)growth->guarded.data, &growth->guard);
    return REFS_OK;
}

refs_status refs_growth__open(const refs_staged *place, const refs_writer_options *options,
                              refs_growth **growth, refs_error *err) {
    refs_growth *opened = refs_calloc(1, sizeof *opened);
    *growth = NULL;
    if (opened == NULL) return refs_fail_nomem(err);
    opened->folder = place->wanted;
    opened->staged = place->written;
    opened->record_size = options->record_size;
    opened->notes = options->notes;
    opened->reason = opened->guarded = (refs_buf)REFS_BUF_INIT;
    const refs_status status = guard_metadata(opened, err);
    if (status == REFS_OK && !read_metadata(opened))
        mark_rewritten(opened, refs_str_view("", 0), "its .zmetadata was not written by refs");
    if (status == REFS_OK)
        *growth = opened;
    else
        refs_growth__free(opened);
    return status;
}

void refs_growth__free(refs_growth *growth) {
    if (growth == NULL) return;
    refs_json_doc_free(growth->doc);
    for (size_t i = 0; i < growth->n_arrays; i++) refs_free(growth->arrays[i].prefix);
    for (size_t i = 0; i < growth->n_files; i++) refs_free(growth->files[i].name);
    refs_buf_clear(&growth->reason);
    refs_buf_clear(&growth->guarded);
    refs_set_free(growth->was);
    refs_free(growth->arrays);
    refs_free(growth->files);
    refs_free(growth);
}

/* -- documents --------------------------------------------------------------------------------- */

static bool is_same(const refs_json *one, const refs_json *other) {
    REFS_SCOPED_BUF a = REFS_BUF_INIT, b = REFS_BUF_INIT;
    return refs_json_write(one, &a, NULL) == REFS_OK &&
           refs_json_write(other, &b, NULL) == REFS_OK &&
           refs_bytes_equal(refs_buf_view(&a), refs_buf_view(&b));
}

/* Whether all members other than the named ones are equal. Programs that have the old set open keep
 * its documents, so only members matter that change the meaning of chunks. */
static bool are_equal_except(const refs_json *was, const refs_json *is, const char *const *names) {
    for (size_t i = 0; i < refs_json_size(was); i++) {
        const refs_str name = refs_json_name_at(was, i);
        if (!refs_str_is_among(name, names) &&
            !is_same(refs_json_at(was, i), refs_json_get_str(is, name)))
            return false;
    }
    return true;
}

/* Sets *n to the number of chunks along a dimension; false if the metadata is invalid. */
static bool count_chunks(const refs_json *document, size_t dim, uint64_t *n) {
    uint64_t size, chunk;
    if (!refs_json_u64(refs_json_at(refs_json_get(document, "shape"), dim), &size) ||
        !refs_json_u64(refs_json_at(refs_json_get(document, "chunks"), dim), &chunk) || chunk == 0)
        return false;
    *n = size / chunk + (size % chunk > 0);
    return true;
}

/* Whether old chunks keep their numbers: the number of chunks only increases along the first
 * dimension. */
static bool keeps_numbers(const refs_json *was, const refs_json *is) {
    const size_t rank = refs_json_size(refs_json_get(was, "shape"));
    bool keeps = refs_json_is_object(was) &&
                 is_same(refs_json_get(was, "chunks"), refs_json_get(is, "chunks")) &&
                 refs_json_size(refs_json_get(is, "shape")) == rank;
    for (size_t dim = 0; dim < rank && keeps; dim++) {
        uint64_t from = 0, to = 0;
        keeps = count_chunks(was, dim, &from) && count_chunks(is, dim, &to) &&
                (dim == 0 ? from <= to : from == to);
    }
    return keeps;
}

static bool is_empty(const refs_json *document) {
    uint64_t n = 1;
    const size_t rank = refs_json_size(refs_json_get(document, "shape"));
    for (size_t dim = 0; dim < rank && n > 0; dim++)
        if (!count_chunks(document, dim, &n)) return false;
    return n == 0;
}

/* Sets the old numbers of chunks and indices; false if the metadata is invalid. */
static bool count_old(const refs_json *was, const refs_json *is, grown *array) {
    const refs_json *shape = refs_json_get(was, "shape"), *chunks = refs_json_get(was, "chunks");
    array->n_old = 1;
    for (size_t i = 0; i < refs_json_size(shape); i++) {
        uint64_t n;
        if (!count_chunks(was, i, &n) || !refs_mul_u64(array->n_old, n, &array->n_old))
            return false;
    }
    uint64_t n = 0;
    if (!refs_json_u64(refs_json_at(chunks, 0), &array->chunk)) return true;
    (void)refs_json_u64(refs_json_at(shape, 0), &n);
    array->n_steps = is_same(shape, refs_json_get(is, "shape")) ? 0 : n % array->chunk;
    return true;
}

/* An array that keeps its size keeps the positions of its chunks; new chunks may fill holes. */
static bool may_fill_holes(const refs_json *was, const refs_json *is) {
    static const char *const others[] = {REFS_HOLES_MEMBER, "fill_value", NULL};
    return refs_json_get(was, REFS_HOLES_MEMBER) != NULL && are_equal_except(was, is, others);
}

static refs_status add_array(refs_growth *growth, refs_str prefix, const grown *array,
                             refs_error *err) {
    char *name = refs_str_copy(prefix);
    if (name == NULL || !refs_grow((void **)&growth->arrays, &growth->array_capacity,
                                   growth->n_arrays, sizeof *growth->arrays)) {
        refs_free(name);
        return refs_fail_nomem(err);
    }
    growth->arrays[growth->n_arrays] = *array;
    growth->arrays[growth->n_arrays++].prefix = name;
    return REFS_OK;
}

refs_status refs_growth__document(refs_growth *growth, refs_str key, refs_bytes document,
                                  refs_error *err) {
    grown array = {.prefix = NULL};
    REFS_SCOPED_JSON *doc = NULL;
    if (!refs_str_ends(key, ".zarray")) return REFS_OK;
    const refs_str prefix = refs_path_folder(key);
    const refs_json *was = refs_json_get_str(documents(growth), key);
    REFS_TRY(refs_json_parse(refs_bytes_text(document), &doc, err));
    const refs_json *is = refs_json_root(doc);
    array.is_new = was == NULL;
    array.is_emptied = was != NULL && is_empty(is);
    array.fills_holes = was != NULL && may_fill_holes(was, is);
    const bool is_kept =
        array.is_new || array.is_emptied || (keeps_numbers(was, is) && count_old(was, is, &array));
    if (!is_kept) mark_rewritten(growth, prefix, " has other chunks");
    return add_array(growth, prefix, &array, err);
}

static grown *find_array(refs_growth *growth, refs_str prefix) {
    for (size_t i = 0; i < growth->n_arrays; i++) {
        const size_t at = (growth->next + i) % growth->n_arrays;
        if (!refs_str_is(prefix, growth->arrays[at].prefix)) continue;
        growth->next = at + 1;
        return &growth->arrays[at];
    }
    return NULL;
}

/* Marks the set if an old array does not exist any more. */
static void check_lost(refs_growth *growth) {
    const refs_json *all = documents(growth);
    for (size_t i = 0; i < refs_json_size(all) && !growth->is_rewritten; i++) {
        const refs_str key = refs_json_name_at(all, i);
        const refs_str prefix = refs_path_folder(key);
        if (refs_str_ends(key, ".zarray") && find_array(growth, prefix) == NULL)
            mark_rewritten(growth, prefix, " no longer exists");
    }
}

/* -- files ------------------------------------------------------------------------------------- */

/* Makes a hard link or, if the file system does not support that, a copy. */
static refs_status link_or_copy(const char *from, const char *to, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    if (link(from, to) == 0) return REFS_OK;
    REFS_TRY(refs_vfs_read_whole(refs_vfs_posix(), from, MAX_RECORD_BYTES, &bytes, err));
    return refs_write__file(to, refs_buf_view(&bytes), err);
}

/* -- record files ------------------------------------------------------------------------------ */

static refs_status name_record(const refs_growth *growth, uint64_t record, refs_buf *name,
                               refs_error *err) {
    REFS_TRY(refs_buf_printf(name, err, "%srefs.%llu.parq", growth->array->prefix,
                             (unsigned long long)record));
    return refs_buf_append(name, "", 1, err);
}

/* Record files without chunks must not exist: they are from an interrupted append, or have chunks
 * that no longer exist. */
static void check_gap(refs_growth *growth, uint64_t end) {
    const refs_str prefix = refs_str_from(growth->array->prefix);
    REFS_SCOPED_BUF name = REFS_BUF_INIT, path = REFS_BUF_INIT;
    struct stat status;
    for (uint64_t i = growth->next_record; i < end && !growth->is_rewritten; i++) {
        name.size = 0;
        if (name_record(growth, i, &name, NULL) != REFS_OK ||
            make_path(growth->folder, (const char *)name.data, &path, NULL) != REFS_OK ||
            stat((const char *)path.data, &status) == 0)
            mark_rewritten(growth, prefix, " has record files of an append that was interrupted");
    }
}

static void end_array(refs_growth *growth) {
    uint64_t size = growth->record_size;
    if (growth->array != NULL)
        check_gap(growth, growth->n_chunks / size + (growth->n_chunks % size > 0));
    growth->array = NULL;
}

void refs_growth__array(refs_growth *growth, const refs_write_array *array) {
    const refs_str prefix = refs_buf_text(&array->prefix);
    end_array(growth);
    growth->separator = array->separator;
    growth->rank = array->rank;
    memcpy(growth->n, array->n, array->rank * sizeof *growth->n);
    growth->n_chunks = array->n_chunks;
    growth->next_record = 0;
    growth->array = find_array(growth, prefix);
    if (growth->array == NULL) mark_rewritten(growth, prefix, " has no metadata");
}

uint64_t refs_growth__n_old(const refs_growth *growth) {
    return growth->array != NULL ? growth->array->n_old : 0;
}

refs_status refs_growth__cut(const refs_growth *growth, const refs_write_chunk *chunk,
                             refs_buf *scratch, bool *is_cut, refs_error *err) {
    const grown *array = growth->array;
    *is_cut = array != NULL && chunk->kind == REFS_REF_INLINE && array->n_steps > 0 &&
              chunk->number + 1 == array->n_old && chunk->bytes.size % array->chunk == 0;
    if (!*is_cut) return REFS_OK;
    scratch->size = 0;
    REFS_TRY(refs_buf_append(scratch, chunk->bytes.data, chunk->bytes.size, err));
    size_t kept = (size_t)(chunk->bytes.size / array->chunk * array->n_steps);
    memset(scratch->data + kept, 0, scratch->size - kept);
    return REFS_OK;
}

/* Whether a record file of the set holds these bytes. */
static refs_status holds(const refs_growth *growth, const char *name, refs_bytes bytes, bool *does,
                         refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT, was = REFS_BUF_INIT;
    refs_status status = make_path(growth->folder, name, &path, err);
    if (status == REFS_OK)
        (void)refs_vfs_read_whole(refs_vfs_posix(), (const char *)path.data, MAX_RECORD_BYTES, &was,
                                  NULL);
    *does = refs_bytes_equal(refs_buf_view(&was), bytes);
    return status;
}

static void mark_other_chunks(refs_growth *growth) {
    mark_rewritten(growth, refs_str_from(growth->array->prefix),
                   " and perhaps others have other chunks, or values, where they had some");
}

refs_status refs_growth__compare(refs_growth *growth, uint64_t record, refs_bytes bytes,
                                 refs_growth_rows rows, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    bool is = false;
    if (growth->array == NULL) return REFS_OK;
    refs_status status = name_record(growth, record, &name, err);
    if (status == REFS_OK) status = holds(growth, (const char *)name.data, bytes, &is, err);
    growth->is_same = is && rows == REFS_GROWTH_ALL_ROWS;
    if (status == REFS_OK && !is && !growth->array->fills_holes) mark_other_chunks(growth);
    return status;
}

/* -- holes ------------------------------------------------------------------------------------- */

/* Finds the old chunk with a number. */
static refs_status find_old(const refs_growth *growth, uint64_t number, refs_ref *ref,
                            refs_error *err) {
    const refs_chunk_keys keys = {refs_str_from(growth->array->prefix), growth->separator,
                                  growth->rank, growth->n};
    uint64_t index[REFS_WRITE_MAX_RANK] = {0};
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    for (size_t dim = growth->rank; dim-- > 0; number /= growth->n[dim])
        index[dim] = number % growth->n[dim];
    REFS_TRY(refs_chunk_keys_append(&keys, index, &key, err));
    return refs_set_find(growth->was, refs_buf_text(&key), ref, err);
}

/* Whether the row has the old reference. Inline bytes may differ, because missing elements got
 * values. */
static bool is_in_row(const refs_ref *ref, const refs_rows *rows, size_t row) {
    if (ref->kind == REFS_REF_INLINE) return rows->raw[row] != REFS_ROW_NULL;
    const bool is_range = ref->kind == REFS_REF_RANGE;
    return rows->path[row] != REFS_ROW_NULL &&
           refs_str_is(refs_intern_get(&rows->paths, rows->path[row]), ref->url) &&
           rows->offset[row] == (is_range ? ref->offset : 0) &&
           rows->size[row] == (is_range ? ref->length : 0);
}

refs_status refs_growth__check_rows(refs_growth *growth, uint64_t record, const refs_rows *rows,
                                    refs_error *err) {
    const uint64_t first = record * growth->record_size;
    if (growth->array == NULL || !growth->array->fills_holes || growth->is_same ||
        growth->is_rewritten)
        return REFS_OK;
    if (growth->was == NULL)
        REFS_TRY(refs_set_open(refs_vfs_posix(), growth->folder, NULL, &growth->was, err));
    for (size_t row = 0; row < rows->n && first + row < growth->array->n_old; row++) {
        refs_ref ref = {0};
        const refs_status status = find_old(growth, first + row, &ref, err);
        if (status == REFS_NOT_FOUND) continue;
        REFS_TRY(status);
        if (!is_in_row(&ref, rows, row)) mark_other_chunks(growth);
        refs_ref_release(&ref);
    }
    return REFS_OK;
}

/* The chunks of an array that became an aggregation are those of its first fragment, so its record
 * file gets a second name. */
static refs_status link_emptied(const refs_growth *growth, uint64_t record, refs_bytes bytes,
                                bool *is_linked, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT, from = REFS_BUF_INIT, to = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < growth->n_arrays && status == REFS_OK && !*is_linked; i++) {
        const grown *emptied = &growth->arrays[i];
        const size_t size = strlen(emptied->prefix) - 1; /* "t/", of which "t_fragments/0/t/" is */
        if (!emptied->is_emptied || strncmp(emptied->prefix, growth->array->prefix, size) != 0)
            continue;
        name.size = from.size = to.size = 0;
        status = refs_buf_printf(&name, err, "%srefs.%llu.parq", emptied->prefix,
                                 (unsigned long long)record);
        if (status == REFS_OK) status = refs_buf_append(&name, "", 1, err);
        if (status == REFS_OK)
            status = holds(growth, (const char *)name.data, bytes, is_linked, err);
    }
    if (status == REFS_OK && *is_linked)
        status = make_path(growth->folder, (const char *)name.data, &from, err);
    name.size = 0;
    if (status == REFS_OK && *is_linked) status = name_record(growth, record, &name, err);
    if (status == REFS_OK && *is_linked)
        status =
            refs_write__make_folders(growth->staged, refs_str_from(growth->array->prefix), err);
    if (status == REFS_OK && *is_linked)
        status = make_path(growth->staged, (const char *)name.data, &to, err);
    if (status == REFS_OK && *is_linked)
        status = link_or_copy((const char *)from.data, (const char *)to.data, err);
    return status;
}

static refs_status add_file(refs_growth *growth, const char *name, bool is_written,
                            refs_error *err) {
    char *copy = refs_str_copy(refs_str_from(name));
    if (copy == NULL || !refs_grow((void **)&growth->files, &growth->file_capacity, growth->n_files,
                                   sizeof *growth->files)) {
        refs_free(copy);
        return refs_fail_nomem(err);
    }
    growth->files[growth->n_files++] = (record_file){copy, is_written};
    return REFS_OK;
}

refs_status refs_growth__record(refs_growth *growth, uint64_t record, refs_bytes bytes,
                                bool *is_written, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    bool is_linked = false;
    *is_written = true;
    if (growth->array == NULL) return REFS_OK;
    check_gap(growth, record);
    growth->next_record = record + 1;
    refs_status status = name_record(growth, record, &name, err);
    if (status == REFS_OK && growth->array->is_new)
        status = link_emptied(growth, record, bytes, &is_linked, err);
    const bool is_same = growth->is_same;
    growth->is_same = false;
    if (status == REFS_OK) status = add_file(growth, (const char *)name.data, !is_same, err);
    *is_written = !is_same && !is_linked;
    return status;
}

/* -- moving ------------------------------------------------------------------------------------ */

/* Gives unchanged record files a name in the staged folder, too. */
static refs_status link_unchanged(const refs_growth *growth, refs_error *err) {
    for (size_t i = 0; i < growth->n_files; i++) {
        const char *name = growth->files[i].name;
        REFS_SCOPED_BUF from = REFS_BUF_INIT, to = REFS_BUF_INIT;
        if (growth->files[i].is_written) continue;
        REFS_TRY(refs_write__make_folders(growth->staged, refs_str_from(name), err));
        REFS_TRY(make_path(growth->folder, name, &from, err));
        REFS_TRY(make_path(growth->staged, name, &to, err));
        REFS_TRY(link_or_copy((const char *)from.data, (const char *)to.data, err));
    }
    return REFS_OK;
}

static bool exists(const refs_buf *path) {
    struct stat status;
    return lstat((const char *)path->data, &status) == 0;
}

/* Moves a record file from the staged folder into the set, or the first of its folders that the set
 * lacks: that folder and all in it are on the disk, so only its name must still get there. Adds
 * what was moved to `moved`, and the folder that got a name to `changed`. */
static refs_status move_record(const refs_growth *growth, refs_str name, refs_intern *moved,
                               refs_intern *changed, refs_error *err) {
    REFS_SCOPED_BUF from = REFS_BUF_INIT, to = REFS_BUF_INIT;
    uint32_t id;
    size_t end = 0;
    bool is_moved = false; /* with its folder */
    do {
        const size_t slash = refs_str_find(refs_str_part(name, end + 1, name.size), '/');
        end = slash == SIZE_MAX ? name.size : end + 1 + slash;
        from.size = to.size = 0;
        REFS_TRY(refs_buf_printf(&from, err, "%s/%.*s", growth->staged, (int)end, name.data));
        REFS_TRY(refs_buf_printf(&to, err, "%s/%.*s", growth->folder, (int)end, name.data));
        is_moved = is_moved || refs_intern_find(moved, refs_buf_text(&to)) != REFS_INTERN_NONE;
    } while (end < name.size && exists(&to));
    if (is_moved) return REFS_OK;
    if (rename((const char *)from.data, (const char *)to.data) != 0)
        return refs_staged_fail((const char *)to.data, err);
    REFS_TRY(refs_intern_add(moved, refs_buf_text(&to), &id, err));
    return refs_intern_add(changed, refs_file_name_folder(refs_buf_text(&to)), &id, err);
}

/* A file may be lost before it, or its folder, is moved: programs remove temporary files. */
static refs_status check_moved(const refs_growth *growth, const char *name, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(make_path(growth->folder, name, &path, err));
    return exists(&path) ? REFS_OK : refs_staged_fail((const char *)path.data, err);
}

/* The names of record files are on the disk before the metadata that need them. */
static refs_status move_records(const refs_growth *growth, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern moved = {0}, changed = {0};
    for (size_t i = 0; i < growth->n_files; i++) {
        const char *name = growth->files[i].name;
        if (!growth->files[i].is_written) continue;
        REFS_TRY(move_record(growth, refs_str_from(name), &moved, &changed, err));
        REFS_TRY(check_moved(growth, name, err));
    }
    for (uint32_t i = 0; i < changed.count; i++)
        REFS_TRY(refs_staged_sync_folder(refs_intern_get(&changed, i).data, err));
    return REFS_OK;
}

static void warn_rewritten(const refs_growth *growth) {
    refs_note(&growth->notes, REFS_NOTE_WARNING,
              "%s: was rewritten (%.*s): programs that have it open must open it again",
              growth->folder, (int)growth->reason.size, (const char *)growth->reason.data);
}

refs_status refs_growth__move(refs_growth *growth, refs_staged *place, refs_error *err) {
    REFS_SCOPED_BUF from = REFS_BUF_INIT, to = REFS_BUF_INIT;
    end_array(growth);
    check_lost(growth);
    if (place->guard == NULL && growth->is_guarded) place->guard = &growth->guard;
    if (growth->is_rewritten) {
        REFS_TRY(refs_parquet__check_replaced(place->wanted, err));
        REFS_TRY(link_unchanged(growth, err));
        REFS_TRY(refs_staged_move(place, err));
        warn_rewritten(growth);
        return REFS_OK;
    }
    REFS_TRY(refs_staged_settle(place, err));
    REFS_TRY(refs_staged_check_guard(place, err));
    REFS_TRY(move_records(growth, err));
    REFS_TRY(make_path(growth->staged, &METADATA[1], &from, err));
    REFS_TRY(make_path(growth->folder, &METADATA[1], &to, err));
    return refs_staged_rename((const char *)from.data, (const char *)to.data, err);
}
