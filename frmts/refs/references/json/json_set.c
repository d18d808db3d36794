/* json_set.c -- see json_set.h. */
#include "json/json_set.h"

#include "generator.h"
#include "set_list.h"
#include "json/value.h"

typedef struct set_reader {
    refs_json_reader *reader;
    refs_set_builder *builder;
    refs_json_value_reader values;
    const refs_notes *notes;

    refs_json_version version; /* as known or assumed so far */
    bool said;                 /* the document had a "version" */
    bool has_refs;
    bool has_root_metadata; /* found next to the references, as in version 0 */
    size_t n_members;       /* members that were read as references */

    refs_buf templates; /* the text of these members; empty: absent */
    refs_buf gen;
} set_reader;

static refs_status fail_at(const set_reader *set, refs_error *err, const char *what,
                           refs_str value) {
    uint64_t line, column, position;
    refs_json_where(set->reader, &line, &column, &position);
    return refs_fail(err, REFS_INVALID, "line %llu, column %llu: %s \"%.*s\"",
                     (unsigned long long)line, (unsigned long long)column, what,
                     REFS_STR_ARG(value));
}

/* -- members ----------------------------------------------------------------------------------- */

static refs_status read_version(set_reader *set, refs_error *err) {
    refs_json_token token;
    refs_str text;
    uint64_t number = 0;
    bool integral;
    REFS_TRY(refs_json_next(set->reader, &token, &text, err));
    if (token == REFS_JSON_NULL) return REFS_OK;
    bool one = token == REFS_JSON_TRUE ||
               (token == REFS_JSON_NUMBER && refs_json_number_to_u64(text, &number, &integral) &&
                number == 1);
    if (token == REFS_JSON_FALSE) text = refs_str_from("false");
    if (!one) return fail_at(set, err, "expected version 1 of a reference set, found", text);
    set->said = true;
    set->version = REFS_JSON_VERSION_1;
    return REFS_OK;
}

static refs_status read_references(set_reader *set, refs_error *err) {
    for (;;) {
        refs_json_token token;
        refs_str key;
        REFS_TRY(refs_json_next(set->reader, &token, &key, err));
        if (token == REFS_JSON_OBJECT_END) return REFS_OK;
        REFS_TRY(refs_references__json_value_read(&set->values, key, err));
    }
}

static refs_status read_refs(set_reader *set, refs_error *err) {
    refs_json_token token;
    REFS_TRY(refs_json_next(set->reader, &token, NULL, err));
    if (token != REFS_JSON_OBJECT_BEGIN)
        return fail_at(set, err, "expected an object as", refs_str_from("refs"));
    set->version = REFS_JSON_VERSION_1;
    set->has_refs = true;
    return read_references(set, err);
}

/* Keeps the text of a member to the end, because it applies to all references. */
static refs_status keep_text(set_reader *set, refs_buf *kept, refs_error *err) {
    refs_json_token token;
    kept->size = 0;
    REFS_TRY(refs_json_next(set->reader, &token, NULL, err));
    if (token == REFS_JSON_OBJECT_BEGIN || token == REFS_JSON_ARRAY_BEGIN)
        return refs_json_capture(set->reader, token, kept, err);
    if (token == REFS_JSON_NULL) return REFS_OK;
    return fail_at(set, err, "expected an object or array as", refs_str_from("templates, gen"));
}

static refs_status read_reference(set_reader *set, refs_str key, refs_error *err) {
    if (refs_key_is_metadata(key) && refs_str_find(key, '/') == SIZE_MAX) {
        set->has_root_metadata = true;
        if (set->version == REFS_JSON_VERSION_UNKNOWN) set->version = REFS_JSON_VERSION_0;
    }
    if (set->version == REFS_JSON_VERSION_1) {
        refs_json_token token;
        REFS_TRY(refs_json_next(set->reader, &token, NULL, err));
        return refs_json_skip(set->reader, token, err);
    }
    set->n_members++;
    return refs_references__json_value_read(&set->values, key, err);
}

static refs_status read_member(set_reader *set, refs_str key, refs_error *err) {
    if (refs_str_is(key, "version")) return read_version(set, err);
    if (set->version != REFS_JSON_VERSION_0) {
        if (refs_str_is(key, "refs")) return read_refs(set, err);
        if (refs_str_is(key, "templates")) return keep_text(set, &set->templates, err);
        if (refs_str_is(key, "gen")) return keep_text(set, &set->gen, err);
    }
    return read_reference(set, key, err);
}

