/* generator.c -- see generator.h. Rules: the fsspec specification, "gen". */
#include "generator.h"

#include "builder.h"

/* Limit of memory for generated keys and URLs, since a short document can generate any number of
 * them. Chunks of one array in few files take little of it. */
#define MAX_GENERATED_BYTES (384 * (uint64_t)REFS_MIB)

/* Most variables, because they are searched linearly. */
#define MAX_DIMENSIONS 32

/* A variable and its values: a list, or a range like Python's. */
typedef struct dimension {
    const refs_json *list; /* NULL: a range */
    int64_t start, step;
    uint64_t n;
    uint64_t at;
} dimension;

typedef enum field { FIELD_KEY, FIELD_URL, FIELD_OFFSET, FIELD_LENGTH, N_FIELDS } field;

static const char *const field_names[N_FIELDS] = {"key", "url", "offset", "length"};

typedef struct generator {
    refs_template field[N_FIELDS];
    bool is_template[N_FIELDS]; /* false: absent, or a number */
    uint64_t number[N_FIELDS];
    bool has_range;
    dimension *dimensions;
    refs_binding *bindings; /* one for each dimension */
    size_t n_dimensions;
} generator;

static void generator_clear(generator *g) {
    for (size_t i = 0; i < N_FIELDS; i++) refs_template_clear(&g->field[i]);
    refs_free(g->dimensions);
    refs_free(g->bindings);
}

/* -- reading ---------------------------------------------------------------------------------- */

static refs_status read_field(const refs_json *item, field i, generator *g, refs_error *err) {
    const refs_json *value = refs_json_get(item, field_names[i]);
    bool may_be_number = i == FIELD_OFFSET || i == FIELD_LENGTH;
    if (may_be_number && refs_json_u64(value, &g->number[i])) return REFS_OK;
    if (!refs_json_is_string(value))
        return refs_fail(err, REFS_INVALID, "expected \"%s\" as a string", field_names[i]);
    g->is_template[i] = true;
    return refs_template_parse(&g->field[i], refs_json_text(value), err);
}

static refs_status read_fields(const refs_json *item, generator *g, refs_error *err) {
    bool offset = refs_json_get(item, "offset") != NULL;
    bool length = refs_json_get(item, "length") != NULL;
    if (offset != length)
        return refs_fail(err, REFS_INVALID, "expected \"offset\" and \"length\" together");
    g->has_range = offset;
    for (field i = FIELD_KEY; i < (offset ? N_FIELDS : FIELD_OFFSET); i++)
        REFS_TRY(read_field(item, i, g, err));
    return REFS_OK;
}

static refs_status read_bound(const refs_json *range, const char *name, int64_t *bound,
                              refs_error *err) {
    const refs_json *value = refs_json_get(range, name);
    bool integral = false;
    if (value == NULL) return REFS_OK;
    if (refs_json_is_number(value) &&
        refs_json_number_to_i64(refs_json_text(value), bound, &integral) && integral)
        return REFS_OK;
    return refs_fail(err, REFS_INVALID, "\"%s\": expected an integer", name);
}

static refs_status read_range(const refs_json *range, dimension *d, refs_error *err) {
    int64_t stop = 0;
    d->step = 1;
    if (refs_json_get(range, "stop") == NULL)
        return refs_fail(err, REFS_INVALID, "the range lacks \"stop\"");
    REFS_TRY(read_bound(range, "start", &d->start, err));
    REFS_TRY(read_bound(range, "stop", &stop, err));
    REFS_TRY(read_bound(range, "step", &d->step, err));
    if (d->step == 0) return refs_fail(err, REFS_INVALID, "expected a step other than 0");
    uint64_t first = (uint64_t)d->start, last = (uint64_t)stop, step = (uint64_t)d->step;
    if (d->step > 0)
        d->n = stop > d->start ? (last - first - 1) / step + 1 : 0;
    else
        d->n = stop < d->start ? (first - last - 1) / (0 - step) + 1 : 0;
    return REFS_OK;
}

static refs_status read_list(const refs_json *list, dimension *d, refs_error *err) {
    d->list = list;
    d->n = refs_json_size(list);
    for (size_t i = 0; i < d->n; i++)
        if (refs_json_is_array(refs_json_at(list, i)) || refs_json_is_object(refs_json_at(list, i)))
            return refs_fail(err, REFS_INVALID,
                             "value %zu: expected a number, a string or a boolean", i);
    return REFS_OK;
}

static refs_status read_dimension(const refs_json *value, dimension *d, refs_error *err) {
    if (refs_json_is_array(value)) return read_list(value, d, err);
    if (refs_json_is_object(value)) return read_range(value, d, err);
    return refs_fail(err, REFS_INVALID, "expected a list or a range");
}

