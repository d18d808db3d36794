/* redact.h -- URLs as they may be shown: without what lets somebody in.
 *
 * Signed URLs carry their signature in the query, others a token; and a URL may
 * name a user with a password. Messages, names and metadata show neither.
 *
 * Read before this: nothing.
 */
#ifndef REFS_REDACT_H
#define REFS_REDACT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Takes user, password, query and fragment out of every URL in `text`, which gets shorter; also
 * what follows "/vsicurl?", and queries of names of GDAL's for object stores, as "/vsis3/". A
 * fragment that names a state of a repository, "#branch=dev", stays. A URL behind a quote ends with
 * the next one; others at white space, a quote,
 * "<", ">", or where punctuation ends a word. */
void refs_redact_secrets(char *text);

#ifdef __cplusplus
}
#endif
#endif