/* The true version, if the members so far were read by the rules of another. */
static refs_json_version refuted(const set_reader *set, refs_json_version known) {
    if (known != REFS_JSON_VERSION_UNKNOWN) return known;
    if (set->version == REFS_JSON_VERSION_1 && set->n_members > 0) return REFS_JSON_VERSION_1;
    if (set->version == REFS_JSON_VERSION_1 && !set->said && set->has_root_metadata)
        return REFS_JSON_VERSION_0;
    return known;
}

static refs_status read_members(set_reader *set, refs_json_version known, refs_error *err) {
    for (;;) {
        refs_json_token token;
        refs_str key;
        REFS_TRY(refs_json_next(set->reader, &token, &key, err));
        if (token == REFS_JSON_OBJECT_END) return REFS_OK;
        REFS_TRY(read_member(set, key, err));
        if (set->said && refuted(set, known) != known) return REFS_OK;
    }
}

/* -- whole documents --------------------------------------------------------------------------- */

static void warn(const set_reader *set) {
    bool of_version_1 = set->version == REFS_JSON_VERSION_1;
    bool empty = of_version_1 ? !set->has_refs && set->gen.size == 0 : set->n_members == 0;
    if (of_version_1 && !set->said)
        refs_note(set->notes, REFS_NOTE_WARNING,
                  "set has \"refs\" but no \"version\": 1 is assumed");
    if (empty) refs_note(set->notes, REFS_NOTE_WARNING, "set has no references");
    if (set->values.n_fractional > 0)
        refs_note(set->notes, REFS_NOTE_WARNING,
                  "%llu offsets or lengths are not integers, but have a fraction of 0",
                  (unsigned long long)set->values.n_fractional);
    if (set->values.n_unpadded > 0)
        refs_note(set->notes, REFS_NOTE_WARNING, "%llu values in base64 lack padding",
                  (unsigned long long)set->values.n_unpadded);
    if (refs_json_reader_n_controls(set->reader) > 0)
        refs_note(set->notes, REFS_NOTE_WARNING,
                  "%llu control characters in strings lack an escape",
                  (unsigned long long)refs_json_reader_n_controls(set->reader));
}

static refs_status parse_kept(const refs_buf *kept, refs_json_doc **doc, refs_error *err) {
    if (kept->size == 0) return REFS_OK;
    return refs_json_parse(refs_buf_text(kept), doc, err);
}

/* Renders the URLs and expands the generators, which override the references. */
static refs_status apply(set_reader *set, const refs_json *members, const refs_json *gen,
                         refs_error *err) {
    refs_templates *templates;
    REFS_TRY(refs_references__templates_open(
        members, refs_references__builder_options(set->builder), &templates, err));
    refs_status status = REFS_OK;
    if (refs_references__templates_count(templates) > 0)
        status = refs_references__builder_render(set->builder, refs_references__templates_render,
                                                 templates, err);
    if (status == REFS_OK && gen != NULL)
        status = refs_references__generate(gen, templates, set->builder, err);
    refs_references__templates_free(templates);
    return status;
}

static refs_status apply_kept(set_reader *set, refs_error *err) {
    refs_json_doc *members = NULL, *gen = NULL;
    refs_status status = parse_kept(&set->templates, &members, err);
    if (status == REFS_OK) status = parse_kept(&set->gen, &gen, err);
    if (status == REFS_OK)
        status = apply(set, members != NULL ? refs_json_root(members) : NULL,
                       gen != NULL ? refs_json_root(gen) : NULL, err);
    refs_json_doc_free(members);
    refs_json_doc_free(gen);
    return status;
}

static refs_status read_set(set_reader *set, refs_json_version *version, refs_error *err) {
    const refs_json_version known = *version;
    REFS_TRY(read_members(set, known, err));
    *version = refuted(set, known);
    if (*version != known) return REFS_OK;
    if (set->version == REFS_JSON_VERSION_1) REFS_TRY(apply_kept(set, err));
    warn(set);
    return REFS_OK;
}

refs_status refs_references__json_set_read(refs_json_reader *reader, refs_json_version *version,
                                           refs_set_builder *builder, refs_error *err) {
    set_reader set = {.reader = reader,
                      .builder = builder,
                      .values = {.reader = reader, .builder = builder},
                      .notes = &refs_references__builder_options(builder)->notes,
                      .version = *version};
    refs_status status = read_set(&set, version, err);
    refs_references__json_value_clear(&set.values);
    refs_buf_clear(&set.templates);
    refs_buf_clear(&set.gen);
    return status;
}
