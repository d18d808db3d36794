/* settings.c -- see settings.h. */
#include "settings.h"

#include <stdlib.h>
#include <strings.h>

#include "refs/cloud.h"

refs_status refs_settings__copy(const char *const *items, refs_settings *settings,
                                refs_error *err) {
    size_t n = 0;
    while (items != NULL && items[n] != NULL) n++;
    REFS_NEW(settings->items, n + 1, err);
    for (size_t i = 0; i < n; i++)
        if ((settings->items[i] = refs_str_copy(refs_str_from(items[i]))) == NULL)
            return refs_fail_nomem(err);
    return REFS_OK;
}

void refs_settings__clear(refs_settings *settings) {
    for (char **item = settings->items; item != NULL && *item != NULL; item++) refs_free(*item);
    refs_free(settings->items);
    settings->items = NULL;
}

refs_settings refs_settings__at(const refs_settings *settings, const char *location) {
    refs_settings at = *settings;
    at.location = location;
    return at;
}

static const char *look_up(const refs_settings *settings, const char *name) {
    const refs_application *application = settings->application;
    const char *location = settings->location != NULL ? settings->location : "";
    if (application == NULL) return getenv(name);
    return application->get_option(application->self, location, name);
}

const char *refs_settings__get(const refs_settings *settings, const char *name) {
    size_t size = strlen(name);
    const char *value = NULL;
    for (char **item = settings->items; item != NULL && *item != NULL; item++)
        if (strncmp(*item, name, size) == 0 && (*item)[size] == '=') value = *item + size + 1;
    if (value == NULL) value = look_up(settings, name);
    return value != NULL && *value != '\0' ? value : NULL;
}

const char *refs_settings__first(const refs_settings *settings, const char *const *names) {
    const char *value = NULL;
    for (; value == NULL && *names != NULL; names++) value = refs_settings__get(settings, *names);
    return value;
}

static bool is_word(const refs_settings *settings, const char *name, const char *const *words) {
    const char *value = refs_settings__get(settings, name);
    size_t i;
    return value != NULL && refs_word_find(value, words, &i);
}

bool refs_settings__is_on(const refs_settings *settings, const char *name) {
    static const char *const words[] = {"YES", "TRUE", "ON", "1", NULL};
    return is_word(settings, name, words);
}

bool refs_settings__is_off(const refs_settings *settings, const char *name) {
    static const char *const words[] = {"NO", "FALSE", "OFF", "0", NULL};
    return is_word(settings, name, words);
}

double refs_settings__number(const refs_settings *settings, const char *name, double otherwise) {
    const char *value = refs_settings__get(settings, name);
    char *end;
    double number = value != NULL ? strtod(value, &end) : -1;
    return value != NULL && end[strspn(end, REFS_BLANKS)] == '\0' && number >= 0 && number < 1e9
               ? number
               : otherwise;
}
