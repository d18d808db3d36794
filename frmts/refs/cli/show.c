/* show.c -- the verbs that show the content of a set: ls, info, cat. */
#include <stdio.h>
#include <string.h>

#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/intern.h"
#include "tool.h"

/* Width of the map of an array's chunks in characters. */
#define PICTURE_WIDTH 50

/* The arrays of a set. */
typedef struct contents {
    refs_aggregations *aggregations; /* NULL: there are none, or arrays are shown as stored */
    refs_array_meta *arrays;
    size_t n, n_shown;
} contents;

/* The totals of the references of an array, or of all. */
typedef struct totals {
    uint64_t n_chunks, n_inline, n_whole, bytes, inline_bytes, n_fragments;
    uint64_t n_values;            /* number of fragments that are a single value */
    uint64_t held[PICTURE_WIDTH]; /* present chunks for each character of the map */
    uint64_t n_grid;              /* UINT64_MAX: too many to count */
    bool is_unread;               /* the references cannot be counted; all but n_grid is 0 */
    const refs_chunk_keys *keys;
    const refs_set *set;
    refs_intern
        *own; /* chunk files inside the set (Icechunk), by location number; NULL: not counted */
} totals;

/* The character of the map that shows a chunk. Grids may have more chunks than 64 bits can count.
 */
static size_t part_of(const totals *all, const uint64_t *index) {
    const refs_chunk_keys *keys = all->keys;
    uint64_t number = 0;
    double position = 0; /* in [0, 1) */
    for (size_t dim = 0; dim < keys->rank; dim++) number = number * keys->n[dim] + index[dim];
    if (all->n_grid < UINT64_MAX / PICTURE_WIDTH)
        return (size_t)(number * PICTURE_WIDTH / all->n_grid);
    for (size_t dim = keys->rank; dim-- > 0;)
        position = ((double)index[dim] + position) / (double)keys->n[dim];
    const size_t part = (size_t)(position * PICTURE_WIDTH);
    return part < PICTURE_WIDTH ? part : PICTURE_WIDTH - 1;
}

static refs_status count_own(totals *all, const refs_ref *ref, refs_error *err) {
    const refs_str number = refs_str_view((const char *)&ref->location_id, sizeof ref->location_id);
    uint32_t id;
    if (ref->kind == REFS_REF_INLINE || all->own == NULL ||
        !tool_is_own_file(all->set, refs_str_from(ref->location)))
        return REFS_OK;
    return refs_intern_add(all->own, number, &id, err);
}

static refs_status count_one(void *user, const uint64_t *index, const refs_ref *ref,
                             refs_error *err) {
    totals *all = user;
    if (all->n_chunks % 65536 == 0) REFS_TRY(tool_check_interrupted(err));
    all->n_chunks++;
    all->held[part_of(all, index)]++;
    REFS_TRY(count_own(all, ref, err));
    if (ref->kind == REFS_REF_INLINE) {
        all->n_inline++;
        all->inline_bytes += ref->bytes.size;
    } else if (ref->kind == REFS_REF_WHOLE) {
        all->n_whole++;
    } else {
        if (!refs_add_u64(all->bytes, ref->length, &all->bytes)) all->bytes = UINT64_MAX;
    }
    return REFS_OK;
}

static refs_status count_fragment(void *user, const refs_partition *partition, refs_error *err) {
    (void)partition;
    (void)err;
    ++*(uint64_t *)user;
    return REFS_OK;
}

static refs_status count_fragments(const refs_array_meta *array, totals *all, refs_error *err) {
    REFS_TRY(refs_aggregation_count_values(array, &all->n_values, err));
    all->n_fragments = all->n_values;
    return refs_aggregation_each(array, count_fragment, &all->n_fragments, err);
}

