/* rename.c -- names of fragments for a set in another place; see aggregation.h. */
#include "aggregation_internal.h"
#include "refs/file_name.h"
#include "refs/url.h"

/* What is renamed, and with what. */
typedef struct renaming {
    const refs_file_renamer *renamer;
    const refs_aggregation *aggregation;
    bool changes;                               /* some name has become another */
    bool is_selected;                           /* the fragment whose names are read */
    const refs_json *root;                      /* of the JSON that is read … */
    refs_buf *text;                             /* … and written */
    bool is_known[1u << REFS_N_LOCATION_KINDS]; /* by the kinds that a name has locations of … */
    unsigned kind[1u << REFS_N_LOCATION_KINDS]; /* … that of which files are there */
    refs_intern absent;                         /* names of files that were looked for in vain */
} renaming;

/* Locations of one name. */
typedef struct located {
    refs_buf text;
    unsigned kinds; /* a bit for each that it has */
    const char *at[REFS_N_LOCATION_KINDS];
} located;

static bool is_confined(const renaming *job) {
    return job->renamer->location != NULL && !job->renamer->remote_to_local &&
           (job->aggregation->named_by != NULL ||
            refs_location_may_be_remote(refs_str_from(job->renamer->location)));
}

/* Whether a name is not its own location: it depends on the folder of the master, or on other
 * attributes, or is a file: URI. */
static bool is_dependent(const renaming *job, refs_str name) {
    const refs_array_meta *files = job->aggregation->terms.files;
    refs_str path = name;
    return refs_file_name_needs_folder(name) || refs_url_take_file(&path) ||
           job->aggregation->base.size > 0 ||
           (files != NULL && refs_json_get(files->attributes, "substitutions") != NULL);
}

