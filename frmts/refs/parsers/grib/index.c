/* index.c -- lists the fields of an index, see index.h. */
#include "grib/index.h"

#include "grib/messages.h"

/* Bytes that are fetched when a remote file is opened. */
#define BEGINNING_BYTES (64 * REFS_KIB)

#define MAX_INDEX_BYTES (64 * REFS_MIB)

/* For files whose size and time a store lists, a tenth of the messages is compared. */
#define LISTED_SHARE 10

typedef struct indexed {
    const refs_scan_job *job;
    refs_scan_shared *shared;
    const char *location; /* of the GRIB file */
    uint32_t number;      /* of the GRIB file in refs_scan_files */
    refs_source *file;    /* the open GRIB file, or NULL */
    grib_index index;
    grib_list read;           /* the fields of messages that were read */
    bool is_local;            /* the file is local */
    bool is_listed;           /* a store listed its size, and the index is not older */
    const grib_entry *sample; /* the last entry with times whose message was not read to learn keys,
                                 or NULL */
} indexed;

static refs_str key_of(const indexed *at, const grib_entry *entry) {
    return refs_intern_get(&at->index.keys, entry->key);
}

/* -- the file ---------------------------------------------------------------------------------- */

static refs_status fail_mismatch(const indexed *at, const grib_entry *entry, const char *found,
                                 refs_error *err) {
    const refs_str key = key_of(at, entry);
    return refs_fail(err, REFS_CORRUPT,
                     "line %zu: expected %.*s at byte %llu of %s, found %s: make the index again",
                     entry->line, REFS_STR_ARG(key), (unsigned long long)entry->offset,
                     at->location, found);
}

static refs_status fail_short(const indexed *at, const grib_entry *entry, uint64_t size,
                              refs_error *err) {
    const refs_str key = key_of(at, entry);
    return refs_fail(
        err, REFS_CORRUPT,
        "line %zu: expected %.*s at byte %llu of %s, found a file of %llu bytes: fetch "
        "the file again if it is incomplete, else make the index again",
        entry->line, REFS_STR_ARG(key), (unsigned long long)entry->offset, at->location,
        (unsigned long long)size);
}

/* Derives the name of the GRIB file: removes ".idx" or ".index", and appends ".grib2" if no
 * extension of GRIB is left. */
static refs_status name_file(const char *location, refs_buf *name, refs_error *err) {
    static const char *const endings[] = {".idx", ".index"};
    static const char *const of_grib[] = {".grib2", ".grb2", ".grib", ".grb", ".gb2"};
    refs_str text = refs_str_from(location), bare = text;
    for (size_t i = 0; i < 2; i++)
        if (refs_str_ends(text, endings[i]))
            bare = refs_str_part(text, 0, text.size - strlen(endings[i]));
    if (bare.size == text.size)
        return refs_fail(err, REFS_INVALID,
                         "is an index of a GRIB file: expected the ending .idx or .index");
    bool is_whole = refs_str_ends(text, ".idx");
    for (size_t i = 0; i < sizeof of_grib / sizeof of_grib[0]; i++)
        is_whole = is_whole || refs_str_ends(bare, of_grib[i]);
    return refs_buf_printf(name, err, "%.*s%s%c", REFS_STR_ARG(bare), is_whole ? "" : ".grib2",
                           '\0');
}

static refs_status find_file(indexed *at, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(name_file(refs_source_location(at->job->source), &name, err));
    REFS_TRY(refs_scan_files_add(at->job->files, (const char *)name.data, &at->number, err));
    at->location = refs_scan_files_location(at->job->files, at->number);
    return REFS_OK;
}

/* Whether a store listed the file; sets `seen`. */
static bool is_in_list(const indexed *at, refs_vfs_validators *seen) {
    seen->has_size =
        refs_scan__grib_listed(at->shared, at->location, &seen->size, &seen->modified_s);
    return seen->has_size;
}

/* Records the size and time of the GRIB file if no request is needed: it is local, open or
 * listed. */
static refs_status see_file(const indexed *at, refs_error *err) {
    const refs_vfs *vfs = refs_scan_files_vfs(at->job->files);
    refs_vfs_validators seen = {.size = 0};
    const bool is_seen = refs_vfs_look(vfs, at->location, &seen) ||
                         (at->file != NULL && refs_vfs_ask(vfs, at->location, &seen)) ||
                         is_in_list(at, &seen);
    return is_seen ? refs_scan_files_note(at->job->files, at->number, &seen, err) : REFS_OK;
}