static refs_status read_dimensions(const refs_json *item, const refs_templates *templates,
                                   generator *g, refs_error *err) {
    const refs_json *members = refs_json_get(item, "dimensions");
    if (!refs_json_is_object(members))
        return refs_fail(err, REFS_INVALID, "expected \"dimensions\" as an object");
    g->n_dimensions = refs_json_size(members);
    if (g->n_dimensions > MAX_DIMENSIONS)
        return refs_fail(err, REFS_LIMIT, "expected at most %d dimensions, found %zu",
                         MAX_DIMENSIONS, g->n_dimensions);
    g->dimensions = refs_calloc(g->n_dimensions, sizeof *g->dimensions);
    g->bindings = refs_calloc(g->n_dimensions, sizeof *g->bindings);
    if (g->dimensions == NULL || g->bindings == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < g->n_dimensions; i++) {
        refs_template_value value;
        refs_str name = g->bindings[i].name = refs_json_name_at(members, i);
        if (refs_references__templates_find(templates, name, &value))
            return refs_fail(err, REFS_INVALID,
                             "\"%.*s\" is the name of both a dimension and a template",
                             REFS_STR_ARG(name));
        refs_status status = read_dimension(refs_json_at(members, i), &g->dimensions[i], err);
        if (status != REFS_OK) refs_error_prefix(err, "dimension \"%.*s\"", REFS_STR_ARG(name));
        REFS_TRY(status);
    }
    return REFS_OK;
}

/* -- expanding -------------------------------------------------------------------------------- */

/* Whether Python formats the number as written here: "-0.5", but "1000.0" for "1e3". Up to 15
 * digits are never rounded. */
static bool is_plain_fraction(refs_str number) {
    const size_t point = refs_str_find(number, '.'), last = number.size - 1;
    const size_t begin = number.data[0] == '-';
    if (point == SIZE_MAX || number.size - begin > 16) return false;
    if (refs_str_find(number, 'e') != SIZE_MAX || refs_str_find(number, 'E') != SIZE_MAX)
        return false;
    const bool is_tiny = refs_str_starts(refs_str_part(number, begin, number.size), "0.0000");
    return (number.data[last] != '0' || last == point + 1) && !is_tiny;
}

static refs_status number_value(refs_str number, refs_template_value *value, refs_error *err) {
    bool integral;
    const bool has_digits_alone = refs_str_find(number, '.') == SIZE_MAX &&
                                  refs_str_find(number, 'e') == SIZE_MAX &&
                                  refs_str_find(number, 'E') == SIZE_MAX;
    *value = (refs_template_value){.text = number};
    if (is_plain_fraction(number)) return REFS_OK;
    if (!has_digits_alone)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "expected an integer or a fraction such as 0.5, found %.*s",
                         REFS_STR_ARG(number));
    value->kind = REFS_TEMPLATE_INTEGER;
    if (refs_json_number_to_i64(number, &value->integer, &integral)) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%.*s does not fit 64 bits", REFS_STR_ARG(number));
}

/* Converts an element of a list. true, false and null become the strings that jinja2 renders. */
static refs_status list_value(const refs_json *element, refs_template_value *value,
                              refs_error *err) {
    bool truth;
    *value = (refs_template_value){.text = refs_str_from("None")};
    if (refs_json_bool(element, &truth)) value->text = refs_str_from(truth ? "True" : "False");
    if (refs_json_is_string(element)) value->text = refs_json_text(element);
    if (refs_json_is_number(element)) return number_value(refs_json_text(element), value, err);
    return REFS_OK;
}

static refs_status bind(generator *g, size_t i, refs_error *err) {
    const dimension *d = &g->dimensions[i];
    if (d->list != NULL)
        return list_value(refs_json_at(d->list, (size_t)d->at), &g->bindings[i].value, err);
    uint64_t value = (uint64_t)d->start + d->at * (uint64_t)d->step;
    g->bindings[i].value =
        (refs_template_value){.kind = REFS_TEMPLATE_INTEGER, .integer = (int64_t)value};
    return REFS_OK;
}

/* Sets g->number of an offset or a length. */
static refs_status render_number(generator *g, field i, const refs_scope *scope,
                                 refs_template_scratch *scratch, refs_error *err) {
    int64_t number = 0;
    if (!g->is_template[i]) return REFS_OK;
    refs_status status = refs_template_render_integer(&g->field[i], scope, scratch, &number, err);
    if (status == REFS_OK && number < 0)
        status = refs_fail(err, REFS_INVALID, "expected a number of at least 0, found %lld",
                           (long long)number);
    if (status != REFS_OK) refs_error_prefix(err, "\"%s\"", field_names[i]);
    g->number[i] = (uint64_t)number;
    return status;
}

