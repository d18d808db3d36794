/* fuzz_template.c -- expressions: any text renders, or is refused in words, in bounded memory. */
#include <stdlib.h>

#include "fuzz.h"
#include "templates.h"

/* Names of every kind: text, numbers as text, and calls of one another. */
static const char members[] =
    "{\"u\": \"s3://bucket/key\", \"n\": \"12\", \"e\": \"\", \"f\": \"{{c}}-{{'%03d' % 5}}\","
    " \"g\": \"{{f(c=c)}}{{f(c='x')}}\", \"self\": \"{{self()}}\"}";

/* Small: a megabyte for each try is what would take the time. */
#define MAX_RENDERED 4096

static void render(refs_templates *templates, refs_str text) {
    refs_buf rendered = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_references__templates_render(templates, text, &rendered, &err);
    if ((status != REFS_OK) != (err.message[0] != '\0')) abort();
    if (status == REFS_OK && rendered.size > MAX_RENDERED) abort();
    refs_buf_clear(&rendered);
}

/* The templates, which rendering does not change. */
static refs_templates *shared_templates(void) {
    static refs_templates *templates;
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    refs_json_doc *document = NULL;
    if (templates != NULL) return templates;
    options.limits.max_rendered_bytes = MAX_RENDERED;
    refs_status status = refs_json_parse(refs_str_from(members), &document, NULL);
    if (status == REFS_OK)
        status =
            refs_references__templates_open(refs_json_root(document), &options, &templates, NULL);
    if (status != REFS_OK) abort();
    refs_json_doc_free(document);
    return templates;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    render(shared_templates(), refs_str_view((const char *)data, size));
    return 0;
}