/* Checks that the file is large enough for the index. */
static refs_status check_size(const indexed *at, refs_error *err) {
    const grib_entry *last = &at->index.entries[at->index.n - 1];
    uint64_t size, end;
    REFS_TRY(refs_source_size(at->file, &size, err));
    const bool is_in_file = refs_add_u64(last->offset, last->length > 0 ? last->length : 1, &end);
    return is_in_file && end <= size ? REFS_OK : fail_short(at, last, size, err);
}

/* Opens the GRIB file if necessary: a remote one may never be needed. */
static refs_status open_file(indexed *at, refs_error *err) {
    if (at->file != NULL) return REFS_OK;
    refs_error why = REFS_ERROR_INIT;
    const refs_status status =
        refs_source_open(refs_scan_files_vfs(at->job->files), at->location, &at->file, &why);
    if (status == REFS_NOT_FOUND)
        return refs_fail(err, REFS_NOT_FOUND,
                         "expected its GRIB file %s beside it, found no such file: fetch the file, "
                         "or leave the index out",
                         at->location);
    if (status != REFS_OK) return refs_fail(err, status, "%s", why.message);
    REFS_TRY(check_size(at, err));
    return see_file(at, err);
}

static refs_status read_index(indexed *at, refs_error *err) {
    uint64_t size;
    REFS_TRY(refs_source_size(at->job->source, &size, err));
    if (size > MAX_INDEX_BYTES)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than %llu", (unsigned long long)size,
                         (unsigned long long)MAX_INDEX_BYTES);
    REFS_SCOPED char *text = refs_alloc((size_t)size + 1);
    if (text == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_source_read(at->job->source, 0, (size_t)size, (uint8_t *)text, err));
    return refs_scan__grib_index_parse(refs_str_view(text, (size_t)size), &at->index, err);
}

/* -- messages ---------------------------------------------------------------------------------- */

/* Reads the length of an entry's message from its header. */
static refs_status measure(indexed *at, const grib_entry *entry, uint64_t *length,
                           refs_error *err) {
    refs_error why = REFS_ERROR_INIT;
    REFS_TRY(open_file(at, err));
    refs_status status = refs_scan__grib_length(at->file, entry->offset, length, &why);
    if (status == REFS_OK && *length == 0) return fail_mismatch(at, entry, "no message", err);
    if (status == REFS_CORRUPT) return fail_mismatch(at, entry, why.message, err);
    return refs_fail(err, status, "%s", why.message);
}

static bool have_lengths(const grib_index *index) {
    size_t i = 0;
    while (i < index->n && index->entries[i].length > 0) i++;
    return i == index->n;
}

/* Whether no message begins in [begin, end). wgrib2 skips bytes between messages and after the last
 * one, which bulletins contain. */
static refs_status find_padding(indexed *at, uint64_t begin, uint64_t end, bool *is_padding,
                                refs_error *err) {
    refs_source_range next;
    *is_padding = begin == end;
    if (begin >= end) return REFS_OK;
    REFS_TRY(open_file(at, err));
    REFS_TRY(refs_scan__grib_next(at->file, begin, &next, err));
    *is_padding = next.length == 0 || next.offset >= end;
    return REFS_OK;
}

/* Checks that the index covers the file of `size` bytes: after its last message, of `length` bytes,
 * there is only padding. The index of a file that was incomplete lacks messages. */
static refs_status check_end(indexed *at, uint64_t length, uint64_t size, refs_error *err) {
    const grib_entry *last = &at->index.entries[at->index.n - 1];
    uint64_t end = last->offset;
    bool is_end = false;
    if (!refs_add_u64(end, length, &end) || end > size) return fail_short(at, last, size, err);
    REFS_TRY(find_padding(at, end, size, &is_end, err));
    if (is_end) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "expected %s to end at byte %llu, after the last message, found %llu bytes: "
                     "make the index again",
                     at->location, (unsigned long long)end, (unsigned long long)size);
}

/* Checks that no message precedes those of the index. */
static refs_status check_begin(indexed *at, refs_error *err) {
    const grib_entry *first = &at->index.entries[0];
    bool is_padding = false;
    REFS_TRY(find_padding(at, 0, first->offset, &is_padding, err));
    if (is_padding) return REFS_OK;
    return refs_fail(
        err, REFS_CORRUPT,
        "line %zu: expected the first message of %s, found that at byte %llu: make the "
        "index again",
        first->line, at->location, (unsigned long long)first->offset);
}

