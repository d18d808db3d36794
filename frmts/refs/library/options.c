/* options.c -- "KEY=VALUE", see library.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "library.h"
#include "refs/near_name.h"

/* Prefixes and names of settings; docs/stores.md lists them, and the test of that page searches the
 * code for complete names. */
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

static size_t count(const char *const *list) {
    size_t n = 0;
    while (list[n] != NULL) n++;
    return n;
}

/* -- options ----------------------------------------------------------------------------------- */

typedef enum option_kind {
    TEXT,
    LIST,
    MISSING,
    CHANGED,
    RANGES,
    SET_NUMBER,
    CACHE_SIZE
} option_kind;

#define AT(member)      offsetof(refs_library_options, member)
#define VERSION(member) AT(open.sets.version.member)

/* An option, and the member that it sets, of a TEXT or a LIST. */
static const struct option {
    const char *key;
    option_kind kind;
    size_t at;
    const char *has;      /* text that each item of a LIST must contain; NULL: any */
    const char *expected; /* the expected value, for messages */
} table[] = {{"URL_REWRITE", LIST, AT(rewrites), "=>", "OLD=>NEW"},
             {"TEMPLATES", LIST, AT(templates), "=", "NAME=VALUE"},
             {"TARGET", TEXT, AT(open.sets.target), NULL, NULL},
             {"BRANCH", TEXT, VERSION(branch), NULL, NULL},
             {"TAG", TEXT, VERSION(tag), NULL, NULL},
             {"SNAPSHOT", TEXT, VERSION(snapshot), NULL, NULL},
             {"AS_OF", TEXT, VERSION(as_of), NULL, NULL},
             {"SET", SET_NUMBER, 0, NULL, NULL},
             {"MISSING", MISSING, 0, NULL, REFS_MISSING_WORDS},
             {"CHANGED", CHANGED, 0, NULL, REFS_CHANGED_WORDS},
             {"CACHE_MAX", CACHE_SIZE, 0, NULL, NULL},
             {"HONOUR_VALID_RANGE", RANGES, 0, NULL, "YES or NO"},
             {"ALONG", LIST, AT(along), NULL, NULL},
             {"PATTERN", TEXT, AT(open.pattern), NULL, NULL}};

static refs_status check(const struct option *option, bool is_expected, const char *value,
                         refs_error *err) {
    if (is_expected) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "option %s: expected %s, found \"%s\"", option->key,
                     option->expected, value);
}

static refs_status find_number(const char *key, const char *value, uint64_t most, uint64_t *number,
                               refs_error *err) {
    if (refs_str_to_u64(refs_str_from(value), number) && *number <= most) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "option %s: expected a number from 0 to %llu, found \"%s\"",
                     key, (unsigned long long)most, value);
}

static refs_status set_option(refs_library_options *options, const struct option *option,
                              const char *value, refs_error *err) {
    void *member = (char *)options + option->at;
    uint64_t number = 0;
    bool is_no;
    switch (option->kind) {
    case TEXT:
        *(const char **)member = value;
        return REFS_OK;
    case LIST:
        REFS_TRY(
            check(option, option->has == NULL || strstr(value, option->has) != NULL, value, err));
        (*(const char ***)member)[count(*(const char ***)member)] = value;
        return REFS_OK;
    case MISSING:
        return check(option, refs_missing_parse(value, &options->open.missing), value, err);
    case CHANGED:
        return check(option, refs_changed_parse(value, &options->open.changed), value, err);
    case RANGES:
        is_no = strcasecmp(value, "NO") == 0;
        options->open.ranges = is_no ? REFS_RANGES_IGNORED : REFS_RANGES_HONOURED;
        return check(option, is_no || strcasecmp(value, "YES") == 0, value, err);
    case SET_NUMBER:
        REFS_TRY(find_number(option->key, value, INT32_MAX, &number, err));
        options->open.sets.set_index = (int64_t)number;
        return REFS_OK;
    default:
        REFS_TRY(find_number(option->key, value, REFS_OPENED_MAX_CACHE_MIB, &number, err));
        options->open.cache_bytes = (size_t)number * REFS_MIB;
        return REFS_OK;
    }
}

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
            return set_option(options, &table[i], text + equals + 1, err);
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
    options->open.unchanged = "the option CHANGED=WARN or IGNORE";
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
