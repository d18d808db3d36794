/* settings.h -- settings by name: from a list, else from the application or the environment. */
#ifndef REFS_CLOUD_SETTINGS_H
#define REFS_CLOUD_SETTINGS_H

#include "refs/bytes.h"

/** Settings of requests of a location. */
typedef struct refs_settings {
    char **items; /**< "NAME=value", NULL-ended; NULL is an empty list */
    const struct refs_application *application; /**< or NULL: the environment */
    const char *location;                       /**< NULL: of all */
} refs_settings;

/** The same, for requests of `location`; borrows both. */
refs_settings refs_settings__at(const refs_settings *settings, const char *location);

refs_status refs_settings__copy(const char *const *items, refs_settings *settings, refs_error *err);
void refs_settings__clear(refs_settings *settings);

/** The value, or NULL where there is none or an empty one. */
const char *refs_settings__get(const refs_settings *settings, const char *name);

/** The first of these, NULL-ended, that has a value; or NULL. */
const char *refs_settings__first(const refs_settings *settings, const char *const *names);

/** Whether it is YES, TRUE, ON or 1; whether it is NO, FALSE, OFF or 0. */
bool refs_settings__is_on(const refs_settings *settings, const char *name);
bool refs_settings__is_off(const refs_settings *settings, const char *name);

/** A number at least 0, or `otherwise`. */
double refs_settings__number(const refs_settings *settings, const char *name, double otherwise);

#endif
