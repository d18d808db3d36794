/* tool.h -- the program refs: what its verbs share. */
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

/** Prints help of a verb, or of all where it is NULL. */
void tool_help(const tool_verb *verb);
/** Prints the man page or a completion: "man", "bash", "zsh". */
tool_exit tool_print(const char *what);

/* -- session.c ----------------------------------------------------------------------------
 */

/** How files are read, and whether to go on. */
typedef struct tool_session {
    refs_cloud *cloud;
    refs_http *http;
    refs_watch *watch; /**< what is replaced while it is read is an error, not a mixture */
    refs_file_pool *file_pool;
    refs_http_vfs *http_vfs;
    const refs_vfs *vfs;
    refs_object_lister lister;
    refs_fetcher *fetcher;
    refs_changed changed; /**< what becomes of sources that are not as they were */
} tool_session;

/** The advice for users of the program. */
extern const refs_fetch_advice tool_advice;

/** --changed or, without it, refs_changed_default. */
refs_changed tool_changed(const tool_arguments *arguments);

/** Opens a session for a verb; without arguments, with what is their default. */
refs_status tool_session_open(const tool_arguments *arguments, tool_session *session,
                              refs_error *err);
void tool_session_close(tool_session *session);

/** Interrupted runs end where they next ask. */
void tool_watch_signals(void);
bool tool_go_on(void *user);

/** Whether a line can be printed. After a signal standard output is dropped, since a reader that is
 * behind would be waited for: a caller that has results to print all the same asks before each. */
bool tool_can_print(void);

/** REFS_CANCELLED once a signal has come. */
refs_status tool_check_interrupted(refs_error *err);

/** Says that a signal ended the run, and ends the program by that signal, so that shells and
 * make(1) end as well. Called last. Returns an exit status where a signal has no effect. */
tool_exit tool_interrupted(void);

/** Most bytes of standard input: a list of a million names of files. */
#define TOOL_INPUT_BYTES (256 * REFS_MIB)

/** Appends all of standard input; REFS_LIMIT where it is larger. */
refs_status tool_read_input(refs_buf *text, refs_error *err);

/** How the session opens sets: whether remote ones may name local files. */
refs_set_options tool_set_options(const tool_session *session);

/** Appends the name by which the session opens what a user calls `name`, with a NUL. */
refs_status tool_location(const char *name, refs_buf *location, refs_error *err);

/** Whether a name is that of a file with contents: its beginning is read, as a store that may not
 * be listed refuses an absent name as if it were there. */
bool tool_is_there(const tool_session *session, const char *name);

/** Works like refs_location_confine, for what `document` names, unless the session allows all; both
 * as users write them. The failure names both. */
refs_status tool_confine(const tool_session *session, const char *document, const char *name,
                         refs_error *err);

/** Appends a text with a NUL behind it, in which names are as users write them
 * (refs_url_append_shown). */
refs_status tool_append_shown(const char *text, refs_buf *shown);

/** The same without secrets (refs_redact_secrets): for whatever the core says. */
refs_status tool_append_redacted(const char *text, refs_buf *redacted);

/** Prints a line on standard error: "refs: ", what comes before, and a message as
 * tool_append_redacted has it; as JSON, {"code": …, "message": …}. All messages of the core come
 * this way. `code` is that of a status (refs_status_code), WARNING or SKIPPED. */
void tool_tell(const char *before, const char *code, const char *message);

/** Has the messages of this process be JSON, as what it prints. Called before there are threads. */
void tool_print_messages_as_json(void);
void tool_complain(const refs_error *err);
void tool_note(void *user, refs_note_kind kind, const char *text);

/** A set that is open with all that reads it. */
typedef struct tool_set {
    refs_set *set;
    refs_store *store;
    refs_hierarchy *hierarchy;
} tool_set;

/** Opens the references at a location, or those of the files that it stands for as one
 * (refs_combine_open_name), again where a writer replaces them meanwhile. */
refs_status tool_references_open(const tool_session *session, const char *location, refs_set **set,
                                 refs_error *err);

refs_status tool_set_open(const tool_session *session, const char *name, tool_set *set,
                          refs_error *err);
void tool_set_close(tool_set *set);

/** Whether a location is a chunk file of the set itself, which is an Icechunk repository. */
bool tool_is_own_file(const refs_set *set, refs_str location);

/** Work like refs_sources_read and refs_joined_read; failures name the set. */
refs_status tool_sources_read(const refs_set *set, const refs_source_visitor *visitor,
                              refs_error *err);
refs_status tool_joined_read(const refs_set *set, refs_buf *how, refs_error *err);

/** Prints a JSON string. */
void tool_print_json_text(refs_str text);

/** Prints what a set says of its history, a line each, or members of a JSON object that is open;
 * nothing of a set without one. */
refs_status tool_print_history(const refs_set *set, bool json, refs_error *err);

/* -- names.c --------------------------------------------------------------------------------------
 */

/** Names of sources: owned. */
typedef struct tool_names {
    char **items;
    size_t n, capacity;
    refs_intern known; /**< of the first known.count or more of them, for tool_names_find */
    size_t n_known;
} tool_names;

/** The sources that arguments name: files, URLs, what patterns match, what folders hold, also those
 * of object stores, and for "-" the lines of standard input. `skipped` gets why what a document of
 * STAC names cannot be had; if it is NULL, that is an error. */
refs_status tool_expand(const tool_session *session, const refs_name_list *arguments,
                        tool_names *names, tool_names *skipped, refs_error *err);
void tool_names_clear(tool_names *names);

/** Adds a copy of a name. */
refs_status tool_names_add(tool_names *names, refs_str name, refs_error *err);
/** Sets *number to the place of this one among names that are distinct, or to SIZE_MAX: they do not
 * have it. */
