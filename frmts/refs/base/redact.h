/* redact.h -- removes secrets from URLs that are shown.
 *
 * The query of a URL may hold a signature or a token, and its authority a user and a password.
 * Messages, names and metadata must not show them.
 *
 * Read before this: nothing.
 */
#ifndef REFS_REDACT_H
#define REFS_REDACT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Removes user, password, query and fragment from every URL in `text`, in place; also the options
 * after "/vsicurl?", and the queries of GDAL names of object stores such as "/vsis3/". A fragment
 * that names a version of a repository, "#branch=dev", stays. A URL after a quote ends at the next
 * quote; others end at white space, a quote, "<", ">", or punctuation at the end of a word. */
void refs_redact_secrets(char *text);

#ifdef __cplusplus
}
#endif
#endif
