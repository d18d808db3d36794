/* list_page.c -- see list_page.h. Elements are those of ListObjectsV2 in the Amazon S3 API
 * reference; read by libexpat. */
#include "list_page.h"

#include <stdio.h>
#include <strings.h>

#include "refs/civil.h"
#include "refs/cloud.h"
#include "refs/percent.h"
#include "refs/xml_line.h"

/* Limit of nesting; a listing has three levels. */
#define MAX_DEPTH 32

typedef struct reading {
    XML_Parser parser;
    refs_list_page *page;
    refs_error problem;
    unsigned depth; /* of open elements */
    char entry[32]; /* name of the element at depth 2 */
    refs_buf text;  /* of the innermost element */
    refs_list_item item;
    bool has_name;
    bool is_encoded; /* names are percent-encoded */
    bool is_cut;     /* further pages follow */
} reading;

void refs_list_page__clear(refs_list_page *page) {
    refs_buf_clear(&page->names);
    refs_free(page->items);
    refs_free(page->next);
    memset(page, 0, sizeof *page);
}

static void stop(reading *at, refs_status status, const char *why) {
    (void)refs_fail(&at->problem, status, "%s", why);
    XML_StopParser(at->parser, XML_FALSE);
}

static bool is_text(const reading *at, const char *text) {
    return refs_str_is(refs_buf_text(&at->text), text);
}

/* -- elements ---------------------------------------------------------------------------------- */

static void begin_element(void *user, const char *name, const char **attributes) {
    reading *at = user;
    (void)attributes;
    at->depth++;
    at->text.size = 0;
    if (at->depth > MAX_DEPTH) stop(at, REFS_CORRUPT, "elements are nested too deeply");
    if (at->depth == 1 && strcmp(name, "ListBucketResult") != 0)
        stop(at, REFS_CORRUPT, "expected ListBucketResult as the root element");
    if (at->depth != 2) return;
    size_t size = strlen(name);
    if (size >= sizeof at->entry) size = 0; /* the names of all needed elements are shorter */
    memcpy(at->entry, name, size);
    at->entry[size] = '\0';
    at->item = (refs_list_item){0};
    at->has_name = false;
}

static void take_name(reading *at) {
    at->item.begin = at->page->names.size;
    if (refs_buf_append(&at->page->names, at->text.data, at->text.size, &at->problem) != REFS_OK)
        stop(at, REFS_NOMEM, "");
    at->item.end = at->page->names.size;
    at->has_name = true;
}

static void take_item(reading *at, bool is_folder) {
    refs_list_page *page = at->page;
    if (!at->has_name) {
        stop(at, REFS_CORRUPT, "an object has no name");
    } else if (!refs_grow((void **)&page->items, &page->capacity, page->n, sizeof *page->items)) {
        stop(at, REFS_NOMEM, "out of memory");
    } else {
        at->item.is_folder = is_folder;
        page->items[page->n++] = at->item;
    }
}

static void end_of_entry(reading *at) {
    if (strcmp(at->entry, "Contents") == 0) take_item(at, false);
    if (strcmp(at->entry, "CommonPrefixes") == 0) take_item(at, true);
    if (strcmp(at->entry, "EncodingType") == 0) at->is_encoded = is_text(at, "url");
    if (strcmp(at->entry, "IsTruncated") == 0) at->is_cut = is_text(at, "true");
    if (strcmp(at->entry, "NextContinuationToken") == 0 && at->page->next == NULL)
        at->page->next = refs_str_copy(refs_buf_text(&at->text));
}

/* Parses "2026-08-01T04:01:12.000Z" to seconds since 1970; 0 if it is invalid. */
static int64_t read_time(const reading *at) {
    char text[32];
    int year, month, day, hour, minute, second, n = 0;
    snprintf(text, sizeof text, "%.*s", (int)at->text.size, (const char *)at->text.data);
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second,
               &n) != 6 ||
        n != 19 || text[strlen(text) - 1] != 'Z' || !refs_is_civil_date(year, month, day))
        return 0;
    return refs_days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
}

