/* encoding_cf113.c -- CF-1.13, section 2.8, its drafts, and CFA-0.6 to 0.6.2: aggregated_data names
 * variables with the sizes of fragments, their files, and their variables; see encoding.h.
 *
 * The term "location" means sizes in one of them and files in another: all terms together show
 * which it is. */
#include <strings.h>

#include "aggregation_internal.h"
#include "cfa/cfa_internal.h"
#include "refs/own_attributes.h"
#include "refs/store.h"

/* -- terms of aggregated_data ------------------------------------------------------------------ */

/* Compares terms without case, as CFA-0.6 allows. */
static bool is_term(refs_str word, const char *term) {
    const size_t size = strlen(term);
    return word.size == size + 1 && word.data[size] == ':' &&
           strncasecmp(word.data, term, size) == 0;
}

/* The variable that a term names; empty if the term is absent. */
static refs_str find_term(refs_str text, const char *term) {
    refs_str word, variable;
    while (refs_str_next_word(&text, REFS_BLANKS, &word) &&
           refs_str_next_word(&text, REFS_BLANKS, &variable))
        if (is_term(word, term)) return variable;
    return refs_str_view("", 0);
}

/* The names of terms in each spelling; NULL: the term does not exist. A spelling is recognised by
 * its `marks` among the terms: of CF-1.13, cfdm 1.12, CFAPyX, or CFA-0.6. */
static const struct spelling {
    bool is_cf;
    const char *marks[2];
    const char *sizes, *files, *variables, *formats, *values;
} spellings[] = {
    {true, {"map", "uris"}, "map", "uris", "identifiers", NULL, NULL},
    {true, {"map", "unique_values"}, "map", NULL, NULL, NULL, "unique_values"},
    {false, {"map", "unique_value"}, "map", NULL, NULL, NULL, "unique_value"},
    {false, {"map", "location"}, "map", "location", "variable", NULL, NULL},
    {false, {"shape", "location"}, "shape", "location", "address", NULL, NULL},
    {false, {"shape", "value"}, "shape", NULL, NULL, NULL, "value"},
    {false, {"location", "file"}, "location", "file", "address", "format", NULL},
    {false, {"location", "address"}, "location", "file", "address", "format", NULL},
};
#define N_SPELLINGS (sizeof spellings / sizeof spellings[0])

static const struct spelling *spelling_in(const refs_json *attributes) {
    refs_str text = refs_aggregation__text(attributes, "aggregated_data");
    for (size_t i = 0; i < N_SPELLINGS; i++)
        if (find_term(text, spellings[i].marks[0]).size > 0 &&
            find_term(text, spellings[i].marks[1]).size > 0)
            return &spellings[i];
    return NULL;
}

static bool recognise(const refs_json *attributes) {
    return refs_json_get(attributes, "aggregated_data") != NULL;
}

static bool has_variable(const refs_aggregation *aggregation, const refs_array_meta *meta) {
    const refs_terms *terms = &aggregation->terms;
    return meta == terms->sizes || meta == terms->files || meta == terms->variables ||
           meta == terms->formats || meta == terms->values;
}

/* -- decoding ---------------------------------------------------------------------------------- */

static refs_status find_variable(const refs_aggregation *aggregation, const char *term,
                                 const refs_array_meta **meta, refs_error *err) {
    refs_str text = refs_aggregation__text(aggregation->container.attributes, "aggregated_data");
    refs_str name = term != NULL ? find_term(text, term) : refs_str_view("", 0);
    *meta = NULL;
    if (name.size == 0) return REFS_OK;
    *meta = refs_hierarchy_resolve(aggregation->hierarchy, aggregation->container.group, name);
    if (*meta == NULL)
        return refs_fail(err, REFS_CORRUPT,
                         "aggregated_data names the variable %.*s (%s), which the file lacks",
                         REFS_STR_ARG(name), term);
    if ((*meta)->status == REFS_OK) return REFS_OK;
    return refs_fail(err, (*meta)->status, "%s: %s", (*meta)->path, (*meta)->problem);
}