/* Whether a listing has the file, with a date not after that of its index: then the index is
 * complete, and its last message ends with the file. */
static bool is_listed(const indexed *at, uint64_t *end) {
    int64_t modified_s, index_modified_s;
    uint64_t index_size;
    return refs_scan__grib_listed(at->shared, at->location, end, &modified_s) && modified_s > 0 &&
           refs_scan__grib_listed(at->shared, refs_source_location(at->job->source), &index_size,
                                  &index_modified_s) &&
           modified_s <= index_modified_s;
}

/* Whether the last message may extend to the end of the file: it would not be much longer than
 * others. */
static bool may_end_at(const grib_index *index, uint64_t end) {
    const uint64_t last = index->entries[index->n - 1].offset;
    uint64_t longest = 0;
    for (size_t i = 1; i < index->n; i++) {
        const uint64_t length = index->entries[i].offset - index->entries[i - 1].offset;
        if (length > longest) longest = length;
    }
    return end > last && end - last <= 2 * longest;
}

/* If lines have no lengths, each message ends where the next one begins, and the last one at the
 * end of the file. */
static refs_status find_lengths(indexed *at, refs_error *err) {
    grib_entry *entries = at->index.entries, *last = &entries[at->index.n - 1];
    uint64_t length, end = 0;
    at->is_listed = is_listed(at, &end);
    if (have_lengths(&at->index))
        return at->is_listed ? check_end(at, last->length, end, err) : REFS_OK;
    if (!at->is_listed || !may_end_at(&at->index, end)) {
        REFS_TRY(measure(at, last, &length, err));
        REFS_TRY(refs_source_size(at->file, &end, err));
        REFS_TRY(check_end(at, length, end, err));
    }
    for (size_t i = at->index.n; i-- > 0;) {
        if (i + 1 < at->index.n && entries[i + 1].offset > entries[i].offset)
            end = entries[i + 1].offset;
        if (entries[i].length == 0) entries[i].length = end - entries[i].offset;
    }
    return REFS_OK;
}

/* Finds the field of an entry's message among those that were read; NULL: the message is left
 * out. */
static const grib_field *find_field(const grib_list *read, const grib_entry *entry) {
    for (size_t i = read->n_fields; i-- > 0;) {
        const grib_field *field = &read->fields[i];
        if (field->offset == entry->offset && field->number == entry->number) return field;
    }
    return NULL;
}

static refs_status read_message(indexed *at, const grib_entry *entry, grib_list *read,
                                refs_error *err) {
    uint64_t length;
    REFS_TRY(measure(at, entry, &length, err));
    const uint64_t end = entry->offset + entry->length;
    bool is_padding = false;
    if (length <= entry->length)
        REFS_TRY(find_padding(at, entry->offset + length, end, &is_padding, err));
    if (!is_padding) return fail_mismatch(at, entry, "a message of another length", err);
    for (size_t i = read->n_fields; i-- > 0;)
        if (read->fields[i].offset == entry->offset) return REFS_OK;
    return refs_scan__grib_add(at->file, (refs_source_range){entry->offset, length}, read, err);
}

/* -- keys -------------------------------------------------------------------------------------- */

/* Marks the entries whose messages must be read: the first of each unknown key. */
static refs_status choose(indexed *at, bool *is_chosen, refs_error *err) {
    REFS_SCOPED bool *is_seen = refs_calloc(at->index.keys.count, sizeof *is_seen);
    if (is_seen == NULL) return refs_fail_nomem(err);
    at->sample = NULL;
    for (size_t i = 0; i < at->index.n; i++) {
        const grib_entry *entry = &at->index.entries[i];
        const bool is_missing = refs_scan__grib_is_missing(at->shared, &at->index, entry);
        is_chosen[i] = is_missing && !is_seen[entry->key];
        if (is_chosen[i]) is_seen[entry->key] = true;
        if (entry->has_times && !is_chosen[i]) at->sample = entry;
    }
    return REFS_OK;
}

static refs_status fetch_heads(indexed *at, const bool *is_chosen, refs_error *err) {
    REFS_SCOPED refs_source_range *ranges = refs_calloc(at->index.n, sizeof *ranges);
    size_t n = 0;
    if (ranges == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < at->index.n; i++)
        if (is_chosen[i])
            ranges[n++] = (refs_source_range){at->index.entries[i].offset, GRIB_HEAD_BYTES};
    REFS_TRY(n > 0 ? open_file(at, err) : REFS_OK);
    if (n > 0) REFS_TRY(refs_source_want(at->file, ranges, n, err));
    return REFS_OK;
}

