/* identity.h -- who asks servers, as settings tell it. */
#ifndef REFS_IDENTITY_H
#define REFS_IDENTITY_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Looks up a setting; NULL where it is not set. */
typedef struct refs_setting_lookup {
    const char *(*get)(const void *user, const char *name);
    const void *user;
} refs_setting_lookup;

/** A number for each identity: another one when a setting changes that says who asks. */
uint64_t refs_identity_number(const refs_setting_lookup *settings);

#ifdef __cplusplus
}
#endif
#endif
