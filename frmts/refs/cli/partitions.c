/* partitions.c -- info for a master: its variables, and where their fragments are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

/* The parts of one variable to show. */
typedef struct partition_listing {
    const refs_array_meta *array;
    bool json;
    bool is_one; /* only one partition is shown */
    uint64_t wanted[REFS_MAX_RANK];
    size_t n;
} partition_listing;

static bool is_wanted_name(const refs_name_list *names, const refs_array_meta *array) {
    return names->n == 0 || refs_name_list_has(names, array->name) ||
           refs_name_list_has(names, array->path + 1);
}

static bool is_wanted_group(const char *wanted, const char *group) {
    if (wanted == NULL) return true;
    while (*wanted == '/') wanted++;
    while (*group == '/') group++;
    return strcmp(wanted, group) == 0 || (strcmp(wanted, "root") == 0 && *group == '\0');
}

static void print_index(const uint64_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        printf("%s%llu", i > 0 ? "," : "", (unsigned long long)numbers[i]);
}

static void print_text(const char *name, const char *text) {
    printf(",\"%s\":", name);
    tool_print_json_text(refs_str_from(text));
}

static void print_partition_json(const refs_partition *partition, size_t rank, bool is_first) {
    printf("%s{\"index\":[", is_first ? "" : ",");
    print_index(partition->index, rank);
    printf("],\"begin\":[");
    print_index(partition->begin, rank);
    printf("],\"end\":[");
    print_index(partition->end, rank);
    printf("]");
    print_text("file", partition->file);
    print_text("variable", partition->variable);
    printf("}");
}

static refs_status show_partition(void *user, const refs_partition *partition, refs_error *err) {
    partition_listing *all = user;
    size_t rank = all->array->rank;
    (void)err;
    if (all->is_one && memcmp(all->wanted, partition->index, rank * sizeof *all->wanted) != 0)
        return REFS_OK;
    all->n++;
    if (all->json) {
        print_partition_json(partition, rank, all->n == 1);
        return REFS_OK;
    }
    printf("    [");
    print_index(partition->index, rank);
    printf("]  ");
    for (size_t d = 0; d < rank; d++)
        printf("%s%llu:%llu", d > 0 ? ", " : "", (unsigned long long)partition->begin[d],
               (unsigned long long)partition->end[d]);
    printf("  %s  %s\n", *partition->file != '\0' ? partition->file : "(the master)",
           partition->variable);
    return REFS_OK;
}

bool tool_read_index(const char *text, uint64_t *index, size_t *rank) {
    refs_str rest = refs_str_from(text);
    for (*rank = 0; rest.size > 0 && *rank < REFS_MAX_RANK; (*rank)++) {
        size_t comma = refs_str_find(rest, ',');
        if (!refs_str_to_u64(refs_str_trim(refs_str_part(rest, 0, comma), " []"), &index[*rank]))
            return false;
        rest = comma == SIZE_MAX ? refs_str_part(rest, rest.size, rest.size)
                                 : refs_str_part(rest, comma + 1, rest.size);
    }
    return *rank > 0;
}

static bool read_wanted(const char *text, partition_listing *all) {
    size_t rank;
    all->is_one = tool_read_index(text, all->wanted, &rank) || *text == '\0';
    return all->is_one && rank == all->array->rank;
}

static void show_attributes(const refs_json *attributes, const char *indent, bool json) {
    bool is_first = true;
    if (json) printf(",\"attributes\":{");
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        REFS_SCOPED_BUF text = REFS_BUF_INIT;
        refs_str name = refs_json_name_at(attributes, i);
        bool is_long = refs_str_is(name, "cfa_array");
        if (is_long || refs_json_write(refs_json_at(attributes, i), &text, NULL) != REFS_OK)
            continue;
        if (json) {
            printf("%s", is_first ? "" : ",");
            tool_print_json_text(name);
            printf(":%.*s", (int)text.size, (const char *)text.data);
        } else {
            printf("%s%.*s: %.*s\n", indent, REFS_STR_ARG(name), (int)text.size,
                   (const char *)text.data);
        }
        is_first = false;
    }
    if (json) printf("}");
}

