/* tool.h -- functions and types that the verbs of the program refs share. */
#ifndef REFS_CLI_TOOL_H
#define REFS_CLI_TOOL_H

#include <limits.h>

#include "refs/cloud.h"
#include "refs/combine.h"
#include "refs/fetch.h"
#include "refs/file_pool.h"
#include "refs/http.h"
#include "refs/intern.h"
#include "refs/session.h"
#include "refs/store.h"
#include "refs/watch.h"
#include "refs/write.h"
#include "refs/zarr.h"
#include "verbs.h"

/* -- arguments.c, help.c ------------------------------------------------------------------------
 */

/** Prints the help of a verb, or of the program where `verb` is NULL. */
void tool_help(const tool_verb *verb);
/** Prints the man page ("man") or the completion of a shell ("bash", "zsh"). */
tool_exit tool_print(const char *what);

/* -- session.c ----------------------------------------------------------------------------
 */

/** The objects that a verb reads files with, from its start to its end. */
typedef struct tool_session {
    refs_cloud *cloud;
    refs_http *http;
    refs_watch *watch; /**< a file that is replaced while it is read is an error */
    refs_file_pool *file_pool;
    refs_http_vfs *http_vfs;
    const refs_vfs *vfs;
    refs_object_lister lister;
    refs_fetcher *fetcher;
    refs_changed changed; /**< what to do about a source that has changed */
} tool_session;

/** The advice for users of the program. */
extern const refs_fetch_advice tool_advice;

/** --changed or, without it, refs_changed_default. */
refs_changed tool_changed(const tool_arguments *arguments);

/** Opens a session for a verb; `arguments` may be NULL: all defaults. */
refs_status tool_session_open(const tool_arguments *arguments, tool_session *session,
                              refs_error *err);
void tool_session_close(tool_session *session);

/** From now on, SIGINT and SIGTERM do not end the program at once: it ends after tool_go_on or
 * tool_check_interrupted has said so. */
void tool_watch_signals(void);
/** Whether no signal has come. */
bool tool_go_on(void *user);

/** Whether a line can be printed. After a signal, standard output is dropped, because a slow reader
 * would keep the program from ending. A caller that still prints results after a signal asks before
 * each line. */
bool tool_can_print(void);

/** REFS_CANCELLED once a signal has come. */
refs_status tool_check_interrupted(refs_error *err);

/** Prints that a signal ended the run, and sends that signal to the program itself, so that shells
 * and make(1) end as well. Called last. Returns an exit status if the signal has no effect. */
tool_exit tool_interrupted(void);

/** The most bytes that are read from standard input: enough for a million file names. */
#define TOOL_INPUT_BYTES (256 * REFS_MIB)

/** Reads all of standard input; REFS_LIMIT if it is larger. Keeps it, because a verb that starts
 * again reads it again. */
refs_status tool_read_input(refs_str *text, refs_error *err);

/** The options with which the session opens sets, such as whether remote ones may name local
 * files. */
refs_set_options tool_set_options(const tool_session *session);

/** Appends the location that the session opens for a name that a user gave, with a NUL. */
refs_status tool_location(const char *name, refs_buf *location, refs_error *err);

/** Whether there is a file of this name, and it is not empty. Its beginning is read: an object
 * store that may not be listed answers "forbidden" for an absent name too. */
bool tool_is_there(const tool_session *session, const char *name);

/** Appends a text and a NUL, with names as users write them (refs_url_append_shown). */
refs_status tool_append_shown(const char *text, refs_buf *shown);

/** Works like tool_append_shown, and removes secrets (refs_redact_secrets): for messages of the
 * core. */
refs_status tool_append_redacted(const char *text, refs_buf *redacted);

/** Prints a line on standard error: "refs: ", `before`, and the message without secrets
 * (tool_append_redacted); or, as JSON, {"code": …, "message": …}. All messages of the core are
 * printed here. `code` is WARNING, SKIPPED, or that of a status (refs_status_code). */
void tool_tell(const char *before, const char *code, const char *message);

/** Makes all later messages of this process JSON. Called before other threads start. */
void tool_print_messages_as_json(void);
/** Prints an error message. */
void tool_complain(const refs_error *err);
/** Prints a note of the core; for refs_notes. */
void tool_note(void *user, refs_note_kind kind, const char *text);

/** An open set, and the objects that read it. */
typedef struct tool_set {
    refs_set *set;
    refs_store *store;
    refs_hierarchy *hierarchy;
} tool_set;

/** Opens the references at a location, or those of the files that it names as one data set
 * (refs_combine_open_name). Opens them again if a writer replaces them meanwhile. */
refs_status tool_references_open(const tool_session *session, const char *location, refs_set **set,
                                 refs_error *err);

/** The state of a local source before it is opened. *state stays if it is known only afterwards. */
void tool_look_at_state(const tool_session *session, const char *location,
                        refs_vfs_validators *state);

