/* terms.c -- which attributes tell of an aggregation, and what they name; see
 * aggregation_internal.h.
 *
 * Sources: CFA conventions 0.4 and 0.6 to 0.6.2; CF-1.13, section 2.8 and its drafts; S3netCDF4 for
 * CFA-0.5. The word "location" means sizes in one of them and files in another: all terms together
 * tell which it is.
 */
#include "aggregation_internal.h"
#include "refs/store.h"

const refs_json *refs_aggregation__value(const refs_json *attributes, const char *name) {
    const refs_json *value = refs_json_get(attributes, name);
    return refs_json_is_array(value) ? refs_json_at(value, 0) : value;
}

refs_str refs_aggregation__text(const refs_json *attributes, const char *name) {
    const refs_json *value = refs_aggregation__value(attributes, name);
    if (!refs_json_is_string(value)) return refs_str_view("", 0);
    refs_str text = refs_json_text(value);
    return refs_str_part(text, 0, refs_str_find(text, '\0'));
}

bool refs_aggregation__number(const refs_json *attributes, const char *name, double *number) {
    return refs_json_double(refs_aggregation__value(attributes, name), number);
}

/* -- terms of aggregated_data ------------------------------------------------------------------ */

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Terms of CFA-0.6 may be written in any case. */
static bool is_term(refs_str word, const char *term) {
    size_t size = strlen(term);
    if (word.size != size + 1 || word.data[size] != ':') return false;
    for (size_t i = 0; i < size; i++)
        if (lower(word.data[i]) != term[i]) return false;
    return true;
}

/* The variable that a term names; empty without that term. */
static refs_str find_term(refs_str text, const char *term) {
    refs_str word, variable;
    while (refs_str_next_word(&text, REFS_BLANKS, &word) &&
           refs_str_next_word(&text, REFS_BLANKS, &variable))
        if (is_term(word, term)) return variable;
    return refs_str_view("", 0);
}

/* What the terms of an encoding are called: NULL where it has none. An encoding that has `marks`
 * among its terms is meant. */
static const struct encoding {
    refs_encoding encoding;
    const char *marks[2];
    const char *sizes, *files, *variables, *formats, *values;
} encodings[] = {
    {REFS_ENCODING_CF, {"map", "uris"}, "map", "uris", "identifiers", NULL, NULL},
    {REFS_ENCODING_CF, {"map", "unique_values"}, "map", NULL, NULL, NULL, "unique_values"},
    {REFS_ENCODING_DRAFT_MAP, {"map", "unique_value"}, "map", NULL, NULL, NULL, "unique_value"},
    {REFS_ENCODING_DRAFT_MAP, {"map", "location"}, "map", "location", "variable", NULL, NULL},
    {REFS_ENCODING_DRAFT, {"shape", "location"}, "shape", "location", "address", NULL, NULL},
    {REFS_ENCODING_DRAFT, {"shape", "value"}, "shape", NULL, NULL, NULL, "value"},
    {REFS_ENCODING_CFA, {"location", "file"}, "location", "file", "address", "format", NULL},
    {REFS_ENCODING_CFA, {"location", "address"}, "location", "file", "address", "format", NULL},
};
#define N_ENCODINGS (sizeof encodings / sizeof encodings[0])

static const struct encoding *encoding_in(const refs_json *attributes) {
    refs_str text = refs_aggregation__text(attributes, "aggregated_data");
    for (size_t i = 0; i < N_ENCODINGS; i++)
        if (find_term(text, encodings[i].marks[0]).size > 0 &&
            find_term(text, encodings[i].marks[1]).size > 0)
            return &encodings[i];
    return NULL;
}