static refs_status find_variables(refs_aggregation *aggregation, refs_error *err) {
    const struct spelling *spelled = spelling_in(aggregation->container.attributes);
    refs_terms *terms = &aggregation->terms;
    if (spelled == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "aggregated_data: expected the terms map, uris, identifiers (or "
                         "unique_values) of CF-1.13, or location, file, address of CFA-0.6");
    aggregation->is_unpacked = spelled->is_cf;
    REFS_TRY(find_variable(aggregation, spelled->sizes, &terms->sizes, err));
    REFS_TRY(find_variable(aggregation, spelled->files, &terms->files, err));
    REFS_TRY(find_variable(aggregation, spelled->variables, &terms->variables, err));
    REFS_TRY(find_variable(aggregation, spelled->formats, &terms->formats, err));
    REFS_TRY(find_variable(aggregation, spelled->values, &terms->values, err));
    if (terms->variables == NULL && terms->values == NULL)
        return refs_fail(err, REFS_CORRUPT, "aggregated_data lacks the term %s",
                         spelled->variables);
    return REFS_OK;
}

/* -- sizes of fragments ------------------------------------------------------------------------ */

/* Whether a number is a size: rows are padded with missing values. */
static bool is_size(double number) {
    return number >= 1 && number < 9e15 && number == (double)(uint64_t)number;
}

static refs_status read_row(refs_aggregation *aggregation, size_t dim, const double *row, size_t n,
                            refs_error *err) {
    refs_fragment_dim *parts = &aggregation->grid.dims[dim];
    uint64_t n_sizes = 0;
    while (n_sizes < n && is_size(row[n_sizes])) n_sizes++;
    parts->n_parts = n_sizes > 0 ? n_sizes : 1;
    REFS_TRY(refs_fragment_grid_count(&aggregation->grid,
                                      err)); /* before memory is allocated for them */
    REFS_NEW(parts->intervals, parts->n_parts, err);
    parts->capacity = (size_t)parts->n_parts;
    for (size_t i = 0; i < n_sizes; i++)
        REFS_TRY(refs_fragment_dim_append(parts, (uint64_t)row[i], err));
    for (size_t i = parts->n_intervals; i < n; i++)
        if (is_size(row[i]) || row[i] == 0)
            return refs_fail(err, REFS_CORRUPT,
                             "%s: size %zu along dimension %s: expected a missing value after the "
                             "last size, found %g",
                             aggregation->terms.sizes->path, i, aggregation->names[dim], row[i]);
    if (parts->n_intervals == 0)
        return refs_fail(err, REFS_CORRUPT, "%s: dimension %s has no fragments",
                         aggregation->terms.sizes->path, aggregation->names[dim]);
    aggregation->meta.shape[dim] = refs_fragment_dim_end(parts);
    return REFS_OK;
}

static refs_status check_sizes(const refs_aggregation *aggregation, refs_error *err) {
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        uint64_t declared =
            refs_aggregation__size_of(aggregation, refs_str_from(aggregation->names[dim]));
        if (declared != 0 && declared != aggregation->meta.shape[dim])
            return refs_fail(err, REFS_CORRUPT,
                             "the fragments have %llu elements along dimension %s: expected %llu",
                             (unsigned long long)aggregation->meta.shape[dim],
                             aggregation->names[dim], (unsigned long long)declared);
    }
    return REFS_OK;
}