/* Checks the requested partition: its index must not exceed that of the last element's. */
static refs_status check_wanted(const partition_listing *all, refs_error *err) {
    const refs_array_meta *array = all->array;
    uint64_t element[REFS_MAX_RANK];
    refs_partition last;
    for (size_t d = 0; d < array->rank; d++) {
        if (array->shape[d] == 0) return REFS_OK;
        element[d] = array->shape[d] - 1;
    }
    const refs_status status = refs_aggregation_find(array, element, &last, err);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    REFS_TRY(status);
    for (size_t d = 0; d < array->rank; d++)
        if (all->wanted[d] > last.index[d])
            return refs_fail(err, REFS_NOT_FOUND,
                             "%s has no partition %llu along dimension %zu: the last one is %llu",
                             array->path, (unsigned long long)all->wanted[d], d,
                             (unsigned long long)last.index[d]);
    return REFS_OK;
}

static refs_status show_partitions(const tool_arguments *arguments, const refs_array_meta *array,
                                   refs_error *err) {
    const char *which = arguments->partition != NULL ? arguments->partition : "none";
    partition_listing all = {.array = array, .json = arguments->json};
    if (strcmp(which, "none") == 0 || array->aggregation == NULL) return REFS_OK;
    if (strcmp(which, "all") != 0 && !read_wanted(which, &all))
        return refs_fail(
            err, REFS_INVALID,
            "--partition: expected all, none, or an index of %zu numbers for %s, found \"%s\"",
            array->rank, array->path, which);
    if (all.is_one) REFS_TRY(check_wanted(&all, err));
    if (all.json) printf(",\"partitions\":[");
    REFS_TRY(refs_aggregation_each(array, show_partition, &all, err));
    if (all.json) printf("]");
    if (all.is_one && all.n == 0 && !all.json) printf("    [%s]  missing\n", which);
    return REFS_OK;
}

static refs_status show_variable(const tool_arguments *arguments, const refs_array_meta *array,
                                 refs_error *err) {
    char dtype[64];
    refs_dtype_format(&array->dtype, dtype, sizeof dtype);
    if (arguments->json) {
        printf("{\"path\":");
        tool_print_json_text(refs_str_from(array->path));
        printf(",\"dtype\":\"%s\",\"shape\":[", dtype);
        print_index(array->shape, array->rank);
        printf("],\"dims\":[");
        for (size_t d = 0; d < array->rank; d++) {
            printf("%s", d > 0 ? "," : "");
            tool_print_json_text(refs_str_from(array->dims[d]));
        }
        printf("]");
    } else {
        printf("%s  (", array->path);
        for (size_t d = 0; d < array->rank; d++)
            printf("%s%s %llu", d > 0 ? ", " : "", array->dims[d],
                   (unsigned long long)array->shape[d]);
        printf(")  %s\n", dtype);
    }
    if (arguments->metadata) show_attributes(array->attributes, "    ", arguments->json);
    refs_status status = show_partitions(arguments, array, err);
    if (arguments->json) printf("}");
    return status;
}

/* Limit of names in a message. */
#define MAX_TOLD 10

bool tool_selects(const tool_arguments *arguments, const refs_array_meta *array) {
    return is_wanted_name(&arguments->variables, array) &&
           is_wanted_group(arguments->group, array->group);
}

