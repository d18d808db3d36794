/* aws_profile.c -- see aws_profile.h. */
#include "aws_profile.h"

#include <stdlib.h>

#include "ini.h"
#include "refs/vfs.h"

#define MAX_FILE_BYTES REFS_MIB

void refs_aws_profile__clear(refs_aws_profile *profile) {
    char **strings[] = {&profile->access_key, &profile->secret_key, &profile->session_token,
                        &profile->region,     &profile->endpoint,   &profile->style,
                        &profile->method,     &profile->name,       &profile->problem};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (*strings[i] != NULL) memset(*strings[i], 0, strlen(*strings[i]));
        refs_free(*strings[i]);
        *strings[i] = NULL;
    }
    profile->is_missing = false;
}

bool refs_aws_profile__is_same(const refs_aws_profile *one, const refs_aws_profile *other) {
    return refs_is_same_text(one->access_key, other->access_key) &&
           refs_is_same_text(one->secret_key, other->secret_key) &&
           refs_is_same_text(one->session_token, other->session_token) &&
           refs_is_same_text(one->region, other->region) &&
           refs_is_same_text(one->endpoint, other->endpoint) &&
           refs_is_same_text(one->style, other->style) &&
           refs_is_same_text(one->method, other->method) &&
           refs_is_same_text(one->name, other->name) &&
           refs_is_same_text(one->problem, other->problem) && one->is_missing == other->is_missing;
}

/* -- files ------------------------------------------------------------------------------------- */

typedef struct taking {
    const char *name;
    refs_aws_profile *profile;
    bool found, has_keys; /* both keys are from one file */
} taking;

static bool is_section(refs_str section, const char *name) {
    static const char prefix[] = "profile ";
    if (refs_str_starts(section, prefix))
        section = refs_str_trim(refs_str_part(section, sizeof prefix - 1, section.size), " \t");
    return refs_str_is(section, name);
}

static void keep(char **text, refs_str value) {
    if (*text == NULL && value.size > 0) *text = refs_str_copy(value);
}

static bool is_method(refs_str key) {
    static const char *const methods[] = {"role_arn",
                                          "credential_process",
                                          "sso_session",
                                          "sso_start_url",
                                          "web_identity_token_file",
                                          "login_session",
                                          NULL};
    return refs_str_is_among(key, methods);
}

static void take_item(void *user, const refs_ini_item *item) {
    taking *at = user;
    refs_aws_profile *profile = at->profile;
    if (!is_section(item->section, at->name)) return;
    at->found = true;
    if (refs_str_is(item->parent, "s3")) {
        if (refs_str_is(item->key, "addressing_style")) keep(&profile->style, item->value);
        if (refs_str_is(item->key, "endpoint_url")) keep(&profile->endpoint, item->value);
    }
    if (item->parent.size > 0) return;
    if (!at->has_keys && refs_str_is(item->key, "aws_access_key_id"))
        keep(&profile->access_key, item->value);
    if (!at->has_keys && refs_str_is(item->key, "aws_secret_access_key"))
        keep(&profile->secret_key, item->value);
    if (!at->has_keys && refs_str_is(item->key, "aws_session_token"))
        keep(&profile->session_token, item->value);
    if (refs_str_is(item->key, "region")) keep(&profile->region, item->value);
    if (refs_str_is(item->key, "endpoint_url")) keep(&profile->endpoint, item->value);
    if (is_method(item->key)) keep(&profile->method, item->key);
}

bool refs_aws_profile__take(refs_str text, const char *name, refs_aws_profile *profile) {
    taking at = {name, profile, false, profile->access_key != NULL};
    refs_ini__each(text, take_item, &at);
    return at.found;
}

/* Reads file[0] or file[1]: the file that `setting` names, else the one of this name in ~/.aws. If
 * it does not exist or cannot be read, it counts as empty; the profile records the latter. */
