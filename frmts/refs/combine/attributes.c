/* attributes.c -- warns of attributes that later parts have and the result does not.
 *
 * Groups and arrays keep the attributes of the first part that has them, so that combining is
 * associative; those of a manifest of empty fragments take precedence. Attributes that only a later
 * part has would be lost silently. */
#include "combine_internal.h"
#include "refs/aggregation.h"
#include "refs/attribute_class.h"

typedef struct attribute_search {
    const refs_combine *combine;
    refs_intern lost; /* list_lost */
    uint32_t *kept;   /* for each string that is a key or a path: the text that is kept, or NONE */
    refs_buf path;    /* with a leading slash */
} attribute_search;

/* Whether an attribute is not compared: those of storage may differ between fragments, which keep
 * them; intervals of a statistic are kept if all sources agree; notes of the parsers
 * (base/own_attributes.h) and of masters are no attributes of the data. */
static bool is_of_values(refs_str name) {
    return refs_cf_is_attribute_of(name, REFS_CF_PACKING | REFS_CF_VALID | REFS_CF_UNITS |
                                             REFS_CF_START | REFS_CF_LENGTH) ||
           refs_str_is(name, "unpacked_dtype") || refs_str_is(name, "_NCProperties") ||
           refs_str_is(name, REFS_CFA_COMBINED) || refs_str_starts(name, "_ARRAY_DIMENSIONS") ||
           refs_str_starts(name, "_nc_");
}

/* Adds "comment of /t2m" to `lost` for each attribute that only the other source has, except those
 * that say how values are stored. */
static refs_status list_lost(const refs_attribute_pair *pair, refs_intern *lost, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    uint32_t id;
    for (size_t i = 0; i < refs_json_size(pair->other); i++) {
        const refs_str name = refs_json_name_at(pair->other, i);
        if (is_of_values(name) || refs_aggregation_owns(pair->other, name) ||
            refs_json_get_str(pair->kept, name) != NULL ||
            (pair->ignored != NULL && refs_str_is(name, pair->ignored)))
            continue;
        text.size = 0;
        REFS_TRY(refs_buf_printf(&text, err, "%.*s of %.*s", REFS_STR_WHOLE(name),
                                 REFS_STR_WHOLE(pair->path)));
        REFS_TRY(refs_intern_add(lost, refs_buf_text(&text), &id, err));
    }
    return REFS_OK;
}

/* Warns of what was listed, if anything was. */
static refs_status note_lost(const refs_notes *notes, const refs_intern *lost, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (lost->count == 0) return REFS_OK;
    for (uint32_t i = 0; i < lost->count; i++)
        REFS_TRY(refs_buf_printf(&text, err, "%s%.*s", i > 0 ? ", " : "",
                                 REFS_STR_WHOLE(refs_intern_get(lost, i))));
    refs_note(notes, REFS_NOTE_WARNING, "attributes that the first source lacks are left out: %.*s",
              (int)text.size, (const char *)text.data);
    return REFS_OK;
}

refs_status refs_combine_check_kind(const refs_attribute_pair *pair, const char *const names[2],
                                    refs_error *err) {
    static const char *const keys[] = {"GRIB_stepType", "GRIB_typeOfLevel"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const refs_str one = refs_json_text(refs_json_get(pair->kept, keys[i])),
                       other = refs_json_text(refs_json_get(pair->other, keys[i]));
        if (one.size == 0 || other.size == 0 || refs_str_equal(one, other)) continue;
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%.*s: %s is \"%.*s\" in %s and \"%.*s\" in %s: expected fields of one kind; "
            "make one set of the sources of each kind",
            REFS_STR_ARG(pair->path), keys[i], REFS_STR_ARG(one), names[0], REFS_STR_ARG(other),
            names[1]);
    }
    return REFS_OK;
}

bool refs_combine_differ_in(const refs_attribute_pair *pair, unsigned classes) {
    const char *name;
    for (size_t i = 0; (name = refs_cf_attribute_at(classes, i)) != NULL; i++) {
        double one = 0, other = 0;
        const bool has_one = refs_json_double(refs_json_get(pair->kept, name), &one);
        const bool has_other = refs_json_double(refs_json_get(pair->other, name), &other);
        if (has_one != has_other || one != other) return true;
    }
    return false;
}

