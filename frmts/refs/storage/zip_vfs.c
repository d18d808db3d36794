/* zip_vfs.c -- see zip_vfs.h. */
#include "zip_vfs.h"

#include <string.h>

#include "fetch_internal.h"
#include "refs/fork.h"
#include "refs/now.h"
#include "refs/url.h"
#include "refs/validators.h"
#include "zip.h"

/* Archives whose directories are kept, and handles of each that are kept for the next member. */
#define MAX_KEPT 4
#define MAX_IDLE 4

/* The directory of an archive on a server is read again after this time. */
#define TRUSTED_MS 5000

/* Stored members up to this size are read when they are opened; they share a request. */
#define SMALL_BYTES (256 * (uint64_t)REFS_KIB)

/* Most bytes of a decompressed member that are kept for the next one who opens it. */
#define MAX_LAST_BYTES (64 * (uint64_t)REFS_MIB)

/* Archives in archives. */
#define MAX_DEPTH 4

/* An archive whose directory was read. The lock of the vfs guards the members after `n_users`. */
typedef struct zip_archive {
    char *location;
    refs_zip zip;
    refs_vfs_validators seen; /* when its directory was read */
    bool is_local;
    uint64_t read_ms;
    unsigned n_users;
    void *idle[MAX_IDLE]; /* open handles for the next reader */
    size_t n_idle;
    refs_block *last; /* content of last_member, or NULL */
    const refs_zip_member *last_member;
    uint64_t *begins; /* of each member: where its bytes begin; 0: its header was not read */
} zip_archive;

struct refs_zip_vfs {
    refs_vfs functions;
    const refs_vfs *below;
    pthread_mutex_t lock; /* guards what follows */
    zip_archive *kept[MAX_KEPT];
    size_t next; /* slot that is replaced next */
};

/* An open file. */
typedef struct opened {
    zip_archive *archive; /* NULL: no member, but a file of the refs_vfs below */
    const refs_zip_member *member;
    refs_block *block; /* all of the member, or NULL: it is read from `begin` on */
    uint64_t begin;
    void *below;
} opened;

/* -- names ------------------------------------------------------------------------------------- */

/* Splits the location of a member; false for other names. */
static bool split(refs_str location, refs_str *member, refs_str *file) {
    const refs_url_archive *archive = refs_location_split_archive(location, member, file);
    return archive != NULL && strcmp(archive->scheme, "zip") == 0;
}

/* The location of the archive of a member, to be freed; NULL for other names. */
static refs_status copy_file(const char *location, char **file, refs_error *err) {
    refs_str member, rest = refs_str_from(location);
    size_t depth = 0;
    *file = NULL;
    if (!split(rest, &member, &rest)) return REFS_OK;
    REFS_TRY(refs_str_keep(rest, file, err));
    while (split(rest, &member, &rest)) depth++;
    if (depth < MAX_DEPTH) return REFS_OK;
    refs_free(*file);
    *file = NULL;
    return refs_fail(err, REFS_LIMIT, "archives are nested deeper than the limit of %d", MAX_DEPTH);
}

/* -- archives ---------------------------------------------------------------------------------- */

static void release(refs_zip_vfs *vfs, zip_archive *released) {
    if (released == NULL) return;
    refs_lock(&vfs->lock);
    const bool is_last = --released->n_users == 0;
    refs_unlock(&vfs->lock);
    if (!is_last) return;
    const refs_vfs *self = &vfs->functions;
    while (released->n_idle > 0) self->close(self->self, released->idle[--released->n_idle]);
    refs_block_release(released->last);
    refs_zip_clear(&released->zip);
    refs_free(released->begins);
    refs_free(released->location);
    refs_free(released);
}

/* The slot of an archive, else an empty one, else MAX_KEPT. With the lock held. */
static size_t find_slot(const refs_zip_vfs *vfs, const char *location) {
    size_t found = MAX_KEPT;
    for (size_t i = 0; i < MAX_KEPT; i++) {
        if (vfs->kept[i] == NULL)
            found = i;
        else if (strcmp(vfs->kept[i]->location, location) == 0)
            return i;
    }
    return found;
}

static zip_archive *find_kept(refs_zip_vfs *vfs, const char *location) {
    REFS_LOCKED(&vfs->lock);
    const size_t slot = find_slot(vfs, location);
    zip_archive *kept = slot < MAX_KEPT ? vfs->kept[slot] : NULL;
    if (kept != NULL) kept->n_users++;
    return kept;
}