/** Completes it after the set was opened: with size REFS_SOURCE_UNKNOWN, as on a server, and if
 * `location` is a document that names the set. */
void tool_ask_state(const tool_session *session, const char *location, const refs_set *set,
                    refs_vfs_validators *state);

refs_status tool_set_open(const tool_session *session, const char *name, tool_set *set,
                          refs_error *err);
void tool_set_close(tool_set *set);

/** Whether a location is a chunk file of the set itself, which is an Icechunk repository. */
bool tool_is_own_file(const refs_set *set, refs_str location);

/** Work like refs_sources_read and refs_joined_read; the error messages name the set. */
refs_status tool_sources_read(const refs_set *set, const refs_source_visitor *visitor,
                              refs_error *err);
refs_status tool_joined_read(const refs_set *set, refs_buf *how, refs_error *err);

/** Prints a JSON string. */
void tool_print_json_text(refs_str text);

/** Prints the history that a set records: one line per entry or, as JSON, members of the object
 * that is open. Prints nothing for a set without history. */
refs_status tool_print_history(const refs_set *set, bool json, refs_error *err);

/* -- names.c --------------------------------------------------------------------------------------
 */

/** Names of sources, which it owns. */
typedef struct tool_names {
    char **items;
    size_t n, capacity;
    size_t n_found; /**< how many of them tool_expand found by a folder or pattern */
} tool_names;

/** Lists the sources that arguments name: files, URLs, matches of patterns, files in folders (also
 * folders of object stores) and, for "-", the lines of standard input. `skipped` gets a message for
 * each asset of a STAC document that cannot be used; if it is NULL, such an asset is an error. */
refs_status tool_expand(const tool_session *session, const refs_name_list *arguments,
                        tool_names *names, tool_names *skipped, refs_error *err);
void tool_names_clear(tool_names *names);

/** Adds a copy of a name. */
refs_status tool_names_add(tool_names *names, refs_str name, refs_error *err);

/** Prints the name of a source, and that of the master that it is a file of. */
refs_status tool_show_source(const refs_combine_masters *masters, const char *name, refs_buf *shown,
                             refs_error *err);

/* -- output.c -------------------------------------------------------------------------------------
 */

/** Whether a local file is the master of aggregations. */
bool tool_is_master(const char *name);

/** REFS_INVALID if `output` is one of the sources, or is a data file but not a master. */
refs_status tool_check_output(const char *output, const tool_names *sources, refs_error *err);

/** Drops the local output from the names after the first `n_own`, unless the user named it in
 * `given`. REFS_INVALID if the user named it and it is a data file or master: it would be written
 * while it is read. */
refs_status tool_leave_out_output(const char *output, const refs_name_list *given, size_t n_own,
                                  tool_names *names, refs_error *err);

/** The absolute path of the folder in which a local output will be. */
refs_status tool_find_folder(const char *name, char absolute[PATH_MAX], refs_error *err);

/** A new master replaces a file, or the file and its folder of fragments. */
typedef enum tool_replaced { TOOL_REPLACED_FILE, TOOL_REPLACED_WITH_FRAGMENTS } tool_replaced;

struct tool_arrays;
/** REFS_INVALID if the arrays of a source refer to files that the local `output` replaces. */
refs_status tool_check_references(const char *output, tool_replaced replaced,
                                  const struct tool_arrays *arrays, refs_error *err);

/** Locks a set or master while this run appends to it: two runs at a time would lose what one of
 * them adds. If another run has the lock, prints that and returns false. *file is for tool_unlock.
 * In object stores, and in file systems without locks, nothing is locked, and *file is -1. */
bool tool_lock(const char *name, int *file);
void tool_unlock(int file);

/* -- sending.c ------------------------------------------------------------------------------------
 */

/** Whether a name is that of an object in an object store or of a URL. */
bool tool_is_remote(const char *name);

/** Size of a buffer for the name of a temporary folder. */
#define TOOL_SCRATCH_BYTES 256

/** Makes a temporary folder. The caller removes it. */
refs_status tool_make_scratch(char folder[TOOL_SCRATCH_BYTES], refs_error *err);

/** A file to write. A local one is written in its place. One for an object store is written in a
 * temporary folder and then sent, so that readers see it only when it is complete. All zeros: no
 * file. */
typedef struct tool_sending {
    const tool_session *session;
    char *location; /**< of the object; NULL: the file is local */
    char folder[TOOL_SCRATCH_BYTES];
    char *path; /**< of the local file that is written */
    refs_validator was;
    bool is_guarded; /**< it replaces the object only if that still has the validator `was` */
} tool_sending;

/** REFS_UNSUPPORTED if nothing can be written at this name. Close it also after a failure. */
refs_status tool_sending_open(const tool_session *session, const char *name, tool_sending *sending,
                              refs_error *err);
