/* split.c -- the verb split: writes a set or a file as a master with fragments. */
#include <stdio.h>
#include <string.h>

#include "arrays.h"
#include "refs/cloud.h"
#include "refs/s3nc.h"
#include "refs/staged.h"

/* A destination in an object store. */
typedef struct sending {
    refs_cloud *cloud;
    char folder[4096], shown[4096], scratch[TOOL_SCRATCH_BYTES];
} sending;

static refs_status deliver(void *self, const char *path, const char *name, refs_error *err) {
    sending *to = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&location, err, "%s%s", to->folder, name));
    return refs_cloud_upload(to->cloud, path, (const char *)location.data, err);
}

static void withdraw(void *self, const char *name) {
    sending *to = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    if (refs_buf_printf(&location, NULL, "%s%s", to->folder, name) == REFS_OK)
        (void)refs_cloud_remove(to->cloud, (const char *)location.data, NULL);
}

static void copy_folder(const char *name, char *folder, size_t room) {
    const char *slash = strrchr(name, '/');
    snprintf(folder, room, "%.*s", slash != NULL ? (int)(slash + 1 - name) : 0, name);
}

static refs_status open_sending(const tool_session *session, const char *shown,
                                const char *location, sending *to, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    to->cloud = session->cloud;
    copy_folder(location, to->folder, sizeof to->folder);
    refs_status status = tool_append_shown(shown, &name);
    if (status == REFS_OK) copy_folder((const char *)name.data, to->shown, sizeof to->shown);
    return status == REFS_OK ? tool_make_scratch(to->scratch, err) : refs_fail_nomem(err);
}

/* Writes a source as the master `output`, a path or a URL. */
static refs_status write_arrays(const tool_session *session, const char *output,
                                const refs_cfa_source *source, refs_cfa_write_options *options,
                                refs_error *err) {
    sending to = {.cloud = NULL, .scratch = ""};
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_status status = tool_location(output, &location, err);
    const char *path = (const char *)location.data;
    const refs_cfa_delivery delivery = {&to, deliver, withdraw, to.shown, to.scratch};
    if (status == REFS_OK && strncmp(path, "/vsi", 4) == 0) {
        status = open_sending(session, output, path, &to, err);
        options->delivery = &delivery;
    }
    if (status == REFS_OK) status = refs_cfa_write(path, source, options, err);
    if (*to.scratch != '\0') refs_staged_remove(to.scratch);
    return status;
}

/* -- options ----------------------------------------------------------------------------------- */

static refs_status read_format(const char *format, refs_cfa_format *read, refs_error *err) {
    bool is_3 = format != NULL && (strcmp(format, "NETCDF3") == 0 || strcmp(format, "CFA3") == 0);
    bool is_4 = format == NULL || strcmp(format, "NETCDF4") == 0 || strcmp(format, "CFA4") == 0;
    *read = is_3 ? REFS_CFA_NETCDF3 : REFS_CFA_NETCDF4;
    if (is_3 || is_4) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "--format: expected NETCDF4 or NETCDF3, found \"%s\"",
                     format);
}

static refs_status read_options(const tool_arguments *arguments, refs_cfa_write_options *options,
                                refs_error *err) {
    if (arguments->cfa_version != NULL)
        REFS_TRY(
            refs_cfa_version_parse(refs_str_from(arguments->cfa_version), &options->version, err));
    REFS_TRY(read_format(arguments->format, &options->format, err));
    options->subarray_shape = arguments->subarray_shape;
    if (arguments->subarray_size != NULL &&
        !refs_s3nc_parse_size(refs_str_from(arguments->subarray_size), &options->subarray_bytes))
        return refs_fail(err, REFS_INVALID,
                         "--subarray-size: expected a size such as 50MB, found \"%s\"",
                         arguments->subarray_size);
    return REFS_OK;
}

/* -- declared dimensions ----------------------------------------------------------------------- */

/* Limits of absent chunks that are looked up: in all, and for each stored chunk. */
#define MAX_EMPTY_CHUNKS     ((uint64_t)1 << 24)
#define MAX_EMPTY_PER_STORED 64

/* The same limits for bytes: of arrays with a fill value, for which only names of fragments are
 * written, and of arrays without one, whose zeros are written. */
#define MAX_NAMED_BYTES ((uint64_t)16 << 40)
#define MAX_ZERO_BYTES  ((uint64_t)4 << 30)

/* Limit of fragments of an array without a fill value, which become files even without stored
 * chunks. */
#define MAX_ZERO_FRAGMENTS ((uint64_t)1 << 14)

static uint64_t count_declared(const refs_array_meta *meta) {
    uint64_t n[REFS_MAX_RANK], declared = 1;
    refs_array_meta_n_keys(meta, n);
    for (size_t d = 0; d < meta->rank; d++)
        if (!refs_mul_u64(declared, meta->edges != NULL ? n[d] : refs_array_meta_n_chunks(meta, d),
                          &declared))
            return UINT64_MAX;
    return declared;
}

static uint64_t bytes_of(const refs_array_meta *meta) {
    uint64_t bytes;
    const bool fits =
        refs_array_meta_elements(meta, &bytes) && refs_mul_u64(bytes, meta->dtype.size, &bytes);
    return fits ? bytes : UINT64_MAX;
}