refs_encoding refs_aggregation__encoding_of(const refs_json *attributes) {
    bool is_cfa = refs_str_is(refs_aggregation__text(attributes, "cf_role"), "cfa_variable");
    if (is_cfa && refs_aggregation__text(attributes, "cfa_array").size > 0)
        return REFS_ENCODING_CFA_JSON;
    if (is_cfa && refs_aggregation__text(attributes, "cfa_group").size > 0)
        return REFS_ENCODING_CFA_GROUP;
    if (refs_json_get(attributes, "aggregated_data") == NULL) return REFS_ENCODING_NONE;
    const struct encoding *encoding = encoding_in(attributes);
    return encoding != NULL ? encoding->encoding : REFS_ENCODING_CF;
}

bool refs_aggregation_is_told_by(const refs_json *attributes) {
    return refs_aggregation__encoding_of(attributes) != REFS_ENCODING_NONE;
}

static refs_status find_variable(const refs_aggregation *aggregation, const char *term,
                                 const refs_array_meta **meta, refs_error *err) {
    refs_str text = refs_aggregation__text(aggregation->container.attributes, "aggregated_data");
    refs_str name = term != NULL ? find_term(text, term) : refs_str_view("", 0);
    *meta = NULL;
    if (name.size == 0) return REFS_OK;
    *meta = refs_hierarchy_resolve(aggregation->hierarchy, aggregation->container.group, name);
    if (*meta == NULL)
        return refs_fail(err, REFS_CORRUPT,
                         "aggregated_data names a variable %.*s (%s) that the "
                         "file does not have",
                         REFS_STR_ARG(name), term);
    if ((*meta)->status == REFS_OK) return REFS_OK;
    return refs_fail(err, (*meta)->status, "%s: %s", (*meta)->path, (*meta)->problem);
}

static refs_status find_variables(refs_aggregation *aggregation, refs_error *err) {
    const struct encoding *encoding = encoding_in(aggregation->container.attributes);
    refs_terms *terms = &aggregation->terms;
    if (encoding == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "aggregated_data has neither the terms map, uris, identifiers (or "
                         "unique_values) of CF-1.13 nor location, file, address of CFA-0.6");
    REFS_TRY(find_variable(aggregation, encoding->sizes, &terms->sizes, err));
    REFS_TRY(find_variable(aggregation, encoding->files, &terms->files, err));
    REFS_TRY(find_variable(aggregation, encoding->variables, &terms->variables, err));
    REFS_TRY(find_variable(aggregation, encoding->formats, &terms->formats, err));
    REFS_TRY(find_variable(aggregation, encoding->values, &terms->values, err));
    if (terms->variables == NULL && terms->values == NULL)
        return refs_fail(err, REFS_CORRUPT, "aggregated_data has no term %s", encoding->variables);
    return REFS_OK;
}

/* -- sizes of fragments ------------------------------------------------------------------------ */

/* Rows are padded with missing values: whatever is not a size. */
static bool is_size(double number) {
    return number >= 1 && number < 9e15 && number == (double)(uint64_t)number;
}

static refs_status read_row(refs_aggregation *aggregation, size_t dim, const double *row, size_t n,
                            refs_error *err) {
    refs_agg_dim *parts = &aggregation->dims[dim];
    uint64_t n_sizes = 0;
    while (n_sizes < n && is_size(row[n_sizes])) n_sizes++;
    parts->n_parts = n_sizes > 0 ? n_sizes : 1;
    REFS_TRY(refs_aggregation__count(aggregation, err)); /* before memory is taken for them */
    parts->spans = refs_calloc(parts->n_parts, sizeof *parts->spans);
    if (parts->spans == NULL) return refs_fail_nomem(err);
    parts->capacity = (size_t)parts->n_parts;
    for (size_t i = 0; i < n_sizes; i++)
        REFS_TRY(refs_agg_dim__add(parts, (uint64_t)row[i], i, err));
    for (size_t i = parts->n_spans; i < n; i++)
        if (is_size(row[i]) || row[i] == 0)
            return refs_fail(err, REFS_CORRUPT, "%s: size %zu along dimension %s is %g",
                             aggregation->terms.sizes->path, i, aggregation->names[dim], row[i]);
    if (parts->n_spans == 0)
        return refs_fail(err, REFS_CORRUPT, "%s: dimension %s has no fragments",
                         aggregation->terms.sizes->path, aggregation->names[dim]);
    parts->n_parts = parts->n_spans;
    parts->is_split = true;
    aggregation->meta.shape[dim] = parts->spans[parts->n_spans - 1].end;
    return REFS_OK;
}