refs_status tool_names_find(tool_names *names, const char *name, size_t *number, refs_error *err);

/* -- output.c -------------------------------------------------------------------------------------
 */

/** Whether a local file is the master of aggregations. */
bool tool_is_master(const char *name);

/** REFS_INVALID where `output` is one of the sources, or a data file that is not a master. */
refs_status tool_check_output(const char *output, const tool_names *sources, refs_error *err);

/** The folder in which a local output will lie, absolute. */
refs_status tool_find_folder(const char *name, char absolute[PATH_MAX], refs_error *err);

/** The object that a new master replaces: a file, or also the folder of fragments that the name
 * has. */
typedef enum tool_replaced { TOOL_REPLACED_FILE, TOOL_REPLACED_WITH_FRAGMENTS } tool_replaced;

struct tool_arrays;
/** REFS_INVALID where the arrays of a source refer to what the local `output` replaces. */
refs_status tool_check_references(const char *output, tool_replaced replaced,
                                  const struct tool_arrays *arrays, refs_error *err);

/** Two that add to one set or master would both add to what was there before: the second is told,
 * and false. Nothing is locked in object stores, and where there are no locks: *file is -1, or to
 * be given back. */
bool tool_lock(const char *name, int *file);
void tool_unlock(int file);

/* -- sending.c ------------------------------------------------------------------------------------
 */

/** Whether a name is that of something in an object store, or on a server. */
bool tool_is_remote(const char *name);

/** Room for the name of a folder that is made for a while. */
#define TOOL_SCRATCH_BYTES 256

/** Makes one, for who called to remove. */
refs_status tool_make_scratch(char folder[TOOL_SCRATCH_BYTES], refs_error *err);

/** A file that is written where it is wanted, or, where that is an object store, in a folder of its
 * own until it is sent: there it appears whole. Zeroed is none. */
typedef struct tool_sending {
    const tool_session *session;
    char *location; /**< of the object; NULL: the file is local */
    char folder[TOOL_SCRATCH_BYTES];
    char *path; /**< that is written */
    refs_validator was;
    bool is_guarded; /**< it is sent in place of what has the validator `was` alone */
} tool_sending;

/** REFS_UNSUPPORTED where nothing can be written. To be closed also after a failure. */
refs_status tool_sending_open(const tool_session *session, const char *name, tool_sending *sending,
                              refs_error *err);
/** Notes what the object is before it is read: unless it still is that when the file is sent, it is
 * left as another program made it, and that is a failure. */
refs_status tool_sending_guard(tool_sending *sending, refs_error *err);
/** Makes the file what the object is. */
refs_status tool_sending_fetch(const tool_sending *sending, refs_error *err);
/** Sends what was written in folders beside the file, then the file. */
refs_status tool_sending_send(const tool_sending *sending, refs_error *err);
void tool_sending_close(tool_sending *sending);

/** An Icechunk repository in an object store, as those who change it see it. Zeroed is none. It
 * stays where it is while `store` is used. */
typedef struct tool_stored_repository {
    tool_sending sending;
    refs_write_store store;
} tool_stored_repository;

/** REFS_UNSUPPORTED where nothing can be written. To be closed also after a failure. */
refs_status tool_stored_repository_open(const tool_session *session, const char *name,
                                        tool_stored_repository *stored, refs_error *err);
void tool_stored_repository_close(tool_stored_repository *stored);

/* -- progress.c -----------------------------------------------------------------------------------
 */

/** Numbered items of a verb, which are worked on several at a time. A terminal shows how many are
 * done and the time left, unless --quiet is given. */
typedef struct tool_work {
    const tool_arguments *arguments;
    const char *items; /**< what they are called there: "sources" */
    size_t n;
    size_t n_before, n_all; /**< items of runs before this one, and of all; 0: these are all */
    unsigned n_threads;     /**< unless --threads is given */
    uint64_t n_max;         /**< items at a time, even if --threads is more; 0: any number */
    refs_status (*run)(void *user, size_t number, refs_error *err); /**< on any thread */
    void *user;
} tool_work;

/** Runs each item once; the first failure, or REFS_CANCELLED once a signal has come. */
refs_status tool_work_run(const tool_work *work, refs_error *err);

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

/** combine --format cfa: a master of files that are its fragments; append: of those of a master,
 * and of others. */
tool_exit tool_aggregate(const tool_arguments *arguments, struct tool_target *target);

/** info --partition: where fragments of a master are. */
tool_exit tool_partitions(const tool_arguments *arguments);

/** Whether options name an array, or none. */
bool tool_selects(const tool_arguments *arguments, const refs_array_meta *array);

/** Reads the index of a partition, "0,1,2"; false for what is none. */
bool tool_read_index(const char *text, uint64_t *index, size_t *rank);

/** REFS_NOT_FOUND where a master does not have the variable or partition of the arguments. */
refs_status tool_check_partition(const tool_session *session, const tool_arguments *arguments,
                                 refs_error *err);

/** Appends the key that a user means: a key, or "t2m[3,0,7]", the chunk of that element. Here and
 * below, `wanted` begins with no slash. */
refs_status tool_resolve(const tool_set *set, const char *wanted, refs_buf *key, refs_error *err);

/** Whether it is the element of an aggregation, as the set stores it or described as such. */
bool tool_is_in_fragment(const tool_set *set, const char *wanted);

/** The partition that has the element of an aggregation, once aggregations are open; without a
 * fragment if nothing has it. */
refs_status tool_find_fragment(const tool_set *set, const char *wanted,
                               struct refs_partition *partition, refs_error *err);

/** Fails because `wanted`, which may be empty, is no key: says what is one. */
refs_status tool_fail_key(const tool_set *set, refs_str wanted, refs_error *err);

#endif