/* Names the property in which a message differs from its entry and from the field of its key; NULL:
 * none. */
static const char *find_difference(const grib_entry *entry, const grib_field *field,
                                   const grib_field *expected) {
    if (entry->has_times && entry->time_s != field->time_s) return "another reference time";
    if (entry->has_times && entry->step_hours != field->step_hours) return "another step";
    if (entry->member >= 0 && entry->member != field->member) return "another ensemble member";
    if (expected == NULL) return NULL;
    if (expected->discipline != field->discipline || expected->category != field->category ||
        expected->parameter != field->parameter)
        return "another parameter";
    if (expected->level_type != field->level_type || expected->level != field->level)
        return "another level";
    return expected->statistic != field->statistic ? "another statistic" : NULL;
}

static refs_status learn_one(indexed *at, const grib_entry *entry, refs_error *err) {
    REFS_TRY(read_message(at, entry, &at->read, err));
    const grib_field *field = find_field(&at->read, entry);
    const char *difference = field != NULL ? find_difference(entry, field, NULL) : NULL;
    if (difference != NULL) return fail_mismatch(at, entry, difference, err);
    return refs_scan__grib_learn(at->shared, key_of(at, entry), &at->read, field, err);
}

static refs_status learn(indexed *at, refs_error *err) {
    bool *is_chosen = refs_calloc(at->index.n, sizeof *is_chosen);
    refs_status status = is_chosen != NULL ? choose(at, is_chosen, err) : refs_fail_nomem(err);
    if (status == REFS_OK) status = fetch_heads(at, is_chosen, err);
    for (size_t i = 0; i < at->index.n && status == REFS_OK; i++)
        if (is_chosen[i]) status = learn_one(at, &at->index.entries[i], err);
    refs_free(is_chosen);
    refs_scan__grib_learnt(at->shared);
    return status;
}

/* -- fields ------------------------------------------------------------------------------------ */

/* Adds entries whose times could not be parsed, so that their messages were read. */
static refs_status add_without_times(indexed *at, grib_list *list, refs_error *err) {
    REFS_SCOPED bool *is_chosen = refs_calloc(at->index.n, sizeof *is_chosen);
    if (is_chosen == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < at->index.n; i++) is_chosen[i] = !at->index.entries[i].has_times;
    refs_status status = fetch_heads(at, is_chosen, err);
    for (size_t i = 0; i < at->index.n && status == REFS_OK; i++) {
        if (!is_chosen[i]) continue;
        const grib_entry *entry = &at->index.entries[i];
        status = read_message(at, entry, &at->read, err);
        const grib_field *field = status == REFS_OK ? find_field(&at->read, entry) : NULL;
        if (field != NULL)
            status = refs_scan__grib_copy_field(&at->read, field, list, err);
        else
            list->n_left_out++;
    }
    return status;
}

static bool has_grid_of(const grib_list *list, const grib_field *field, const grib_grid *grid) {
    return refs_scan__grib_is_grid(&list->grids[field->grid], grid->edition,
                                   refs_buf_view(&grid->section));
}

/* An entry's message and its key must both have a field, or neither: else says what the message is
 * instead. NULL: they agree. */
static const char *find_absence(const grib_field *field, const grib_field *expected) {
    if (field == NULL && expected != NULL)
        return "a message whose grid or product definition template is not supported";
    return field != NULL && expected == NULL ? "a message of another grid or product" : NULL;
}

/* The fields of a list, sorted by the offsets of their messages. */
typedef struct placed {
    const grib_list *list;
    const grib_field **fields;
} placed;