static refs_status read_file(const refs_settings *settings, const char *const file[2],
                             refs_aws_profile *profile, refs_buf *text, refs_error *err) {
    const char *named = refs_settings__get(settings, file[0]);
    const char *home = refs_settings__get(settings, "HOME");
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    if (named == NULL && home == NULL) return REFS_OK;
    refs_status status = named != NULL ? refs_buf_printf(&path, err, "%s", named)
                                       : refs_buf_printf(&path, err, "%s/.aws/%s", home, file[1]);
    if (status != REFS_OK) return status;
    refs_error problem = REFS_ERROR_INIT;
    status = refs_vfs_read_whole(refs_vfs_posix(), (const char *)path.data, MAX_FILE_BYTES, text,
                                 &problem);
    if (strstr(problem.message, (const char *)path.data) == NULL)
        refs_error_prefix(&problem, "%s", (const char *)path.data);
    if (status == REFS_OK || status == REFS_NOT_FOUND) return REFS_OK;
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (text->size > 0) memset(text->data, 0, text->size);
    text->size = 0;
    keep(&profile->problem, refs_str_from(problem.message));
    return profile->problem != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status take_file(const refs_settings *settings, const char *const file[2],
                             const char *name, taking *at, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = read_file(settings, file, at->profile, &text, err);
    if (status == REFS_OK && text.size > 0 &&
        refs_aws_profile__take(refs_buf_text(&text), name, at->profile))
        at->found = true;
    if (text.size > 0) memset(text.data, 0, text.size);
    return status;
}

/* -- all --------------------------------------------------------------------------------------- */

refs_status refs_aws_profile__check_keys(const refs_aws_profile *profile, refs_error *err) {
    if (profile->problem != NULL && (profile->is_missing || profile->access_key == NULL))
        return refs_fail(err, REFS_IO,
                         "AWS credentials: %s: make it readable, or set AWS_ACCESS_KEY_ID and "
                         "AWS_SECRET_ACCESS_KEY, or AWS_NO_SIGN_REQUEST=YES",
                         profile->problem);
    if (profile->is_missing)
        return refs_fail(err, REFS_INVALID, "AWS credentials: no file has the profile \"%s\"",
                         profile->name);
    if ((profile->access_key == NULL) != (profile->secret_key == NULL))
        return refs_fail(err, REFS_INVALID, "AWS credentials: expected both %s and %s, found one",
                         "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    if (profile->access_key != NULL || profile->method == NULL) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "AWS credentials: profile \"%s\" uses %s, which is not supported here: set "
                     "the variables that `aws configure export-credentials --format env` prints",
                     profile->name, profile->method);
}

static void take_variables(const refs_settings *settings, refs_aws_profile *profile) {
    const char *access_key = refs_settings__get(settings, "AWS_ACCESS_KEY_ID");
    const char *secret_key = refs_settings__get(settings, "AWS_SECRET_ACCESS_KEY");
    const char *token = refs_settings__get(settings, "AWS_SESSION_TOKEN");
    const char *const regions[] = {"AWS_REGION", "AWS_DEFAULT_REGION", NULL};
    const char *region = refs_settings__first(settings, regions);
    if (access_key != NULL) keep(&profile->access_key, refs_str_from(access_key));
    if (secret_key != NULL) keep(&profile->secret_key, refs_str_from(secret_key));
    if (token != NULL && access_key != NULL) keep(&profile->session_token, refs_str_from(token));
    if (region != NULL) keep(&profile->region, refs_str_from(region));
}

refs_status refs_aws_profile__read(const refs_settings *settings, refs_aws_profile *profile,
                                   refs_error *err) {
    static const char *const files[][2] = {{"AWS_SHARED_CREDENTIALS_FILE", "credentials"},
                                           {"AWS_CONFIG_FILE", "config"}};
    const char *const names[] = {"AWS_PROFILE", "AWS_DEFAULT_PROFILE", NULL};
    const char *wanted = refs_settings__first(settings, names);
    const char *name = wanted != NULL ? wanted : "default";
    taking at = {name, profile, false, false};
    memset(profile, 0, sizeof *profile);
    take_variables(settings, profile);
    refs_status status = take_file(settings, files[0], name, &at, err);
    if (status == REFS_OK) status = take_file(settings, files[1], name, &at, err);
    if (status == REFS_OK && (profile->name = refs_str_copy(refs_str_from(name))) == NULL)
        status = refs_fail_nomem(err);
    profile->is_missing = wanted != NULL && !at.found;
    if (status != REFS_OK) refs_aws_profile__clear(profile);
    return status;
}