bool refs_combine_note_meaning(const refs_notes *notes, const refs_attribute_pair *pair,
                               const char *const names[2]) {
    static const char *const attributes[] = {"standard_name", "cell_methods"};
    bool has_other = false;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        const refs_str one = refs_json_text(refs_json_get(pair->kept, attributes[i])),
                       other = refs_json_text(refs_json_get(pair->other, attributes[i]));
        if (refs_str_equal(one, other)) continue;
        has_other = true;
        refs_note(notes, REFS_NOTE_WARNING,
                  "%.*s: %s is \"%.*s\" in %s and \"%.*s\" in %s: keeping the first",
                  REFS_STR_ARG(pair->path), attributes[i], REFS_STR_ARG(one), names[0],
                  REFS_STR_ARG(other), names[1]);
    }
    return has_other;
}

/* Compares two texts of attributes. Unreadable ones are reported elsewhere. */
static refs_status compare_texts(attribute_search *at, uint32_t kept, uint32_t other, refs_str path,
                                 refs_error *err) {
    REFS_SCOPED_JSON *one = NULL, *two = NULL;
    if (kept == other) return REFS_OK;
    at->path.size = 0;
    REFS_TRY(refs_buf_printf(&at->path, err, "/%.*s", REFS_STR_WHOLE(path)));
    if (refs_json_parse(refs_combine__text(at->combine, kept), &one, NULL) != REFS_OK ||
        refs_json_parse(refs_combine__text(at->combine, other), &two, NULL) != REFS_OK)
        return REFS_OK;
    const refs_attribute_pair pair = {
        .kept = refs_json_root(one),
        .other = refs_json_root(two),
        .path = refs_buf_text(&at->path),
        .ignored = refs_combine__is_aggregated(at->combine) ? "Conventions" : NULL};
    return list_lost(&pair, &at->lost, err);
}

static refs_status see(attribute_search *at, uint32_t key, uint32_t text, refs_str path,
                       refs_error *err) {
    if (text == REFS_COMBINE_NONE) return REFS_OK;
    if (at->kept[key] != REFS_COMBINE_NONE)
        return compare_texts(at, at->kept[key], text, path, err);
    at->kept[key] = text;
    return REFS_OK;
}

static refs_status see_member(attribute_search *at, const refs_combine_member *member,
                              refs_error *err) {
    for (size_t i = 0; i < member->n_documents; i++) {
        const refs_combine_document *document = &member->documents[i];
        refs_str group;
        if (!refs_combine__is_attributes(at->combine, document, &group)) continue;
        REFS_TRY(see(at, document->key, document->text, refs_path_parent(group), err));
    }
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        REFS_TRY(
            see(at, array->path, array->whole, refs_combine__text(at->combine, array->path), err));
    }
    return refs_combine__go_on(at->combine, err);
}

refs_status refs_combine__tell_attributes(const refs_combine *combine,
                                          const refs_combine_plan *plan, refs_error *err) {
    attribute_search at = {.combine = combine, .path = REFS_BUF_INIT};
    at.kept = refs_alloc((combine->strings.count + 1) * sizeof *at.kept);
    refs_status status = at.kept != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) memset(at.kept, 0xff, (combine->strings.count + 1) * sizeof *at.kept);
    for (size_t i = combine->n_parts; i < combine->n_members && status == REFS_OK; i++)
        if (combine->members[i].role == REFS_COMBINE_IS_OUTLINE)
            status = see_member(&at, &combine->members[i], err);
    for (size_t i = 0; i < combine->n_members && status == REFS_OK; i++)
        status = see_member(&at, &combine->members[plan->order[i]], err);
    if (status == REFS_OK) status = note_lost(&combine->options.notes, &at.lost, err);
    refs_intern_clear(&at.lost);
    refs_buf_clear(&at.path);
    refs_free(at.kept);
    return status;
}