static refs_status check_sizes(const refs_aggregation *aggregation, refs_error *err) {
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        uint64_t told =
            refs_aggregation__size_of(aggregation, refs_str_from(aggregation->names[dim]));
        if (told != 0 && told != aggregation->meta.shape[dim])
            return refs_fail(err, REFS_CORRUPT,
                             "the fragments have %llu elements along dimension %s, which has %llu",
                             (unsigned long long)aggregation->meta.shape[dim],
                             aggregation->names[dim], (unsigned long long)told);
    }
    return REFS_OK;
}

refs_status refs_aggregation__open_variables(refs_aggregation *aggregation, refs_error *err) {
    REFS_TRY(find_variables(aggregation, err));
    const refs_array_meta *sizes = aggregation->terms.sizes;
    size_t rank = aggregation->meta.rank, n = 0;
    double *numbers = NULL;
    if (sizes == NULL) return refs_fail(err, REFS_CORRUPT, "aggregated_data has no sizes");
    if (rank > 1 && (sizes->rank != 2 || sizes->shape[0] != rank))
        return refs_fail(err, REFS_CORRUPT, "%s: does not have a row for each of %zu dimensions",
                         sizes->path, rank);
    refs_status status = refs_aggregation__read_numbers(aggregation, sizes, &numbers, &n, err);
    size_t columns = rank > 0 ? n / rank : 0;
    if (status == REFS_OK && rank > 0 && (columns == 0 || n % rank != 0))
        status = refs_fail(err, REFS_CORRUPT, "%s: has %zu values for %zu dimensions", sizes->path,
                           n, rank);
    for (size_t dim = 0; dim < rank && status == REFS_OK; dim++)
        status = read_row(aggregation, dim, numbers + dim * columns, columns, err);
    if (status == REFS_OK) status = check_sizes(aggregation, err);
    refs_free(numbers);
    return status;
}

/* -- files and variables of fragments ---------------------------------------------------------- */

/* Strings of a variable, one for each partition, several for each, or one for all. */
typedef struct strings {
    refs_buf buf;
    const char *at;
    size_t n_each; /* 0: one for all */
} strings;

static refs_status fail_count(const refs_aggregation *aggregation, const refs_array_meta *meta,
                              uint64_t n, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "%s: has %llu values for %llu fragments", meta->path,
                     (unsigned long long)n, (unsigned long long)aggregation->n_partitions);
}

/* What fragments have in a trailing dimension: the letters of netCDF-3, copies of CFA-0.6. Nothing
 * is read where there are too many or too few. */