/** Stores the object's validator. Called before the object is read. If another program has changed
 * the object when the file is sent, it is not replaced, and tool_sending_send fails. */
refs_status tool_sending_guard(tool_sending *sending, refs_error *err);
/** Copies the object to the local file. */
refs_status tool_sending_fetch(const tool_sending *sending, refs_error *err);
/** Sends the folders that were written next to the file, then the file. */
refs_status tool_sending_send(const tool_sending *sending, refs_error *err);
void tool_sending_close(tool_sending *sending);

/** An Icechunk repository in an object store, for verbs that change it. All zeros: none. `store`
 * has a pointer to this struct, which must not move while it is used. */
typedef struct tool_stored_repository {
    tool_sending sending;
    refs_write_store store;
} tool_stored_repository;

/** REFS_UNSUPPORTED if nothing can be written at this name. Close it also after a failure. */
refs_status tool_stored_repository_open(const tool_session *session, const char *name,
                                        tool_stored_repository *stored, refs_error *err);
void tool_stored_repository_close(tool_stored_repository *stored);

/* -- progress.c -----------------------------------------------------------------------------------
 */

/** Numbered items on which a verb works, several at a time. A terminal shows how many are done and
 * the time left, unless --quiet is given. */
typedef struct tool_work {
    const tool_arguments *arguments;
    const char *items; /**< what the terminal calls them: "sources" */
    size_t n;
    size_t n_before,
        n_all;          /**< items that earlier runs did, and of all runs; n_all 0: only this run */
    unsigned n_threads; /**< if --threads is not given */
    uint64_t n_max;     /**< items at a time, even if --threads is more; 0: any number */
    refs_status (*run)(void *user, size_t number, refs_error *err); /**< on any thread */
    void *user;
} tool_work;

/** Runs each item once. Returns the first failure, or REFS_CANCELLED if a signal has come. */
refs_status tool_work_run(const tool_work *work, refs_error *err);

/* -- build.c --------------------------------------------------------------------------------------
 */

/** The rows of a record file of a local Parquet set; 0: it is none. */
uint64_t tool_record_size(const char *set);

/* -- verbs ----------------------------------------------------------------------------------------
 */

tool_exit tool_index(const tool_arguments *arguments);
tool_exit tool_split(const tool_arguments *arguments);
tool_exit tool_move(const tool_arguments *arguments);
tool_exit tool_combine(const tool_arguments *arguments);
tool_exit tool_append_verb(const tool_arguments *arguments);
tool_exit tool_convert(const tool_arguments *arguments);
tool_exit tool_ls(const tool_arguments *arguments);
tool_exit tool_info(const tool_arguments *arguments);
tool_exit tool_cat(const tool_arguments *arguments);
tool_exit tool_check(const tool_arguments *arguments);
tool_exit tool_diff(const tool_arguments *arguments);
tool_exit tool_history(const tool_arguments *arguments);
tool_exit tool_tag(const tool_arguments *arguments);
tool_exit tool_gc(const tool_arguments *arguments);

struct refs_cfa_source;
struct refs_cfa_write_options;

struct tool_target;

/** combine --format cfa: writes a master whose fragments are the sources. append: writes it again
 * with further fragments. */
tool_exit tool_aggregate(const tool_arguments *arguments, struct tool_target *target);

/** info --partition: prints where the fragments of a master are. */
tool_exit tool_partitions(const tool_arguments *arguments);

/** Whether the options name this array, or no array at all. */
bool tool_selects(const tool_arguments *arguments, const refs_array_meta *array);

/** Reads the index of a partition, such as "0,1,2"; false if the text is not one. */
bool tool_read_index(const char *text, uint64_t *index, size_t *rank);

/** REFS_NOT_FOUND if a master does not have the variable or partition of the arguments. */
refs_status tool_check_partition(const tool_session *session, const tool_arguments *arguments,
                                 refs_error *err);

/** Appends the key that a user's `wanted` names: either itself a key or, such as "t2m[3,0,7]", an
 * element, whose chunk is meant. Here and below, `wanted` does not begin with a slash. */
refs_status tool_resolve(const tool_set *set, const char *wanted, refs_buf *key, refs_error *err);

/** Whether `wanted` is an element of an aggregation, which the set stores or describes. */
bool tool_is_in_fragment(const tool_set *set, const char *wanted);

/** The array of the set that is the fragment of a partition; NULL: it is in another file. */
const refs_array_meta *tool_own_fragment(const tool_set *set, const refs_partition *partition);

/** Finds the partition with an element of an aggregation, whose aggregations are open. The
 * partition has no fragment if no file has the element. */
refs_status tool_find_fragment(const tool_set *set, const char *wanted,
                               struct refs_partition *partition, refs_error *err);

/** Fails because `wanted`, which may be empty, is not a key. The message says what keys are. */
refs_status tool_fail_key(const tool_set *set, refs_str wanted, refs_error *err);

#endif
