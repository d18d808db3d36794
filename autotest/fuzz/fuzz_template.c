/* fuzz_template.c -- expressions: any text renders, or is refused in words, in bounded memory. */
#include <stdlib.h>

#include "fuzz.h"
#include "template.h"

/* Names of every kind: text, numbers as text, and calls of one another. */
static const char members[] =
    "{\"u\": \"s3://bucket/key\", \"n\": \"12\", \"e\": \"\", \"f\": \"{{c}}-{{'%03d' % 5}}\","
    " \"g\": \"{{f(c=c)}}{{f(c='x')}}\", \"self\": \"{{self()}}\"}";

static void render(refs_templates *templates, refs_str text) {
    const refs_set_limits limits = REFS_SET_LIMITS_INIT;
    refs_buf rendered = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_refset__templates_render(templates, text, &rendered, &err);
    if ((status != REFS_OK) != (err.message[0] != '\0')) abort();
    if (status == REFS_OK && rendered.size > text.size + limits.max_rendered_bytes) abort();
    refs_buf_clear(&rendered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const refs_set_options options = REFS_SET_OPTIONS_INIT;
    refs_json_doc *document = NULL;
    refs_templates *templates = NULL;
    refs_status status = refs_json_parse(refs_str_from(members), &document, NULL);
    if (status == REFS_OK)
        status = refs_refset__templates_open(refs_json_root(document), &options, &templates, NULL);
    if (status != REFS_OK) abort();
    render(templates, refs_str_view((const char *)data, size));
    refs_refset__templates_free(templates);
    refs_json_doc_free(document);
    return 0;
}
