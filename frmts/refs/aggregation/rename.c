/* rename.c -- names of fragments for a set in another folder; see aggregation.h. */
#include "aggregation_internal.h"
#include "cfa/cfa_internal.h"
#include "refs/file_name.h"
#include "refs/url.h"

/* The locations of one name. */
typedef struct located {
    refs_buf text;
    unsigned kinds; /* a bit for each kind that exists */
    const char *at[REFS_N_LOCATION_KINDS];
} located;

static bool is_confined(const refs_renaming *job) {
    return job->renamer->location != NULL && !job->renamer->remote_to_local &&
           (job->aggregation->named_by != NULL ||
            refs_location_may_be_remote(refs_str_from(job->renamer->location)));
}

/* Whether a name depends on the folder of the master or on other attributes, or is a file: URI. */
static bool is_dependent(const refs_renaming *job, refs_str name) {
    const refs_array_meta *files = job->aggregation->terms.files;
    refs_str path = name;
    return refs_file_name_needs_folder(name) || refs_url_take_file(&path) ||
           job->aggregation->base.size > 0 ||
           (files != NULL && refs_json_get(files->attributes, "substitutions") != NULL);
}

/* Finds the locations of a name by their kinds. */
static refs_status find_locations(const refs_renaming *job, refs_str name, located *found,
                                  refs_error *err) {
    const refs_agg_names names = {job->renamer->location, NULL, job->renamer->remote_to_local};
    size_t begin[REFS_N_LOCATION_KINDS];
    found->kinds = 0;
    found->text.size = 0;
    for (unsigned kind = 0; kind < REFS_N_LOCATION_KINDS; kind++) {
        const refs_agg_name one = {&names, name, (refs_location_kind)kind};
        begin[kind] = found->text.size;
        REFS_TRY(refs_aggregation__locate_kind(job->aggregation, &one, &found->text, err));
        if (found->text.size > begin[kind]) found->kinds |= 1u << kind;
    }
    for (unsigned kind = 0; kind < REFS_N_LOCATION_KINDS; kind++)
        found->at[kind] = (const char *)found->text.data + begin[kind];
    return REFS_OK;
}

static bool has_one_kind(unsigned kinds) {
    return (kinds & (kinds - 1)) == 0;
}

/* Names of one aggregation with the same kinds of locations are resolved in the same way: the first
 * existing file shows which kind that is. */
refs_status refs_renaming_look(refs_renaming *job, refs_str name, refs_error *err) {
    located found = {.text = REFS_BUF_INIT};
    refs_status status = REFS_OK;
    uint32_t id;
    if (name.size == 0 || job->renamer->location == NULL || !is_dependent(job, name))
        return REFS_OK;
    if (refs_intern_find(&job->absent, name) != REFS_INTERN_NONE) return REFS_OK;
    status = find_locations(job, name, &found, err);
    const bool is_one = job->is_known[found.kinds] || has_one_kind(found.kinds);
    if (status == REFS_OK && !is_one) status = refs_intern_add(&job->absent, name, &id, err);
    for (unsigned kind = 0; kind < REFS_N_LOCATION_KINDS && status == REFS_OK; kind++) {
        bool is_there = false;
        if (is_one || job->is_known[found.kinds] || (found.kinds & 1u << kind) == 0) continue;
        status = job->renamer->look(job->renamer->user, found.at[kind], &is_there, err);
        if (status != REFS_OK || !is_there) continue;
        job->is_known[found.kinds] = true;
        job->kind[found.kinds] = kind;
    }
    refs_buf_clear(&found.text);
    return status;
}