static refs_status count(const tool_set *set, const refs_array_meta *array, totals *all,
                         refs_error *err) {
    uint64_t n[REFS_MAX_RANK];
    const refs_chunk_keys keys = refs_array_meta_keys(array, n);
    const refs_chunk_visitor visitor = {count_one, all};
    *all = (totals){.set = set->set, .own = all->own};
    if (array->aggregation != NULL) return count_fragments(array, all, err);
    all->keys = &keys;
    all->n_grid = 1;
    for (size_t dim = 0; dim < keys.rank; dim++)
        if (!refs_mul_u64(all->n_grid, n[dim], &all->n_grid)) all->n_grid = UINT64_MAX;
    for (size_t dim = 0; dim < keys.rank; dim++)
        if (n[dim] == 0) all->n_grid = 0;
    refs_status status = refs_set_each_chunk(set->set, &keys, &visitor, err);
    all->keys = NULL;
    return status;
}

/* Arrays with a rectilinear grid are shown as stored, not as aggregations: their chunks are in the
 * set. */
static refs_status open_contents(const tool_set *set, bool all, contents *shown, refs_error *err) {
    shown->n = refs_hierarchy_n_arrays(set->hierarchy);
    REFS_NEW(shown->arrays, shown->n + 1, err);
    for (size_t i = 0; i < shown->n; i++)
        shown->arrays[i] = *refs_hierarchy_array(set->hierarchy, i);
    if (!all) REFS_TRY(refs_aggregations_open(set->hierarchy, NULL, &shown->aggregations, err));
    for (size_t i = 0; i < shown->n; i++) {
        const refs_array_meta *array = refs_hierarchy_array(set->hierarchy, i);
        if (shown->arrays[i].edges == NULL) shown->arrays[i] = *array;
        shown->n_shown += !array->is_instruction;
    }
    return REFS_OK;
}

/* -- strings ----------------------------------------------------------------------------------- */

static void print_bytes(uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double number = (double)bytes;
    size_t unit = 0;
    for (; number >= 1024 && unit < 5; unit++) number /= 1024;
    printf(unit == 0 ? "%.0f %s" : "%.1f %s", number, units[unit]);
}

/* The first chunk that is in a part: part_of rounds down. */
static uint64_t round_up(uint64_t chunks_times_width) {
    return (chunks_times_width + PICTURE_WIDTH - 1) / PICTURE_WIDTH;
}

static const char *fullness(const totals *all, size_t part) {
    static const char *const marks[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
    const uint64_t each = all->n_grid / PICTURE_WIDTH, rest = all->n_grid % PICTURE_WIDTH;
    const uint64_t n = each + round_up(rest * (part + 1)) - round_up(rest * part);
    if (all->held[part] == 0) return marks[0];
    if (all->held[part] >= n) return marks[4];
    return marks[1 + (size_t)(3 * (double)all->held[part] / ((double)n + 1))];
}

static void print_chunk_map(const totals *all) {
    size_t n = all->n_grid < PICTURE_WIDTH ? (size_t)all->n_grid : PICTURE_WIDTH;
    printf("    |");
    for (size_t i = 0; i < n; i++)
        printf("%s", fullness(all, n < PICTURE_WIDTH ? i * PICTURE_WIDTH / n : i));
    printf("|\n");
}

/* -- ls ---------------------------------------------------------------------------------------- */

static uint64_t size_of(const totals *all) {
    uint64_t bytes;
    return refs_add_u64(all->bytes, all->inline_bytes, &bytes) ? bytes : UINT64_MAX;
}

static const char *more_than(uint64_t n_grid) {
    return n_grid == UINT64_MAX ? "more than " : "";
}

static void print_codecs(const refs_array_meta *array) {
    for (size_t i = 0; i < array->n_codecs; i++)
        printf("%s%s", i == 0 ? "" : " ", array->codecs[i].id);
}

static void print_array(const refs_array_meta *array, const totals *all) {
    char dtype[64];
    refs_dtype_format(&array->dtype, dtype, sizeof dtype);
    printf("%s  (", array->path);
    for (size_t dim = 0; dim < array->rank; dim++)
        printf("%s%s %llu", dim == 0 ? "" : ", ", array->dims[dim],
               (unsigned long long)array->shape[dim]);
    printf(")  %s", dtype[0] != '\0' ? dtype : "structured");
    if (array->aggregation != NULL) {
        printf("  %llu fragment%s%s\n", (unsigned long long)all->n_fragments,
               all->n_fragments == 1 ? "" : "s", all->n_values > 0 ? " of one value each" : "");
        return;
    }
    printf("  chunks (");
    for (size_t dim = 0; dim < array->rank; dim++)
        printf("%s%llu", dim == 0 ? "" : ", ", (unsigned long long)array->chunk[dim]);
    printf(")  ");
    print_codecs(array);
    if (all->is_unread) {
        printf("\n    chunks that cannot be counted\n");
        return;
    }
    printf("\n    %llu of %s%llu chunks", (unsigned long long)all->n_chunks, more_than(all->n_grid),
           (unsigned long long)all->n_grid);
    if (all->n_inline > 0) printf(", %llu of them in the set", (unsigned long long)all->n_inline);
    printf(", ");
    print_bytes(size_of(all));
    printf("\n");
    if (all->n_grid > 1) print_chunk_map(all);
}

static void print_numbers(const char *name, const uint64_t *numbers, size_t n) {
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < n; i++)
        printf("%s%llu", i == 0 ? "" : ",", (unsigned long long)numbers[i]);
    printf("]");
}

