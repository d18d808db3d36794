/* object.c -- what a location names, see host_internal.h. */
#include "host_internal.h"

#include "refs/vfs.h"

static const struct {
    const char *prefix;
    refs_object_kind kind;
} kinds[] = {{"/vsicurl/", REFS_OBJECT_URL},        {"http://", REFS_OBJECT_URL},
             {"https://", REFS_OBJECT_URL},         {"/vsis3/", REFS_OBJECT_S3},
             {"/vsigs/", REFS_OBJECT_GOOGLE},       {"/vsiaz/", REFS_OBJECT_AZURE},
             {"/vsioss/", REFS_OBJECT_OSS},         {"/vsizip/", REFS_OBJECT_FOREIGN},
             {"/vsitar/", REFS_OBJECT_FOREIGN},     {"/vsigzip/", REFS_OBJECT_FOREIGN},
             {"/vsisubfile/", REFS_OBJECT_FOREIGN}, {"/vsiswift/", REFS_OBJECT_FOREIGN},
             {"/vsiadls/", REFS_OBJECT_FOREIGN},    {"/vsihdfs/", REFS_OBJECT_FOREIGN},
             {"/vsicurl?", REFS_OBJECT_FOREIGN},    {"/vsimem/", REFS_OBJECT_FOREIGN}};

/* -- aliases ----------------------------------------------------------------------------------- */

static refs_status read_aliases(const refs_host *host, const char *file, refs_s3nc **aliases,
                                refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status =
        refs_vfs_read_whole(refs_vfs_posix(), file, REFS_S3NC_MAX_BYTES, &text, &problem);
    if (status == REFS_OK)
        status = refs_s3nc_parse(refs_str_view((const char *)text.data, text.size), &host->notes,
                                 aliases, &problem);
    if (text.size > 0) memset(text.data, 0, text.size);
    refs_buf_clear(&text);
    if (status == REFS_OK || status == REFS_NOT_FOUND) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: %s", file, problem.message);
}

/* In the file that a setting names, or in ~/.s3nc.json. */
static refs_status look_for_aliases(refs_host *host, refs_error *err) {
    const char *const names[] = {"S3NC_CONFIG", "S3_NC_CONFIG", NULL};
    const char *file = refs_settings__first(&host->settings, names);
    const char *home = refs_settings__get(&host->settings, "HOME");
    const bool is_named = file != NULL;
    refs_buf path = REFS_BUF_INIT;
    if (host->has_aliases) return REFS_OK;
    refs_status status = REFS_OK;
    if (file == NULL && home != NULL) {
        status = refs_buf_printf(&path, err, "%s/.s3nc.json", home);
        file = (const char *)path.data;
    }
    if (status == REFS_OK && file != NULL && strcmp(file, "NONE") != 0) {
        status = read_aliases(host, file, &host->aliases, err);
        const bool is_told = status == REFS_OK && (is_named || host->aliases != NULL);
        if (is_told && (host->aliases_file = refs_str_copy(refs_str_from(file))) == NULL)
            status = refs_fail_nomem(err);
    }
    host->has_aliases = status == REFS_OK;
    refs_buf_clear(&path);
    return status;
}

static refs_status find_alias(refs_host *host, refs_str name, refs_object *object,
                              refs_error *err) {
    const refs_application *application = host->settings.application;
    if (application != NULL && application->find_alias != NULL) {
        object->alias = application->find_alias(application->self, name, &object->alias_file);
        return REFS_OK;
    }
    REFS_TRY(look_for_aliases(host, err));
    object->alias_file = host->aliases_file;
    for (size_t i = 0; host->aliases != NULL && i < host->aliases->n_hosts; i++)
        if (refs_str_is(name, host->aliases->hosts[i].alias))
            object->alias = &host->aliases->hosts[i];
    return REFS_OK;
}

/* -- parts ------------------------------------------------------------------------------------- */

/* The end of the first part of a path. No bucket has a "?" in its name. */
static size_t first_part(refs_str path) {
    size_t slash = refs_str_find(path, '/'), mark = refs_str_find(path, '?');
    size_t end = slash < mark ? slash : mark;
    return end < path.size ? end : path.size;
}

static void split(refs_str path, refs_object *object) {
    size_t end = first_part(path);
    refs_str rest = refs_str_part(path, end + 1, path.size);
    object->bucket = refs_str_part(path, 0, end);
    bool is_question = end < path.size && path.data[end] == '?';
    size_t mark = is_question ? refs_str_find(rest, '#') : 0;
    object->question = refs_str_part(rest, 0, mark);
    object->listed = refs_str_part(rest, is_question ? mark : SIZE_MAX, rest.size);
    object->listed = refs_str_part(object->listed, refs_str_find(object->listed, '/'), rest.size);
    object->listed = refs_str_part(object->listed, 1, rest.size);
    object->key = is_question ? refs_str_view("", 0) : rest;
}

bool refs_host__is_of_store(const refs_object *object) {
    return object->kind == REFS_OBJECT_S3 || object->kind == REFS_OBJECT_GOOGLE ||
           object->kind == REFS_OBJECT_AZURE || object->kind == REFS_OBJECT_OSS;
}

refs_status refs_host__parse(refs_host *host, const char *location, refs_object *object,
                             refs_error *err) {
    refs_str name = refs_str_from(location);
    *object = (refs_object){.kind = REFS_OBJECT_FILE,
                            .settings = refs_settings__at(&host->settings, location)};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!refs_str_starts(name, kinds[i].prefix)) continue;
        object->kind = kinds[i].kind;
        if (kinds[i].prefix[0] == '/')
            name = refs_str_part(name, strlen(kinds[i].prefix), name.size);
        break;
    }
    object->key = name;
    if (object->kind == REFS_OBJECT_OSS && host->settings.application == NULL)
        object->kind = REFS_OBJECT_FOREIGN;
    if (!refs_host__is_of_store(object)) return REFS_OK;
    size_t alias = 0;
    if (object->kind == REFS_OBJECT_S3)
        REFS_TRY(find_alias(host, refs_str_part(name, 0, first_part(name)), object, err));
    if (object->alias != NULL) alias = first_part(name) + 1;
    split(refs_str_part(name, alias, name.size), object);
    object->whole = refs_str_part(name, 0, alias + object->bucket.size);
    return REFS_OK;
}
