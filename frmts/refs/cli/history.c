/* history.c -- prints the history of a set for `info`: branches, tags, snapshots. */
#include <stdio.h>
#include <string.h>

#include "refs/civil.h"
#include "tool.h"

void tool_print_json_text(refs_str text) {
    REFS_SCOPED_BUF json = REFS_BUF_INIT;
    if (refs_json_write_string(text, &json, NULL) == REFS_OK)
        printf("%.*s", (int)json.size, (const char *)json.data);
}

/* The history being printed. */
typedef struct printing {
    bool json;
    refs_set_version_kind kind; /* kind of the open JSON list */
    bool is_open;
} printing;

static void print_line(const refs_set_version_entry *entry) {
    static const char *const words[] = {"branch", "tag", "tag", "snapshot", "feature", "status"};
    char when[REFS_UTC_TEXT];
    printf("%s ", words[entry->kind]);
    if (entry->kind == REFS_VERSION_SNAPSHOT) {
        refs_print_utc(entry->written_us / 1000000, when);
        printf("%s %s%s ", entry->snapshot, when, entry->is_current ? " *" : "");
        tool_print_json_text(entry->message);
        printf("\n");
        return;
    }
    printf("%.*s", (int)entry->name.size, entry->name.data);
    if (entry->kind == REFS_VERSION_DELETED_TAG) printf(" (deleted)");
    if (entry->kind == REFS_VERSION_FLAG) printf(entry->is_enabled ? " on" : " off");
    if (entry->snapshot[0] != '\0') printf(" %s", entry->snapshot);
    if (entry->message.size > 0) printf(" %.*s", (int)entry->message.size, entry->message.data);
    printf("\n");
}

static void print_snapshot_json(const refs_set_version_entry *entry) {
    char when[REFS_UTC_TEXT];
    refs_print_utc(entry->written_us / 1000000, when);
    printf("{\"id\":\"%s\",\"parent\":", entry->snapshot);
    printf(entry->parent[0] != '\0' ? "\"%s\"" : "null%s", entry->parent);
    printf(",\"written\":\"%s\",\"current\":%s,\"message\":", when,
           entry->is_current ? "true" : "false");
    tool_print_json_text(entry->message);
    printf("}");
}

static void print_entry_json(const refs_set_version_entry *entry) {
    if (entry->kind == REFS_VERSION_SNAPSHOT) {
        print_snapshot_json(entry);
        return;
    }
    printf("{\"name\":");
    tool_print_json_text(entry->name);
    if (entry->snapshot[0] != '\0') printf(",\"snapshot\":\"%s\"", entry->snapshot);
    if (entry->kind == REFS_VERSION_FLAG)
        printf(",\"enabled\":%s", entry->is_enabled ? "true" : "false");
    printf("}");
}

/* Begins a list when the kind of entries changes. */
static void open_list(printing *all, refs_set_version_kind kind) {
    static const char *const lists[] = {"branches",  "tags",     "deleted_tags",
                                        "snapshots", "features", "status"};
    if (all->is_open && all->kind == kind) {
        printf(",");
        return;
    }
    printf("%s,\"%s\":[", all->is_open ? "]" : "", lists[kind]);
    all->is_open = true;
    all->kind = kind;
}

static refs_status print_entry(void *user, const refs_set_version_entry *entry, refs_error *err) {
    printing *all = user;
    (void)err;
    if (all->json) {
        open_list(all, entry->kind);
        print_entry_json(entry);
    } else {
        print_line(entry);
    }
    return REFS_OK;
}

refs_status tool_print_history(const refs_set *set, bool json, refs_error *err) {
    printing all = {.json = json};
    const refs_set_version_visitor visitor = {print_entry, &all};
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = refs_set_each_version(set, &visitor, &problem);
    if (all.is_open) printf("]");
    if (status != REFS_UNSUPPORTED) return refs_fail(err, status, "%s", problem.message);
    tool_note(NULL, REFS_NOTE_WARNING, problem.message);
    return REFS_OK;
}