/* Counts the stored chunks, including inner chunks of shards. */
static refs_status find_n_stored(const tool_arrays *arrays, size_t i, uint64_t *stored,
                                 refs_error *err) {
    uint64_t n[REFS_MAX_RANK];
    const refs_array_meta *meta = arrays->described.metas[i];
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    REFS_TRY(refs_set_count_chunks(arrays->set.set, &keys, stored, err));
    if (meta->shard != NULL && !refs_mul_u64(*stored, meta->shard->n_inner, stored))
        *stored = UINT64_MAX;
    return REFS_OK;
}

/* Whether enough of the declared chunks are stored. */
static bool is_stored_enough(uint64_t declared, uint64_t stored) {
    return stored >= declared / MAX_EMPTY_PER_STORED + (declared % MAX_EMPTY_PER_STORED != 0);
}

static refs_status check_fragments(void *self, size_t i, uint64_t n, refs_error *err) {
    const tool_arrays *arrays = self;
    const refs_array_meta *meta = arrays->described.metas[i];
    uint64_t stored = 0;
    if (n <= MAX_ZERO_FRAGMENTS || meta->aggregation != NULL ||
        refs_cfa_description_fills_gaps(&arrays->described, i))
        return REFS_OK;
    REFS_TRY(find_n_stored(arrays, i, &stored, err));
    const uint64_t declared = count_declared(meta);
    if (is_stored_enough(declared, stored)) return REFS_OK;
    return refs_fail(
        err, REFS_LIMIT,
        "%s: expected at most %llu fragments, as it holds %llu of %llu chunks and has no "
        "fill value, found %llu: split it into larger ones",
        meta->path, (unsigned long long)MAX_ZERO_FRAGMENTS, (unsigned long long)stored,
        (unsigned long long)declared, (unsigned long long)n);
}

/* Checks the declared size: the result has all elements, even of chunks that are not stored. */
static refs_status check_declared(const tool_arrays *arrays, size_t i, refs_error *err) {
    uint64_t stored = 0;
    const refs_array_meta *meta = arrays->described.metas[i];
    if (meta->aggregation != NULL && meta->edges == NULL) return REFS_OK;
    const uint64_t declared = count_declared(meta), bytes = bytes_of(meta);
    const bool has_fill = refs_cfa_description_fills_gaps(&arrays->described, i);
    const uint64_t max_bytes = has_fill ? MAX_NAMED_BYTES : MAX_ZERO_BYTES;
    if (declared <= MAX_EMPTY_CHUNKS && bytes <= max_bytes) return REFS_OK;
    REFS_TRY(find_n_stored(arrays, i, &stored, err));
    if (is_stored_enough(declared, stored)) return REFS_OK;
    if (declared > MAX_EMPTY_CHUNKS)
        return refs_fail(err, REFS_LIMIT,
                         "%s: declares %llu chunks and holds %llu: expected at most %llu, or %d "
                         "for each that it holds",
                         meta->path, (unsigned long long)declared, (unsigned long long)stored,
                         (unsigned long long)MAX_EMPTY_CHUNKS, MAX_EMPTY_PER_STORED);
    return refs_fail(err, REFS_LIMIT,
                     "%s: declares %llu bytes and holds %llu of %llu chunks: expected at most %llu "
                     "bytes%s",
                     meta->path, (unsigned long long)bytes, (unsigned long long)stored,
                     (unsigned long long)declared, (unsigned long long)max_bytes,
                     has_fill ? "" : ", as it has no fill value");
}

static refs_status split(const tool_arguments *arguments, const tool_session *session,
                         refs_error *err) {
    refs_cfa_write_options options = REFS_CFA_WRITE_OPTIONS_INIT;
    tool_arrays arrays;
    const tool_names source = {
        .items = (char **)(uintptr_t)arguments->names.items, .n = 1, .capacity = 1};
    REFS_TRY(read_options(arguments, &options, err));
    REFS_TRY(tool_check_output(arguments->output, &source, err));
    REFS_TRY(tool_arrays_open(session, arguments->names.items[0], &arrays, err));
    refs_status status =
        tool_check_references(arguments->output, TOOL_REPLACED_WITH_FRAGMENTS, &arrays, err);
    arrays.described.source.check_fragments = check_fragments;
    for (size_t i = 0; i < arrays.described.source.n_arrays && status == REFS_OK; i++)
        status = check_declared(&arrays, i, err);
    if (status == REFS_OK && !arguments->quiet)
        status = tool_arrays_tell_others(&arrays, arguments->names.items[0], err);
    if (status == REFS_OK)
        status = write_arrays(session, arguments->output, &arrays.described.source, &options, err);
    tool_arrays_close(&arrays);
    return status;
}

tool_exit tool_split(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    tool_session session;
    if (arguments->names.n != 1 || arguments->output == NULL) {
        fprintf(stderr, "usage: refs split SOURCE -o MASTER.nca\n");
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(arguments, &session, &err);
    if (status == REFS_OK) status = split(arguments, &session, &err);
    tool_session_close(&session);
    if (status != REFS_OK) tool_complain(&err);
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}
