/* without.c -- a build without jansson: no file is a set. See refs/scan.h. */
#include "scan.h"

/* No scan exists that functions could be called with. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

const char *refs_scan_sniff(refs_bytes head) {
    return NULL;
}

bool refs_scan_is_tar(refs_bytes head) {
    (void)head;
    return false;
}

refs_status refs_scan_open(const refs_vfs *vfs, const char *location,
                           const refs_scan_options *options, refs_scan **scan, refs_error *err) {
    *scan = NULL;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "this build cannot read data files: it lacks libjansson");
}

void refs_scan_free(refs_scan *scan) {}

refs_status refs_scan_each_document(const refs_scan *scan,
                                    refs_status (*visit)(void *user, refs_str key,
                                                         refs_bytes document, refs_error *err),
                                    void *user, refs_error *err) {
    return REFS_OK;
}

refs_status refs_scan_each_problem(const refs_scan *scan,
                                   refs_status (*visit)(void *user, refs_str key,
                                                        const refs_error *why, refs_error *err),
                                   void *user, refs_error *err) {
    return REFS_OK;
}

refs_status refs_scan_find(refs_scan *scan, const refs_scan_key *key, refs_scan_chunk *chunk,
                           refs_error *err) {
    return REFS_NOT_FOUND;
}

refs_status refs_scan_next(refs_scan *scan, const refs_scan_key *key, uint64_t *number,
                           uint64_t *index, refs_error *err) {
    return REFS_NOT_FOUND;
}

const char *refs_scan_location(const refs_scan *scan, uint32_t id) {
    return NULL;
}

uint32_t refs_scan_n_locations(const refs_scan *scan) {
    return 0;
}

bool refs_scan_seen(const refs_scan *scan, uint32_t id, refs_vfs_validators *seen) {
    return false;
}

void refs_scan_stats_of(refs_scan *scan, refs_scan_stats *stats) {
    *stats = (refs_scan_stats){0};
}

refs_status refs_scan_shared_open(refs_scan_shared **shared, refs_error *err) {
    *shared = NULL;
    return REFS_OK;
}

void refs_scan_shared_free(refs_scan_shared *shared) {}

void refs_scan_shared_note(refs_scan_shared *shared, refs_str location, uint64_t size,
                           int64_t modified_s) {}
