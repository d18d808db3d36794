/* expected.c -- see expected.h. */
#include "expected.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "refs/civil.h"
#include "refs/validators.h"

/* Replaces the Z at the end by microseconds. */
static void format_fraction(uint32_t ns, char text[32]) {
    const size_t size = strlen(text);
    if (size > 0 && text[size - 1] == 'Z')
        snprintf(text + size - 1, 32 - size + 1, ".%06uZ", (unsigned)ns / 1000);
}

static refs_vfs_validators validators_of(const refs_expected *expected) {
    refs_vfs_validators was = {.modified_s = expected->modified_s,
                               .modified_ns = expected->modified_ns,
                               .size = expected->size};
    if (expected->etag != NULL) refs_validators_set_etag(&was, refs_str_from(expected->etag));
    return was;
}

static void describe_times(const refs_vfs_validators *was, const refs_vfs_validators *known,
                           char *text, size_t size) {
    char now[32], then[32];
    refs_print_utc(known->modified_s, now);
    refs_print_utc(was->modified_s, then);
    if (was->modified_s == known->modified_s) format_fraction(known->modified_ns, now);
    if (was->modified_s == known->modified_s) format_fraction(was->modified_ns, then);
    snprintf(text, size, "it was modified at %s, before at %s", now, then);
}

static void describe_later(const refs_expected *expected, const refs_vfs_validators *known,
                           char *text, size_t size) {
    char now[32], latest[32];
    refs_print_utc(known->modified_s, now);
    refs_print_utc(expected->not_after_s, latest);
    snprintf(text, size, "it was modified at %s, after %s", now, latest);
}

bool refs_expected_differs(const refs_expected *expected, const refs_vfs_validators *known,
                           char *text, size_t size) {
    const refs_vfs_validators was = validators_of(expected);
    refs_vfs_validators current = *known;
    current.modified_s = refs_validators_date_s(known); /* a recent date counts, too */
    const char *what = refs_validators_difference(&was, &current);
    const refs_str now = refs_etag_opaque(current.etag), then = refs_etag_opaque(was.etag);
    const bool have_etags = was.etag[0] != '\0' && current.etag[0] != '\0';
    if (strcmp(what, "size") == 0)
        snprintf(text, size, "it has %" PRIu64 " bytes, and had %" PRIu64, current.size, was.size);
    else if (strcmp(what, "ETag") == 0)
        snprintf(text, size, "its ETag is \"%.*s\", and was \"%.*s\"", REFS_STR_ARG(now),
                 REFS_STR_ARG(then));
    else if (!have_etags && expected->not_after_s != 0 &&
             current.modified_s > expected->not_after_s)
        describe_later(expected, &current, text, size);
    else if (*what != '\0')
        describe_times(&was, &current, text, size);
    else
        return false;
    return true;
}

/* Whether only the modification time differs. */
static bool differs_in_date_only(const refs_expected *expected, const refs_vfs_validators *known) {
    char difference[320];
    refs_expected undated = *expected;
    undated.modified_s = undated.not_after_s = 0;
    undated.modified_ns = 0;
    return !refs_expected_differs(&undated, known, difference, sizeof difference);
}

/* Warns once for each location, and once in all of other dates, which copies of many files have. */
static void warn(refs_fetcher *fetcher, const refs_seen_location *seen, const char *difference) {
    const bool is_date = differs_in_date_only(&seen->expected, &seen->known);
    if (!refs_fetch__note_changed(fetcher, seen->id) ||
        (is_date && atomic_exchange(&fetcher->is_date_noted, true)))
        return;
    refs_note(&fetcher->options.notes, REFS_NOTE_WARNING,
              "%s changed after its references were made: %s%s", seen->location, difference,
              is_date ? " (further dates that differ give no warning: refs check lists them)" : "");
}

/* Whether it is a copy with the bytes that were seen, as far as their number tells. */
static bool is_copy(const refs_expected *expected, const refs_vfs_validators *known) {
    return expected->may_be_copied && expected->size > 0 && known->size > 0 &&
           differs_in_date_only(expected, known);
}

/* Whether the bytes are others, so that reading them anyway is no remedy. */
static bool has_other_size(const refs_seen_location *seen) {
    char difference[320];
    const refs_expected size = {.size = seen->expected.size};
    return refs_expected_differs(&size, &seen->known, difference, sizeof difference);
}