static refs_status decode(refs_aggregation *aggregation, refs_error *err) {
    REFS_TRY(find_variables(aggregation, err));
    const refs_array_meta *sizes = aggregation->terms.sizes;
    size_t rank = aggregation->meta.rank, n = 0;
    REFS_SCOPED double *numbers = NULL;
    if (sizes == NULL)
        return refs_fail(err, REFS_CORRUPT, "aggregated_data lacks the sizes of the fragments");
    if (rank > 1 && (sizes->rank != 2 || sizes->shape[0] != rank))
        return refs_fail(err, REFS_CORRUPT, "%s: expected a row for each of %zu dimensions",
                         sizes->path, rank);
    REFS_TRY(refs_aggregation__read_numbers(aggregation, sizes, &numbers, &n, err));
    size_t columns = rank > 0 ? n / rank : 0;
    if (rank > 0 && (columns == 0 || n % rank != 0))
        return refs_fail(
            err, REFS_CORRUPT,
            "%s: has %zu values: expected %zu, one for each dimension of the aggregation",
            sizes->path, n, rank);
    for (size_t dim = 0; dim < rank; dim++)
        REFS_TRY(read_row(aggregation, dim, numbers + dim * columns, columns, err));
    return check_sizes(aggregation, err);
}

/* -- files and variables of fragments ---------------------------------------------------------- */

/* The strings of a variable: one or several for each partition, or one for all. */
typedef struct strings {
    refs_buf buf;
    const char *at;
    size_t n_each; /* 0: one for all */
} strings;

static refs_status fail_count(const refs_aggregation *aggregation, const refs_array_meta *meta,
                              uint64_t n, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "%s: has %llu values: expected %llu, one for each fragment",
                     meta->path, (unsigned long long)n, (unsigned long long)aggregation->grid.n);
}

/* Reads the size of a trailing dimension: the characters of netCDF-3 strings, or copies in CFA-0.6.
 * Nothing is read if there are too many or too few elements. */
static refs_status read_each(const refs_aggregation *aggregation, const refs_array_meta *meta,
                             strings *all, refs_error *err) {
    uint64_t n;
    bool letters = refs_aggregation__has_letters(aggregation, meta);
    if (!refs_array_meta_elements(meta, &n)) n = 0;
    if (letters && meta->shape[meta->rank - 1] > 0) n /= meta->shape[meta->rank - 1];
    uint64_t n_each = n / aggregation->grid.n;
    if (n != 1) {
        if (n == 0 || n % aggregation->grid.n != 0 || n_each > REFS_MAX_ALTERNATIVES)
            return fail_count(aggregation, meta, n, err);
        REFS_TRY(refs_aggregation__check_matrix(aggregation, meta, err));
    }
    REFS_TRY(refs_aggregation__read_strings(aggregation, meta, &all->buf, err));
    all->at = (const char *)all->buf.data;
    all->n_each = (size_t)n_each;
    return REFS_OK;
}

static refs_str next_text(strings *all) {
    refs_str text = refs_str_from(all->at);
    if (all->n_each > 0) all->at += text.size + 1;
    return text;
}

static refs_status add_files(refs_aggregation *aggregation, strings *files, refs_error *err) {
    size_t n = (size_t)aggregation->grid.n;
    for (size_t i = 0; i < n; i++) {
        uint32_t *ids = &aggregation->grid.files[aggregation->grid.sources[i].first_file];
        for (size_t k = 0; k < aggregation->grid.n_alternatives; k++)
            REFS_TRY(refs_fragment_grid_number(&aggregation->grid, next_text(files), &ids[k], err));
    }
    return REFS_OK;
}

/* Copies may have different variables: the first one counts, because all are equivalent. */
static refs_status add_variables(refs_aggregation *aggregation, strings *variables,
                                 refs_error *err) {
    size_t n = (size_t)aggregation->grid.n;
    for (size_t i = 0; i < n; i++) {
        refs_fragment_source *fragment = &aggregation->grid.sources[i];
        for (size_t k = 0; k < (variables->n_each > 0 ? variables->n_each : 1); k++) {
            uint32_t id;
            REFS_TRY(refs_fragment_grid_number(&aggregation->grid, next_text(variables), &id, err));
            if (fragment->variable == REFS_NO_TEXT) fragment->variable = id;
        }
    }
    return REFS_OK;
}

