/* session.c -- what files are opened and read with, see ncrefs.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ncrefs.h"
#include "refs/aggregation.h"
#include "refs/fetch.h"
#include "refs/file_pool.h"
#include "refs/fork.h"
#include "refs/host.h"
#include "refs/http.h"
#include "refs/pool.h"
#include "refs/redact.h"
#include "refs/refset.h"
#include "refs/store.h"

/* Decoded chunks of one file that are kept, where REFS_CACHE_MAX does not say how many. */
#define CACHE_BYTES (256 * REFS_MIB)

#define MAX_THREADS      16
#define PREFETCH_THREADS 4
#define MAX_REWRITES     64

struct ncrefs_session {
    refs_host *host;
    refs_http *http;
    refs_file_pool *file_pool;
    refs_http_vfs *http_vfs;
    refs_pool *pool, *prefetch_pool;
};

/* -- messages ---------------------------------------------------------------------------------- */

/* What NCREFS_VERBOSE says, or `otherwise` where it is not set. */
static bool is_verbose(bool otherwise) {
    const char *value = getenv("NCREFS_VERBOSE");
    if (value == NULL || *value == '\0') return otherwise;
    return strcasecmp(value, "NO") != 0 && strcmp(value, "0") != 0;
}

/* Prints a line without the secrets of its URLs. */
static void print_redacted(const char *text) {
    char *shown = refs_str_copy(refs_str_from(text));
    if (shown == NULL) return;
    refs_redact_secrets(shown);
    fprintf(stderr, "ncrefs: %s\n", shown);
    refs_free(shown);
}

void ncrefs_tell(const char *about, const refs_error *err) {
    refs_buf line = REFS_BUF_INIT;
    const char *what = err->message[0] != '\0' ? err->message : refs_status_text(err->status);
    if (!is_verbose(isatty(STDERR_FILENO))) return;
    if (refs_buf_printf(&line, NULL, "%s: ", about) == REFS_OK &&
        refs_buf_append(&line, what, strlen(what) + 1, NULL) == REFS_OK)
        print_redacted((const char *)line.data);
    refs_buf_clear(&line);
}

static void tell_note(void *user, refs_note_kind kind, const char *text) {
    (void)user;
    if (kind == REFS_NOTE_WARNING && is_verbose(false)) print_redacted(text);
}

static refs_notes notes(void) {
    return (refs_notes){tell_note, NULL};
}

/* -- the session ------------------------------------------------------------------------------- */

/* It lives as long as the process: connections and keys are those of all files, and programs open
 * one file again and again. */