/* Renders offsets and lengths without expressions once. */
static refs_status render_constants(generator *g, refs_templates *templates, refs_error *err) {
    refs_template_scratch *scratch = refs_references__templates_scratch(templates);
    const refs_scope scope = {NULL, 0, NULL, NULL};
    for (field i = FIELD_OFFSET; i < N_FIELDS; i++) {
        if (refs_references__holds_template(g->field[i].text)) continue;
        scratch->used = 0;
        REFS_TRY(render_number(g, i, &scope, scratch, err));
        g->is_template[i] = false;
    }
    return REFS_OK;
}

/* Adds the reference for the current values of all dimensions. */
static refs_status add_reference(generator *g, refs_templates *templates, refs_set_builder *builder,
                                 refs_error *err) {
    const refs_scope scope = {g->bindings, g->n_dimensions, refs_references__templates_find,
                              templates};
    refs_template_scratch *scratch = refs_references__templates_scratch(templates);
    refs_str key = {NULL, 0}, url = {NULL, 0};
    scratch->used = 0;
    for (size_t i = 0; i < g->n_dimensions; i++) REFS_TRY(bind(g, i, err));
    REFS_TRY(refs_template_render(&g->field[FIELD_KEY], &scope, scratch, &key, err));
    REFS_TRY(refs_template_render(&g->field[FIELD_URL], &scope, scratch, &url, err));
    REFS_TRY(render_number(g, FIELD_OFFSET, &scope, scratch, err));
    REFS_TRY(render_number(g, FIELD_LENGTH, &scope, scratch, err));
    if (!g->has_range) return refs_set_builder_whole(builder, key, url, err);
    const refs_byte_range range = {g->number[FIELD_OFFSET], g->number[FIELD_LENGTH]};
    return refs_set_builder_range(builder, key, url, range, err);
}

/* Moves to the next values, the last dimension fastest; false after the last ones. */
static bool step(generator *g) {
    for (size_t i = g->n_dimensions; i > 0; i--) {
        dimension *d = &g->dimensions[i - 1];
        if (++d->at < d->n) return true;
        d->at = 0;
    }
    return false;
}

/* The number of generated references; UINT64_MAX if it exceeds `limit`. */
static uint64_t count(const generator *g, uint64_t limit) {
    uint64_t n = 1;
    for (size_t i = 0; i < g->n_dimensions; i++)
        if (g->dimensions[i].n == 0) return 0;
    for (size_t i = 0; i < g->n_dimensions; i++)
        if (!refs_mul_u64(n, g->dimensions[i].n, &n) || n > limit) return UINT64_MAX;
    return n;
}

static refs_status check_memory(const refs_set_builder *builder, uint64_t before, refs_error *err) {
    if (refs_references__builder_text_bytes(builder) - before <= MAX_GENERATED_BYTES)
        return REFS_OK;
    return refs_fail(err, REFS_LIMIT,
                     "the generators produce keys and URLs of more than %llu bytes",
                     (unsigned long long)MAX_GENERATED_BYTES);
}

static refs_status generate(generator *g, refs_templates *templates, refs_set_builder *builder,
                            uint64_t *budget, refs_error *err) {
    uint64_t n = count(g, *budget), before = refs_references__builder_text_bytes(builder);
    if (n > *budget)
        return refs_fail(
            err, REFS_LIMIT, "the generators produce more references than the limit of %llu",
            (unsigned long long)refs_references__builder_options(builder)->limits.max_generated);
    *budget -= n;
    if (n == 0) return REFS_OK;
    REFS_TRY(render_constants(g, templates, err));
    do {
        REFS_TRY(add_reference(g, templates, builder, err));
        REFS_TRY(check_memory(builder, before, err));
    } while (step(g));
    return REFS_OK;
}

static refs_status generate_item(const refs_json *item, refs_templates *templates,
                                 refs_set_builder *builder, uint64_t *budget, refs_error *err) {
    REFS_SCOPED_BY(generator_clear) generator g = {0};
    REFS_TRY(refs_json_is_object(item) ? read_fields(item, &g, err)
                                       : refs_fail(err, REFS_INVALID, "expected an object"));
    REFS_TRY(read_dimensions(item, templates, &g, err));
    return generate(&g, templates, builder, budget, err);
}

refs_status refs_references__generate(const refs_json *gen, refs_templates *templates,
                                      refs_set_builder *builder, refs_error *err) {
    uint64_t budget = refs_references__builder_options(builder)->limits.max_generated;
    if (!refs_json_is_array(gen)) return refs_fail(err, REFS_INVALID, "\"gen\": expected a list");
    for (size_t i = 0; i < refs_json_size(gen); i++) {
        refs_status status = generate_item(refs_json_at(gen, i), templates, builder, &budget, err);
        if (status != REFS_OK) refs_error_prefix(err, "gen[%zu]", i);
        REFS_TRY(status);
    }
    return REFS_OK;
}