/* Whether an array of the aggregation's own file can be a fragment. */
static bool is_in_own_file(const refs_aggregation *aggregation, uint32_t variable) {
    const refs_array_meta *meta =
        refs_hierarchy_resolve(aggregation->hierarchy, aggregation->container.group,
                               refs_intern_get(&aggregation->grid.strings, variable));
    return meta != NULL && strcmp(meta->path, aggregation->container.path) != 0 &&
           meta->aggregation == NULL && !refs_aggregation_recognise(meta->attributes);
}

/* Finds the existing fragments: a missing one has neither file nor variable. If one variable is
 * named for all and a fragment has no file, that variable exists in the aggregation's own file or
 * the fragment is missing. */
static void settle_fragments(refs_aggregation *aggregation, bool is_named) {
    const bool may_be_own = !aggregation->encoding->is_of_s3netcdf4;
    for (size_t i = 0; i < aggregation->grid.n; i++) {
        refs_fragment_source *fragment = &aggregation->grid.sources[i];
        bool has_file = false;
        for (size_t k = 0; k < aggregation->grid.n_alternatives; k++)
            has_file |= aggregation->grid.files[fragment->first_file + k] != REFS_NO_TEXT;
        bool has_variable = fragment->variable != REFS_NO_TEXT;
        fragment->is_own = !has_file && has_variable && may_be_own &&
                           (is_named || is_in_own_file(aggregation, fragment->variable));
        fragment->is_there = (has_file && (has_variable || may_be_own)) || fragment->is_own;
    }
}

/* Copies may have different formats: the first one is kept. */
static refs_status add_formats(refs_aggregation *aggregation, refs_error *err) {
    strings formats = {.buf = REFS_BUF_INIT};
    refs_fragment_grid *grid = &aggregation->grid;
    refs_status status = read_each(aggregation, aggregation->terms.formats, &formats, err);
    const size_t n_each = formats.n_each > 0 ? formats.n_each : 1;
    for (size_t i = 0; i < (size_t)grid->n * n_each && status == REFS_OK; i++) {
        const refs_str format = next_text(&formats);
        status = refs_aggregation__check_format(format, err);
        if (status == REFS_OK && i % n_each == 0)
            status =
                refs_fragment_grid_number(grid, format, &grid->sources[i / n_each].format, err);
    }
    refs_buf_clear(&formats.buf);
    return status;
}

refs_status refs_encoding_cf113_load_files(refs_aggregation *aggregation, refs_error *err) {
    const refs_terms *terms = &aggregation->terms;
    strings files = {.buf = REFS_BUF_INIT}, variables = {.buf = REFS_BUF_INIT};
    refs_status status = REFS_OK;
    if (terms->files != NULL) status = read_each(aggregation, terms->files, &files, err);
    if (status == REFS_OK) status = read_each(aggregation, terms->variables, &variables, err);
    if (status == REFS_OK)
        status = refs_fragment_grid_allocate(&aggregation->grid,
                                             files.n_each > 0 ? files.n_each : 1, err);
    if (status == REFS_OK && terms->files != NULL) status = add_files(aggregation, &files, err);
    if (status == REFS_OK) status = add_variables(aggregation, &variables, err);
    if (status == REFS_OK && terms->formats != NULL) status = add_formats(aggregation, err);
    if (status == REFS_OK) settle_fragments(aggregation, variables.n_each > 0);
    refs_buf_clear(&files.buf);
    refs_buf_clear(&variables.buf);
    return status;
}

/* -- values of fragments ----------------------------------------------------------------------- */

static refs_status convert_values(refs_aggregation *aggregation, const uint8_t *elements,
                                  refs_error *err) {
    size_t n = (size_t)aggregation->grid.n;
    refs_agg_values values;
    REFS_TRY(refs_agg_values__describe(aggregation, NULL, aggregation->terms.values, &values, err));
    values.name = aggregation->terms.values->path;
    uint8_t *converted = refs_calloc(n, values.to.size);
    if (converted == NULL) return refs_fail_nomem(err);
    refs_status status = refs_agg_values__convert(&values, elements, n, converted, err);
    aggregation->grid.value_size = values.to.size;
    if (status == REFS_OK)
        aggregation->grid.values = converted;
    else
        refs_free(converted); /* the next reader tries again */
    return status;
}