/* Checks a name for confinement. Names that are invalid for other reasons refer to nothing. */
static refs_status confine(const refs_renaming *job, refs_str name, refs_error *err) {
    located found = {.text = REFS_BUF_INIT};
    refs_error problem = REFS_ERROR_INIT;
    if (!is_confined(job)) return REFS_OK;
    const refs_status status = find_locations(job, name, &found, &problem);
    refs_buf_clear(&found.text);
    if (status != REFS_INVALID && status != REFS_NOMEM) return REFS_OK;
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status rename_dependent(refs_renaming *job, refs_str name, refs_buf *renamed,
                                    refs_error *err) {
    located found = {.text = REFS_BUF_INIT};
    unsigned kind = 0;
    refs_status status = find_locations(job, name, &found, err);
    if (status == REFS_OK) {
        while ((found.kinds & 1u << kind) == 0) kind++;
        if (job->is_known[found.kinds]) kind = job->kind[found.kinds];
        status =
            job->renamer->rename(job->renamer->user, refs_str_from(found.at[kind]), renamed, err);
    }
    refs_buf_clear(&found.text);
    return status;
}

/* Renames a name that does not depend on a folder, by its location. */
static refs_status rename_resolved(refs_renaming *job, refs_str name, refs_buf *renamed,
                                   refs_error *err) {
    if (job->renamer->location != NULL && is_dependent(job, name))
        return rename_dependent(job, name, renamed, err);
    REFS_TRY(confine(job, name, err));
    return job->renamer->rename(job->renamer->user, name, renamed, err);
}

/* Appends the new name. */
refs_status refs_renaming_append(refs_renaming *job, refs_str name, refs_buf *renamed,
                                 refs_error *err) {
    const size_t begin = renamed->size;
    if (name.size == 0) return REFS_OK;
    if (!job->is_selected) return refs_buf_append_str(renamed, name, err);
    REFS_TRY(rename_resolved(job, name, renamed, err));
    const refs_str after =
        refs_str_view((const char *)renamed->data + begin, renamed->size - begin);
    job->changes = job->changes || !refs_str_equal(name, after);
    if (job->renamer->note == NULL || job->has_copies) return REFS_OK;
    return job->renamer->note(job->renamer->user, name, after, err);
}

bool refs_renaming_selects(const refs_renaming *job, const uint64_t *index) {
    const refs_file_renamer *renamer = job->renamer;
    return renamer->selects == NULL ||
           renamer->selects(renamer->user, &job->aggregation->container, index);
}

/* -- names in a variable ----------------------------------------------------------------------- */

/* The number of names for each fragment: there may be copies (CFA-0.6), or one name for all. */
static uint64_t count_copies(const refs_renaming *job, size_t n) {
    const uint64_t n_fragments = job->aggregation->grid.n;
    return n_fragments > 0 && n > n_fragments ? n / n_fragments : 1;
}

static bool selects_name(const refs_renaming *job, size_t number, size_t n) {
    uint64_t index[REFS_MAX_RANK] = {0};
    if (job->renamer->selects == NULL) return true;
    refs_fragment_grid_index(&job->aggregation->grid, number / count_copies(job, n), index);
    return refs_renaming_selects(job, index);
}

static refs_status rename_variable(refs_renaming *job, const refs_array_meta *meta,
                                   refs_error *err) {
    REFS_SCOPED_BUF strings = REFS_BUF_INIT, renamed = REFS_BUF_INIT;
    refs_status status = refs_aggregation__read_strings(job->aggregation, meta, &strings, err);
    const size_t n = refs_str_count_texts(refs_buf_text(&strings));
    const char *name;
    job->has_copies = count_copies(job, n) > 1;
    for (refs_str rest = refs_buf_text(&strings);
         status == REFS_OK && refs_str_next_text(&rest, &name);)
        status = refs_renaming_look(job, refs_str_from(name), err);
    refs_str rest = refs_buf_text(&strings);
    for (size_t i = 0; status == REFS_OK && refs_str_next_text(&rest, &name); i++) {
        job->is_selected = selects_name(job, i, n);
        status = refs_renaming_append(job, refs_str_from(name), &renamed, err);
        if (status == REFS_OK) status = refs_buf_append(&renamed, "", 1, err);
    }
    const size_t rank =
        meta->rank - (refs_aggregation__has_letters(job->aggregation, meta) ? 1 : 0);
    if (status == REFS_OK && job->changes)
        status =
            job->renamer->variable(job->renamer->user, meta, rank, refs_buf_view(&renamed), err);
    return status;
}

/* -- all fragments ----------------------------------------------------------------------------- */

/* Whether an earlier aggregation uses the same variable of names. */
static bool is_renamed(const refs_aggregations *all, size_t i, const refs_renaming *job,
                       const refs_array_meta *files) {
    for (size_t k = 0; k < i; k++) {
        refs_renaming other = *job;
        other.aggregation = refs_aggregations__at(all, k);
        if (other.aggregation->terms.files == files && refs_renaming_selects(&other, NULL))
            return true;
    }
    return false;
}

static refs_status rename_all(const refs_aggregations *all, size_t i, refs_renaming *job,
                              refs_error *err) {
    const refs_encoding *encoding = job->aggregation->encoding;
    if (!refs_renaming_selects(job, NULL)) return REFS_OK;
    if (encoding->rename != NULL) return encoding->rename(job, err);
    const refs_array_meta *names = job->aggregation->terms.files;
    return names != NULL && !is_renamed(all, i, job, names) ? rename_variable(job, names, err)
                                                            : REFS_OK;
}

/* Ignores failures of an invalid aggregation. Its names are confined nevertheless, because it may
 * become valid when more of it can be read. */
static bool is_of_problem(const refs_aggregation *aggregation, refs_status status) {
    return aggregation->meta.status != REFS_OK && status != REFS_INVALID && status != REFS_NOMEM &&
           status != REFS_CANCELLED;
}

refs_status refs_aggregations_rename(const refs_aggregations *all, const refs_file_renamer *renamer,
                                     refs_error *err) {
    refs_aggregation *aggregation;
    for (size_t i = 0; (aggregation = refs_aggregations__at(all, i)) != NULL; i++) {
        refs_renaming job = {.renamer = renamer, .aggregation = aggregation, .is_selected = true};
        refs_error problem = REFS_ERROR_INIT;
        refs_status status = refs_aggregation__find_origin(aggregation, &problem);
        if (status == REFS_OK) status = rename_all(all, i, &job, &problem);
        refs_intern_clear(&job.absent);
        if (status == REFS_OK || is_of_problem(aggregation, status)) continue;
        return refs_fail(err, status, "%s: %s", aggregation->container.path, problem.message);
    }
    return REFS_OK;
}
