/* options.c -- "KEY=VALUE", see library.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "library.h"
#include "refs/near_name.h"

/* Names of settings of the host begin so; docs/stores.md lists them, and the test of that page
 * looks for whole names in the code. */
static const char *const settings[] = {"AWS_",
                                       "AZURE_",
                                       "CPL_",
                                       "CURL_",
                                       "EARTHDATA_",
                                       "GDAL_",
                                       "GS_",
                                       "REFS_"
                                       "HTTP_",
                                       "REFS_"
                                       "TOKEN_URL",
                                       "S3NC_",
                                       "S3_NC_",
                                       "SSL_",
                                       "http_",
                                       "https_",
                                       "all_proxy",
                                       "no_proxy"};

#define N(list) (sizeof(list) / sizeof *(list))

/* -- values ------------------------------------------------------------------------------------ */

/* Words that an option may be; their places are the values of its enum. */
typedef struct words {
    const char *const *list;
    size_t n;
    const char *shown;
} words;

static refs_status find_word(const char *key, const char *value, const words *among, int *found,
                             refs_error *err) {
    for (size_t i = 0; i < among->n; i++)
        if (among->list[i] != NULL && strcasecmp(value, among->list[i]) == 0) {
            *found = (int)i;
            return REFS_OK;
        }
    return refs_fail(err, REFS_INVALID, "option %s: expected %s, found \"%s\"", key, among->shown,
                     value);
}

static refs_status find_number(const char *key, const char *value, uint64_t most, uint64_t *number,
                               refs_error *err) {
    if (refs_str_to_u64(refs_str_from(value), number) && *number <= most) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "option %s: expected a number from 0 to %llu, found \"%s\"",
                     key, (unsigned long long)most, value);
}

static size_t count(const char *const *list) {
    size_t n = 0;
    while (list[n] != NULL) n++;
    return n;
}

/* -- options ----------------------------------------------------------------------------------- */

static refs_status set_rewrite(refs_library_options *options, const char *value, refs_error *err) {
    if (strstr(value, "=>") == NULL)
        return refs_fail(err, REFS_INVALID, "option URL_REWRITE: expected OLD=>NEW, found \"%s\"",
                         value);
    options->rewrites[count(options->rewrites)] = value;
    return REFS_OK;
}

static refs_status set_template(refs_library_options *options, const char *value, refs_error *err) {
    if (strchr(value, '=') == NULL)
        return refs_fail(err, REFS_INVALID, "option TEMPLATES: expected NAME=VALUE, found \"%s\"",
                         value);
    options->templates[count(options->templates)] = value;
    return REFS_OK;
}

static refs_status set_target(refs_library_options *options, const char *value, refs_error *err) {
    (void)err;
    options->open.sets.target = value;
    return REFS_OK;
}

static refs_status set_branch(refs_library_options *options, const char *value, refs_error *err) {
    (void)err;
    options->open.sets.version.branch = value;
    return REFS_OK;
}

static refs_status set_tag(refs_library_options *options, const char *value, refs_error *err) {
    (void)err;
    options->open.sets.version.tag = value;
    return REFS_OK;
}

static refs_status set_snapshot(refs_library_options *options, const char *value, refs_error *err) {
    (void)err;
    options->open.sets.version.snapshot = value;
    return REFS_OK;
}

static refs_status set_as_of(refs_library_options *options, const char *value, refs_error *err) {
    (void)err;
    options->open.sets.version.as_of = value;
    return REFS_OK;
}

static refs_status set_along(refs_library_options *options, const char *value, refs_error *err) {
    (void)err;
    options->along[count(options->along)] = value;
    return REFS_OK;
}

static refs_status set_pattern(refs_library_options *options, const char *value, refs_error *err) {
    (void)err;
    options->open.pattern = value;
    return REFS_OK;
}

static refs_status set_number(refs_library_options *options, const char *value, refs_error *err) {
    uint64_t number = 0;
    REFS_TRY(find_number("SET", value, INT32_MAX, &number, err));
    options->open.sets.set_index = (int64_t)number;
    return REFS_OK;
}

static refs_status set_missing(refs_library_options *options, const char *value, refs_error *err) {
    static const char *const list[] = {
        [REFS_MISSING_ERROR] = "ERROR", [REFS_MISSING_FILL] = "FILL", [REFS_MISSING_WARN] = "WARN"};
    static const words among = {list, N(list), "ERROR, FILL or WARN"};
    int found = 0;
    REFS_TRY(find_word("MISSING", value, &among, &found, err));
    options->open.missing = (refs_missing)found;
    return REFS_OK;
}

static refs_status set_changed(refs_library_options *options, const char *value, refs_error *err) {
    static const char *const list[] = {[REFS_CHANGED_ERROR] = "ERROR",
                                       [REFS_CHANGED_WARN] = "WARN",
                                       [REFS_CHANGED_IGNORE] = "IGNORE"};
    static const words among = {list, N(list), "ERROR, WARN or IGNORE"};
    int found = 0;
    REFS_TRY(find_word("CHANGED", value, &among, &found, err));
    options->open.changed = (refs_changed)found;
    return REFS_OK;
}

