/* set_state.c -- see set_state.h. */
#include "set_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "metadata_file.h"
#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/intern.h"
#include "refs/lookup3.h"
#include "refs/refset.h"
#include "refs/validators.h"

#define SOURCES_KEY REFS_SOURCES_GROUP "/.zattrs"

static int64_t settled(int64_t modified_s) {
    return time(NULL) - modified_s >= REFS_SETTLED_S ? modified_s : modified_s - 1;
}

static refs_status fail_gone(const char *what, refs_error *err) {
    return refs_fail(err, REFS_CHANGED, "%s: the set does not exist any more: open it again", what);
}

static refs_status fail_rewritten(const char *what, refs_error *err) {
    return refs_fail(err, REFS_CHANGED,
                     "%s: the set was rewritten since it was opened: open it again", what);
}

/* -- folders of this machine ------------------------------------------------------------------- */

static bool is_local(const refs_vfs *vfs, const char *folder) {
    return !refs_location_is_remote(refs_str_from(folder)) && refs_vfs_is_local(vfs, folder);
}

/* Makes the name of a local folder absolute. */
static refs_status name_folder(refs_str folder, char **name, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (refs_file_name_absolute(folder, &text, NULL) != REFS_OK)
        return refs_str_keep(folder, name, err);
    if ((*name = refs_buf_take_text(&text)) == NULL) return refs_fail_nomem(err);
    return REFS_OK;
}