/* Prints a count; null if it is unknown. */
static void print_count(const char *name, bool is_known, uint64_t count) {
    printf(is_known ? "\"%s\":%llu" : "\"%s\":null", name, (unsigned long long)count);
}

static void print_array_json(const refs_array_meta *array, const totals *all) {
    char dtype[64];
    refs_dtype_format(&array->dtype, dtype, sizeof dtype);
    printf("{\"path\":");
    tool_print_json_text(refs_str_from(array->path));
    printf(",\"dtype\":\"%s\"", dtype);
    print_numbers("shape", array->shape, array->rank);
    if (array->aggregation == NULL) print_numbers("chunks", array->chunk, array->rank);
    printf(",\"dims\":[");
    for (size_t dim = 0; dim < array->rank; dim++) {
        printf("%s", dim == 0 ? "" : ",");
        tool_print_json_text(refs_str_from(array->dims[dim]));
    }
    if (array->aggregation != NULL) {
        printf("],\"n_fragments\":%llu,\"n_values\":%llu}", (unsigned long long)all->n_fragments,
               (unsigned long long)all->n_values);
        return;
    }
    printf("],\"codecs\":[");
    for (size_t i = 0; i < array->n_codecs; i++) {
        printf("%s", i == 0 ? "" : ",");
        tool_print_json_text(refs_str_from(array->codecs[i].id));
    }
    printf("],");
    print_count("n_chunks", all->n_grid < UINT64_MAX, all->n_grid);
    printf(",");
    print_count("n_present", !all->is_unread, all->n_chunks);
    printf(",");
    print_count("n_inline", !all->is_unread, all->n_inline);
    printf(",");
    print_count("bytes", !all->is_unread, size_of(all));
    printf("}");
}

static void print_problem(const refs_array_meta *array, bool json) {
    if (!json) {
        printf("%s  %s\n", array->path, array->problem);
        return;
    }
    printf("{\"path\":");
    tool_print_json_text(refs_str_from(array->path));
    printf(",\"problem\":");
    tool_print_json_text(refs_str_from(array->problem));
    printf("}\n");
}