static void end_of_part(reading *at, const char *name) {
    bool is_object = strcmp(at->entry, "Contents") == 0;
    bool is_folder = strcmp(at->entry, "CommonPrefixes") == 0;
    if ((is_object && strcmp(name, "Key") == 0) || (is_folder && strcmp(name, "Prefix") == 0))
        take_name(at);
    if (is_object && strcmp(name, "Size") == 0 &&
        !refs_str_to_u64(refs_buf_text(&at->text), &at->item.size))
        stop(at, REFS_CORRUPT, "an object has no size");
    if (is_object && strcmp(name, "LastModified") == 0) at->item.modified_s = read_time(at);
}

static void end_element(void *user, const char *name) {
    reading *at = user;
    if (at->depth == 3) end_of_part(at, name);
    if (at->depth == 2) end_of_entry(at);
    at->depth--;
    at->text.size = 0;
}

static void add_text(void *user, const char *text, int size) {
    reading *at = user;
    if (at->text.size + (size_t)size > REFS_LIST_MAX_NAME_BYTES)
        stop(at, REFS_LIMIT, "a name is too long");
    else if (refs_buf_append(&at->text, text, (size_t)size, &at->problem) != REFS_OK)
        stop(at, REFS_NOMEM, "");
}

/* A listing needs no document type, whose entities could expand. */
static void refuse_doctype(void *user, const char *name, const char *system, const char *public,
                           int has_subset) {
    (void)name;
    (void)system;
    (void)public;
    (void)has_subset;
    stop(user, REFS_CORRUPT, "a list of objects has a document type");
}

/* -- names ------------------------------------------------------------------------------------- */

/* Decodes in place, because the result is not longer. */
static size_t decode(char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (text[i] == '+') text[i] = ' ';
    return refs_percent_decode(text, size);
}

static void decode_names(refs_list_page *page) {
    for (size_t i = 0; i < page->n; i++) {
        refs_list_item *item = &page->items[i];
        if (item->end == item->begin) continue;
        item->end =
            item->begin + decode((char *)page->names.data + item->begin, item->end - item->begin);
    }
}

/* -- the answer -------------------------------------------------------------------------------- */

static refs_status run(reading *at, refs_bytes xml, refs_error *err) {
    XML_SetUserData(at->parser, at);
    XML_SetElementHandler(at->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(at->parser, add_text);
    XML_SetStartDoctypeDeclHandler(at->parser, refuse_doctype);
    bool is_well_formed =
        XML_Parse(at->parser, (const char *)xml.data, (int)xml.size, XML_TRUE) == XML_STATUS_OK;
    refs_error *problem = &at->problem;
    if (!is_well_formed && problem->status == REFS_OK)
        (void)refs_fail(problem, REFS_CORRUPT, "%s in line %llu",
                        XML_ErrorString(XML_GetErrorCode(at->parser)),
                        (unsigned long long)refs_xml_line(at->parser));
    if (problem->status == REFS_OK && at->is_cut && at->page->next == NULL)
        (void)refs_fail(problem, REFS_CORRUPT, "a truncated list without a continuation token");
    if (problem->status == REFS_OK) return REFS_OK;
    return refs_fail(err, problem->status, "a list of objects: %s", problem->message);
}

refs_status refs_list_page__parse(refs_bytes xml, refs_list_page *page, refs_error *err) {
    reading at = {.parser = XML_ParserCreate(NULL), .page = page, .problem = REFS_ERROR_INIT};
    memset(page, 0, sizeof *page);
    if (at.parser == NULL) return refs_fail_nomem(err);
    refs_status status =
        xml.size <= REFS_LIST_MAX_PAGE_BYTES
            ? run(&at, xml, err)
            : refs_fail(err, REFS_LIMIT,
                        "a page of the list has %zu bytes, more than the limit of %llu", xml.size,
                        (unsigned long long)REFS_LIST_MAX_PAGE_BYTES);
    if (status == REFS_OK && at.is_encoded) decode_names(page);
    if (status == REFS_OK && !at.is_cut) {
        refs_free(page->next);
        page->next = NULL;
    }
    if (status != REFS_OK) refs_list_page__clear(page);
    refs_buf_clear(&at.text);
    XML_ParserFree(at.parser);
    return status;
}
