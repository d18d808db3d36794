/* validators.h -- the states of files and objects: whether two are the same.
 *
 * A validator is compared only if both states have it: servers report some, file systems others.
 *
 * Read before this: vfs.h.
 */
#ifndef REFS_VALIDATORS_H
#define REFS_VALIDATORS_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Seconds after a modification during which another one may get the same time: the coarsest
 * resolution of file systems. */
#define REFS_SETTLED_S 2

/** Fails with REFS_NOT_FOUND: a location has no validators. */
refs_status refs_validators_fail(const char *location, refs_error *err);

/** Sets the ETag; to the SHA-256 of its opaque part if that is too long to be stored. */
void refs_validators_set_etag(refs_vfs_validators *validators, refs_str etag);

/** The opaque part of an ETag: without the prefix W/ and without quotes, which some writers
 * omit. */
refs_str refs_etag_opaque(const char *etag);

/** Returns "" if both may be the same state, else which validator differs: "size", "ETag", "time"
 * of a file, or "Last-Modified". `other` was seen later than `one`. ETags are compared weakly,
 * because servers that compress on the fly mark them as weak; if both have one, times are ignored.
 * Times are compared with microsecond precision, which copies preserve, and exactly between two
 * local files. Different Last-Modified dates prove a change, however recent they are, unless each
 * equals the date of its answer: some servers send that always. */
const char *refs_validators_difference(const refs_vfs_validators *one,
                                       const refs_vfs_validators *other);

/** Whether both have the same strong ETag, which identifies the bytes (RFC 9110, section 8.8.1),
 * but different sizes: one of the answers is wrong, and the object did not change. */
bool refs_validators_contradict(const refs_vfs_validators *one, const refs_vfs_validators *other);

/** Whether both are certainly the same state: nothing differs, and an ETag or a time is equal. */
bool refs_validators_prove_same(const refs_vfs_validators *one, const refs_vfs_validators *other);

/** Whether a later answer with equal validators is certainly the same state. False if there are no
 * validators, or if the object was so recently modified that it may change again within the same
 * second, unless an ETag would show that: one that is neither weak (RFC 9110, section 8.8.1) nor
 * derived from that second.
 */
bool refs_validators_distinguish(const refs_vfs_validators *validators);

/** Whether the validators will detect a later change: there is an ETag, or a time that is not
 * recent. */
bool refs_validators_are_settled(const refs_vfs_validators *validators);

/** Whether both are of the same local file: same device and inode. */
bool refs_validators_are_of_one_file(const refs_vfs_validators *one,
                                     const refs_vfs_validators *other);

/** Whether a local file is unchanged: nothing differs, not even its inode and its ctime. */
bool refs_validators_are_unchanged(const refs_vfs_validators *was, const refs_vfs_validators *now);

/** Whether `one` was modified before `other`. */
bool refs_validators_is_older(const refs_vfs_validators *one, const refs_vfs_validators *other);

/** The modification time, even if it is recent: it proves an order, but not that two states are the
 * same. 0: not known. */
int64_t refs_validators_date_s(const refs_vfs_validators *validators);

#ifdef __cplusplus
}
#endif
#endif