static ncrefs_session *of_process;
static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned n_threads(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static refs_status open_session(ncrefs_session *session, refs_error *err) {
    refs_host_options options = REFS_HOST_OPTIONS_INIT;
    options.notes = notes();
    REFS_TRY(refs_host_open(&options, &session->host, err));
    const refs_http_options requests = refs_host_http_options(session->host);
    REFS_TRY(refs_http_open(refs_host_functions(session->host), &requests, &session->http, err));
    REFS_TRY(refs_file_pool_open(refs_vfs_posix(), 0, &session->file_pool, err));
    REFS_TRY(refs_http_vfs_open(session->http, refs_file_pool_functions(session->file_pool),
                                REFS_HTTP_MAX_WHOLE_BYTES, &session->http_vfs, err));
    REFS_TRY(refs_pool_open(n_threads(), &session->pool, err));
    return refs_pool_open(PREFETCH_THREADS, &session->prefetch_pool, err);
}

static void close_session(ncrefs_session *session) {
    refs_pool_free(session->prefetch_pool);
    refs_pool_free(session->pool);
    refs_http_vfs_free(session->http_vfs);
    refs_file_pool_free(session->file_pool);
    refs_http_free(session->http);
    refs_host_free(session->host);
    refs_free(session);
}

refs_status ncrefs_session_get(ncrefs_session **session, refs_error *err) {
    refs_status status = REFS_OK;
    refs_lock(&session_lock);
    if (of_process == NULL) {
        ncrefs_session *made = refs_calloc(1, sizeof *made);
        status = made != NULL ? open_session(made, err) : refs_fail_nomem(err);
        if (status == REFS_OK)
            of_process = made;
        else if (made != NULL)
            close_session(made);
    }
    *session = of_process;
    refs_unlock(&session_lock);
    return status;
}

const refs_vfs *ncrefs_session_vfs(const ncrefs_session *session) {
    return refs_http_vfs_functions(session->http_vfs);
}

/* -- files ------------------------------------------------------------------------------------- */

/* What a file is read with. Opened from first to last, freed from last to first. */
typedef struct ncrefs_source {
    ncrefs_session *session;
    refs_set *set;
    refs_fetcher *fetcher;
    refs_store *store;
    refs_hierarchy *hierarchy;
    refs_aggregations *aggregations;
    refs_cache *cache;
    refs_locations *locations;
    refs_fragments *fragments;
    char
        *rewrites_text; /* what follows points into it; fragments are opened later, by these, too */
    const char *rewrites[MAX_REWRITES + 1];
} ncrefs_source;

static void free_source(ncrefs_source *source) {
    refs_fragments_free(source->fragments);
    refs_hierarchy_free(source->hierarchy);
    refs_aggregations_free(source->aggregations);
    refs_cache_free(source->cache);
    refs_store_free(source->store);
    refs_locations_free(source->locations);
    refs_fetcher_free(source->fetcher);
    refs_set_free(source->set);
    refs_free(source->rewrites_text);
    refs_free(source);
}

static size_t cache_bytes(void) {
    const char *megabytes = getenv("REFS_CACHE_MAX");
    uint64_t n = 0;
    if (megabytes == NULL || !refs_str_to_u64(refs_str_from(megabytes), &n) || n > 1024 * 1024)
        return CACHE_BYTES;
    return (size_t)n * REFS_MIB;
}

static refs_array_context arrays_of(const ncrefs_source *source) {
    return (refs_array_context){.store = source->store,
                                .cache = source->cache,
                                .pool = source->session->pool,
                                .prefetch_pool = source->session->prefetch_pool};
}

/* NCREFS_MISSING: what values of fragments are whose files are not there. */
static refs_missing missing_fragments(void) {
    const char *value = getenv("NCREFS_MISSING");
    if (value != NULL && strcasecmp(value, "FILL") == 0) return REFS_MISSING_FILL;
    if (value != NULL && strcasecmp(value, "WARN") == 0) return REFS_MISSING_WARN;
    if (value != NULL && strcasecmp(value, "ERROR") == 0) return REFS_MISSING_ERROR;
    return REFS_MISSING_BY_ENCODING;
}

static refs_status open_fragments(ncrefs_source *source, const refs_set_options *sets,
                                  refs_error *err) {
    uint32_t own = 0;
    const char *location = refs_set_location(source->set);
    REFS_TRY(refs_locations_open(&source->locations, err));
    REFS_TRY(refs_locations_number(source->locations, location, &own, err));
    refs_store_share(source->store, source->locations, NULL);
    const refs_fragments_options options = {.struct_size = sizeof options,
                                            .hierarchy = source->hierarchy,
                                            .location = location,
                                            .vfs = ncrefs_session_vfs(source->session),
                                            .fetcher = source->fetcher,
                                            .locations = source->locations,
                                            .arrays = arrays_of(source),
                                            .sets = sets,
                                            .missing = missing_fragments(),
                                            .advice = "where files moved, NCREFS_URL_REWRITE="
                                                      "old=>new changes how such names begin; "
                                                      "NCREFS_MISSING=FILL reads missing files as "
                                                      "fill values",
                                            .notes = notes()};
    return refs_fragments_open(&options, &source->fragments, err);
}

static refs_status count_set(void *user, const refs_set_summary *summary, refs_error *err) {
    (void)user;
    (void)summary;
    (void)err;
    return REFS_OK;
}

/* Opens a set; of a list of sets the one that was chosen, or the only one. */
static refs_status open_set(const refs_vfs *vfs, const char *location, const refs_set_options *sets,
                            refs_set **set, refs_error *err) {
    const refs_set_visitor visitor = {count_set, NULL};
    refs_set_options of_one = *sets;
    refs_error problem = REFS_ERROR_INIT;
    size_t n = 0;
    refs_status status = refs_set_open(vfs, location, sets, set, &problem);
    if (status == REFS_UNSUPPORTED && sets->set_index < 0 &&
        refs_set_each_of_list(vfs, location, &visitor, &n, NULL) == REFS_OK && n == 1) {
        of_one.set_index = 0;
        return refs_set_open(vfs, location, &of_one, set, err);
    }
    if (status == REFS_UNSUPPORTED && n > 1) refs_error_prefix(&problem, "name#set=N");
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status open_source(const char *location, const refs_set_options *sets,
                               ncrefs_source *source, refs_error *err) {
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    const refs_notes said = notes();
    refs_set_options allowed = *sets;
    REFS_TRY(ncrefs_session_get(&source->session, err));
    allowed.remote_to_local = refs_host_allows_remote_to_local(source->session->host);
    const refs_vfs *vfs = ncrefs_session_vfs(source->session);
    options.http = source->session->http;
    options.advice.moved = "NCREFS_URL_REWRITE=old=>new";
    REFS_TRY(open_set(vfs, location, &allowed, &source->set, err));
    REFS_TRY(refs_fetcher_open(vfs, &options, &source->fetcher, err));
    REFS_TRY(refs_store_open(source->set, source->fetcher, &source->store, err));
    REFS_TRY(refs_cache_open(cache_bytes(), &source->cache, err));
    REFS_TRY(refs_hierarchy_open(source->store, &said, &source->hierarchy, err));
    REFS_TRY(refs_aggregations_open(source->hierarchy, &said, &source->aggregations, err));
    return source->aggregations != NULL ? open_fragments(source, &allowed, err) : REFS_OK;
}

/* Takes "#set=N" off a name: the set of a list, or -1. */
static int64_t take_index(refs_str *name) {
    static const char mark[] = "#set=";
    uint64_t index = 0;
    size_t at = refs_str_find_last(*name, '#');
    if (at == SIZE_MAX) return -1;
    refs_str fragment = refs_str_part(*name, at, name->size);
    if (!refs_str_starts(fragment, mark) || fragment.size > sizeof mark + 17 ||
        !refs_str_to_u64(refs_str_part(fragment, sizeof mark - 1, fragment.size), &index))
        return -1;
    name->size = at;
    return (int64_t)index;
}

/* The name that the host opens. */
static refs_status locate(refs_str name, refs_buf *location, refs_error *err) {
    const refs_url_context context = {.base = ""};
    char *text = refs_str_copy(name);
    if (text == NULL) return refs_fail_nomem(err);
    bool is_url = strstr(text, "://") != NULL;
    refs_free(text);
    if (is_url)
        REFS_TRY(refs_url_map(name, &context, location, err));
    else
        REFS_TRY(refs_buf_append_str(location, name, err));
    return refs_buf_append(location, "", 1, err);
}

/* NCREFS_URL_REWRITE: "old=>new", several with ";" between them. */
static refs_status read_rewrites(ncrefs_source *source, refs_error *err) {
    const char *said = getenv("NCREFS_URL_REWRITE");
    size_t n = 0;
    if (said == NULL) return REFS_OK;
    char *text = source->rewrites_text = refs_str_copy(refs_str_from(said));
    if (text == NULL) return refs_fail_nomem(err);
    for (char *end = text; text != NULL && n < MAX_REWRITES; text = end != NULL ? end + 1 : NULL) {
        end = strchr(text, ';');
        if (end != NULL) *end = '\0';
        if (*text != '\0') source->rewrites[n++] = text;
    }
    return REFS_OK;
}

static refs_status open_model(ncrefs_file *file, int64_t index, refs_error *err) {
    const refs_notes told = notes();
    refs_set_options sets = REFS_SET_OPTIONS_INIT;
    file->source = refs_calloc(1, sizeof *file->source);
    if (file->source == NULL) return refs_fail_nomem(err);
    REFS_TRY(read_rewrites(file->source, err));
    sets.rewrites = file->source->rewrites;
    sets.notes = told;
    sets.set_index = index;
    REFS_TRY(open_source(file->location, &sets, file->source, err));
    return ncrefs_model_make(file->source->hierarchy, &told, &file->model, err);
}

refs_status ncrefs_file_open(const char *name, ncrefs_file **file, refs_error *err) {
    refs_buf location = REFS_BUF_INIT;
    ncrefs_file *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->name = refs_str_copy(refs_str_from(name));
    refs_str plain = refs_str_from(name);
    const int64_t index = take_index(&plain);
    refs_status status = made->name != NULL ? locate(plain, &location, err) : refs_fail_nomem(err);
    if (status == REFS_OK && (made->location = refs_buf_take_text(&location)) == NULL)
        status = refs_fail_nomem(err);
    if (status == REFS_OK) status = open_model(made, index, err);
    refs_buf_clear(&location);
    if (status == REFS_OK)
        *file = made;
    else
        ncrefs_file_free(made);
    return status;
}

void ncrefs_file_free(ncrefs_file *file) {
    if (file == NULL) return;
    ncrefs_model_clear(&file->model);
    if (file->source != NULL) free_source(file->source);
    refs_free(file->location);
    refs_free(file->name);
    refs_free(file);
}

refs_status ncrefs_file_array(const ncrefs_file *file, ncrefs_variable *variable, refs_error *err) {
    const refs_array_context context = arrays_of(file->source);
    if (variable->array == NULL && variable->meta->aggregation != NULL)
        REFS_TRY(refs_fragments_open_array(file->source->fragments, variable->meta,
                                           &variable->array, err));
    if (variable->array == NULL)
        REFS_TRY(refs_array_open(&context, variable->meta, &variable->array, err));
    return variable->reader == NULL ? refs_reader_open(variable->array, &variable->reader, err)
                                    : REFS_OK;
}