static size_t longest_of(const refs_buf *buf) {
    size_t longest = 1;
    refs_str rest = refs_buf_text(buf);
    for (const char *text; refs_str_next_text(&rest, &text);)
        if (strlen(text) + 1 > longest) longest = strlen(text) + 1;
    return longest;
}

/* Stores variable-length strings with the width of the longest and a NUL. */
static refs_status keep_strings(refs_aggregation *aggregation, strings *all, refs_error *err) {
    size_t n = (size_t)aggregation->grid.n, size = longest_of(&all->buf), bytes;
    if (!refs_mul_size(n, size, &bytes) || bytes > REFS_MAX_PARTITION_TEXT)
        return refs_fail(err, REFS_LIMIT, "%s: %zu strings of up to %zu bytes exceed the limit",
                         aggregation->terms.values->path, n, size - 1);
    uint8_t *values = refs_calloc(n, size);
    if (values == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        refs_str text = next_text(all);
        memcpy(values + i * size, text.data, text.size);
    }
    aggregation->grid.value_size = size;
    aggregation->grid.values = values;
    return REFS_OK;
}

static refs_status load_strings(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *meta = aggregation->terms.values;
    strings all = {.buf = REFS_BUF_INIT};
    refs_status status = read_each(aggregation, meta, &all, err);
    if (status == REFS_OK && all.n_each > 1)
        status = fail_count(aggregation, meta, aggregation->grid.n * all.n_each, err);
    if (status == REFS_OK) status = keep_strings(aggregation, &all, err);
    refs_buf_clear(&all.buf);
    return status;
}

static refs_status load_values(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *meta = aggregation->terms.values;
    const refs_array_context context = {.store = refs_hierarchy_store(aggregation->hierarchy)};
    static const uint64_t origin[REFS_MAX_RANK] = {0};
    const refs_region region = {origin, meta->shape, NULL};
    refs_array *array = NULL;
    uint64_t n = 0;
    if (!refs_array_meta_elements(meta, &n) || n != aggregation->grid.n)
        return fail_count(aggregation, meta, n, err);
    REFS_TRY(refs_aggregation__check_matrix(aggregation, meta, err));
    bool is_text = refs_aggregation__is_text(&aggregation->meta.dtype);
    if (!refs_dtype_is_numeric(&meta->dtype) && (!is_text || meta->dtype.size == 0))
        return refs_fail(err, REFS_UNSUPPORTED, "%s: expected values that are %s", meta->path,
                         is_text ? "of one length" : "numbers");
    REFS_SCOPED uint8_t *elements = refs_calloc((size_t)n, meta->dtype.size);
    refs_status status = elements != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) status = refs_array_open(&context, meta, &array, err);
    if (status == REFS_OK) status = refs_array_read(array, &region, elements, NULL, err);
    if (status == REFS_OK) status = convert_values(aggregation, elements, err);
    refs_array_free(array);
    return status;
}

static refs_status load(refs_aggregation *aggregation, refs_error *err) {
    if (aggregation->terms.values == NULL) return refs_encoding_cf113_load_files(aggregation, err);
    return aggregation->meta.dtype.type == REFS_TYPE_OBJECT ? load_strings(aggregation, err)
                                                            : load_values(aggregation, err);
}

/* -- encoding ---------------------------------------------------------------------------------- */

static const refs_dtype int32 = {.type = REFS_TYPE_INT, .size = 4};
static const refs_dtype text_type = {.type = REFS_TYPE_OBJECT};

