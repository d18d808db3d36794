/* references.c -- opens the references that a name stands for; see session.h. */
#include "refs/scan.h"
#include "refs/watch.h"
#include "session_internal.h"

/* Most retries if a set is replaced while it is opened. */
#define MAX_REPLACED 5

static refs_status list_objects(void *lister, const char *location, refs_buf *locations,
                                refs_error *err) {
    return refs_objects_list(lister, location, locations, err);
}

refs_names_host refs_names_host_of(const refs_object_lister *lister, const refs_notes *notes) {
    refs_names_host host = refs_names_posix();
    host.user = (void *)(uintptr_t)lister;
    host.vfs = lister->vfs;
    host.notes = *notes;
    host.list_objects = list_objects;
    return host;
}

static refs_status open_with(const refs_references *from, const char *location,
                             refs_scan_shared *scans, refs_set **set, refs_error *err) {
    refs_object_lister lister = from->lister;
    refs_set_options sets = REFS_SET_OPTIONS_INIT;
    const refs_names_host host = refs_names_host_of(&lister, &from->notes);
    refs_combine_options options = REFS_COMBINE_OPTIONS_INIT;
    options.vfs = from->lister.vfs;
    options.http = from->http;
    options.advice = from->advice;
    options.go_on = from->lister.cancel.go_on;
    options.user = from->lister.cancel.user;
    options.notes = from->notes;
    options.unlike = REFS_COMBINE_FRAGMENTS_NO_NOTE;
    options.dims = from->along;
    options.pattern = from->pattern;
    if (from->sets != NULL) sets = *from->sets;
    sets.shared = lister.scans = scans;
    const refs_combine_files files = {.location = location,
                                      .vfs = from->lister.vfs,
                                      .sets = &sets,
                                      .options = &options,
                                      .along = from->how_along};
    return refs_combine_open_name(&host, &files, set, err);
}

static refs_status open_once(const refs_references *from, const char *location, refs_set **set,
                             refs_error *err) {
    refs_scan_shared *scans = NULL;
    refs_status status = refs_scan_shared_open(&scans, err);
    if (status == REFS_OK) status = open_with(from, location, scans, set, err);
    refs_scan_shared_free(scans);
    return status;
}

refs_status refs_references_open(const refs_references *from, const char *location, refs_set **set,
                                 refs_error *err) {
    refs_status status = open_once(from, location, set, err);
    for (int i = 0; i < MAX_REPLACED && refs_status_is_unreadable(status); i++) {
        if (refs_watch_is_current(from->watch)) break;
        refs_watch_forget(from->watch, location);
        refs_error_clear(err);
        status = open_once(from, location, set, err);
    }
    return status;
}
