/* xml.c -- see dmrpp/xml.h. */
#include "dmrpp/xml.h"

#include "refs/xml_line.h"

/* Bytes that are read at once. */
#define PART_BYTES (1 * REFS_MIB)

typedef struct reading {
    const refs_xml_handler *handler;
    XML_Parser parser;
    size_t depth;
    refs_error problem; /* why reading stopped */
} reading;

static void stop_after(reading *xml, refs_status status) {
    if (status == REFS_OK) return;
    refs_error_prefix(&xml->problem, "line %llu", (unsigned long long)refs_xml_line(xml->parser));
    XML_StopParser(xml->parser, XML_FALSE);
}

/* False after a failure: Expat may still call back once it was stopped. */
static bool goes_on(const reading *xml) {
    return xml->problem.status == REFS_OK;
}

static void XMLCALL on_begin(void *user, const XML_Char *name, const XML_Char **attributes) {
    reading *xml = user;
    if (!goes_on(xml)) return;
    if (xml->depth++ == REFS_XML_MAX_DEPTH) {
        stop_after(xml, refs_fail(&xml->problem, REFS_LIMIT,
                                  "elements are nested deeper than the limit of %d",
                                  REFS_XML_MAX_DEPTH));
        return;
    }
    stop_after(xml, xml->handler->begin(xml->handler->user, name, (const char *const *)attributes,
                                        &xml->problem));
}

static void XMLCALL on_text(void *user, const XML_Char *text, int size) {
    reading *xml = user;
    if (!goes_on(xml)) return;
    stop_after(xml, xml->handler->text(xml->handler->user, refs_str_view(text, (size_t)size),
                                       &xml->problem));
}

static void XMLCALL on_end(void *user, const XML_Char *name) {
    reading *xml = user;
    (void)name;
    if (!goes_on(xml)) return;
    xml->depth--;
    stop_after(xml, xml->handler->end(xml->handler->user, &xml->problem));
}

static void XMLCALL on_document_type(void *user, const XML_Char *name, const XML_Char *system_id,
                                     const XML_Char *public_id, int has_internal_subset) {
    reading *xml = user;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    if (!goes_on(xml)) return;
    stop_after(xml, refs_fail(&xml->problem, REFS_INVALID,
                              "unexpected document type (<!DOCTYPE %.100s): DMR++ has none", name));
}

static refs_status parse(reading *xml, refs_str part, bool is_last, refs_error *err) {
    enum XML_Status status = XML_Parse(xml->parser, part.data, (int)part.size, is_last);
    if (xml->problem.status != REFS_OK)
        return refs_fail(err, xml->problem.status, "%s", xml->problem.message);
    if (status != XML_STATUS_ERROR) return REFS_OK;
    enum XML_Error code = XML_GetErrorCode(xml->parser);
    if (code == XML_ERROR_NO_MEMORY) return refs_fail_nomem(err);
    return refs_fail(err, REFS_CORRUPT, "line %llu: not well-formed XML: %s",
                     (unsigned long long)refs_xml_line(xml->parser), XML_ErrorString(code));
}

/* Some sidecars begin with messages of the program that made them. */
static refs_str from_first_bracket(refs_str part) {
    return refs_str_part(part, refs_str_find(part, '<'), part.size);
}

static refs_status read_parts(reading *xml, const refs_vfs *vfs, void *handle, uint8_t *memory,
                              refs_error *err) {
    bool has_begun = false;
    uint64_t offset = 0;
    size_t got = PART_BYTES;
    while (got == PART_BYTES) {
        const refs_vfs_range range = {offset, PART_BYTES, memory};
        REFS_TRY(vfs->read(vfs->self, handle, &range, &got, err));
        offset += got;
        refs_str part = refs_str_view((const char *)memory, got);
        if (!has_begun) part = from_first_bracket(part);
        has_begun = has_begun || part.size > 0;
        REFS_TRY(parse(xml, part, got < PART_BYTES, err));
    }
    return REFS_OK;
}

static refs_status read_with(reading *xml, const refs_vfs *vfs, const char *location,
                             refs_error *err) {
    void *handle;
    REFS_SCOPED uint8_t *memory = refs_alloc(PART_BYTES);
    if (memory == NULL) return refs_fail_nomem(err);
    XML_SetUserData(xml->parser, xml);
    XML_SetElementHandler(xml->parser, on_begin, on_end);
    XML_SetCharacterDataHandler(xml->parser, on_text);
    XML_SetStartDoctypeDeclHandler(xml->parser, on_document_type);
    refs_status status = refs_vfs_open_whole(vfs, location, &handle, err);
    if (status == REFS_OK) {
        status = read_parts(xml, vfs, handle, memory, err);
        vfs->close(vfs->self, handle);
    }
    return status;
}

refs_status refs_references__xml_read(const refs_vfs *vfs, const char *location,
                                      const refs_xml_handler *handler, refs_error *err) {
    static const XML_Memory_Handling_Suite memory = {refs_alloc, refs_realloc, refs_free};
    reading xml = {.handler = handler, .parser = XML_ParserCreate_MM(NULL, &memory, NULL)};
    if (xml.parser == NULL) return refs_fail_nomem(err);
    refs_status status = read_with(&xml, vfs, location, err);
    XML_ParserFree(xml.parser);
    return status;
}

const char *refs_references__xml_attribute(const char *const *attributes, const char *name) {
    for (; *attributes != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}
