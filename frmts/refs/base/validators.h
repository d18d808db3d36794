/* validators.h -- the states of files and objects: whether two are the same.
 *
 * Validators are compared only where both states have them: servers report some, file systems
 * others.
 *
 * Read before this: vfs.h.
 */
#ifndef REFS_VALIDATORS_H
#define REFS_VALIDATORS_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Seconds after which a file that changed does not change again with the same time: some file
 * systems count no finer. */
#define REFS_SETTLED_S 2

/** The failure where a location has no validators: REFS_NOT_FOUND. */
refs_status refs_validators_fail(const char *location, refs_error *err);

/** Sets the ETag to the one that a server sent, or a set recorded; to the SHA-256 of its opaque
 * part where that is longer than is kept: such are equal where that is. */
void refs_validators_set_etag(refs_vfs_validators *validators, refs_str etag);

/** The opaque part of an ETag, without the mark of weak ones and without quotes, which some writers
 * keep and others do not. */
refs_str refs_etag_opaque(const char *etag);

/** "" where both may be of one state of a thing, else what differs: "size", "ETag", "time" of a
 * file, or "Last-Modified". `other` was seen later than `one`. ETags compare weakly: servers that
 * compress as they send mark the same bytes as weak; where both have one, times do not count.
 * Fractions of a second count in microseconds, which is what copies keep, and exactly between two
 * files of this machine. Two dates that differ prove a change, however recent they are, unless each
 * is the date of its answer: there are servers that date all answers so. */
const char *refs_validators_difference(const refs_vfs_validators *one,
                                       const refs_vfs_validators *other);

/** Whether a strong ETag, which is of these bytes alone (RFC 9110, section 8.8.1), comes with two
 * sizes: one of the answers is wrong, and the object did not change. */
bool refs_validators_contradict(const refs_vfs_validators *one, const refs_vfs_validators *other);

/** Whether both prove one state: nothing differs, and an ETag or a time is equal. */
bool refs_validators_prove_same(const refs_vfs_validators *one, const refs_vfs_validators *other);

/** Whether a later answer of the same identity is of the same state. Not where nothing was said,
 * nor where the object was fresh, and may have changed within that second, unless there is an ETag
 * that would show it: one that is neither weak (RFC 9110, section 8.8.1) nor made of that second.
 */
bool refs_validators_distinguish(const refs_vfs_validators *validators);

/** Whether a change from now on will show: there is an ETag, or a time that is not recent. */
bool refs_validators_are_settled(const refs_vfs_validators *validators);

/** Whether both are of one file of this machine: the same device and inode. */
bool refs_validators_are_of_one_file(const refs_vfs_validators *one,
                                     const refs_vfs_validators *other);

/** Whether `one` was modified before `other`. */
bool refs_validators_is_older(const refs_vfs_validators *one, const refs_vfs_validators *other);

/** The time of modification, also one that is recent: it tells what is later, but not that
 * something is the same. 0: not known. */
int64_t refs_validators_date_s(const refs_vfs_validators *validators);

#ifdef __cplusplus
}
#endif
#endif
