/* findings.c -- see findings.h. */
#include "findings.h"

#include <stdio.h>
#include <string.h>

typedef struct tool_finding {
    refs_buf text; /* problems, separated by "; " */
    char *failure; /* failure of the first failed read; or NULL */
    uint64_t n_failed;
    refs_status status; /* status of the first failure */
    bool is_problem, is_not_decoded;
} tool_finding;

static refs_status find(tool_findings *findings, const char *name, tool_finding **found,
                        refs_error *err) {
    const size_t known = findings->names.count;
    uint32_t id;
    REFS_GROW(findings->items, findings->capacity, known, err);
    REFS_TRY(refs_intern_add(&findings->names, refs_str_from(name), &id, err));
    if (id == known) findings->items[id] = (tool_finding){.text = REFS_BUF_INIT};
    *found = &findings->items[id];
    return REFS_OK;
}

static refs_status add_text(tool_finding *finding, const char *before, const char *text,
                            refs_error *err) {
    const char *between = finding->text.size > 0 ? "; " : "";
    return refs_buf_printf(&finding->text, err, "%s%s%s", between, before, text);
}

refs_status tool_findings_add(tool_findings *findings, const char *name, tool_found found,
                              refs_error *err) {
    tool_finding *finding = NULL;
    REFS_TRY(find(findings, name, &finding, err));
    if (finding->status == REFS_OK) finding->status = found.status;
    if (found.kind == TOOL_NOT_DECODED) {
        finding->is_not_decoded = true;
        return add_text(finding, "was not decoded: ", found.text, err);
    }
    finding->is_problem = true;
    if (found.kind == TOOL_PROBLEM) return add_text(finding, "", found.text, err);
    if (finding->n_failed++ > 0) return REFS_OK;
    return refs_str_keep(refs_str_from(found.text), &finding->failure, err);
}

uint64_t tool_findings_n_problems(const tool_findings *findings) {
    uint64_t n = 0;
    for (size_t i = 0; i < findings->names.count; i++) n += findings->items[i].is_problem ? 1 : 0;
    return n;
}

uint64_t tool_findings_n_not_decoded(const tool_findings *findings) {
    uint64_t n = 0;
    for (size_t i = 0; i < findings->names.count; i++)
        n += findings->items[i].is_not_decoded ? 1 : 0;
    return n;
}

/* Joins all findings of a name, with a NUL. */
static refs_status sum_up(const tool_finding *finding, refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_append(text, finding->text.data, finding->text.size, err));
    const char *between = text->size > 0 ? "; " : "";
    if (finding->n_failed == 1)
        REFS_TRY(refs_buf_printf(text, err, "%s%s", between, finding->failure));
    else if (finding->n_failed > 1)
        REFS_TRY(refs_buf_printf(text, err, "%s%llu reads failed, the first: %s", between,
                                 (unsigned long long)finding->n_failed, finding->failure));
    return refs_buf_append(text, "", 1, err);
}

static refs_status print_json(const char *name, refs_status code, const char *text,
                              refs_error *err) {
    REFS_SCOPED_BUF json = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&json, err, "{\"source\":"));
    REFS_TRY(refs_json_write_string(refs_str_from(name), &json, err));
    REFS_TRY(refs_buf_printf(&json, err, ",\"code\":\"%s\",\"problem\":", refs_status_code(code)));
    REFS_TRY(refs_json_write_string(refs_str_from(text), &json, err));
    printf("%.*s}\n", (int)json.size, (const char *)json.data);
    return REFS_OK;
}

static refs_status print_finding(const char *name, const tool_finding *finding, bool json,
                                 refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT, shown = REFS_BUF_INIT;
    refs_status status = sum_up(finding, &text, err);
    if (status == REFS_OK) status = tool_append_redacted(name, &shown);
    const size_t size = shown.size;
    if (status == REFS_OK) status = tool_append_redacted((const char *)text.data, &shown);
    const char *text_shown = (const char *)shown.data;
    if (status == REFS_OK && json)
        status = print_json(text_shown, finding->status, text_shown + size, err);
    else if (status == REFS_OK)
        printf("%s: %s\n", text_shown, text_shown + size);
    return status == REFS_NOMEM ? refs_fail_nomem(err) : status;
}

refs_status tool_findings_print(const tool_findings *findings, const tool_arguments *arguments,
                                refs_error *err) {
    for (uint32_t id = 0; id < findings->names.count && tool_can_print(); id++)
        REFS_TRY(print_finding(refs_intern_get(&findings->names, id).data, &findings->items[id],
                               arguments->json, err));
    return REFS_OK;
}

void tool_findings_clear(tool_findings *findings) {
    for (size_t i = 0; i < findings->names.count; i++) {
        refs_buf_clear(&findings->items[i].text);
        refs_free(findings->items[i].failure);
    }
    refs_free(findings->items);
    refs_intern_clear(&findings->names);
    memset(findings, 0, sizeof *findings);
}