refs_status refs_fetcher_check(refs_fetcher *fetcher, refs_changed changed,
                               const refs_seen_location *seen, refs_error *err) {
    char difference[320];
    if (changed == REFS_CHANGED_IGNORE ||
        !refs_expected_differs(&seen->expected, &seen->known, difference, sizeof difference))
        return REFS_OK;
    if (changed == REFS_CHANGED_WARN ||
        (changed != REFS_CHANGED_STRICT && is_copy(&seen->expected, &seen->known))) {
        warn(fetcher, seen, difference);
        return REFS_OK;
    }
    const char *advice = has_other_size(seen) ? NULL : fetcher->options.advice.changed;
    return refs_fail(err, REFS_CHANGED,
                     "it changed after its references were made: %s (index it again%s%s%s)",
                     difference, advice != NULL ? "; " : "", advice != NULL ? advice : "",
                     advice != NULL ? " reads it anyway" : "");
}

/* Compares a location with its expected state. If they differ, fails with REFS_CHANGED and both
 * values, warns, or does nothing, as the option `changed` says. */
static refs_status check_expected(refs_fetcher *fetcher, const refs_range *range,
                                  const refs_expected *expected, const refs_vfs_validators *known,
                                  refs_error *err) {
    const refs_seen_location seen = {range->location, range->location_id, *expected, *known};
    const refs_status status = refs_fetcher_check(fetcher, fetcher->options.changed, &seen, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", range->location);
    return status;
}

/* The expected state of range `index`; NULL: none. */
static const refs_expected *expected_of(const refs_queue *queue, size_t index) {
    const refs_expected *expected = &queue->requests[index]->expected;
    const bool is_any = expected->etag != NULL || expected->not_after_s != 0 ||
                        expected->modified_s != 0 || expected->size != 0;
    return is_any ? expected : NULL;
}

refs_status refs_fetch__check_answered(const refs_queue *queue, size_t index, refs_error *err) {
    const refs_range *range = &queue->ranges[index];
    const refs_expected *expected = expected_of(queue, index);
    refs_vfs_validators answered;
    if (expected == NULL || !refs_fetch__answered(queue->fetcher, range->location_id, &answered))
        return REFS_OK;
    return check_expected(queue->fetcher, range, expected, &answered, err);
}

/* The ETag that the library object_store makes for local files: inode number, microseconds, size.
 * ETags recorded for local files are of this kind. */
static void format_file_etag(const refs_vfs_validators *file, char *text, size_t size) {
    const uint64_t microseconds = (uint64_t)file->modified_s * 1000000u + file->modified_ns / 1000u;
    snprintf(text, size, "%" PRIx64 "-%" PRIx64 "-%" PRIx64, file->inode, microseconds, file->size);
}

bool refs_fetch__look(const refs_vfs *vfs, const char *location, void *handle,
                      refs_vfs_validators *file) {
    if (vfs->peek != NULL && vfs->peek(vfs->self, location, handle, file, NULL) == REFS_OK)
        return true;
    return refs_vfs_ask(vfs, location, file);
}

/* Members are sorted as their requests in the plan. */
static bool any_expects(const refs_queue *queue, size_t first, size_t last) {
    for (size_t i = first; i < last; i++)
        if (expected_of(queue, queue->plan.members[i]) != NULL) return true;
    return false;
}

refs_status refs_fetch__check_opened(const refs_queue *queue, size_t begin, size_t end,
                                     void *handle, refs_error *err) {
    const refs_planned *requests = queue->plan.requests;
    const size_t first = requests[begin].first_member;
    const size_t last = requests[end - 1].first_member + requests[end - 1].n_members;
    refs_vfs_validators file;
    if (!any_expects(queue, first, last) ||
        !refs_fetch__look(queue->fetcher->vfs, refs_fetch__first_range(queue, begin)->location,
                          handle, &file))
        return REFS_OK;
    if (file.inode != 0) format_file_etag(&file, file.etag, sizeof file.etag);
    for (size_t i = first; i < last; i++) {
        const size_t index = queue->plan.members[i];
        const refs_expected *expected = expected_of(queue, index);
        if (expected == NULL || queue->ranges[index].need != REFS_RANGE_REQUIRED) continue;
        REFS_TRY(check_expected(queue->fetcher, &queue->ranges[index], expected, &file, err));
    }
    return REFS_OK;
}