/* The names of variables and dimensions, which begin with the name of the aggregation variable. */
typedef struct cf_names {
    refs_buf text;
    const char *dims[REFS_MAX_RANK]; /* of fragments */
    const char *map, *uris, *identifiers, *rows, *columns;
} cf_names;

/* Appends a name; returns its position, because the text moves while it grows. */
static refs_status append_name(const cfa_job *job, const char *suffix, const char *dim,
                               refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_printf(text, err, "%s_%s%s", job->name, suffix, dim));
    return refs_buf_append(text, "", 1, err);
}

static refs_status name_all(const cfa_job *job, cf_names *names, refs_error *err) {
    static const char *const suffixes[] = {"map", "uris", "identifiers", "map_dimension",
                                           "map_fragment"};
    const char **members[] = {&names->map, &names->uris, &names->identifiers, &names->rows,
                              &names->columns};
    size_t rank = job->variable->rank;
    for (size_t i = 0; i < 5; i++) REFS_TRY(append_name(job, suffixes[i], "", &names->text, err));
    for (size_t d = 0; d < rank; d++)
        REFS_TRY(append_name(job, "fragment_", job->variable->dims[d], &names->text, err));
    const char *text = (const char *)names->text.data;
    for (size_t i = 0; i < 5; i++) text = refs_texts_point(text, 1, members[i]);
    (void)refs_texts_point(text, rank, names->dims);
    return REFS_OK;
}

/* -- the map ----------------------------------------------------------------------------------- */

static uint64_t longest_row(const cfa_job *job) {
    uint64_t longest = 1;
    for (size_t d = 0; d < job->grid->rank; d++)
        if (job->grid->dims[d].n_parts > longest) longest = job->grid->dims[d].n_parts;
    return longest;
}

/* Appends rows of sizes; shorter rows are padded with -1, the missing value. */
static refs_status append_sizes(const cfa_job *job, refs_buf *values, refs_error *err) {
    const uint64_t columns = longest_row(job);
    for (size_t d = 0; d < job->grid->rank; d++)
        for (uint64_t i = 0; i < columns; i++) {
            const refs_fragment_dim *dim = &job->grid->dims[d];
            const int32_t size =
                i < dim->n_parts ? (int32_t)(dim->intervals[i].end - dim->intervals[i].begin) : -1;
            REFS_TRY(refs_buf_append(values, &size, sizeof size, err));
        }
    const int32_t one = 1;
    return job->grid->rank > 0 ? REFS_OK : refs_buf_append(values, &one, sizeof one, err);
}

static refs_status put_map(const cfa_job *job, const cf_names *names, const refs_buf *values,
                           refs_error *err) {
    const int32_t missing = -1;
    const char *dims[] = {names->rows, names->columns};
    size_t rank = job->variable->rank;
    nc_shape shape = {job->group, names->map, int32, rank > 0 ? 2 : 0, dims, 0};
    nc_place place;
    if (rank > 0) {
        const nc_dimension rows = {refs_str_from(names->rows), rank, REFS_CFA_FIXED},
                           columns = {refs_str_from(names->columns), longest_row(job),
                                      REFS_CFA_FIXED};
        REFS_TRY(refs_cfa__file_dimension(job->file, job->group, &rows, err));
        REFS_TRY(refs_cfa__file_dimension(job->file, job->group, &columns, err));
    }
    REFS_TRY(refs_cfa__file_define(job->file, &shape, &place, err));
    REFS_TRY(refs_cfa__file_fill(job->file, place, &int32, (const uint8_t *)&missing, err));
    return refs_cfa__file_keep(job->file, place, &int32, refs_buf_view(values), err);
}

static refs_status write_map(const cfa_job *job, const cf_names *names, refs_error *err) {
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    REFS_TRY(append_sizes(job, &values, err));
    return put_map(job, names, &values, err);
}

/* -- strings ----------------------------------------------------------------------------------- */