/* An array whose chunks cannot be counted is reported, and the list goes on. */
static refs_status count_or_complain(const tool_set *set, const refs_array_meta *array, totals *all,
                                     size_t *n_unread, refs_error *err) {
    REFS_TRY(tool_check_interrupted(err));
    refs_error why = REFS_ERROR_INIT;
    refs_status status = count(set, array, all, &why);
    if (status == REFS_NOMEM || status == REFS_CANCELLED)
        return refs_fail(err, status, "%s", why.message);
    if (status == REFS_OK) return REFS_OK;
    tool_complain(&why);
    *all = (totals){.n_grid = all->n_grid, .is_unread = true, .own = all->own};
    ++*n_unread;
    return REFS_OK;
}

static refs_status fail_unless_all(size_t n_unread, size_t n, refs_error *err) {
    if (n_unread == 0) return REFS_OK;
    return refs_fail(err, REFS_IO, "cannot count the chunks of %zu of %zu arrays", n_unread, n);
}

static refs_status list(const tool_set *set, const contents *shown, bool json, refs_error *err) {
    size_t n = 0, n_unread = 0;
    for (size_t i = 0; i < shown->n; i++) {
        const refs_array_meta *array = &shown->arrays[i];
        totals all = {.own = NULL};
        if (array->is_instruction) continue;
        if (json) printf("%s", n == 0 ? "[" : ",\n");
        n++;
        if (array->status != REFS_OK) {
            print_problem(array, json);
            continue;
        }
        REFS_TRY(count_or_complain(set, array, &all, &n_unread, err));
        if (json)
            print_array_json(array, &all);
        else
            print_array(array, &all);
    }
    if (json) printf(n > 0 ? "]\n" : "[]\n");
    return fail_unless_all(n_unread, n, err);
}

/* -- info -------------------------------------------------------------------------------------- */

static refs_status count_source(void *user, const refs_source_state *source, refs_error *err) {
    (void)source;
    (void)err;
    ++*(uint64_t *)user;
    return REFS_OK;
}

/* Sums up all references, including those of fragments, whose arrays are not counted. */
static refs_status sum_up(const tool_set *set, const contents *shown, bool json, refs_intern *own,
                          refs_error *err) {
    totals sum = {0}, all = {.own = own};
    uint64_t n_recorded = 0;
    const refs_source_visitor visitor = {count_source, &n_recorded};
    size_t n_unread = 0;
    for (size_t i = 0; i < shown->n; i++) {
        const refs_array_meta *array = &shown->arrays[i];
        if (array->status != REFS_OK) continue;
        REFS_TRY(count_or_complain(set, array, &all, &n_unread, err));
        if (all.is_unread) continue;
        sum.n_chunks += all.n_chunks;
        if (!refs_add_u64(sum.n_grid, all.n_grid, &sum.n_grid)) sum.n_grid = UINT64_MAX;
        sum.n_inline += all.n_inline;
        sum.n_fragments += all.n_fragments;
        if (!refs_add_u64(sum.bytes, all.bytes, &sum.bytes)) sum.bytes = UINT64_MAX;
        sum.inline_bytes += all.inline_bytes;
    }
    REFS_TRY(tool_sources_read(set->set, &visitor, err));
    const unsigned long long numbers[] = {shown->n_shown,
                                          sum.n_chunks,
                                          sum.n_grid,
                                          sum.n_inline,
                                          sum.bytes,
                                          sum.inline_bytes,
                                          refs_set_n_locations(set->set) - own->count,
                                          n_recorded,
                                          sum.n_fragments,
                                          own->count};
    static const char *const names[] = {"arrays",    "references",   "chunks",  "inline",
                                        "bytes",     "inline_bytes", "sources", "recorded",
                                        "fragments", "own_files"};
    for (size_t i = 0; json && i < sizeof names / sizeof names[0]; i++) {
        printf(i == 0 ? "{" : ",");
        print_count(names[i], i != 2 || sum.n_grid < UINT64_MAX, numbers[i]);
    }
    if (json) {
        refs_status status = tool_print_history(set->set, json, err);
        printf("}\n");
        return status == REFS_OK ? fail_unless_all(n_unread, shown->n, err) : status;
    }
    printf("%llu arrays, ", numbers[0]);
    if (sum.n_fragments > 0) printf("%llu fragment%s, ", numbers[8], numbers[8] == 1 ? "" : "s");
    printf("%llu references for %s%llu chunks, %llu of them in the set\n", numbers[1],
           more_than(sum.n_grid), numbers[2], numbers[3]);
    print_bytes(sum.bytes);
    printf(" in %llu source%s", numbers[6], numbers[6] == 1 ? "" : "s");
    if (own->count > 0) printf(" and %llu chunk files of the repository", numbers[9]);
    printf(n_recorded > 0 ? "; %llu source%s recorded with size and date\n"
                          : ", without recorded sizes and dates\n",
           numbers[7], numbers[7] == 1 ? "" : "s");
    REFS_TRY(tool_print_history(set->set, json, err));
    return fail_unless_all(n_unread, shown->n, err);
}