static refs_status set_ranges(refs_library_options *options, const char *value, refs_error *err) {
    static const char *const list[] = {
        [REFS_RANGES_HONOURED] = "YES", [REFS_RANGES_IGNORED] = "NO"};
    static const words among = {list, N(list), "YES or NO"};
    int found = 0;
    REFS_TRY(find_word("HONOUR_VALID_RANGE", value, &among, &found, err));
    options->open.ranges = (refs_ranges)found;
    return REFS_OK;
}

static refs_status set_cache(refs_library_options *options, const char *value, refs_error *err) {
    uint64_t mebibytes = 0;
    REFS_TRY(find_number("CACHE_MAX", value, REFS_OPENED_MAX_CACHE_MIB, &mebibytes, err));
    options->open.cache_bytes = (size_t)mebibytes * REFS_MIB;
    return REFS_OK;
}

typedef struct option {
    const char *key;
    refs_status (*set)(refs_library_options *options, const char *value, refs_error *err);
} option;

static const option table[] = {{"URL_REWRITE", set_rewrite},
                               {"TEMPLATES", set_template},
                               {"TARGET", set_target},
                               {"BRANCH", set_branch},
                               {"TAG", set_tag},
                               {"SNAPSHOT", set_snapshot},
                               {"AS_OF", set_as_of},
                               {"SET", set_number},
                               {"MISSING", set_missing},
                               {"CHANGED", set_changed},
                               {"CACHE_MAX", set_cache},
                               {"HONOUR_VALID_RANGE", set_ranges},
                               {"ALONG", set_along},
                               {"PATTERN", set_pattern}};

/* -- the list ---------------------------------------------------------------------------------- */

static bool is_setting(const char *text) {
    for (size_t i = 0; i < N(settings); i++)
        if (strncmp(text, settings[i], strlen(settings[i])) == 0) return true;
    return false;
}

static refs_status fail_unknown(refs_str key, refs_error *err) {
    const char *near = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < N(table); i++)
        if (refs_name_is_near(key, refs_str_from(table[i].key), &least)) near = table[i].key;
    return refs_fail(err, REFS_INVALID, "unknown option %.*s%s%s%s", REFS_STR_ARG(key),
                     near != NULL ? ": did you mean " : "", near != NULL ? near : "",
                     near != NULL ? "?" : "");
}

static refs_status read_option(refs_library_options *options, const char *text, refs_error *err) {
    const size_t equals = refs_str_find(refs_str_from(text), '=');
    if (equals == SIZE_MAX)
        return refs_fail(err, REFS_INVALID, "expected an option KEY=VALUE, found \"%s\"", text);
    for (size_t i = 0; i < N(table); i++)
        if (strlen(table[i].key) == equals && strncasecmp(text, table[i].key, equals) == 0)
            return table[i].set(options, text + equals + 1, err);
    if (!is_setting(text)) return fail_unknown(refs_str_view(text, equals), err);
    options->settings[count(options->settings)] = text;
    return REFS_OK;
}

static refs_status open_lists(refs_library_options *options, size_t n, refs_error *err) {
    options->texts = refs_calloc(n + 1, sizeof *options->texts);
    options->rewrites = refs_calloc(n + 1, sizeof *options->rewrites);
    options->templates = refs_calloc(n + 1, sizeof *options->templates);
    options->along = refs_calloc(n + 1, sizeof *options->along);
    options->settings = refs_calloc(n + 1, sizeof *options->settings);
    const bool is_complete = options->texts != NULL && options->rewrites != NULL &&
                             options->templates != NULL && options->along != NULL &&
                             options->settings != NULL;
    return is_complete ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_library_read_options(const char *const *list, refs_library_options *options,
                                      refs_error *err) {
    const size_t n = list != NULL ? count(list) : 0;
    memset(options, 0, sizeof *options);
    options->open = refs_open_options_init();
    options->open.how_along = "the option ALONG";
    options->open.moved = "the option URL_REWRITE=old=>new";
    options->open.advice = "where files moved, the option URL_REWRITE=old=>new changes how such "
                           "names begin; MISSING=FILL reads missing files as fill values";
    REFS_TRY(open_lists(options, n, err));
    for (size_t i = 0; i < n; i++) {
        REFS_TRY(refs_str_keep(refs_str_from(list[i]), &options->texts[i], err));
        REFS_TRY(read_option(options, options->texts[i], err));
    }
    options->open.sets.rewrites = options->rewrites;
    options->open.sets.templates = options->templates;
    options->open.along = options->along;
    return REFS_OK;
}

void refs_library_clear_options(refs_library_options *options) {
    for (char **text = options->texts; text != NULL && *text != NULL; text++) refs_free(*text);
    refs_free(options->texts);
    refs_free(options->rewrites);
    refs_free(options->templates);
    refs_free(options->along);
    refs_free(options->settings);
    memset(options, 0, sizeof *options);
}
