/* masters.c -- replaces masters among the sources by the files of their fragments; content of a
 * master that no file has becomes one more source. See refs/combine.h. */
#include "masters.h"

#include <stdlib.h>

#include "refs/url.h"

refs_status refs_combine_masters_open(const refs_vfs *vfs, const refs_set_options *sets,
                                      refs_combine_masters **masters, refs_error *err) {
    *masters = refs_calloc(1, sizeof **masters);
    if (*masters == NULL) return refs_fail_nomem(err);
    (*masters)->vfs = vfs;
    (*masters)->sets = sets;
    pthread_mutex_init(&(*masters)->lock, NULL);
    return REFS_OK;
}

void refs_combine_masters_free(refs_combine_masters *masters) {
    if (masters == NULL) return;
    for (size_t i = 0; i < masters->n; i++) refs_masters__free_one(masters->masters[i]);
    for (size_t i = 0; masters->items != NULL && i < masters->files.count; i++)
        refs_free(masters->items[i].uses);
    refs_free(masters->items);
    refs_free(masters->masters);
    refs_free((void *)masters->by_name);
    refs_intern_clear(&masters->replaced);
    refs_intern_clear(&masters->files);
    refs_fetcher_free(masters->fetcher);
    pthread_mutex_destroy(&masters->lock);
    refs_free(masters);
}

/* -- files by their locations ------------------------------------------------------------------ */

/* Appends the identity of a file: local files may have several names. */
static refs_status append_key(const char *name, refs_buf *key, refs_error *err) {
    const bool is_local = !refs_location_is_remote(refs_str_from(name)) &&
                          refs_url_authority_begin(refs_str_from(name)) == SIZE_MAX;
    char *found = is_local ? realpath(name, NULL) : NULL;
    const char *text = found != NULL ? found : name;
    const refs_status status = refs_buf_append(key, text, strlen(text) + 1, err);
    free(found);
    return status;
}

uint32_t refs_masters__find_key(const refs_intern *names, const char *name) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    if (names->count == 0 || append_key(name, &key, NULL) != REFS_OK) return REFS_INTERN_NONE;
    return refs_intern_find(names, refs_str_from((const char *)key.data));
}

static refs_status add_key(refs_intern *names, const char *name, uint32_t *id, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(append_key(name, &key, err));
    return refs_intern_add(names, refs_str_from((const char *)key.data), id, err);
}

uint32_t refs_combine__find_master_file(const refs_combine_masters *masters, const char *name) {
    const uint32_t id =
        masters != NULL ? refs_masters__find_key(&masters->files, name) : REFS_INTERN_NONE;
    return id != REFS_INTERN_NONE ? id : REFS_COMBINE_NONE;
}

const refs_combine_master_file *refs_combine__master_file(const refs_combine_masters *masters,
                                                          uint32_t number) {
    return number != REFS_COMBINE_NONE ? &masters->items[number] : NULL;
}

const char *refs_combine__name_master(const refs_combine_masters *masters, uint32_t number) {
    const refs_combine_master_file *file = refs_combine__master_file(masters, number);
    return file != NULL && file->n > 0 ? file->uses[0].by->name : NULL;
}

const char *refs_combine_master_of(const refs_combine_masters *masters, const char *file) {
    return refs_combine__name_master(masters, refs_combine__find_master_file(masters, file));
}

bool refs_combine__has_masters(const refs_combine_masters *masters) {
    return masters != NULL && masters->n > masters->n_before;
}

const refs_intern *refs_combine__find_rest(const refs_combine_masters *masters, const char *name) {
    const uint32_t id =
        masters != NULL ? refs_masters__find_key(&masters->replaced, name) : REFS_INTERN_NONE;
    return id != REFS_INTERN_NONE ? &masters->by_name[id]->rest : NULL;
}

/* -- files instead of masters ------------------------------------------------------------------ */

/* Fails if a fragment has `by` among its own fragments, directly or through others: combining would
 * never reach data. */
static refs_status check_above(const refs_combine_masters *masters, const refs_listed_master *by,
                               const char *file, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern above = {0};
    uint32_t id;
    if (refs_masters__find_key(&masters->replaced, file) == REFS_INTERN_NONE) return REFS_OK;
    REFS_TRY(add_key(&above, by->name, &id, err));
    for (uint32_t i = 0; i < above.count; i++) {
        const uint32_t at = refs_intern_find(&masters->files, refs_intern_get(&above, i));
        for (size_t k = 0; at != REFS_INTERN_NONE && k < masters->items[at].n; k++)
            REFS_TRY(add_key(&above, masters->items[at].uses[k].by->name, &id, err));
    }
    if (refs_masters__find_key(&above, file) == REFS_INTERN_NONE) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "%s: expected fragments in data files, found a cycle: its fragment %s is an "
                     "aggregation of it, or of others that are: make one of them again",
                     by->name, file);
}

