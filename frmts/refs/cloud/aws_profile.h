/* aws_profile.h -- keys and settings of AWS: from variables, ~/.aws/credentials and ~/.aws/config.
 */
#ifndef REFS_CLOUD_AWS_PROFILE_H
#define REFS_CLOUD_AWS_PROFILE_H

#include "settings.h"

/** Owned strings, or NULL where nothing says them. */
typedef struct refs_aws_profile {
    char *access_key, *secret_key, *session_token;
    char *region, *endpoint;
    char *style;  /**< "path", "virtual" or "auto" */
    char *method; /**< the key by which other programs would get keys: "role_arn", for one */
    char *name;
    char *problem;   /**< why a file that is there cannot be read: its keys are not known */
    bool is_missing; /**< AWS_PROFILE names it, and neither file has it */
} refs_aws_profile;

/** Reads both files, where there are any, and the variables, which win. A profile without usable
 * keys, or a file that cannot be read, is no failure: requests that they do not sign need the rest
 * of it alone. */
refs_status refs_aws_profile__read(const refs_settings *settings, refs_aws_profile *profile,
                                   refs_error *err);

/** REFS_IO where no keys are known and a file cannot be read; REFS_INVALID where AWS_PROFILE names
 * a profile of neither file, where there is only half of its keys, or where they are to be had in a
 * way that is not known here. */
refs_status refs_aws_profile__check_keys(const refs_aws_profile *profile, refs_error *err);

/** Takes from the text of a file what it says of a profile; true where it has that. Values that are
 * known already stay. */
bool refs_aws_profile__take(refs_str text, const char *name, refs_aws_profile *profile);

/** Whether both say the same. */
bool refs_aws_profile__is_same(const refs_aws_profile *one, const refs_aws_profile *other);

/** Frees what it holds, and leaves it empty. */
void refs_aws_profile__clear(refs_aws_profile *profile);

#endif
