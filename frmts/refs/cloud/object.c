/* object.c -- parses locations of objects, see cloud_internal.h. */
#include "cloud_internal.h"

#include "refs/vfs.h"

/* The service for each prefix. base/url.c lists the schemes of URLs. */
static const struct {
    const char *prefix;
    refs_object_kind kind;
} kinds[] = {{"/vsicurl/", REFS_OBJECT_URL},      {"http://", REFS_OBJECT_URL},
             {"https://", REFS_OBJECT_URL},       {"/vsis3/", REFS_OBJECT_S3},
             {"/vsigs/", REFS_OBJECT_GOOGLE},     {"/vsiaz/", REFS_OBJECT_AZURE},
             {"/vsioss/", REFS_OBJECT_OSS},       {"/vsitar/", REFS_OBJECT_FOREIGN},
             {"/vsigzip/", REFS_OBJECT_FOREIGN},  {"/vsisubfile/", REFS_OBJECT_FOREIGN},
             {"/vsiswift/", REFS_OBJECT_FOREIGN}, {"/vsiadls/", REFS_OBJECT_FOREIGN},
             {"/vsihdfs/", REFS_OBJECT_FOREIGN},  {"/vsicurl?", REFS_OBJECT_FOREIGN},
             {"/vsimem/", REFS_OBJECT_FOREIGN}};

/* -- aliases ----------------------------------------------------------------------------------- */

static const char *look_up(const void *settings, const char *name) {
    return refs_settings__get(settings, name);
}

/* The aliases that this thread has read, or those of a faster thread. */
static const refs_s3nc *publish_aliases(refs_cloud *cloud, refs_s3nc *aliases) {
    refs_lock(&cloud->lock);
    const bool is_first = cloud->aliases == NULL;
    if (is_first) cloud->aliases = aliases;
    const refs_s3nc *published = cloud->aliases;
    refs_unlock(&cloud->lock);
    if (!is_first) refs_s3nc_free(aliases);
    if (is_first && aliases->warning != NULL)
        refs_note(&cloud->notes, REFS_NOTE_WARNING, "%s: %s", aliases->file, aliases->warning);
    return published;
}

/* Aliases are read once and do not change during the life of a refs_cloud. */
static refs_status read_aliases(refs_cloud *cloud, const refs_s3nc **aliases, refs_error *err) {
    const refs_s3nc_source source = {refs_vfs_posix(), {look_up, &cloud->settings}, NULL};
    refs_s3nc *read = NULL;
    refs_lock(&cloud->lock);
    *aliases = cloud->aliases;
    refs_unlock(&cloud->lock);
    if (*aliases != NULL) return REFS_OK;
    const refs_status status = refs_s3nc_open(&source, &read, err);
    if (status != REFS_OK) return status == REFS_NOMEM ? status : REFS_INVALID;
    *aliases = publish_aliases(cloud, read);
    return REFS_OK;
}

static refs_status find_alias(refs_cloud *cloud, refs_str name, refs_object *object,
                              refs_error *err) {
    const refs_application *application = cloud->settings.application;
    if (application != NULL && application->find_alias != NULL) {
        object->alias = application->find_alias(application->self, name, &object->alias_file);
        return REFS_OK;
    }
    const refs_s3nc *aliases;
    REFS_TRY(read_aliases(cloud, &aliases, err));
    object->alias_file = aliases->file;
    for (size_t i = 0; i < aliases->n_hosts; i++)
        if (refs_str_is(name, aliases->hosts[i].alias)) object->alias = &aliases->hosts[i];
    return REFS_OK;
}

/* -- parts ------------------------------------------------------------------------------------- */

/* The end of the first part of a path; bucket names have no "?". */
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

bool refs_cloud__is_of_store(const refs_object *object) {
    return object->kind == REFS_OBJECT_S3 || object->kind == REFS_OBJECT_GOOGLE ||
           object->kind == REFS_OBJECT_AZURE || object->kind == REFS_OBJECT_OSS;
}

refs_status refs_cloud__parse(refs_cloud *cloud, const char *location, refs_object *object,
                              refs_error *err) {
    refs_str name = refs_str_from(location);
    *object = (refs_object){.kind = REFS_OBJECT_FILE,
                            .settings = refs_settings__at(&cloud->settings, location)};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!refs_str_starts(name, kinds[i].prefix)) continue;
        object->kind = kinds[i].kind;
        if (kinds[i].prefix[0] == '/')
            name = refs_str_part(name, strlen(kinds[i].prefix), name.size);
        break;
    }
    object->key = name;
    if (object->kind == REFS_OBJECT_OSS && cloud->settings.application == NULL)
        object->kind = REFS_OBJECT_FOREIGN;
    if (!refs_cloud__is_of_store(object)) return REFS_OK;
    size_t alias = 0;
    if (object->kind == REFS_OBJECT_S3)
        REFS_TRY(find_alias(cloud, refs_str_part(name, 0, first_part(name)), object, err));
    if (object->alias != NULL) alias = first_part(name) + 1;
    split(refs_str_part(name, alias, name.size), object);
    object->whole = refs_str_part(name, 0, alias + object->bucket.size);
    return refs_cloud__read_profile(cloud, object, err);
}