static int compare_places(const void *a, const void *b) {
    const grib_field *one = *(const grib_field *const *)a, *other = *(const grib_field *const *)b;
    if (one->offset != other->offset) return one->offset < other->offset ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

/* Finds the field of an entry; NULL: none. */
static const grib_field *find_placed(const placed *all, const grib_entry *entry) {
    const grib_field wanted = {.offset = entry->offset, .number = entry->number}, *key = &wanted;
    if (all->list->n_fields == 0) return NULL;
    const grib_field **found =
        bsearch(&key, all->fields, all->list->n_fields, sizeof *all->fields, compare_places);
    return found != NULL ? *found : NULL;
}

/* Compares an entry's message with the field in the list. */
static refs_status check_message(indexed *at, const placed *all, const grib_entry *entry,
                                 refs_error *err) {
    REFS_SCOPED_BY(refs_scan__grib_list_clear) grib_list read = {.fields = NULL};
    REFS_TRY(read_message(at, entry, &read, err));
    const grib_field *field = find_field(&read, entry), *expected = find_placed(all, entry);
    const char *difference = find_absence(field, expected);
    if (difference == NULL && field == NULL) return REFS_OK;
    if (difference == NULL) difference = find_difference(entry, field, expected);
    if (difference == NULL && !has_grid_of(&read, field, &all->list->grids[expected->grid]))
        difference = "another grid";
    return difference == NULL ? REFS_OK : fail_mismatch(at, entry, difference, err);
}

static bool is_to_check(const indexed *at, const grib_entry *entry) {
    return entry->has_times && (at->is_local || entry == at->sample);
}

/* Compares all messages of a local file with the index. For a remote file, compares one, usually
 * the last one, because it most likely differs if the index belongs to another file: always if the
 * file was opened, else for a sample of files. */
static refs_status check_messages(indexed *at, const grib_list *list, refs_error *err) {
    if (at->sample == NULL ||
        (at->file == NULL &&
         !refs_scan__grib_is_sample(at->shared, at->location,
                                    at->is_listed ? at->index.n / LISTED_SHARE : at->index.n)))
        return REFS_OK;
    REFS_SCOPED const grib_field **fields = refs_calloc(list->n_fields + 1, sizeof *fields);
    if (fields == NULL) return refs_fail_nomem(err);
    const placed all = {list, fields};
    for (size_t i = 0; i < list->n_fields; i++) fields[i] = &list->fields[i];
    qsort(fields, list->n_fields, sizeof *fields, compare_places);
    for (size_t i = 0; i < at->index.n; i++)
        if (is_to_check(at, &at->index.entries[i]))
            REFS_TRY(check_message(at, &all, &at->index.entries[i], err));
    return REFS_OK;
}

/* Chooses the last message with times or, if the end of the file was checked by other means, the
 * last one whose header is in the first block of the file. */
static void choose_sample(indexed *at) {
    for (size_t i = 0; i < at->index.n; i++) {
        const grib_entry *entry = &at->index.entries[i];
        const bool is_far = at->is_listed && entry->offset > BEGINNING_BYTES - GRIB_HEAD_BYTES;
        if (entry->has_times && (at->sample == NULL || !is_far)) at->sample = entry;
    }
}

static refs_status list_fields(indexed *at, grib_list *list, refs_error *err) {
    size_t n_missing = 0;
    uint64_t size;
    REFS_TRY(check_begin(at, err));
    REFS_TRY(find_lengths(at, err));
    choose_sample(at);
    for (;;) {
        REFS_TRY(refs_scan__grib_apply(at->shared, &at->index, list, &n_missing, err));
        if (n_missing == 0) break;
        REFS_TRY(learn(at, err));
    }
    REFS_TRY(add_without_times(at, list, err));
    REFS_TRY(check_messages(at, list, err));
    if (at->file == NULL) return REFS_OK;
    REFS_TRY(refs_source_size(at->file, &size, err));
    return check_end(at, at->index.entries[at->index.n - 1].length, size, err);
}

refs_status refs_scan__grib_list_index(const refs_scan_job *job, grib_list *list, uint32_t *file,
                                       refs_error *err) {
    indexed at = {.job = job, .shared = job->options->shared};
    refs_scan_shared *own = NULL;
    refs_status status = read_index(&at, err);
    if (status == REFS_OK) status = find_file(&at, err);
    if (status == REFS_OK && at.shared == NULL) status = refs_scan_shared_open(&own, err);
    if (own != NULL) at.shared = own;
    *file = at.number;
    at.is_local =
        status == REFS_OK && refs_vfs_is_local(refs_scan_files_vfs(job->files), at.location);
    if (at.is_local)
        status = open_file(&at, err);
    else if (status == REFS_OK)
        status = see_file(&at, err);
    if (status == REFS_OK) status = list_fields(&at, list, err);
    refs_scan__grib_index_clear(&at.index);
    refs_scan__grib_list_clear(&at.read);
    refs_source_free(at.file);
    refs_scan_shared_free(own);
    return status;
}
