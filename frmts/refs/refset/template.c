/* template.c -- one text with expressions, see template.h. */
#include "template.h"

/* A part of a template: literal text, or the value of an expression. */
typedef struct template_part {
    refs_str literal;
    uint32_t root; /* REFS_NODE_NONE: literal */
} template_part;

struct refs_template {
    char *source;
    refs_str text; /* all of the source */
    refs_expressions expressions;
    template_part *parts;
    size_t n_parts, capacity;
};

void refs_refset__template_free(refs_template *template) {
    if (template == NULL) return;
    refs_free(template->source);
    refs_free(template->parts);
    refs_free(template->expressions.nodes);
    refs_buf_clear(&template->expressions.strings);
    refs_free(template);
}

/* -- parsing ---------------------------------------------------------------------------------- */

static refs_status add_part(refs_template *template, template_part part, refs_error *err) {
    if (part.root == REFS_NODE_NONE && part.literal.size == 0) return REFS_OK;
    if (!refs_grow((void **)&template->parts, &template->capacity, template->n_parts,
                   sizeof *template->parts))
        return refs_fail_nomem(err);
    template->parts[template->n_parts++] = part;
    return REFS_OK;
}

/* Where the next "{{", "{%" or "{#" is, or the end. */
static size_t find_mark(refs_str text, size_t from) {
    for (size_t i = from; i + 1 < text.size; i++)
        if (text.data[i] == '{' && strchr("{%#", text.data[i + 1]) != NULL &&
            text.data[i + 1] != '\0')
            return i;
    return text.size;
}

static bool is_white(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* "{{-" takes the white space before it away, and "-}}" that behind it. */
static refs_str trim_literal(refs_str text, size_t begin, size_t end) {
    if (begin > 2 && refs_str_starts(refs_str_part(text, begin - 3, end), "-}}"))
        while (begin < end && is_white(text.data[begin])) begin++;
    if (refs_str_starts(refs_str_part(text, end, text.size), "{{-"))
        while (end > begin && is_white(text.data[end - 1])) end--;
    return refs_str_part(text, begin, end);
}

static refs_status skip_comment(refs_str text, size_t *at, refs_error *err) {
    for (size_t i = *at + 2; i + 1 < text.size; i++)
        if (text.data[i] == '#' && text.data[i + 1] == '}') {
            *at = i + 2;
            return REFS_OK;
        }
    return refs_fail(err, REFS_INVALID, "a comment does not end with \"#}\"");
}

static refs_status parse_marked(refs_template *template, size_t *at, refs_error *err) {
    refs_str rest = refs_str_part(template->text, *at, template->text.size);
    template_part part = {.root = REFS_NODE_NONE};
    if (refs_str_starts(rest, "{#")) return skip_comment(template->text, at, err);
    if (refs_str_starts(rest, "{%"))
        return refs_fail(err, REFS_UNSUPPORTED, "statements ({%% ... %%}) are not supported");
    /* jinja2 takes a sign right behind the braces for one of its own; "+" keeps white space. */
    *at += refs_str_starts(rest, "{{-") || refs_str_starts(rest, "{{+") ? 3 : 2;
    REFS_TRY(
        refs_refset__expression_parse(&template->expressions, template->text, at, &part.root, err));
    return add_part(template, part, err);
}

static refs_status parse(refs_template *template, refs_error *err) {
    refs_str text = template->text;
    for (size_t at = 0; at < text.size;) {
        size_t mark = find_mark(text, at);
        template_part literal = {trim_literal(text, at, mark), REFS_NODE_NONE};
        REFS_TRY(add_part(template, literal, err));
        at = mark;
        if (at < text.size) REFS_TRY(parse_marked(template, &at, err));
    }
    return REFS_OK;
}

refs_status refs_refset__template_open(refs_str text, refs_template **template, refs_error *err) {
    *template = NULL;
    refs_template *t = refs_calloc(1, sizeof *t);
    char *source = refs_str_copy(text);
    if (t == NULL || source == NULL) {
        refs_free(t);
        refs_free(source);
        return refs_fail_nomem(err);
    }
    t->source = source;
    t->text = refs_str_view(source, text.size);
    /* jinja2 takes one newline at the end away. */
    if (refs_str_ends(t->text, "\n")) t->text.size--;
    refs_status status = refs_buf_reserve(&t->expressions.strings, text.size + 1, err);
    if (status == REFS_OK) status = parse(t, err);
    if (status == REFS_OK) {
        *template = t;
        return REFS_OK;
    }
    refs_error_prefix(err, "template \"%.*s\"", REFS_STR_ARG(text));
    refs_refset__template_free(t);
    return status;
}

/* -- rendering -------------------------------------------------------------------------------- */

static refs_status join_parts(const refs_str *parts, size_t n, refs_scratch *scratch,
                              refs_str *text, refs_error *err) {
    size_t size = 0, at = 0;
    void *memory;
    for (size_t i = 0; i < n; i++)
        if (!refs_add_size(size, parts[i].size, &size)) return refs_fail_nomem(err);
    REFS_TRY(refs_refset__scratch_take(scratch, size, &memory, err));
    for (size_t i = 0; i < n; i++) {
        if (parts[i].size > 0) memcpy((char *)memory + at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }
    *text = refs_str_view(memory, size);
    return REFS_OK;
}

static refs_status render(const refs_template *template, const refs_evaluation *evaluation,
                          refs_str *text, refs_error *err) {
    void *memory;
    REFS_TRY(refs_refset__scratch_take(evaluation->scratch, template->n_parts * sizeof(refs_str),
                                       &memory, err));
    refs_str *parts = memory;
    for (size_t i = 0; i < template->n_parts; i++) {
        refs_value value;
        parts[i] = template->parts[i].literal;
        if (template->parts[i].root == REFS_NODE_NONE) continue;
        REFS_TRY(
            refs_refset__expression_evaluate(evaluation, template->parts[i].root, &value, err));
        REFS_TRY(refs_refset__to_text(&value, evaluation->scratch, &parts[i], err));
    }
    return join_parts(parts, template->n_parts, evaluation->scratch, text, err);
}

refs_status refs_refset__template_call(const refs_template *template, const refs_scope *scope,
                                       refs_scratch *scratch, size_t depth, refs_str *text,
                                       refs_error *err) {
    const refs_evaluation evaluation = {&template->expressions, scope, scratch, depth};
    refs_status status = REFS_OK;
    if (depth > scratch->max_depth)
        status = refs_fail(err, REFS_LIMIT, "templates call each other more than %zu deep",
                           scratch->max_depth);
    if (status == REFS_OK) status = render(template, &evaluation, text, err);
    if (status == REFS_OK && text->size > scratch->max_text)
        status = refs_fail(err, REFS_LIMIT, "it renders to more than %zu bytes", scratch->max_text);
    if (status != REFS_OK)
        refs_error_prefix(err, "template \"%.*s\"", REFS_STR_ARG(template->text));
    return status;
}

refs_status refs_refset__template_render(const refs_template *template, const refs_scope *scope,
                                         refs_scratch *scratch, refs_str *text, refs_error *err) {
    return refs_refset__template_call(template, scope, scratch, 0, text, err);
}