/* "m.nca: has no aggregation tsa: it has tas" */
static refs_status fail_not_there(const tool_arguments *arguments, const tool_arrays *arrays,
                                  const char *what, refs_error *err) {
    const bool is_of_partitions = strcmp(what, "aggregation") == 0;
    const refs_name_list *wanted = &arguments->variables;
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < arrays->described.source.n_arrays; i++) {
        const refs_array_meta *array = arrays->described.metas[i];
        if (is_of_partitions && array->aggregation == NULL) continue;
        if (n++ < MAX_TOLD)
            REFS_TRY(refs_buf_printf(&names, err, "%s%s", n > 1 ? ", " : "", array->path));
    }
    if (is_of_partitions && n == 0)
        return refs_fail(
            err, REFS_NOT_FOUND,
            "%s: expected arrays whose values are in fragments, found none: it has all "
            "values itself",
            arguments->names.items[0]);
    return refs_fail(err, REFS_NOT_FOUND, "%s: has no %s %s%s%s: it has %.*s%s",
                     arguments->names.items[0], what,
                     wanted->n > 0 ? wanted->items[0] : "of that kind",
                     arguments->group != NULL ? " in group " : "",
                     arguments->group != NULL ? arguments->group : "", n > 0 ? (int)names.size : 4,
                     n > 0 ? (const char *)names.data : "none", n > MAX_TOLD ? ", ..." : "");
}

/* Without --partition the attributes of other arrays are shown, too. */
static refs_status show(const tool_arguments *arguments, const tool_arrays *arrays,
                        refs_error *err) {
    size_t n = 0;
    const bool is_of_partitions = arguments->partition != NULL;
    const refs_json *global = refs_hierarchy_group(arrays->set.hierarchy, 0)->attributes;
    if (arguments->json) printf("{\"set\":");
    if (arguments->json) tool_print_json_text(refs_str_from(arguments->names.items[0]));
    if (arguments->metadata) show_attributes(global, "", arguments->json);
    if (arguments->json) printf(",\"arrays\":[");
    for (size_t i = 0; i < arrays->described.source.n_arrays; i++) {
        const refs_array_meta *array = arrays->described.metas[i];
        if (!tool_selects(arguments, array) || (is_of_partitions && array->aggregation == NULL))
            continue;
        if (arguments->json) printf(n > 0 ? ",\n" : "\n");
        REFS_TRY(show_variable(arguments, array, err));
        n++;
    }
    if (arguments->json) printf("]}\n");
    if (n > 0) return REFS_OK;
    return fail_not_there(arguments, arrays, is_of_partitions ? "aggregation" : "variable", err);
}

static refs_status check_arrays(const tool_arguments *arguments, const tool_arrays *arrays,
                                refs_error *err) {
    const char *which = arguments->partition;
    const bool is_one = which != NULL && strcmp(which, "all") != 0;
    size_t n = 0;
    for (size_t i = 0; i < arrays->described.source.n_arrays; i++) {
        partition_listing all = {.array = arrays->described.metas[i]};
        if (all.array->aggregation == NULL || !tool_selects(arguments, all.array)) continue;
        n++;
        if (is_one && read_wanted(which, &all)) REFS_TRY(check_wanted(&all, err));
    }
    return n > 0 ? REFS_OK : fail_not_there(arguments, arrays, "aggregation", err);
}

refs_status tool_check_partition(const tool_session *session, const tool_arguments *arguments,
                                 refs_error *err) {
    tool_arrays arrays;
    REFS_TRY(tool_arrays_open(session, arguments->names.items[0], &arrays, err));
    const refs_status status = check_arrays(arguments, &arrays, err);
    tool_arrays_close(&arrays);
    return status;
}

tool_exit tool_partitions(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    tool_session session;
    tool_arrays arrays;
    if (arguments->names.n != 1) {
        fprintf(stderr, "usage: refs info MASTER --partition all|none|INDEX\n");
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(arguments, &session, &err);
    if (status == REFS_OK)
        status = tool_arrays_open(&session, arguments->names.items[0], &arrays, &err);
    if (status == REFS_OK) {
        status = show(arguments, &arrays, &err);
        tool_arrays_close(&arrays);
    }
    tool_session_close(&session);
    if (status != REFS_OK) tool_complain(&err);
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}