/* Keeps an archive in place of an earlier state of it, or of another one. */
static void keep(refs_zip_vfs *vfs, zip_archive *added) {
    refs_lock(&vfs->lock);
    size_t slot = find_slot(vfs, added->location);
    if (slot == MAX_KEPT) slot = vfs->next++ % MAX_KEPT;
    zip_archive *replaced = vfs->kept[slot];
    vfs->kept[slot] = added;
    added->n_users++;
    refs_unlock(&vfs->lock);
    release(vfs, replaced);
}

static void drop(refs_zip_vfs *vfs, const char *location) {
    zip_archive *dropped = NULL;
    refs_lock(&vfs->lock);
    const size_t slot = find_slot(vfs, location);
    if (slot < MAX_KEPT) {
        dropped = vfs->kept[slot];
        vfs->kept[slot] = NULL;
    }
    refs_unlock(&vfs->lock);
    release(vfs, dropped);
}

static bool is_current(const refs_zip_vfs *vfs, const zip_archive *kept) {
    refs_vfs_validators now = {.has_size = false};
    if (!kept->is_local) return refs_now_ms() - kept->read_ms < TRUSTED_MS;
    return refs_vfs_look(&vfs->functions, kept->location, &now) &&
           refs_validators_prove_same(&kept->seen, &now) &&
           refs_validators_are_settled(&kept->seen);
}

static refs_status read_archive(refs_zip_vfs *vfs, zip_archive *made, refs_error *err) {
    const refs_vfs *self = &vfs->functions;
    refs_zip_file file = {self, NULL};
    made->is_local = refs_vfs_look(self, made->location, &made->seen);
    made->read_ms = refs_now_ms();
    REFS_TRY(self->open(self->self, made->location, &file.handle, err));
    made->idle[made->n_idle++] = file.handle;
    if (!made->is_local) (void)refs_vfs_ask(self, made->location, &made->seen);
    const refs_status status = refs_zip_read(&file, &made->zip, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "%s", made->location);
        return status;
    }
    made->begins = refs_calloc(made->zip.n + 1, sizeof *made->begins);
    return made->begins != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Takes over `location`. */
static refs_status open_archive(refs_zip_vfs *vfs, char *location, zip_archive **found,
                                refs_error *err) {
    zip_archive *kept = find_kept(vfs, location);
    if (kept != NULL && is_current(vfs, kept)) {
        refs_free(location);
        *found = kept;
        return REFS_OK;
    }
    release(vfs, kept);
    zip_archive *made = refs_calloc(1, sizeof *made);
    if (made == NULL) {
        refs_free(location);
        return refs_fail_nomem(err);
    }
    made->location = location;
    made->n_users = 1;
    const refs_status status = read_archive(vfs, made, err);
    if (status == REFS_OK) {
        keep(vfs, made);
        *found = made;
    } else {
        release(vfs, made);
    }
    return status;
}

/* The directory of an archive describes only the file that it was read from. */
static refs_status open_again(refs_zip_vfs *vfs, const zip_archive *of, void **handle,
                              refs_error *err) {
    const refs_vfs *self = &vfs->functions;
    refs_vfs_validators now;
    REFS_TRY(self->open(self->self, of->location, handle, err));
    if (!refs_fetch__look(self, of->location, *handle, &now)) return REFS_OK;
    const refs_status status = refs_fetch__compare(&of->seen, &now, err);
    if (status == REFS_OK) return REFS_OK;
    refs_error_prefix(err, "%s", of->location);
    self->close(self->self, *handle);
    *handle = NULL;
    return status;
}

static refs_status take_handle(refs_zip_vfs *vfs, zip_archive *of, void **handle, refs_error *err) {
    *handle = NULL;
    refs_lock(&vfs->lock);
    if (of->n_idle > 0) *handle = of->idle[--of->n_idle];
    refs_unlock(&vfs->lock);
    return *handle != NULL ? REFS_OK : open_again(vfs, of, handle, err);
}

static void give_handle_back(refs_zip_vfs *vfs, zip_archive *of, void *handle) {
    const refs_vfs *self = &vfs->functions;
    if (handle == NULL) return;
    refs_lock(&vfs->lock);
    const bool is_kept = of->n_idle < MAX_IDLE;
    if (is_kept) of->idle[of->n_idle++] = handle;
    refs_unlock(&vfs->lock);
    if (!is_kept) self->close(self->self, handle);
}

/* -- members ----------------------------------------------------------------------------------- */

static refs_block *find_last(refs_zip_vfs *vfs, const opened *file) {
    REFS_LOCKED(&vfs->lock);
    return file->archive->last_member == file->member ? refs_block_hold(file->archive->last) : NULL;
}