refs_status refs_references__state_begin(refs_set_state *state, const refs_vfs *vfs,
                                         refs_str folder, refs_error *err) {
    state->vfs = vfs;
    REFS_TRY(refs_str_keep(folder, &state->folder, err));
    if (!is_local(vfs, state->folder)) return REFS_OK;
    refs_free(state->folder);
    state->folder = NULL;
    REFS_TRY(name_folder(folder, &state->folder, err));
    state->held = open(state->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    state->is_held = state->held >= 0;
    return REFS_OK;
}

static refs_status check_folder(const refs_set_state *state, refs_error *err) {
    struct stat was, is;
    if (!state->is_held || fstat(state->held, &was) != 0) return REFS_OK;
    if (stat(state->folder, &is) != 0) return fail_gone(state->folder, err);
    const bool is_same = is.st_dev == was.st_dev && is.st_ino == was.st_ino;
    return is_same ? REFS_OK : fail_rewritten(state->folder, err);
}

bool refs_references__state_is_held(const refs_set_state *state) {
    return check_folder(state, NULL) == REFS_OK;
}

/* -- the metadata that the set was opened with ------------------------------------------------- */

static refs_status note_sources(refs_set_state *state, const refs_json *document, refs_error *err) {
    const refs_json *sources = refs_json_get(refs_json_get(document, "metadata"), SOURCES_KEY);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (sources == NULL) return REFS_OK;
    REFS_TRY(refs_json_write(sources, &text, err));
    return refs_buf_keep(&text, &state->sources, err);
}

static refs_status digest(const refs_json *document, uint64_t *sum, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_status status = refs_json_write(document, &text, err);
    *sum = refs_lookup3_64(refs_buf_view(&text), 0);
    return status;
}

refs_status refs_references__state_note(refs_set_state *state, const refs_json *document,
                                        refs_error *err) {
    const refs_vfs *vfs = state->vfs;
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    if (!refs_location_is_remote(refs_str_from(state->folder))) return REFS_OK;
    REFS_TRY(refs_buf_printf(&name, err, "%s/.zmetadata", state->folder));
    state->metadata = refs_buf_take_text(&name);
    if (state->metadata == NULL) return refs_fail_nomem(err);
    refs_vfs_validators *known = &state->known.validators;
    if (!refs_vfs_ask(vfs, state->metadata, known) ||
        (refs_validators_date_s(known) == 0 && known->etag[0] == '\0'))
        return REFS_OK;
    if (known->etag[0] == '\0' && known->modified_s == 0)
        REFS_TRY(digest(document, &state->known.digest, err));
    (void)refs_json_u64(refs_json_get(document, "record_size"), &state->record_size);
    REFS_TRY(note_sources(state, document, err));
    state->known.trusted_s = settled(refs_validators_date_s(known));
    pthread_mutex_init(&state->lock, NULL);
    state->is_noted = true;
    return REFS_OK;
}

void refs_references__state_clear(refs_set_state *state) {
    if (state->is_held) close(state->held);
    if (state->is_noted) pthread_mutex_destroy(&state->lock);
    refs_free(state->folder);
    refs_free(state->metadata);
    refs_free(state->sources);
    *state = (refs_set_state){.vfs = NULL};
}

/* -- growth ------------------------------------------------------------------------------------ */

static refs_status note_source(const refs_json *source, refs_intern *strings, bool *is_new,
                               refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const size_t n = strings->count;
    uint32_t id;
    refs_status status = refs_json_write(source, &text, err);
    if (status == REFS_OK) status = refs_intern_add(strings, refs_buf_text(&text), &id, err);
    *is_new = strings->count > n;
    return status;
}

/* Whether each source is among the others, in an unchanged state. */
static refs_status holds_sources(const refs_json *sources, const refs_json *others, bool *holds,
                                 refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern strings = {0};
    refs_status status = REFS_OK;
    bool is_new = false;
    *holds = refs_json_size(sources) > 0;
    for (size_t i = 0; i < refs_json_size(others) && status == REFS_OK; i++)
        status = note_source(refs_json_at(others, i), &strings, &is_new, err);
    for (size_t i = 0; i < refs_json_size(sources) && status == REFS_OK && *holds; i++) {
        status = note_source(refs_json_at(sources, i), &strings, &is_new, err);
        *holds = !is_new;
    }
    return status;
}

/* An array that became an aggregation has no chunks, but its old record files remain for programs
 * that have the set open. */
static bool is_empty(const struct refs_grid_entry *entry) {
    for (size_t dim = 0; dim < entry->grid.rank; dim++)
        if (entry->grid.n_chunks[dim] == 0) return true;
    return false;
}

/* Whether all chunks keep their numbers: only the slowest dimension may be longer. */
static bool keeps_numbers(const refs_chunk_grids *grids, const refs_chunk_grids *others) {
    for (uint32_t i = 0; i < grids->prefixes.count; i++) {
        const uint32_t at =
            refs_intern_find(&others->prefixes, refs_intern_get(&grids->prefixes, i));
        if (at == REFS_INTERN_NONE) return false;
        const struct refs_grid_entry *one = &grids->entries[i], *other = &others->entries[at];
        if (one->status == other->status && is_empty(other)) continue;
        if (one->status != other->status || one->grid.rank != other->grid.rank) return false;
        for (size_t dim = 0; dim < one->grid.rank; dim++) {
            const uint64_t was = one->grid.n_chunks[dim], is = other->grid.n_chunks[dim];
            if (dim == 0 ? is < was : is != was) return false;
        }
    }
    return true;
}

static refs_status read_grids(const refs_json *document, refs_chunk_grids *grids, refs_error *err) {
    const refs_json *metadata = refs_json_get(document, "metadata");
    for (size_t i = 0; i < refs_json_size(metadata); i++) {
        REFS_SCOPED_BUF text = REFS_BUF_INIT;
        REFS_TRY(refs_json_write(refs_json_at(metadata, i), &text, err));
        REFS_TRY(refs_references__chunk_grids_add(grids, refs_json_name_at(metadata, i),
                                                  refs_buf_text(&text), err));
    }
    return REFS_OK;
}

static refs_status compare(const refs_set_state *state, const refs_json *document,
                           const refs_chunk_grids *grids, bool *has_grown, refs_error *err) {
    refs_chunk_grids others = {.entries = NULL};
    REFS_SCOPED_JSON *old = NULL;
    uint64_t record_size = 0;
    *has_grown = false;
    if (state->sources == NULL ||
        !refs_json_u64(refs_json_get(document, "record_size"), &record_size) ||
        record_size != state->record_size)
        return REFS_OK;
    REFS_TRY(refs_json_parse(refs_str_from(state->sources), &old, err));
    const refs_json *now = refs_json_get(refs_json_get(document, "metadata"), SOURCES_KEY);
    refs_status status = holds_sources(refs_json_get(refs_json_root(old), "sources"),
                                       refs_json_get(now, "sources"), has_grown, err);
    if (status == REFS_OK && *has_grown) status = read_grids(document, &others, err);
    *has_grown = *has_grown && status == REFS_OK && keeps_numbers(grids, &others);
    refs_references__chunk_grids_clear(&others);
    return status;
}

/* If the same document has another date, and both are recent, the server dates all answers with the
 * current time. */
static refs_status compare_digests(refs_known_metadata *known, const refs_vfs_validators *now,
                                   const refs_json *document, bool *is_same_text, refs_error *err) {
    uint64_t sum = 0;
    *is_same_text = false;
    if (known->digest == 0) return REFS_OK;
    REFS_TRY(digest(document, &sum, err));
    *is_same_text = sum == known->digest;
    known->is_undated = *is_same_text && now->modified_s == 0;
    known->digest = sum;
    return REFS_OK;
}

/* Reads by ranges, like the first time, so that a truncated answer is resumed. */
static refs_status read_metadata(const refs_set_state *state, refs_json_doc **document,
                                 refs_error *err) {
    const refs_vfs *vfs = state->vfs;
    void *handle = NULL;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(vfs->open(vfs->self, state->metadata, &handle, err));
    refs_status status = refs_vfs_read_opened(vfs, handle, REFS_SET_MAX_METADATA_BYTES, &text, err);
    vfs->close(vfs->self, handle);
    if (status == REFS_OK) status = refs_json_parse(refs_buf_text(&text), document, err);
    return status;
}

/* Checks that the set has only grown from the recorded state to `now`, which is then recorded. */
static refs_status read_growth(const refs_set_state *state, const refs_vfs_validators *now,
                               const refs_chunk_grids *grids, refs_known_metadata *known,
                               refs_error *err) {
    refs_json_doc *document = NULL;
    refs_status status = read_metadata(state, &document, err);
    bool is_same_text = false;
    if (status == REFS_OK)
        status = compare_digests(known, now, refs_json_root(document), &is_same_text, err);
    bool has_grown = is_same_text;
    if (status == REFS_OK && !is_same_text)
        status = compare(state, refs_json_root(document), grids, &has_grown, err);
    refs_json_doc_free(document);
    if (status == REFS_OK && !has_grown) status = fail_rewritten(state->metadata, err);
    known->validators = *now;
    return status;
}

/* -- checking ---------------------------------------------------------------------------------- */

static refs_status ask(const refs_set_state *state, refs_vfs_validators *now, refs_error *err) {
    const refs_vfs *vfs = state->vfs;
    if (vfs->forget != NULL) vfs->forget(vfs->self, state->metadata);
    const refs_status status = vfs->validators(vfs->self, state->metadata, now, err);
    if (status != REFS_NOT_FOUND) return status;
    refs_error_clear(err);
    return fail_gone(state->metadata, err);
}

static refs_status check_metadata(const refs_set_state *state, const refs_chunk_grids *grids,
                                  refs_known_metadata *known, refs_error *err) {
    refs_vfs_validators now;
    REFS_TRY(ask(state, &now, err));
    return refs_validators_prove_same(&known->validators, &now)
               ? REFS_OK
               : read_growth(state, &now, grids, known, err);
}

/* Record files that are older than every record file read so far may come from another set,
 * restored with its old times. */
static bool may_belong(const refs_known_metadata *known, int64_t date_s) {
    return known->is_undated ||
           (date_s != 0 && date_s <= known->trusted_s && date_s >= known->oldest_s);
}

/* Merges the dates that other threads have recorded since `known` was copied. */
static void learn_date(const refs_set_state *state, int64_t date_s, refs_known_metadata *known) {
    const int64_t trusted_s = settled(date_s), oldest_s = state->known.oldest_s;
    if (state->known.trusted_s > known->trusted_s) known->trusted_s = state->known.trusted_s;
    if (trusted_s > known->trusted_s) known->trusted_s = trusted_s;
    known->oldest_s = oldest_s;
    if (date_s != 0 && (oldest_s == 0 || date_s < oldest_s)) known->oldest_s = date_s;
}

static refs_status check_record(refs_set_state *state, const char *location,
                                const refs_chunk_grids *grids, refs_error *err) {
    const refs_vfs *vfs = state->vfs;
    refs_vfs_validators record = {0};
    if (location != NULL && !refs_vfs_ask(vfs, location, &record))
        record.modified_s = record.fresh_s = 0;
    refs_lock(&state->lock);
    refs_known_metadata known = state->known;
    refs_unlock(&state->lock);
    const int64_t date_s = refs_validators_date_s(&record);
    if (!may_belong(&known, date_s)) REFS_TRY(check_metadata(state, grids, &known, err));
    refs_lock(&state->lock);
    learn_date(state, date_s, &known);
    state->known = known;
    refs_unlock(&state->lock);
    return REFS_OK;
}

refs_status refs_references__state_check(refs_set_state *state, const char *location,
                                         const refs_chunk_grids *grids, refs_error *err) {
    REFS_TRY(check_folder(state, err));
    return state->is_noted ? check_record(state, location, grids, err) : REFS_OK;
}