static refs_status use_file(refs_combine_masters *masters, const refs_listed_master *by,
                            size_t number, refs_error *err) {
    const size_t n = masters->files.count;
    uint32_t id;
    if (!refs_grow((void **)&masters->items, &masters->capacity, n, sizeof *masters->items))
        return refs_fail_nomem(err);
    masters->items[n] = (refs_combine_master_file){.uses = NULL};
    REFS_TRY(add_key(&masters->files, by->files.items[number].location, &id, err));
    refs_combine_master_file *file = &masters->items[id];
    REFS_GROW(file->uses, file->capacity, file->n, err);
    file->uses[file->n++] = (refs_master_use){by, &by->items[number]};
    return check_above(masters, by, by->files.items[number].location, err);
}

typedef struct replacing {
    refs_combine_masters *masters;
    const refs_combine_named *names;
    refs_intern own;   /* names of sources of what grows */
    refs_intern given; /* names of sources that no master has */
    refs_intern listed;
    refs_buf *to;
} replacing;

static refs_status list_name(replacing *all, const char *name, refs_error *err) {
    const size_t n = all->listed.count;
    uint32_t id;
    REFS_TRY(add_key(&all->listed, name, &id, err));
    return all->listed.count > n ? refs_buf_append_text(all->to, refs_str_from(name), err)
                                 : REFS_OK;
}

static refs_status list_given(replacing *all, refs_error *err) {
    for (size_t i = 0; i < all->names->n; i++) {
        const char *name = all->names->items[i];
        uint32_t id;
        if (i < all->names->n_own) REFS_TRY(add_key(&all->own, name, &id, err));
        if (refs_masters__find_key(&all->masters->files, name) == REFS_INTERN_NONE)
            REFS_TRY(add_key(&all->given, name, &id, err));
    }
    return REFS_OK;
}

static refs_status list_files(replacing *all, const refs_listed_master *one, refs_error *err) {
    refs_combine_masters *masters = all->masters;
    for (size_t k = 0; k < one->files.n; k++) {
        const char *file = one->files.items[k].location;
        REFS_TRY(use_file(masters, one, k, err));
        const char *group = one->items[k].group;
        const bool is_given = refs_masters__find_key(&all->given, file) != REFS_INTERN_NONE;
        if (is_given && group != NULL && *group != '\0')
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s is a source itself and, by its group %s, a fragment of %s: leave "
                             "out one of them",
                             file, group, one->name);
        if (is_given) masters->items[refs_masters__find_key(&masters->files, file)].is_whole = true;
        if (refs_masters__find_key(&masters->replaced, file) == REFS_INTERN_NONE)
            REFS_TRY(list_name(all, file, err));
    }
    return REFS_OK;
}

/* A growing set was made of a master's files, and of the master if it has more than they. */
static refs_status list_own(replacing *all, const refs_listed_master *one, refs_error *err) {
    for (size_t k = 0; k < one->files.n; k++) {
        if (refs_masters__find_key(&all->own, one->files.items[k].location) == REFS_INTERN_NONE)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: cannot append to a copy of a master: index the master's files, "
                             "or the master with --along",
                             one->name);
        REFS_TRY(use_file(all->masters, one, k, err));
    }
    return REFS_OK;
}

static refs_status note_replaced(refs_combine_masters *masters, const refs_listed_master *one,
                                 refs_error *err) {
    const size_t n = masters->replaced.count;
    uint32_t id;
    REFS_GROW(masters->by_name, masters->name_capacity, n, err);
    REFS_TRY(add_key(&masters->replaced, one->name, &id, err));
    if (masters->replaced.count > n) masters->by_name[id] = one;
    return REFS_OK;
}

static int by_number(const void *left, const void *right) {
    const refs_listed_master *const *a = left, *const *b = right;
    return ((*a)->number > (*b)->number) - ((*a)->number < (*b)->number);
}

/* Sorts masters that threads found, so that messages name the first. */
static void sort_new(const refs_combine_masters *masters) {
    const size_t n = masters->n - masters->n_before;
    if (n > 0) qsort(masters->masters + masters->n_before, n, sizeof *masters->masters, by_number);
}