static refs_status define_dims(const cfa_job *job, const cf_names *names, refs_error *err) {
    for (size_t d = 0; d < job->variable->rank; d++) {
        const nc_dimension added = {refs_str_from(names->dims[d]), job->grid->dims[d].n_parts,
                                    REFS_CFA_FIXED};
        REFS_TRY(refs_cfa__file_dimension(job->file, job->group, &added, err));
    }
    return REFS_OK;
}

/* The variable's name in the fragments if it is the same in all; else NULL. */
static const char *only_identifier(const cfa_job *job) {
    const char *only = NULL;
    for (uint64_t i = 0; i < job->grid->n; i++) {
        refs_partition at;
        refs_fragment_grid_get(job->grid, i, &at);
        if (!at.has_fragment) continue;
        if (only != NULL && strcmp(only, at.variable) != 0) return NULL;
        only = at.variable;
    }
    return only != NULL ? only : job->name;
}

static refs_status put_strings(const cfa_job *job, const nc_shape *shape, const refs_buf *values,
                               refs_error *err) {
    nc_place place;
    return refs_cfa__file_strings(job->file, shape, refs_buf_view(values), &place, err);
}

static refs_status write_uris(const cfa_job *job, const cf_names *names, refs_error *err) {
    nc_shape shape = {job->group, names->uris, text_type, job->variable->rank, names->dims, 0};
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    for (uint64_t i = 0; i < job->grid->n; i++) {
        refs_partition at;
        refs_fragment_grid_get(job->grid, i, &at);
        REFS_TRY(refs_cfa_name_file(REFS_CFA_CF_1_13, at.file, &values, err));
        REFS_TRY(refs_buf_append(&values, "", 1, err));
    }
    return put_strings(job, &shape, &values, err);
}

static refs_status write_identifiers(const cfa_job *job, const cf_names *names, refs_error *err) {
    const char *only = only_identifier(job);
    nc_shape shape = {job->group,  names->identifiers,
                      text_type,   only != NULL ? 0 : job->variable->rank,
                      names->dims, 0};
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    const uint64_t n = only != NULL ? 1 : job->grid->n;
    for (uint64_t i = 0; i < n; i++) {
        refs_partition at;
        refs_fragment_grid_get(job->grid, i, &at);
        const char *text = only != NULL ? only : at.variable;
        REFS_TRY(refs_buf_append_text(&values, refs_str_from(text), err));
    }
    return put_strings(job, &shape, &values, err);
}

/* -- the encoding ------------------------------------------------------------------------------ */

static refs_status put_attributes(const cfa_job *job, const cf_names *names, refs_buf *text,
                                  refs_error *err) {
    REFS_TRY(refs_cfa__append_dims(job->variable, " ", text, err));
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "aggregated_dimensions",
                                 refs_buf_text(text), err));
    text->size = 0;
    REFS_TRY(refs_buf_printf(text, err, "map: %s uris: %s identifiers: %s", names->map, names->uris,
                             names->identifiers));
    return refs_cfa__file_text(job->file, job->container, "aggregated_data", refs_buf_text(text),
                               err);
}

static refs_status put_all(const cfa_job *job, cf_names *names, refs_buf *text, refs_error *err) {
    REFS_TRY(name_all(job, names, err));
    REFS_TRY(define_dims(job, names, err));
    REFS_TRY(write_map(job, names, err));
    REFS_TRY(write_uris(job, names, err));
    REFS_TRY(write_identifiers(job, names, err));
    return put_attributes(job, names, text, err);
}

static refs_status encode(const cfa_job *job, refs_error *err) {
    cf_names names = {.text = REFS_BUF_INIT};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_status status = put_all(job, &names, &text, err);
    refs_buf_clear(&names.text);
    return status;
}

const refs_encoding refs_encoding_cf113 = {.name = "CF-1.13",
                                           .dims = REFS_AGGREGATED_DIMENSIONS,
                                           .recognise = recognise,
                                           .decode = decode,
                                           .load = load,
                                           .has_variable = has_variable,
                                           .encode = encode};
