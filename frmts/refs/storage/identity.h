/* identity.h -- the identity of requests, from the settings. */
#ifndef REFS_STORAGE_IDENTITY_H
#define REFS_STORAGE_IDENTITY_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Looks up a setting; NULL where it is not set. */
typedef struct refs_setting_lookup {
    const char *(*get)(const void *user, const char *name);
    const void *user;
} refs_setting_lookup;

/** A number for each identity: another one when a setting that identifies the user changes, or when
 * a file of headers, cookies or logins that a setting names is replaced. Reads the states of these
 * files. */
uint64_t refs_identity_number(const refs_setting_lookup *settings);

/** The same of all that decides who reads: keys, profiles, endpoints and credential files of object
 * stores, too. Data that were read with one number must not be given to a reader with another. */
uint64_t refs_identity_access_number(const refs_setting_lookup *settings);

/** The same of the settings alone, without looking at files: for callers that hold a lock. */
uint64_t refs_identity_setting_number(const refs_setting_lookup *settings);

/** The same for the settings that locate a bucket and identify its user: answers of a bucket are
 * valid for one number. */
uint64_t refs_identity_bucket_number(const refs_setting_lookup *settings);

/** REFS_IO, naming the setting, where one that goes into requests holds a control character, which
 * would end its line, or a token a blank. The parts that the functions below leave out do not
 * count. */
refs_status refs_identity_check(const refs_setting_lookup *settings, refs_error *err);

/** REFS_IO where `header`, "Name: value", holds a control character other than a tabulator. */
refs_status refs_identity_check_header(const char *header, refs_error *err);

/** A setting without the byte order mark and the ends of lines that a value has which was read from
 * a file. NULL is none. */
refs_str refs_identity_value(const char *text);

/** A token without the blanks, the quotes and the "Bearer" that it was written with. */
refs_str refs_identity_token(const char *text);

#ifdef __cplusplus
}
#endif
#endif