static refs_status read_each(const refs_aggregation *aggregation, const refs_array_meta *meta,
                             strings *all, refs_error *err) {
    uint64_t n;
    bool letters = refs_aggregation__has_letters(aggregation, meta);
    if (!refs_array_meta_elements(meta, &n)) n = 0;
    if (letters && meta->shape[meta->rank - 1] > 0) n /= meta->shape[meta->rank - 1];
    uint64_t n_each = n / aggregation->n_partitions;
    if (n != 1) {
        if (n == 0 || n % aggregation->n_partitions != 0 || n_each > REFS_MAX_ALTERNATIVES)
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
    size_t n = (size_t)aggregation->n_partitions;
    for (size_t i = 0; i < n; i++) {
        uint32_t *ids = &aggregation->files[aggregation->fragments[i].first_file];
        for (size_t k = 0; k < aggregation->n_alternatives; k++)
            REFS_TRY(refs_aggregation__number_text(aggregation, next_text(files), &ids[k], err));
    }
    return REFS_OK;
}

/* Of copies, each may have a name of its own: the first one counts, as all are equivalent. */
static refs_status add_variables(refs_aggregation *aggregation, strings *variables,
                                 refs_error *err) {
    size_t n = (size_t)aggregation->n_partitions;
    for (size_t i = 0; i < n; i++) {
        refs_agg_fragment *fragment = &aggregation->fragments[i];
        for (size_t k = 0; k < (variables->n_each > 0 ? variables->n_each : 1); k++) {
            uint32_t id;
            REFS_TRY(refs_aggregation__number_text(aggregation, next_text(variables), &id, err));
            if (fragment->variable == REFS_NO_TEXT) fragment->variable = id;
        }
    }
    return REFS_OK;
}

/* An array of the aggregation's own file that can be a fragment. */
static bool is_in_own_file(const refs_aggregation *aggregation, uint32_t variable) {
    const refs_array_meta *meta =
        refs_hierarchy_resolve(aggregation->hierarchy, aggregation->container.group,
                               refs_intern_get(&aggregation->strings, variable));
    return meta != NULL && strcmp(meta->path, aggregation->container.path) != 0 &&
           meta->aggregation == NULL && !refs_aggregation_is_told_by(meta->attributes);
}

/* A fragment has neither file nor variable where there is none. One name of a variable for all is
 * not a sign of one: without a file, it is meant where it is there. */
static void settle_fragments(refs_aggregation *aggregation, bool is_named) {
    for (size_t i = 0; i < aggregation->n_partitions; i++) {
        refs_agg_fragment *fragment = &aggregation->fragments[i];
        bool has_file = false;
        for (size_t k = 0; k < aggregation->n_alternatives; k++)
            has_file |= aggregation->files[fragment->first_file + k] != REFS_NO_TEXT;
        bool has_variable = fragment->variable != REFS_NO_TEXT;
        fragment->is_own = !has_file && has_variable &&
                           (is_named || is_in_own_file(aggregation, fragment->variable));
        fragment->is_there = has_file || fragment->is_own;
    }
}

static bool is_netcdf(refs_str format) {
    static const char *const known[] = {"nc", "netcdf", "hdf", "zarr", "kerchunk", "tif", "grib"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t size = strlen(known[i]), k = 0;
        while (k < size && k < format.size && lower(format.data[k]) == known[i][k]) k++;
        if (k == size) return true;
    }
    return format.size == 0;
}

refs_status refs_aggregation__check_format(refs_str format, refs_error *err) {
    if (is_netcdf(format)) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "fragments of format %.*s are not read, only those of netCDF and other files "
                     "that REFS opens",
                     REFS_STR_ARG(format));
}

static refs_status check_formats(refs_aggregation *aggregation, refs_error *err) {
    strings formats = {.buf = REFS_BUF_INIT};
    refs_status status = read_each(aggregation, aggregation->terms.formats, &formats, err);
    size_t n = formats.n_each > 0 ? (size_t)aggregation->n_partitions * formats.n_each : 1;
    for (size_t i = 0; i < n && status == REFS_OK; i++)
        status = refs_aggregation__check_format(next_text(&formats), err);
    refs_buf_clear(&formats.buf);
    return status;
}

static refs_status load_files(refs_aggregation *aggregation, refs_error *err) {
    const refs_terms *terms = &aggregation->terms;
    strings files = {.buf = REFS_BUF_INIT}, variables = {.buf = REFS_BUF_INIT};
    refs_status status = REFS_OK;
    if (terms->files != NULL) status = read_each(aggregation, terms->files, &files, err);
    if (status == REFS_OK) status = read_each(aggregation, terms->variables, &variables, err);
    if (status == REFS_OK)
        status = refs_aggregation__allocate(aggregation, files.n_each > 0 ? files.n_each : 1, err);
    if (status == REFS_OK && terms->files != NULL) status = add_files(aggregation, &files, err);
    if (status == REFS_OK) status = add_variables(aggregation, &variables, err);
    if (status == REFS_OK && terms->formats != NULL) status = check_formats(aggregation, err);
    if (status == REFS_OK) settle_fragments(aggregation, variables.n_each > 0);
    refs_buf_clear(&files.buf);
    refs_buf_clear(&variables.buf);
    return status;
}