static void keep_last(refs_zip_vfs *vfs, const opened *file) {
    if (file->member->size > MAX_LAST_BYTES) return;
    refs_lock(&vfs->lock);
    refs_block *replaced = file->archive->last;
    file->archive->last = refs_block_hold(file->block);
    file->archive->last_member = file->member;
    refs_unlock(&vfs->lock);
    refs_block_release(replaced);
}

static uint64_t known_begin(refs_zip_vfs *vfs, const zip_archive *archive, size_t index) {
    REFS_LOCKED(&vfs->lock);
    return archive->begins[index];
}

static void keep_begin(refs_zip_vfs *vfs, zip_archive *archive, size_t index, uint64_t begin) {
    REFS_LOCKED(&vfs->lock);
    archive->begins[index] = begin;
}

/* Reads the header of a member, once. */
static refs_status locate(refs_zip_vfs *vfs, opened *file, refs_error *err) {
    const refs_zip *zip = &file->archive->zip;
    const size_t index = (size_t)(file->member - zip->members);
    file->begin = known_begin(vfs, file->archive, index);
    if (file->begin > 0) return REFS_OK;
    if (file->below == NULL) REFS_TRY(take_handle(vfs, file->archive, &file->below, err));
    const refs_zip_file in = {&vfs->functions, file->below};
    REFS_TRY(refs_zip_locate(&in, zip, file->member, &file->begin, err));
    keep_begin(vfs, file->archive, index, file->begin);
    return REFS_OK;
}

/* Fails if an entry that may be that of `name`, which is absent or a folder, is damaged. */
static refs_status check_similar(refs_zip_vfs *vfs, refs_str name, opened *file, refs_error *err) {
    const refs_zip *zip = &file->archive->zip;
    while ((file->member = refs_zip_next_similar(zip, name, file->member)) != NULL)
        REFS_TRY(locate(vfs, file, err));
    return REFS_OK;
}

static refs_status prove_absent(refs_zip_vfs *vfs, refs_str name, opened *file, refs_error *err) {
    REFS_TRY(check_similar(vfs, name, file, err));
    return refs_fail(err, REFS_NOT_FOUND, "no member \"%.*s\" in the archive", REFS_STR_ARG(name));
}

static refs_status open_content(refs_zip_vfs *vfs, opened *file, refs_error *err) {
    const refs_zip_member *member = file->member;
    REFS_TRY(refs_zip_check(member, err));
    REFS_TRY(take_handle(vfs, file->archive, &file->below, err));
    const refs_zip_file in = {&vfs->functions, file->below};
    REFS_TRY(locate(vfs, file, err));
    if (member->method == 0 && member->size > SMALL_BYTES) return REFS_OK;
    REFS_TRY(refs_zip_unpack(&in, member, file->begin, &file->block, err));
    keep_last(vfs, file);
    give_handle_back(vfs, file->archive, file->below);
    file->below = NULL;
    return REFS_OK;
}

static refs_status open_member(refs_zip_vfs *vfs, refs_str name, opened *file, refs_error *err) {
    file->member = refs_zip_find(&file->archive->zip, name);
    file->block = file->member != NULL ? find_last(vfs, file) : NULL;
    if (file->block != NULL) return REFS_OK;
    const bool is_there = file->member != NULL;
    const refs_status status =
        is_there ? open_content(vfs, file, err) : prove_absent(vfs, name, file, err);
    if (status == REFS_NOT_FOUND)
        refs_error_prefix(err, "%s", file->archive->location);
    else if (status != REFS_OK)
        refs_error_prefix(err, "%s: \"%.*s\"", file->archive->location, REFS_STR_ARG(name));
    return status;
}

static void close_file(void *self, void *handle) {
    refs_zip_vfs *vfs = self;
    opened *file = handle;
    if (file->archive == NULL && file->below != NULL)
        vfs->below->close(vfs->below->self, file->below);
    else if (file->archive != NULL)
        give_handle_back(vfs, file->archive, file->below);
    refs_block_release(file->block);
    release(vfs, file->archive);
    refs_free(file);
}

/* How the refs_vfs below opens. */
typedef refs_status (*opener)(const refs_vfs *vfs, const char *location, void **handle,
                              refs_error *err);

static refs_status open_below(const refs_vfs *vfs, const char *location, void **handle,
                              refs_error *err) {
    return vfs->open(vfs->self, location, handle, err);
}