static refs_status say_where(const tool_set *set, const char *wanted, bool json, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_ref ref = {0};
    refs_status status = tool_resolve(set, wanted, &key, err);
    REFS_SCOPED_BUF shown_name = REFS_BUF_INIT;
    refs_str text = refs_buf_text(&key);
    if (status == REFS_OK) {
        status = refs_set_find(set->set, text, &ref, err);
        if (status == REFS_NOT_FOUND) (void)tool_fail_key(set, text, err);
    }
    if (status == REFS_OK && ref.kind != REFS_REF_INLINE)
        status = tool_append_redacted(json ? ref.url : refs_ref_name(&ref), &shown_name);
    const char *name = (const char *)shown_name.data;
    if (status == REFS_OK && json) {
        printf("{\"key\":");
        tool_print_json_text(text);
        if (ref.kind == REFS_REF_INLINE)
            printf(",\"inline\":%zu", ref.bytes.size);
        else
            printf(",\"url\":");
        if (ref.kind != REFS_REF_INLINE) tool_print_json_text(refs_str_from(name));
        if (ref.kind == REFS_REF_RANGE)
            printf(",\"offset\":%llu,\"length\":%llu", (unsigned long long)ref.offset,
                   (unsigned long long)ref.length);
        printf("}\n");
    } else if (status == REFS_OK) {
        printf("%.*s: ", REFS_STR_ARG(text));
        if (ref.kind == REFS_REF_INLINE) printf("%zu bytes in the set\n", ref.bytes.size);
        if (ref.kind == REFS_REF_WHOLE) printf("all of %s\n", name);
        if (ref.kind == REFS_REF_RANGE)
            printf("%s, %llu bytes from %llu on\n", name, (unsigned long long)ref.length,
                   (unsigned long long)ref.offset);
    }
    refs_ref_release(&ref);
    return status;
}

static refs_status say_fragment(const tool_set *set, const char *wanted, bool json,
                                refs_error *err) {
    REFS_SCOPED_BUF file = REFS_BUF_INIT;
    refs_partition partition;
    REFS_TRY(tool_find_fragment(set, wanted, &partition, err));
    if (tool_own_fragment(set, &partition) != NULL) return say_where(set, wanted, json, err);
    REFS_TRY(tool_append_redacted(partition.file, &file));
    const char *name = (const char *)file.data;
    if (json) {
        printf("{\"element\":");
        tool_print_json_text(refs_str_from(wanted));
        if (partition.has_fragment) {
            printf(",\"url\":");
            tool_print_json_text(refs_str_from(name));
            printf(",\"variable\":");
            tool_print_json_text(refs_str_from(partition.variable));
        }
        printf("}\n");
    } else if (partition.has_fragment) {
        printf("%s: fragment %s of %s\n", wanted, partition.variable,
               *name != '\0' ? name : "the set itself");
    } else {
        printf("%s: no fragment: a value of the set itself, or the fill value\n", wanted);
    }
    return REFS_OK;
}

