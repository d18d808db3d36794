/* growth.c -- see growth.h. */
#include "growth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "refs/json.h"
#include "refs/vfs.h"

#define METADATA           "/.zmetadata"
#define MAX_METADATA_BYTES (1024 * REFS_MIB)
#define MAX_RECORD_BYTES   (2048 * REFS_MIB)

/* An array that was there. */
typedef struct grown {
    char *prefix;
    uint64_t n_old;   /* chunks */
    uint64_t n_steps; /* along the first dimension, in its last chunks where these were not full */
    uint64_t chunk;   /* steps of a chunk */
    bool is_new;      /* it was not there */
    bool was_told;
} grown;

/* A record file: its name in the set. */
typedef struct record_file {
    char *name;
    bool is_written;
} record_file;

struct refs_growth {
    const char *folder;
    uint64_t record_size;
    refs_json_doc *doc;
    struct stat metadata; /* of the file, as it was read */
    bool is_anew;         /* something that was there is not as it was */
    grown *arrays;
    size_t n_arrays, array_capacity;
    grown *array;         /* whose chunks are written */
    uint64_t n_chunks;    /* of it */
    uint64_t next_record; /* of it */
    bool is_same;         /* the record file that is made is what is there */
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

/* Whatever is wrong with what is there, it is written anew. */
static bool read_metadata(refs_growth *growth) {
    refs_buf path = REFS_BUF_INIT, text = REFS_BUF_INIT;
    uint64_t record_size = 0;
    bool is_read =
        refs_buf_printf(&path, NULL, "%s" METADATA, growth->folder) == REFS_OK &&
        stat((const char *)path.data, &growth->metadata) == 0 &&
        refs_vfs_read_whole(refs_vfs_posix(), (const char *)path.data, MAX_METADATA_BYTES, &text,
                            NULL) == REFS_OK &&
        refs_json_parse(refs_str_view((const char *)text.data, text.size), &growth->doc, NULL) ==
            REFS_OK &&
        refs_json_u64(refs_json_get(refs_json_root(growth->doc), "record_size"), &record_size);
    refs_buf_clear(&path);
    refs_buf_clear(&text);
    return is_read && record_size == growth->record_size && refs_json_is_object(documents(growth));
}

refs_status refs_growth__open(const refs_place *place, uint64_t record_size, refs_growth **growth,
                              refs_error *err) {
    refs_growth *opened = refs_calloc(1, sizeof *opened);
    *growth = NULL;
    if (opened == NULL) return refs_fail_nomem(err);
    opened->folder = place->wanted;
    opened->record_size = record_size;
    if (read_metadata(opened))
        *growth = opened;
    else
        refs_growth__free(opened);
    return REFS_OK;
}

void refs_growth__free(refs_growth *growth) {
    if (growth == NULL) return;
    refs_json_doc_free(growth->doc);
    for (size_t i = 0; i < growth->n_arrays; i++) refs_free(growth->arrays[i].prefix);
    for (size_t i = 0; i < growth->n_files; i++) refs_free(growth->files[i].name);
    refs_free(growth->arrays);
    refs_free(growth->files);
    refs_free(growth);
}

/* -- documents --------------------------------------------------------------------------------- */

static bool is_same(const refs_json *one, const refs_json *other) {
    refs_buf a = REFS_BUF_INIT, b = REFS_BUF_INIT;
    bool is = refs_json_write(one, &a, NULL) == REFS_OK &&
              refs_json_write(other, &b, NULL) == REFS_OK && a.size == b.size &&
              (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
    refs_buf_clear(&a);
    refs_buf_clear(&b);
    return is;
}

/* Whether shapes are the same but for a first number that is not smaller. */
static bool is_longer(const refs_json *was, const refs_json *is) {
    uint64_t from = 0, to = 0;
    if (refs_json_size(was) != refs_json_size(is)) return false;
    for (size_t i = 1; i < refs_json_size(was); i++)
        if (!is_same(refs_json_at(was, i), refs_json_at(is, i))) return false;
    return refs_json_size(was) == 0 || (refs_json_u64(refs_json_at(was, 0), &from) &&
                                        refs_json_u64(refs_json_at(is, 0), &to) && from <= to);
}

/* Members of an array's document, but for what is told of steps that have no chunks. */
static size_t n_members(const refs_json *document) {
    return refs_json_size(document) - (refs_json_get(document, REFS_HOLES_MEMBER) != NULL);
}

static bool has_grown(const refs_json *was, const refs_json *is) {
    if (!refs_json_is_object(was) || n_members(was) != n_members(is)) return false;
    for (size_t i = 0; i < refs_json_size(was); i++) {
        refs_str name = refs_json_name_at(was, i);
        if (refs_str_is(name, REFS_HOLES_MEMBER)) continue;
        const refs_json *other = refs_json_get_str(is, name), *value = refs_json_at(was, i);
        bool fits = refs_str_is(name, "shape") ? is_longer(value, other) : is_same(value, other);
        if (other == NULL || !fits) return false;
    }
    return true;
}

/* Numbers of chunks as they were; false where they cannot be told. */
static bool count_old(const refs_json *was, const refs_json *is, grown *array) {
    const refs_json *shape = refs_json_get(was, "shape"), *chunks = refs_json_get(was, "chunks");
    array->n_old = 1;
    for (size_t i = 0; i < refs_json_size(shape); i++) {
        uint64_t n, chunk;
        if (!refs_json_u64(refs_json_at(shape, i), &n) ||
            !refs_json_u64(refs_json_at(chunks, i), &chunk) || chunk == 0 ||
            !refs_mul_u64(array->n_old, n / chunk + (n % chunk > 0), &array->n_old))
            return false;
        if (i > 0) continue;
        array->chunk = chunk;
        array->n_steps = is_same(shape, refs_json_get(is, "shape")) ? 0 : n % chunk;
    }
    return true;
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
    grown array = {.was_told = true};
    refs_json_doc *doc = NULL;
    if (!refs_str_ends(key, ".zarray")) return REFS_OK;
    const refs_json *was = refs_json_get_str(documents(growth), key);
    REFS_TRY(refs_json_parse(refs_str_view((const char *)document.data, document.size), &doc, err));
    array.is_new = was == NULL;
    if (was != NULL &&
        !(has_grown(was, refs_json_root(doc)) && count_old(was, refs_json_root(doc), &array)))
        growth->is_anew = true;
    refs_json_doc_free(doc);
    return add_array(growth, refs_str_part(key, 0, key.size - strlen(".zarray")), &array, err);
}

/* An array that is no more. */
static bool has_lost_one(const refs_growth *growth) {
    size_t n = 0, n_new = 0;
    const refs_json *all = documents(growth);
    for (size_t i = 0; i < refs_json_size(all); i++)
        n += refs_str_ends(refs_json_name_at(all, i), ".zarray");
    for (size_t i = 0; i < growth->n_arrays; i++) n_new += growth->arrays[i].is_new;
    return growth->n_arrays - n_new < n;
}

/* -- record files ------------------------------------------------------------------------------ */

static refs_status name_record(const refs_growth *growth, uint64_t record, refs_buf *name,
                               refs_error *err) {
    REFS_TRY(refs_buf_printf(name, err, "%srefs.%llu.parq", growth->array->prefix,
                             (unsigned long long)record));
    return refs_buf_append(name, "", 1, err);
}

/* Between record files that have chunks there must be none: what is there was left by one that was
 * interrupted, or held chunks that are no more. */
static void check_gap(refs_growth *growth, uint64_t end) {
    refs_buf name = REFS_BUF_INIT, path = REFS_BUF_INIT;
    struct stat status;
    for (uint64_t i = growth->next_record; i < end && !growth->is_anew; i++) {
        name.size = 0;
        if (name_record(growth, i, &name, NULL) != REFS_OK ||
            make_path(growth->folder, (const char *)name.data, &path, NULL) != REFS_OK ||
            stat((const char *)path.data, &status) == 0)
            growth->is_anew = true;
    }
    refs_buf_clear(&name);
    refs_buf_clear(&path);
}

static void end_array(refs_growth *growth) {
    uint64_t size = growth->record_size;
    if (growth->array != NULL)
        check_gap(growth, growth->n_chunks / size + (growth->n_chunks % size > 0));
    growth->array = NULL;
}

void refs_growth__array(refs_growth *growth, refs_str prefix, uint64_t n_chunks) {
    end_array(growth);
    growth->n_chunks = n_chunks;
    growth->next_record = 0;
    for (size_t i = 0; i < growth->n_arrays; i++)
        if (refs_str_is(prefix, growth->arrays[i].prefix)) growth->array = &growth->arrays[i];
    if (growth->array == NULL) growth->is_anew = true;
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

refs_status refs_growth__compare(refs_growth *growth, uint64_t record, refs_bytes bytes,
                                 refs_growth_rows rows, refs_error *err) {
    refs_buf name = REFS_BUF_INIT, path = REFS_BUF_INIT, was = REFS_BUF_INIT;
    if (growth->is_anew || growth->array == NULL) return REFS_OK;
    refs_status status = name_record(growth, record, &name, err);
    if (status == REFS_OK) status = make_path(growth->folder, (const char *)name.data, &path, err);
    if (status == REFS_OK)
        (void)refs_vfs_read_whole(refs_vfs_posix(), (const char *)path.data, MAX_RECORD_BYTES, &was,
                                  NULL);
    bool is = was.size == bytes.size &&
              (bytes.size == 0 || memcmp(was.data, bytes.data, bytes.size) == 0);
    growth->is_same = is && rows == REFS_GROWTH_ALL_ROWS;
    growth->is_anew = !is;
    refs_buf_clear(&was);
    refs_buf_clear(&path);
    refs_buf_clear(&name);
    return status;
}

refs_status refs_growth__record(refs_growth *growth, uint64_t record, bool *is_written,
                                refs_error *err) {
    refs_buf name = REFS_BUF_INIT;
    *is_written = true;
    if (growth->array == NULL) return REFS_OK;
    check_gap(growth, record);
    growth->next_record = record + 1;
    REFS_TRY(name_record(growth, record, &name, err));
    char *text = refs_buf_take_text(&name);
    refs_buf_clear(&name);
    if (text == NULL || !refs_grow((void **)&growth->files, &growth->file_capacity, growth->n_files,
                                   sizeof *growth->files)) {
        refs_free(text);
        return refs_fail_nomem(err);
    }
    *is_written = growth->is_anew || !growth->is_same;
    growth->is_same = false;
    growth->files[growth->n_files++] = (record_file){text, *is_written};
    return REFS_OK;
}

/* -- moving ------------------------------------------------------------------------------------ */

/* From one folder to another, in which folders that its name has are made. */
typedef struct passage {
    const char *from, *to;
    refs_status (*pass)(const char *from, const char *to, refs_error *err);
} passage;

static refs_status pass_one(const passage *along, const char *name, refs_error *err) {
    refs_buf from = REFS_BUF_INIT, to = REFS_BUF_INIT;
    refs_status status = refs_write__make_folders(along->to, refs_str_from(name), err);
    if (status == REFS_OK) status = make_path(along->from, name, &from, err);
    if (status == REFS_OK) status = make_path(along->to, name, &to, err);
    if (status == REFS_OK)
        status = along->pass((const char *)from.data, (const char *)to.data, err);
    refs_buf_clear(&from);
    refs_buf_clear(&to);
    return status;
}

/* It is on the disk before its name is: a machine that fails leaves what was there. */
static refs_status rename_settled(const char *from, const char *to, refs_error *err) {
    return rename(from, to) == 0 ? REFS_OK : refs_place_fail(to, err);
}

/* A second name for the same file; where the file system has none, its bytes. */
static refs_status link_or_copy(const char *from, const char *to, refs_error *err) {
    refs_buf bytes = REFS_BUF_INIT;
    if (link(from, to) == 0) return REFS_OK;
    refs_status status = refs_vfs_read_whole(refs_vfs_posix(), from, MAX_RECORD_BYTES, &bytes, err);
    if (status == REFS_OK) status = refs_write__file(to, refs_buf_view(&bytes), err);
    refs_buf_clear(&bytes);
    return status;
}

static refs_status pass_files(const refs_growth *growth, const passage *along, bool are_written,
                              refs_error *err) {
    for (size_t i = 0; i < growth->n_files; i++)
        if (growth->files[i].is_written == are_written)
            REFS_TRY(pass_one(along, growth->files[i].name, err));
    return REFS_OK;
}

static refs_status check_unchanged(const refs_growth *growth, refs_error *err) {
    refs_buf path = REFS_BUF_INIT;
    struct stat now = {0};
    REFS_TRY(refs_buf_printf(&path, err, "%s" METADATA, growth->folder));
    bool is_same = stat((const char *)path.data, &now) == 0 &&
                   now.st_ino == growth->metadata.st_ino &&
                   now.st_size == growth->metadata.st_size &&
                   now.st_mtim.tv_sec == growth->metadata.st_mtim.tv_sec &&
                   now.st_mtim.tv_nsec == growth->metadata.st_mtim.tv_nsec;
    refs_buf_clear(&path);
    if (is_same) return REFS_OK;
    return refs_fail(err, REFS_IO, "%s: was written by another program meanwhile: append again",
                     growth->folder);
}

refs_status refs_growth__move(refs_growth *growth, refs_place *place, refs_error *err) {
    const passage in = {place->written, growth->folder, rename_settled};
    const passage over = {growth->folder, place->written, link_or_copy};
    end_array(growth);
    if (growth->is_anew || has_lost_one(growth)) {
        REFS_TRY(refs_place_check_replaced(place->wanted, err));
        REFS_TRY(pass_files(growth, &over, false, err));
        return refs_place_move(place, err);
    }
    REFS_TRY(refs_place_settle(place, err));
    REFS_TRY(check_unchanged(growth, err));
    REFS_TRY(pass_files(growth, &in, true, err));
    return pass_one(&in, &METADATA[1], err);
}