static refs_status open_by(refs_zip_vfs *vfs, const char *location, opener below, void **handle,
                           refs_error *err) {
    char *archive = NULL;
    refs_str member, ignored;
    REFS_TRY(copy_file(location, &archive, err));
    const bool is_member = archive != NULL;
    opened *file = refs_calloc(1, sizeof *file);
    if (file == NULL) {
        refs_free(archive);
        return refs_fail_nomem(err);
    }
    refs_status status = is_member ? open_archive(vfs, archive, &file->archive, err)
                                   : below(vfs->below, location, &file->below, err);
    if (status == REFS_OK && is_member) {
        (void)split(refs_str_from(location), &member, &ignored);
        status = open_member(vfs, member, file, err);
    }
    if (status == REFS_OK)
        *handle = file;
    else
        close_file(vfs, file);
    return status;
}

static refs_status open_file(void *self, const char *location, void **handle, refs_error *err) {
    return open_by(self, location, open_below, handle, err);
}

static refs_status open_whole(void *self, const char *location, void **handle, refs_error *err) {
    return open_by(self, location, refs_vfs_open_whole, handle, err);
}

/* -- reading ----------------------------------------------------------------------------------- */

static refs_status size_of(void *self, void *handle, uint64_t *size, refs_error *err) {
    const refs_vfs *below = ((const refs_zip_vfs *)self)->below;
    const opened *file = handle;
    if (file->archive == NULL) return below->size(below->self, file->below, size, err);
    *size = file->member->size;
    return REFS_OK;
}

/* The part of a range that a member has. */
static refs_vfs_range within(const opened *file, const refs_vfs_range *range) {
    const uint64_t size = file->member->size;
    const uint64_t left = range->offset < size ? size - range->offset : 0;
    return (refs_vfs_range){file->begin + (left > 0 ? range->offset : 0),
                            range->length < left ? range->length : (size_t)left, range->dst};
}

static refs_status read_file(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                             refs_error *err) {
    const refs_zip_vfs *vfs = self;
    const opened *file = handle;
    if (file->archive == NULL)
        return vfs->below->read(vfs->below->self, file->below, range, got, err);
    const refs_vfs_range there = within(file, range);
    *got = there.length;
    if (there.length == 0) return REFS_OK;
    if (file->block == NULL)
        return vfs->functions.read(vfs->functions.self, file->below, &there, got, err);
    memcpy(range->dst, refs_block_data(file->block) + range->offset, there.length);
    return REFS_OK;
}

static refs_status read_many(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err);

/* Reads ranges of a member that is stored, as ranges of its archive. */
static refs_status read_stored(void *self, const opened *file, const refs_vfs_range *ranges,
                               size_t n, refs_error *err) {
    REFS_SCOPED refs_vfs_range *there = refs_calloc(n + 1, sizeof *there);
    if (there == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        there[i] = within(file, &ranges[i]);
        if (there[i].length < ranges[i].length)
            return refs_fail(err, REFS_IO, "ranges did not arrive");
    }
    return read_many(self, file->below, there, n, err);
}

static refs_status read_many(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err) {
    const refs_vfs *below = ((const refs_zip_vfs *)self)->below;
    const opened *file = handle;
    if (file->archive == NULL && below->read_many != NULL)
        return below->read_many(below->self, file->below, ranges, n, err);
    if (file->archive != NULL && file->block == NULL)
        return read_stored(self, file, ranges, n, err);
    for (size_t i = 0; i < n; i++) {
        size_t got = 0;
        REFS_TRY(read_file(self, handle, &ranges[i], &got, err));
        if (got < ranges[i].length) return refs_fail(err, REFS_IO, "ranges did not arrive");
    }
    return REFS_OK;
}

/* -- validators -------------------------------------------------------------------------------- */

/* Those of a member are those of its archive, except for its size. */
static void set_size(const refs_zip_member *member, refs_vfs_validators *known) {
    known->has_size = member != NULL;
    known->size = member != NULL ? member->size : 0;
}

static refs_status validators_of_member(refs_zip_vfs *vfs, const char *location,
                                        refs_vfs_validators *known, refs_error *err) {
    void *handle = NULL;
    REFS_TRY(open_file(vfs, location, &handle, err));
    const opened *file = handle;
    *known = file->archive->seen;
    set_size(file->member, known);
    close_file(vfs, handle);
    return REFS_OK;
}

static refs_status validators(void *self, const char *location, refs_vfs_validators *known,
                              refs_error *err) {
    refs_zip_vfs *vfs = self;
    refs_str member, file;
    if (split(refs_str_from(location), &member, &file))
        return validators_of_member(vfs, location, known, err);
    return vfs->below->validators(vfs->below->self, location, known, err);
}