/* Finds the locations of a name by their kinds. */
static refs_status find_locations(const renaming *job, refs_str name, located *found,
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

/* Files of one aggregation whose names have locations of the same kinds lie together: the first
 * that is found tells of which kind their locations are. */
static refs_status look_for(renaming *job, refs_str name, refs_error *err) {
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

/* Names that are refused, but not for what they name, name nothing. */
static refs_status confine(const renaming *job, refs_str name, refs_error *err) {
    located found = {.text = REFS_BUF_INIT};
    refs_error problem = REFS_ERROR_INIT;
    if (!is_confined(job)) return REFS_OK;
    const refs_status status = find_locations(job, name, &found, &problem);
    refs_buf_clear(&found.text);
    if (status != REFS_INVALID && status != REFS_NOMEM) return REFS_OK;
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status rename_dependent(renaming *job, refs_str name, refs_buf *renamed,
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

/* Names that do not depend on a folder are their own location. */
static refs_status rename_resolved(renaming *job, refs_str name, refs_buf *renamed,
                                   refs_error *err) {
    if (job->renamer->location != NULL && is_dependent(job, name))
        return rename_dependent(job, name, renamed, err);
    REFS_TRY(confine(job, name, err));
    return job->renamer->rename(job->renamer->user, name, renamed, err);
}

/* Appends the new name. */
static refs_status rename_one(renaming *job, refs_str name, refs_buf *renamed, refs_error *err) {
    const size_t begin = renamed->size;
    if (name.size == 0) return REFS_OK;
    if (!job->is_selected) return refs_buf_append_str(renamed, name, err);
    REFS_TRY(rename_resolved(job, name, renamed, err));
    job->changes =
        job->changes || !refs_str_equal(name, refs_str_view((const char *)renamed->data + begin,
                                                            renamed->size - begin));
    return REFS_OK;
}

static bool selects(const renaming *job, const uint64_t *index) {
    const refs_file_renamer *renamer = job->renamer;
    return renamer->selects == NULL ||
           renamer->selects(renamer->user, &job->aggregation->container, index);
}

/* -- names in a variable ----------------------------------------------------------------------- */

/* Of names in a list: there may be copies of each fragment (CFA-0.6), or one name for all. */
static bool selects_name(const renaming *job, size_t number, size_t n) {
    uint64_t index[REFS_MAX_RANK] = {0};
    const uint64_t n_partitions = job->aggregation->n_partitions;
    if (job->renamer->selects == NULL) return true;
    const uint64_t n_each = n_partitions > 0 && n > n_partitions ? n / n_partitions : 1;
    refs_aggregation__index_of(job->aggregation, number / n_each, index);
    return selects(job, index);
}

static size_t count_texts(const refs_buf *texts) {
    size_t n = 0;
    for (size_t i = 0; i < texts->size; i++) n += texts->data[i] == '\0';
    return n;
}

static refs_status rename_variable(renaming *job, const refs_array_meta *meta, refs_error *err) {
    refs_buf strings = REFS_BUF_INIT, renamed = REFS_BUF_INIT;
    refs_status status = refs_aggregation__read_strings(job->aggregation, meta, &strings, err);
    const size_t n = count_texts(&strings);
    for (size_t at = 0; at < strings.size && status == REFS_OK;) {
        const refs_str name = refs_str_from((const char *)strings.data + at);
        status = look_for(job, name, err);
        at += name.size + 1;
    }
    for (size_t at = 0, i = 0; at < strings.size && status == REFS_OK; i++) {
        const refs_str name = refs_str_from((const char *)strings.data + at);
        job->is_selected = selects_name(job, i, n);
        status = rename_one(job, name, &renamed, err);
        if (status == REFS_OK) status = refs_buf_append(&renamed, "", 1, err);
        at += name.size + 1;
    }
    const size_t rank =
        meta->rank - (refs_aggregation__has_letters(job->aggregation, meta) ? 1 : 0);
    if (status == REFS_OK && job->changes)
        status =
            job->renamer->variable(job->renamer->user, meta, rank, refs_buf_view(&renamed), err);
    refs_buf_clear(&strings);
    refs_buf_clear(&renamed);
    return status;
}

/* -- names in JSON ----------------------------------------------------------------------------- */

static refs_status write_value(renaming *job, const refs_json *value, size_t depth,
                               refs_error *err);

static refs_status write_name(renaming *job, const refs_json *value, refs_error *err) {
    refs_buf renamed = REFS_BUF_INIT;
    refs_status status = rename_one(job, refs_json_text(value), &renamed, err);
    if (status == REFS_OK)
        status = refs_json_write_string(refs_str_view((const char *)renamed.data, renamed.size),
                                        job->text, err);
    refs_buf_clear(&renamed);
    return status;
}

/* Depths of what is walked into: the root, its Partitions, one of them, its subarray. */
enum { ROOT, PARTITIONS, PARTITION, SUBARRAY };

static refs_status write_member(renaming *job, const refs_json *object, size_t i, size_t depth,
                                refs_error *err) {
    const refs_str name = refs_json_name_at(object, i);
    const refs_json *value = refs_json_at(object, i);
    REFS_TRY(refs_json_write_string(name, job->text, err));
    REFS_TRY(refs_buf_append(job->text, ":", 1, err));
    if (depth == SUBARRAY && refs_str_is(name, "file") && refs_json_is_string(value))
        return write_name(job, value, err);
    const bool is_walked = (depth == ROOT && refs_str_is(name, "Partitions")) ||
                           (depth == PARTITION && refs_str_is(name, "subarray"));
    return is_walked ? write_value(job, value, depth + 1, err)
                     : refs_json_write(value, job->text, err);
}

/* The number along a dimension that is not split is 0. */
static bool selects_partition(const renaming *job, const refs_json *partition) {
    const refs_json *names = refs_json_get(job->root, "pmdimensions");
    const refs_json *numbers = refs_json_get(partition, "index");
    uint64_t index[REFS_MAX_RANK] = {0};
    for (size_t dim = 0; dim < job->aggregation->meta.rank; dim++)
        for (size_t i = 0; i < refs_json_size(names); i++)
            if (refs_str_is(refs_json_text(refs_json_at(names, i)), job->aggregation->names[dim]))
                (void)refs_json_u64(refs_json_at(numbers, i), &index[dim]);
    return selects(job, index);
}

/* Names that were resolved have no base any more. */
static bool is_left_out(const renaming *job, refs_str member) {
    return job->renamer->location != NULL && refs_str_is(member, "base");
}

static refs_status write_value(renaming *job, const refs_json *value, size_t depth,
                               refs_error *err) {
    refs_buf *text = job->text;
    const bool is_list = refs_json_is_array(value);
    size_t n = 0;
    if (!is_list && !refs_json_is_object(value)) return refs_json_write(value, text, err);
    if (depth == PARTITION && !is_list) job->is_selected = selects_partition(job, value);
    REFS_TRY(refs_buf_append(text, is_list ? "[" : "{", 1, err));
    for (size_t i = 0; i < refs_json_size(value); i++) {
        if (depth == ROOT && !is_list && is_left_out(job, refs_json_name_at(value, i))) continue;
        REFS_TRY(refs_buf_append(text, ",", n++ > 0, err));
        REFS_TRY(is_list ? write_value(job, refs_json_at(value, i), depth + 1, err)
                         : write_member(job, value, i, depth, err));
    }
    return refs_buf_append(text, is_list ? "]" : "}", 1, err);
}

static refs_status look_for_all(renaming *job, refs_error *err) {
    const refs_aggregation *aggregation = job->aggregation;
    if (aggregation->meta.status != REFS_OK) return REFS_OK;
    for (uint64_t i = 0; i < aggregation->n_partitions; i++) {
        const uint32_t id = aggregation->files[aggregation->fragments[i].first_file];
        if (id != REFS_NO_TEXT)
            REFS_TRY(look_for(job, refs_intern_get(&aggregation->strings, id), err));
    }
    return REFS_OK;
}

static refs_status rename_json(renaming *job, refs_error *err) {
    const refs_array_meta *container = &job->aggregation->container;
    refs_json_doc *doc = NULL;
    refs_buf text = REFS_BUF_INIT;
    REFS_TRY(look_for_all(job, err));
    REFS_TRY(
        refs_json_parse(refs_aggregation__text(container->attributes, "cfa_array"), &doc, err));
    job->root = refs_json_root(doc);
    job->text = &text;
    refs_status status = write_value(job, job->root, ROOT, err);
    if (status == REFS_OK && job->changes)
        status = job->renamer->attribute(job->renamer->user, container,
                                         refs_str_view((const char *)text.data, text.size), err);
    refs_json_doc_free(doc);
    refs_buf_clear(&text);
    return status;
}

/* -- all of them ------------------------------------------------------------------------------- */

/* Whether names in a variable are those of an aggregation before this one, too. */
static bool is_renamed(const refs_aggregations *all, size_t i, const renaming *job,
                       const refs_array_meta *files) {
    for (size_t k = 0; k < i; k++) {
        renaming other = *job;
        other.aggregation = refs_aggregations__at(all, k);
        if (other.aggregation->terms.files == files && selects(&other, NULL)) return true;
    }
    return false;
}

static refs_status rename_all(const refs_aggregations *all, size_t i, renaming *job,
                              refs_error *err) {
    const refs_aggregation *aggregation = job->aggregation;
    if (aggregation->encoding == REFS_ENCODING_RECTILINEAR || !selects(job, NULL)) return REFS_OK;
    if (aggregation->encoding == REFS_ENCODING_CFA_JSON) return rename_json(job, err);
    const refs_array_meta *files = refs_aggregation__files(aggregation);
    return files != NULL && !is_renamed(all, i, job, files) ? rename_variable(job, files, err)
                                                            : REFS_OK;
}

/* What is only wrong with an aggregation that makes no sense anyway. Its names are confined all the
 * same: it may make sense later, when more of it can be read. */
static bool is_of_problem(const refs_aggregation *aggregation, refs_status status) {
    return aggregation->meta.status != REFS_OK && status != REFS_INVALID && status != REFS_NOMEM &&
           status != REFS_CANCELLED;
}

refs_status refs_aggregations_rename(const refs_aggregations *all, const refs_file_renamer *renamer,
                                     refs_error *err) {
    refs_aggregation *aggregation;
    for (size_t i = 0; (aggregation = refs_aggregations__at(all, i)) != NULL; i++) {
        renaming job = {.renamer = renamer, .aggregation = aggregation, .is_selected = true};
        refs_error problem = REFS_ERROR_INIT;
        refs_status status = refs_aggregation__find_origin(aggregation, &problem);
        if (status == REFS_OK) status = rename_all(all, i, &job, &problem);
        refs_intern_clear(&job.absent);
        if (status == REFS_OK || is_of_problem(aggregation, status)) continue;
        return refs_fail(err, status, "%s: %s", aggregation->container.path, problem.message);
    }
    return REFS_OK;
}
