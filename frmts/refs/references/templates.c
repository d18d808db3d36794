/* templates.c -- the templates of a set, see templates.h. */
#include "templates.h"

#include "builder.h"
#include "refs/intern.h"

/* Memory of evaluating an expression: this many times the limit of its result … */
#define SCRATCH_FACTOR 16

/* … or this much, since each value takes memory in addition to its text. */
#define SCRATCH_LEAST (64 * REFS_KIB)

struct refs_templates {
    refs_intern names;
    struct named_template {
        char *text;
        size_t size;
        bool is_callable;
        refs_template template; /* parsed, if it is callable */
    } * items;                  /* one for each name */
    size_t capacity;
    refs_template_scratch scratch;
    refs_template url; /* the last rendered URL, kept to reuse its memory */
};

static void clear_item(struct named_template *item) {
    refs_free(item->text);
    refs_template_clear(&item->template);
}

void refs_references__templates_free(refs_templates *templates) {
    if (templates == NULL) return;
    for (size_t i = 0; i < templates->names.count; i++) clear_item(&templates->items[i]);
    refs_intern_clear(&templates->names);
    refs_free(templates->items);
    refs_template_clear(&templates->url);
    refs_free(templates->scratch.memory);
    refs_free(templates);
}

static refs_status add_name(refs_templates *templates, refs_str name, uint32_t *id,
                            refs_error *err) {
    size_t known = templates->names.count;
    REFS_GROW(templates->items, templates->capacity, known, err);
    memset(&templates->items[known], 0, sizeof *templates->items);
    return refs_intern_add(&templates->names, name, id, err);
}

/* Adds a template, or replaces the one of that name. */
static refs_status set_template(refs_templates *templates, refs_str name, refs_str text,
                                refs_error *err) {
    uint32_t id = 0;
    struct named_template made = {refs_str_copy(text),
                                  text.size,
                                  refs_references__holds_template(text),
                                  {{NULL, 0}, NULL, 0, 0, 0, 0}};
    refs_status status = made.text != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK && made.is_callable)
        status = refs_template_parse(&made.template, refs_str_view(made.text, made.size), err);
    if (status == REFS_OK) status = add_name(templates, name, &id, err);
    if (status != REFS_OK) {
        clear_item(&made);
        return status;
    }
    clear_item(&templates->items[id]);
    templates->items[id] = made;
    return REFS_OK;
}

/* Adds a template of the set. One that cannot be parsed stays undefined, and only fails the URLs
 * that use it. */
static refs_status set_member(refs_templates *templates, refs_str name, refs_str text,
                              const refs_notes *notes, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = set_template(templates, name, text, &problem);
    if (status == REFS_OK) return REFS_OK;
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    refs_note(notes, REFS_NOTE_WARNING, "template \"%.*s\" is left out: %s", REFS_STR_ARG(name),
              problem.message);
    return REFS_OK;
}

static refs_status set_all(refs_templates *templates, const refs_json *members,
                           const refs_set_options *options, refs_error *err) {
    const char *const *overrides = options->templates;
    if (refs_json_kind_of(members) != REFS_JSON_KIND_NULL && !refs_json_is_object(members))
        return refs_fail(err, REFS_INVALID, "\"templates\": expected an object");
    for (size_t i = 0; i < refs_json_size(members); i++) {
        refs_str name = refs_json_name_at(members, i);
        const refs_json *value = refs_json_at(members, i);
        if (!refs_json_is_string(value))
            return refs_fail(err, REFS_INVALID, "template \"%.*s\": expected a string",
                             REFS_STR_ARG(name));
        REFS_TRY(set_member(templates, name, refs_json_text(value), &options->notes, err));
    }
    for (; overrides != NULL && *overrides != NULL; overrides++) {
        refs_str option = refs_str_from(*overrides);
        size_t equals = refs_str_find(option, '=');
        if (equals == SIZE_MAX)
            return refs_fail(err, REFS_INVALID, "template \"%s\": expected NAME=VALUE", *overrides);
        REFS_TRY(set_template(templates, refs_str_part(option, 0, equals),
                              refs_str_part(option, equals + 1, option.size), err));
    }
    return REFS_OK;
}

refs_status refs_references__templates_open(const refs_json *members,
                                            const refs_set_options *options,
                                            refs_templates **templates, refs_error *err) {
    size_t capacity;
    *templates = NULL;
    refs_templates *t = refs_calloc(1, sizeof *t);
    if (t == NULL) return refs_fail_nomem(err);
    const refs_set_limits *limits = &options->limits;
    refs_status status = REFS_OK;
    if (!refs_mul_size(limits->max_rendered_bytes, SCRATCH_FACTOR, &capacity))
        status =
            refs_fail(err, REFS_LIMIT, "the limit of rendered bytes is too large for this machine");
    if (status == REFS_OK) {
        if (capacity < SCRATCH_LEAST) capacity = SCRATCH_LEAST;
        t->scratch =
            (refs_template_scratch){refs_alloc(capacity), 0, capacity, limits->max_rendered_bytes,
                                    limits->max_template_depth};
        if (t->scratch.memory == NULL) status = refs_fail_nomem(err);
    }
    if (status == REFS_OK) status = set_all(t, members, options, err);
    if (status != REFS_OK) {
        refs_references__templates_free(t);
        return status;
    }
    *templates = t;
    return REFS_OK;
}

size_t refs_references__templates_count(const refs_templates *templates) {
    return templates->names.count;
}

refs_template_scratch *refs_references__templates_scratch(refs_templates *templates) {
    return &templates->scratch;
}

bool refs_references__templates_find(const void *user, refs_str name, refs_template_value *value) {
    const refs_templates *templates = user;
    uint32_t id = refs_intern_find(&templates->names, name);
    if (id == REFS_INTERN_NONE) return false;
    const struct named_template *item = &templates->items[id];
    if (item->is_callable)
        *value = (refs_template_value){.kind = REFS_TEMPLATE_TEMPLATE, .callee = &item->template};
    else
        *value = (refs_template_value){.text = refs_str_view(item->text, item->size)};
    return true;
}

refs_status refs_references__templates_render(void *user, refs_str text, refs_buf *rendered,
                                              refs_error *err) {
    refs_templates *templates = user;
    const refs_scope scope = {NULL, 0, refs_references__templates_find, templates};
    refs_str result = {NULL, 0};
    templates->scratch.used = 0;
    REFS_TRY(refs_template_parse(&templates->url, text, err));
    REFS_TRY(refs_template_render(&templates->url, &scope, &templates->scratch, &result, err));
    return refs_buf_append_str(rendered, result, err);
}