static refs_status peek(void *self, const char *location, void *handle, refs_vfs_validators *known,
                        refs_error *err) {
    const refs_zip_vfs *vfs = self;
    const opened *file = handle;
    REFS_SCOPED char *archive = NULL;
    REFS_TRY(copy_file(location, &archive, err));
    if (archive == NULL)
        return vfs->below->peek(vfs->below->self, location, file != NULL ? file->below : NULL,
                                known, err);
    if (file != NULL && file->block != NULL) {
        if (!file->archive->is_local) return REFS_UNSUPPORTED;
        *known = file->archive->seen;
    } else {
        REFS_TRY(peek(self, archive, file != NULL ? file->below : NULL, known, err));
    }
    set_size(file != NULL ? file->member : NULL, known);
    return REFS_OK;
}

static bool is_local(void *self, const char *location) {
    const refs_zip_vfs *vfs = self;
    REFS_SCOPED char *archive = NULL;
    if (copy_file(location, &archive, NULL) != REFS_OK) return false;
    return archive != NULL ? is_local(self, archive) : refs_vfs_is_local(vfs->below, location);
}

static bool is_silent(void *self, const char *location) {
    const refs_zip_vfs *vfs = self;
    REFS_SCOPED char *archive = NULL;
    if (copy_file(location, &archive, NULL) != REFS_OK) return false;
    return archive != NULL ? is_silent(self, archive)
                           : vfs->below->is_silent(vfs->below->self, location);
}

static void forget(void *self, const char *location) {
    refs_zip_vfs *vfs = self;
    REFS_SCOPED char *archive = NULL;
    if (copy_file(location, &archive, NULL) != REFS_OK) return;
    if (archive == NULL) {
        vfs->below->forget(vfs->below->self, location);
        return;
    }
    drop(vfs, archive);
    forget(self, archive);
}

/* -- folders ----------------------------------------------------------------------------------- */

/* On a server, checking would be a request for each member; there, sets are not listed. */
static refs_status list_members(refs_zip_vfs *vfs, zip_archive *archive, refs_str folder,
                                const refs_vfs_listing *listing, refs_error *err) {
    opened file = {.archive = archive};
    const refs_status status = archive->is_local ? check_similar(vfs, folder, &file, err) : REFS_OK;
    give_handle_back(vfs, archive, file.below);
    if (status == REFS_OK) return refs_zip_list(&archive->zip, folder, listing, err);
    refs_error_prefix(err, "%s", archive->location);
    return status;
}

static refs_status list(void *self, const char *location, const refs_vfs_listing *listing,
                        refs_error *err) {
    refs_zip_vfs *vfs = self;
    const refs_vfs *below = vfs->below;
    char *file = NULL;
    zip_archive *found = NULL;
    refs_str member, ignored;
    REFS_SCOPED_BUF folder = REFS_BUF_INIT;
    REFS_TRY(copy_file(location, &file, err));
    if (file == NULL && below->list == NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: cannot list folders here: name the files",
                         location);
    if (file == NULL) return below->list(below->self, location, listing, err);
    REFS_TRY(open_archive(vfs, file, &found, err));
    (void)split(refs_str_from(location), &member, &ignored);
    refs_status status = refs_buf_append_str(&folder, member, err);
    if (status == REFS_OK && member.size > 0 && !refs_str_ends(member, "/"))
        status = refs_buf_append(&folder, "/", 1, err);
    if (status == REFS_OK) status = list_members(vfs, found, refs_buf_text(&folder), listing, err);
    release(vfs, found);
    return status;
}

/* -- opening ----------------------------------------------------------------------------------- */

refs_status refs_zip_vfs_open(const refs_vfs *below, refs_zip_vfs **vfs, refs_error *err) {
    refs_zip_vfs *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->functions = (refs_vfs){.self = made,
                                 .open = open_file,
                                 .size = size_of,
                                 .read = read_file,
                                 .read_many = read_many,
                                 .close = close_file,
                                 .validators = below->validators != NULL ? validators : NULL,
                                 .is_local = is_local,
                                 .peek = below->peek != NULL ? peek : NULL,
                                 .forget = below->forget != NULL ? forget : NULL,
                                 .open_whole = open_whole,
                                 .list = list,
                                 .is_silent = below->is_silent != NULL ? is_silent : NULL};
    made->below = below;
    pthread_mutex_init(&made->lock, NULL);
    *vfs = made;
    return REFS_OK;
}

void refs_zip_vfs_free(refs_zip_vfs *vfs) {
    if (vfs == NULL) return;
    for (size_t i = 0; i < MAX_KEPT; i++) release(vfs, vfs->kept[i]);
    pthread_mutex_destroy(&vfs->lock);
    refs_free(vfs);
}

const refs_vfs *refs_zip_vfs_functions(const refs_zip_vfs *vfs) {
    return &vfs->functions;
}
