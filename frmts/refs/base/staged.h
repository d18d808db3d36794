/* staged.h -- staged output: files and folders that are written beside the name that is wanted, and
 * get it when they are whole and on the disk.
 *
 * A process that is killed, a machine that fails and a disk that is full leave the old state or
 * the new one. If a result is several files, all but the last have names that nothing had: the old
 * ones go when the last file, which names the others, is in place. A replaced file hands on its
 * permissions and, where that is possible, its owner and group.
 */
#ifndef REFS_STAGED_H
#define REFS_STAGED_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Names beside a result that are tried. */
#define REFS_STAGED_MAX_NAMES 1000

/** Levels of folders in one that is written, or removed: groups in groups. */
#define REFS_STAGED_MAX_DEPTH 128

typedef enum refs_staged_kind {
    REFS_STAGED_FILE,
    REFS_STAGED_FOLDER /**< replaces any folder, whatever it holds: callers look before */
} refs_staged_kind;

/** Permissions and owners, as in struct stat. */
typedef struct refs_staged_owner {
    uint32_t mode, user, group;
    bool is_known; /**< false: there is nothing to take them from */
} refs_staged_owner;

/** Zeroed is none. */
typedef struct refs_staged {
    char *wanted;            /**< without slashes at its end */
    char *written;           /**< a new name beside it; NULL: it was moved */
    char *model;             /**< what hands on its permissions; NULL: nothing */
    refs_staged_owner kept;  /**< of the model */
    refs_staged_owner files; /**< of files in a folder that the model does not have: what all of the
                                 model's files allow */
    bool is_folder;
    bool is_temporary; /**< it need not outlast the machine: nobody waits for the disk */
} refs_staged;

/** Appends the name under which something is written beside the one that is wanted, until it is
 * whole: "wanted.tmp-TAG-PROCESS-NUMBER", with a NUL behind it. */
refs_status refs_staged_append_name(const char *wanted, int number, refs_buf *name,
                                    refs_error *err);

/** Fails with REFS_IO, the path and what errno says. */
refs_status refs_staged_fail(const char *path, refs_error *err);

/** Fails with REFS_IO: all of the `n` names that were tried beside `path` exist. */
refs_status refs_staged_fail_names(const char *path, unsigned n, refs_error *err);

/** Whether a name is one of these, of whatever process. */
bool refs_staged_is_unfinished(const char *name);

/** The name that was wanted where such a one was given. */
refs_str refs_staged_wanted(refs_str name);

/** Removes what has such a name for `path`, belongs to this user, and was being written by a
 * process of this machine that is no more. Files staged for other results stay. */
void refs_staged_sweep(const char *path);

/** Finds a name beside `path` that nothing has; for a folder, makes it. Sweeps before. A symbolic
 * link is followed, once: what it leads to is replaced. REFS_IO for one that another user made in a
 * folder that everybody may write to, as open(2) has it with fs.protected_symlinks (proc(5)). */
refs_status refs_staged_open(const char *path, refs_staged_kind kind, refs_staged *staged,
                             refs_error *err);

/** Another staged output for the same result, which `staged` was opened for: a link that took the
 * name since is not followed, but replaced. */
refs_status refs_staged_open_again(const refs_staged *staged, refs_staged *again, refs_error *err);

/** Finds the fault that refs_staged_open would find. Makes nothing. If `target` is not NULL, it
 * gets the name that would be replaced, behind links; to be freed. */
refs_status refs_staged_check(const char *path, refs_staged_kind kind, char **target,
                              refs_error *err);

/** Takes permissions from `model` where that is there, instead of from what is replaced. */
refs_status refs_staged_keep(refs_staged *staged, const char *model, refs_error *err);

/** Makes the file that is written: nobody else's, no link, and readable by its owner alone where
 * it replaces something, until it is moved. *file is for the caller to close. */
refs_status refs_staged_create(const refs_staged *staged, int *file, refs_error *err);

/** Whether what is written is to be read by its owner alone until it is moved. */
bool refs_staged_is_private(const refs_staged *staged);

/** Gives what was written its permissions and owner, and waits until it is on the disk unless it
 * is temporary. */
refs_status refs_staged_settle(const refs_staged *staged, refs_error *err);

/** Settles what was written and puts it in the place of what was there, both at once where the
 * system can. */
refs_status refs_staged_move(refs_staged *staged, refs_error *err);

/** The same, to a name that nothing has, or an empty folder: REFS_IO if something has it. */
refs_status refs_staged_move_new(refs_staged *staged, refs_error *err);

/** Settles `n` results and moves them, in this order. All but the last take names that nothing
 * has; where that or the last move fails, those before get back the names under which they were
 * written. */
refs_status refs_staged_commit(refs_staged *const *all, size_t n, refs_error *err);

/** Writes all of `bytes` to an open file, which messages call `path`. */
refs_status refs_staged_write_all(int file, const char *path, refs_bytes bytes, refs_error *err);

/** Writes a file that holds these bytes; what was there stays until all of them are written. */
refs_status refs_staged_replace(const char *path, refs_bytes bytes, refs_error *err);

/** Removes what was written and not moved. */
void refs_staged_clear(refs_staged *staged);

/** Removes a file, or a folder with all that is in it; links are not followed. */
void refs_staged_remove(const char *path);

/** The same of what nobody needs any more: if this process is killed meanwhile, the next one that
 * writes `path` removes the rest. */
void refs_staged_retire(const char *path);

/** Removes `name` in an open folder, if it belongs to this user. */
void refs_staged_remove_own(int folder, const char *name);

#ifdef __cplusplus
}
#endif
#endif
