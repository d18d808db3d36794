/* staged.h -- staged output: files and folders are written under a temporary name beside the final
 * one, and renamed when they are complete and synced. A killed process, a failing machine and a
 * full disk leave the old state or the new one. If a result is several files, all but the last have
 * new names: old files are removed once the last file, which refers to the others, is in place. A
 * replaced file passes on its permissions and, if possible, its owner and group. */
#ifndef REFS_STAGED_H
#define REFS_STAGED_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most temporary names that are tried. */
#define REFS_STAGED_MAX_NAMES 1000

/** Most levels of folders that are written or removed. */
#define REFS_STAGED_MAX_DEPTH 128

typedef enum refs_staged_kind {
    REFS_STAGED_FILE,
    REFS_STAGED_FOLDER /**< replaces any folder with its content: callers check it first */
} refs_staged_kind;

/** Permissions and owners, as in struct stat. */
typedef struct refs_staged_owner {
    uint32_t mode, user, group;
    bool is_known; /**< false: nothing is replaced */
} refs_staged_owner;

/** A local file and its state, recorded before the file was read. A staged result replaces the file
 * only if this state is unchanged. */
typedef struct refs_staged_guard {
    const char *path;
    refs_vfs_validators was;
} refs_staged_guard;

/** Records the state of `path`, which must outlive the guard; false if there is no such file. */
bool refs_staged_guard_open(const char *path, refs_staged_guard *guard);

/** Whether the file is in the recorded state; `guard` may be NULL: true. */
bool refs_staged_guard_holds(const refs_staged_guard *guard);

/** Zeroed is empty. */
typedef struct refs_staged {
    char *wanted;            /**< final name, without trailing slashes */
    char *written;           /**< temporary name; NULL after the move */
    char *model;             /**< the file whose permissions are kept; NULL: none */
    refs_staged_owner kept;  /**< of the model */
    refs_staged_owner files; /**< for files that the model lacks: permissions that all of the
                                model's files allow */
    bool is_folder;
    bool is_temporary;              /**< not synced to disk */
    const refs_staged_guard *guard; /**< refs_staged_move and refs_staged_commit replace nothing if
                                       it does not hold; or NULL */
} refs_staged;

/** Appends the temporary name for `wanted`: "wanted.tmp-TAG-PROCESS-NUMBER", with a NUL after it.
 */
refs_status refs_staged_append_name(const char *wanted, int number, refs_buf *name,
                                    refs_error *err);

/** Fails with REFS_IO, the path and what errno says. */
refs_status refs_staged_fail(const char *path, refs_error *err);

/** Fails with REFS_IO: all of the `n` names that were tried beside `path` exist. */
refs_status refs_staged_fail_names(const char *path, unsigned n, refs_error *err);

/** Whether a name is a temporary one, of any process. */
bool refs_staged_is_unfinished(const char *name);

/** The final name of a temporary one. */
refs_str refs_staged_wanted(refs_str name);

/** Removes temporary files for `path` that belong to this user and to a process of this machine
 * that has ended. Those of other results stay. */
void refs_staged_sweep(const char *path);

/** Chooses an unused temporary name beside `path`; for a folder, makes it. Sweeps first. A symbolic
 * link is followed once: its target is replaced. REFS_IO for a link that another user made in a
 * world-writable folder, as open(2) does with fs.protected_symlinks (proc(5)). */
refs_status refs_staged_open(const char *path, refs_staged_kind kind, refs_staged *staged,
                             refs_error *err);

/** Another staged output for the result of `staged`. A link that has taken the name since is
 * replaced, not followed. */
refs_status refs_staged_open_again(const refs_staged *staged, refs_staged *again, refs_error *err);

/** Fails as refs_staged_open would, without writing anything. If `target` is not NULL, it gets the
 * name that would be replaced, after following links; to be freed. */
refs_status refs_staged_check(const char *path, refs_staged_kind kind, char **target,
                              refs_error *err);

/** Takes permissions from `model` if it exists, instead of from the replaced file. */
refs_status refs_staged_keep(refs_staged *staged, const char *model, refs_error *err);

/** Creates the temporary file exclusively (no link); if it replaces a file, only its owner can read
 * it until it is moved. *file is for the caller to close. */
refs_status refs_staged_create(const refs_staged *staged, int *file, refs_error *err);

/** Whether only the owner may read the temporary file until it is moved. */
bool refs_staged_is_private(const refs_staged *staged);

/** Sets permissions and owner, and syncs to disk unless it is temporary. */
refs_status refs_staged_settle(const refs_staged *staged, refs_error *err);

/** REFS_CHANGED if its guard does not hold: another program wrote the result that is replaced. */
refs_status refs_staged_check_guard(const refs_staged *staged, refs_error *err);

/** Has the names of files in a folder on the disk, too. */
refs_status refs_staged_sync_folder(const char *path, refs_error *err);

/** Settles what was written, and replaces the old result with it, atomically if the system can. */
refs_status refs_staged_move(refs_staged *staged, refs_error *err);

/** The same, to a new name or an empty folder: REFS_IO if the name is taken. */
refs_status refs_staged_move_new(refs_staged *staged, refs_error *err);

/** Gives a settled file another name, which another file may have had, and syncs the folder. That
 * the folder cannot be synced is no failure: the file has its name. */
refs_status refs_staged_rename(const char *from, const char *to, refs_error *err);

/** Settles `n` results and moves them, in this order. All but the last need new names; if one of
 * these, or the last move, fails, those before are renamed back. */
refs_status refs_staged_commit(refs_staged *const *all, size_t n, refs_error *err);

/** Writes all of `bytes` to an open file, which messages call `path`. */
refs_status refs_staged_write_all(int file, const char *path, refs_bytes bytes, refs_error *err);

/** Replaces a file with these bytes; the old one stays until all of them are written. */
refs_status refs_staged_replace(const char *path, refs_bytes bytes, refs_error *err);

/** Removes what was written and not moved, and frees the members. */
void refs_staged_clear(refs_staged *staged);

/** Removes a file, or a folder with all that is in it; links are not followed. */
void refs_staged_remove(const char *path);

/** The same for something obsolete: if this process is killed meanwhile, the next one that writes
 * `path` removes the rest. */
void refs_staged_retire(const char *path);

/** Removes `name` in an open folder, if it belongs to this user. */
void refs_staged_remove_own(int folder, const char *name);

#ifdef __cplusplus
}
#endif
#endif