static refs_status print_value(const tool_set *set, const char *wanted, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT, value = REFS_BUF_INIT;
    refs_status status = tool_resolve(set, wanted, &key, err);
    refs_str text = refs_buf_text(&key);
    if (status == REFS_OK) {
        status = refs_store_get(set->store, text, UINT64_MAX, &value, err);
        if (status == REFS_NOT_FOUND) (void)tool_fail_key(set, text, err);
    }
    if (status == REFS_OK && fwrite(value.data, 1, value.size, stdout) != value.size)
        status = refs_fail(err, REFS_IO, "cannot write the output");
    return status;
}

/* -- verbs ------------------------------------------------------------------------------------- */

typedef refs_status (*shower)(const tool_set *set, const tool_arguments *arguments, contents *shown,
                              refs_error *err);

static refs_status show_list(const tool_set *set, const tool_arguments *arguments, contents *shown,
                             refs_error *err) {
    REFS_TRY(open_contents(set, arguments->all, shown, err));
    return list(set, shown, arguments->json, err);
}

/* The requested key or element, without leading slashes; or NULL. */
static const char *find_wanted(const tool_arguments *arguments) {
    const char *wanted = arguments->names.n > 1 ? arguments->names.items[1] : NULL;
    return wanted != NULL ? wanted + strspn(wanted, "/") : NULL;
}

static refs_status show_info(const tool_set *set, const tool_arguments *arguments, contents *shown,
                             refs_error *err) {
    const char *wanted = find_wanted(arguments);
    const bool is_in_fragment = wanted != NULL && tool_is_in_fragment(set, wanted);
    if (wanted != NULL && !is_in_fragment) return say_where(set, wanted, arguments->json, err);
    REFS_TRY(open_contents(set, arguments->all && !is_in_fragment, shown, err));
    if (is_in_fragment) return say_fragment(set, wanted, arguments->json, err);
    REFS_SCOPED_BY(refs_intern_clear) refs_intern own = {0};
    return sum_up(set, shown, arguments->json, &own, err);
}

static refs_status show_value(const tool_set *set, const tool_arguments *arguments, contents *shown,
                              refs_error *err) {
    (void)shown;
    const char *wanted = find_wanted(arguments);
    return wanted != NULL ? print_value(set, wanted, err)
                          : tool_fail_key(set, refs_str_view("", 0), err);
}

static tool_exit show(const tool_arguments *arguments, shower show_it, size_t least, size_t most) {
    tool_session session;
    tool_set set = {NULL, NULL, NULL};
    contents shown = {NULL, NULL, 0, 0};
    refs_error err = REFS_ERROR_INIT;
    if (arguments->names.n < least || arguments->names.n > most) {
        fprintf(stderr, "usage: refs %s %s\n", arguments->verb,
                tool_find_verb(arguments->verb)->synopsis);
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(arguments, &session, &err);
    if (status == REFS_OK) status = tool_set_open(&session, arguments->names.items[0], &set, &err);
    if (status == REFS_OK) status = show_it(&set, arguments, &shown, &err);
    tool_set_close(&set);
    refs_aggregations_free(shown.aggregations);
    refs_free(shown.arrays);
    tool_session_close(&session);
    if (status == REFS_OK) return TOOL_OK;
    tool_complain(&err);
    return TOOL_FAILED;
}

tool_exit tool_ls(const tool_arguments *arguments) {
    return show(arguments, show_list, 1, 1);
}

tool_exit tool_info(const tool_arguments *arguments) {
    if (arguments->partition != NULL || arguments->metadata || arguments->variables.n > 0 ||
        arguments->group != NULL)
        return tool_partitions(arguments);
    return show(arguments, show_info, 1, 2);
}

tool_exit tool_cat(const tool_arguments *arguments) {
    const tool_exit result = show(arguments, show_value, 1, 2);
    return arguments->names.n < 2 ? TOOL_USAGE : result;
}