/* Lists the names to read. Masters that are sources themselves come last: files are read first. */
static refs_status list_names(replacing *all, refs_error *err) {
    refs_combine_masters *masters = all->masters;
    const refs_combine_named *names = all->names;
    REFS_TRY(list_given(all, err));
    sort_new(masters);
    for (size_t i = masters->n_before; i < masters->n; i++)
        REFS_TRY(note_replaced(masters, masters->masters[i], err));
    for (size_t i = 0, next = masters->n_before; i < names->n; i++) {
        while (next < masters->n && masters->masters[next]->number < i) next++;
        const refs_listed_master *one = next < masters->n && masters->masters[next]->number == i
                                            ? masters->masters[next]
                                            : NULL;
        if (one != NULL && i < names->n_own)
            REFS_TRY(list_own(all, one, err));
        else if (one != NULL)
            REFS_TRY(list_files(all, one, err));
        /* files that other masters have, too, are listed twice */
        if (i < names->n_own && names->own_are_files)
            REFS_TRY(refs_buf_append_text(all->to, refs_str_from(names->items[i]), err));
        else if (i < names->n_own ||
                 (one == NULL &&
                  refs_masters__find_key(&masters->replaced, names->items[i]) == REFS_INTERN_NONE))
            REFS_TRY(list_name(all, names->items[i], err));
    }
    masters->n_before = masters->n;
    for (size_t i = 0; i < masters->n; i++)
        if (masters->masters[i]->rest.count > 0 &&
            refs_masters__find_key(&all->own, masters->masters[i]->name) == REFS_INTERN_NONE)
            REFS_TRY(list_name(all, masters->masters[i]->name, err));
    return REFS_OK;
}

static bool is_of(const refs_combine_masters *masters, const refs_listed_master *one,
                  const refs_combine_member *member) {
    const refs_combine_master_file *file = refs_combine__master_file(masters, member->master_file);
    for (size_t i = 0; file != NULL && i < file->n; i++)
        if (file->uses[i].by == one) return true;
    return false;
}

/* Whether a file of a master has a variable; another source may have one of the same name. */
static bool is_in_files(const refs_combine *combine, const refs_listed_master *one, refs_str path) {
    const uint32_t id = refs_intern_find(&combine->strings, path);
    size_t concat;
    if (combine->options.pattern != NULL && refs_combine__is_dim(combine, path, &concat))
        return true; /* names of files have it */
    for (size_t i = 0; i < combine->n_members && id != REFS_INTERN_NONE; i++) {
        const refs_combine_member *member = &combine->members[i];
        bool has_it = refs_combine__find(member, id) != NULL;
        for (size_t k = 0; k < member->n_left_out && !has_it; k++)
            has_it = member->left_out[k].path == id;
        if (has_it && is_of(combine->options.masters, one, member)) return true;
    }
    return false;
}

/* Fails if the names of files have the values of a variable that no file has. */
static refs_status check_pattern(const refs_combine *combine, const refs_listed_master *one,
                                 refs_str path, refs_error *err) {
    REFS_SCOPED_BUF dims = REFS_BUF_INIT;
    const char *dim;
    if (one->pattern != NULL) REFS_TRY(refs_combine_pattern_dims(one->pattern, &dims, err));
    for (refs_str rest = refs_buf_text(&dims); refs_str_next_text(&rest, &dim);)
        if (refs_str_is(refs_path_last(path), dim))
            return refs_fail(err, REFS_INVALID,
                             "%s was made with --pattern '%s': expected this option again, because "
                             "its files have no %s%s",
                             one->name, one->pattern, dim,
                             refs_combine__is_of_fields(combine)
                                 ? ": use refs index SOURCE... -o NAME.nc, which supports it"
                                 : "");
    return REFS_OK;
}

/* Adds the variables that no file has to those that are read from a master. */
static refs_status find_rest(const refs_combine *combine, refs_listed_master *one, bool *are_more,
                             refs_error *err) {
    const bool is_some = combine->options.group != NULL;
    const size_t n = one->rest.count;
    for (uint32_t i = 0; !is_some && i < one->own.count; i++) {
        const refs_str path = refs_intern_get(&one->own, i);
        uint32_t id;
        if (is_in_files(combine, one, path)) continue;
        REFS_TRY(check_pattern(combine, one, path, err));
        REFS_TRY(refs_intern_add(&one->rest, path, &id, err));
    }
    *are_more = *are_more || one->rest.count > n;
    return REFS_OK;
}

/* Whether masters were found, or have more than their files. */
static refs_status find_more(refs_combine_masters *masters, const refs_combine *combine,
                             bool *are_more, refs_error *err) {
    *are_more = refs_combine__has_masters(masters);
    const bool is_read = combine != NULL && !*are_more;
    for (size_t i = 0; is_read && i < masters->n; i++)
        REFS_TRY(find_rest(combine, masters->masters[i], are_more, err));
    return REFS_OK;
}

refs_status refs_combine_replace_masters(refs_combine_masters *masters, const refs_combine *combine,
                                         const refs_combine_named *names, refs_buf *replaced,
                                         refs_error *err) {
    replacing all = {.masters = masters, .names = names, .to = replaced};
    replaced->size = 0;
    bool are_more;
    REFS_TRY(find_more(masters, combine, &are_more, err));
    if (!are_more)
        return combine != NULL ? refs_masters__compare_coordinates(masters, combine, err) : REFS_OK;
    const refs_status status = list_names(&all, err);
    refs_intern_clear(&all.own);
    refs_intern_clear(&all.given);
    refs_intern_clear(&all.listed);
    return status;
}