static refs_status convert_values(refs_aggregation *aggregation, const uint8_t *elements,
                                  refs_error *err) {
    size_t n = (size_t)aggregation->n_partitions;
    refs_agg_values values;
    REFS_TRY(refs_agg_values__describe(aggregation, NULL, aggregation->terms.values, &values, err));
    values.name = aggregation->terms.values->path;
    uint8_t *converted = refs_calloc(n, values.to.size);
    if (converted == NULL) return refs_fail_nomem(err);
    refs_status status = refs_agg_values__convert(&values, elements, n, converted, err);
    aggregation->value_size = values.to.size;
    if (status == REFS_OK)
        aggregation->values = converted;
    else
        refs_free(converted); /* who reads next tries again */
    return status;
}

static size_t longest_of(const refs_buf *buf) {
    size_t longest = 1, size;
    for (size_t at = 0; at < buf->size; at += size) {
        size = strlen((const char *)buf->data + at) + 1;
        if (size > longest) longest = size;
    }
    return longest;
}

/* Strings of variable length get room for the longest each, and a NUL. */
static refs_status keep_strings(refs_aggregation *aggregation, strings *all, refs_error *err) {
    size_t n = (size_t)aggregation->n_partitions, size = longest_of(&all->buf), bytes;
    if (!refs_mul_size(n, size, &bytes) || bytes > REFS_MAX_PARTITION_TEXT)
        return refs_fail(err, REFS_LIMIT, "%s: %zu strings of up to %zu bytes",
                         aggregation->terms.values->path, n, size - 1);
    uint8_t *values = refs_calloc(n, size);
    if (values == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        refs_str text = next_text(all);
        memcpy(values + i * size, text.data, text.size);
    }
    aggregation->value_size = size;
    aggregation->values = values;
    return REFS_OK;
}

static refs_status load_strings(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *meta = aggregation->terms.values;
    strings all = {.buf = REFS_BUF_INIT};
    refs_status status = read_each(aggregation, meta, &all, err);
    if (status == REFS_OK && all.n_each > 1)
        status = fail_count(aggregation, meta, aggregation->n_partitions * all.n_each, err);
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
    if (!refs_array_meta_elements(meta, &n) || n != aggregation->n_partitions)
        return fail_count(aggregation, meta, n, err);
    REFS_TRY(refs_aggregation__check_matrix(aggregation, meta, err));
    bool is_text = refs_aggregation__is_text(&aggregation->meta.dtype);
    if (!refs_dtype_is_numeric(&meta->dtype) && (!is_text || meta->dtype.size == 0))
        return refs_fail(err, REFS_UNSUPPORTED, "%s: values are not %s", meta->path,
                         is_text ? "of one length" : "numbers");
    uint8_t *elements = refs_calloc((size_t)n, meta->dtype.size);
    refs_status status = elements != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) status = refs_array_open(&context, meta, &array, err);
    if (status == REFS_OK) status = refs_array_read(array, &region, elements, NULL, err);
    if (status == REFS_OK) status = convert_values(aggregation, elements, err);
    refs_array_free(array);
    refs_free(elements);
    return status;
}

refs_status refs_aggregation__load_variables(refs_aggregation *aggregation, refs_error *err) {
    if (aggregation->terms.values == NULL) return load_files(aggregation, err);
    return aggregation->meta.dtype.type == REFS_TYPE_OBJECT ? load_strings(aggregation, err)
                                                            : load_values(aggregation, err);
}
