/* builder.c -- collects references into a set, see refset.h and builder.h. */
#include "builder.h"

#include "data_url.h"
#include "set.h"

struct refs_set_builder {
    refs_set *set;
    refs_set_options options;
    uint64_t n_added;
    uint32_t last_table; /* consecutive references usually share both, */
    uint32_t last_url;   /* and comparing is faster than a lookup */
};

static const refs_set_options default_options = REFS_SET_OPTIONS_INIT;

refs_status refs_set_builder_open(const char *location, const refs_set_options *options,
                                  refs_set_builder **builder, refs_error *err) {
    refs_set_builder *b = refs_calloc(1, sizeof *b);
    refs_set *set = refs_calloc(1, sizeof *set);
    char *name = refs_str_copy(refs_str_from(location));
    if (b == NULL || set == NULL || name == NULL) {
        refs_free(b);
        refs_free(set);
        refs_free(name);
        return refs_fail_nomem(err);
    }
    set->location = name;
    b->set = set;
    b->options = default_options;
    if (options != NULL)
        memcpy(&b->options, options,
               options->struct_size < sizeof b->options ? options->struct_size : sizeof b->options);
    set->remote_to_local = b->options.remote_to_local;
    b->last_table = b->last_url = REFS_INTERN_NONE;
    *builder = b;
    return REFS_OK;
}

void refs_set_builder_free(refs_set_builder *builder) {
    if (builder == NULL) return;
    refs_set_free(builder->set);
    refs_free(builder);
}

const refs_set_options *refs_references__builder_options(const refs_set_builder *builder) {
    return &builder->options;
}

/* -- keys -------------------------------------------------------------------------------------- */

static refs_status add_prefix(refs_set *set, refs_str prefix, uint32_t *id, refs_error *err) {
    size_t known = set->prefixes.count;
    REFS_TRY(refs_intern_add(&set->prefixes, prefix, id, err));
    if (*id < known) return REFS_OK;
    REFS_GROW(set->first_table, set->first_table_capacity, known, err);
    set->first_table[*id] = REFS_INTERN_NONE;
    return REFS_OK;
}

static refs_status add_table(refs_set *set, const refs_split_key *split, uint32_t *id,
                             refs_error *err) {
    const refs_chunk_table *known = refs_references__set_table(set, split);
    if (known != NULL) {
        *id = (uint32_t)(known - set->tables);
        return REFS_OK;
    }
    uint32_t prefix;
    REFS_TRY(add_prefix(set, split->prefix, &prefix, err));
    REFS_GROW(set->tables, set->table_capacity, set->n_tables, err);
    *id = (uint32_t)set->n_tables++;
    set->tables[*id] = (refs_chunk_table){.prefix = prefix,
                                          .next = set->first_table[prefix],
                                          .separator = split->separator,
                                          .rank = split->rank};
    set->first_table[prefix] = *id;
    return REFS_OK;
}

static refs_status add_name(refs_set *set, refs_str key, refs_slot *slot, refs_error *err) {
    uint32_t id;
    size_t known = set->names.count;
    REFS_GROW(set->named, set->named_capacity, known, err);
    REFS_TRY(refs_intern_add(&set->names, key, &id, err));
    *slot = (refs_slot){REFS_INTERN_NONE, id};
    return REFS_OK;
}

static bool slot_in_last_table(const refs_set_builder *builder, refs_str key, refs_slot *slot) {
    if (builder->last_table == REFS_INTERN_NONE) return false;
    const refs_chunk_table *table = &builder->set->tables[builder->last_table];
    uint64_t index[REFS_CHUNK_MAX_RANK];
    slot->table = builder->last_table;
    return refs_references__chunk_key_resplit(
               key, refs_intern_get(&builder->set->prefixes, table->prefix), table->separator,
               table->rank, index) &&
           refs_references__chunk_index_pack(index, table->rank, &slot->place);
}

static refs_status add_key(refs_set_builder *builder, refs_str key, refs_slot *slot,
                           refs_error *err) {
    refs_split_key split;
    if (slot_in_last_table(builder, key, slot)) return REFS_OK;
    if (!refs_references__chunk_key_split(key, &split) ||
        !refs_references__chunk_index_pack(split.index, split.rank, &slot->place))
        return add_name(builder->set, key, slot, err);
    REFS_TRY(add_table(builder->set, &split, &slot->table, err));
    builder->last_table = slot->table;
    return REFS_OK;
}

/* Some writers name the one chunk "x/0" of a scalar "x/". */
static refs_status add_scalar_key(refs_set_builder *builder, refs_str key, refs_slot *slot,
                                  refs_error *err) {
    REFS_SCOPED_BUF whole = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&whole, key, err));
    REFS_TRY(refs_buf_append(&whole, "0", 1, err));
    return add_key(builder, refs_buf_text(&whole), slot, err);
}

refs_status refs_references__builder_slot(refs_set_builder *builder, refs_str key, refs_slot *slot,
                                          refs_error *err) {
    if (builder->n_added++ >= builder->options.limits.max_references)
        return refs_fail(err, REFS_LIMIT, "limit of %llu references exceeded",
                         (unsigned long long)builder->options.limits.max_references);
    if (key.size > 0 && key.data[0] == '/') key = refs_str_part(key, 1, key.size);
    if (key.size > 0 && key.data[key.size - 1] == '/')
        return add_scalar_key(builder, key, slot, err);
    return add_key(builder, key, slot, err);
}

/* Approximate memory of each string besides its text: its entries in tables. */
#define TEXT_OVERHEAD 64

static uint64_t text_bytes(const refs_intern *table) {
    return table->text.size + TEXT_OVERHEAD * (uint64_t)table->count;
}

/* URLs count twice, because the set also stores their locations. */
uint64_t refs_references__builder_text_bytes(const refs_set_builder *builder) {
    const refs_set *set = builder->set;
    return text_bytes(&set->names) + text_bytes(&set->prefixes) + 2 * text_bytes(&set->urls) +
           set->n_tables * (uint64_t)sizeof *set->tables;
}

/* -- inline bytes ------------------------------------------------------------------------------ */

/* Appends bytes to the set, and sets the entry to them. */
static refs_status keep_bytes(refs_set_builder *builder, refs_bytes bytes, refs_entry *entry,
                              refs_error *err) {
    const refs_set_limits *limits = &builder->options.limits;
    refs_buf *arena = &builder->set->inline_bytes;
    const uint64_t max_bytes =
        limits->max_value_bytes < UINT32_MAX ? limits->max_value_bytes : UINT32_MAX - 1;
    if (bytes.size > max_bytes)
        return refs_fail(err, REFS_LIMIT,
                         "an inline value has %zu bytes, more than the limit of %llu", bytes.size,
                         (unsigned long long)max_bytes);
    if (arena->size > limits->max_inline_bytes ||
        bytes.size > limits->max_inline_bytes - arena->size)
        return refs_fail(err, REFS_LIMIT, "limit of %zu inline bytes exceeded",
                         limits->max_inline_bytes);
    *entry = (refs_entry){arena->size, (uint32_t)bytes.size, REFS_ENTRY_INLINE};
    return refs_buf_append(arena, bytes.data, bytes.size, err);
}

/* -- URLs -------------------------------------------------------------------------------------- */

static refs_status add_url(refs_set *set, refs_str url, uint32_t *id, refs_error *err) {
    size_t known = set->urls.count;
    if (known >= REFS_ENTRY_MAX_URLS)
        return refs_fail(err, REFS_LIMIT, "the set has more than 2^32 URLs");
    REFS_GROW(set->url_of, set->url_of_capacity, known, err);
    REFS_TRY(refs_intern_add(&set->urls, url, id, err));
    if (*id == known)
        set->url_of[known] = (refs_set_url){REFS_INTERN_NONE, REFS_INTERN_NONE, REFS_OK};
    return REFS_OK;
}

refs_status refs_references__builder_url(refs_set_builder *builder, refs_str url, uint32_t *id,
                                         refs_error *err) {
    refs_set *set = builder->set;
    if (builder->last_url != REFS_INTERN_NONE &&
        refs_str_equal(refs_intern_get(&set->urls, builder->last_url), url)) {
        *id = builder->last_url;
        return REFS_OK;
    }
    if (url.size > builder->options.limits.max_value_bytes)
        return refs_fail(err, REFS_LIMIT, "a URL has %zu bytes, more than the limit of %llu",
                         url.size, (unsigned long long)builder->options.limits.max_value_bytes);
    REFS_TRY(add_url(set, url, id, err));
    builder->last_url = *id;
    return REFS_OK;
}

refs_str refs_references__builder_url_text(const refs_set_builder *builder, uint32_t id) {
    return refs_intern_get(&builder->set->urls, id);
}

/* Records why a URL cannot be used; lack of memory is a failure of the call instead. */
static refs_status mark_problem(refs_set *set, uint32_t id, const refs_error *problem,
                                refs_error *err) {
    if (problem->status == REFS_NOMEM) return refs_fail_nomem(err);
    set->url_of[id].status = problem->status;
    return refs_intern_add(&set->problems, refs_str_from(problem->message), &set->url_of[id].detail,
                           err);
}

bool refs_references__holds_template(refs_str url) {
    for (size_t i = 0; i + 1 < url.size; i++)
        if (url.data[i] == '{' && url.data[i + 1] == '{') return true;
    return false;
}

/* -- rendering --------------------------------------------------------------------------------- */

/* Limit of the rendered URLs of a set: this many bytes, plus this multiple of their templates. */
#define MAX_RENDERED       (384 * (uint64_t)REFS_MIB)
#define MAX_RENDERED_TIMES 32

/* The URLs of a set while they are rendered one by one. */
typedef struct rendering {
    refs_set *set;
    refs_intern urls;     /* the URLs before rendering */
    refs_set_url *url_of; /* likewise */
    uint32_t *number;     /* the number of each after rendering */
    refs_url_renderer render;
    void *user;
    refs_buf text;
} rendering;

/* Adds URL number `id`, rendered, to the set; one that cannot be rendered is added unchanged. */
static refs_status render_url(rendering *r, uint32_t id, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_str url = refs_intern_get(&r->urls, id);
    if (!refs_references__holds_template(url)) return add_url(r->set, url, &r->number[id], err);
    r->text.size = 0;
    if (r->render(r->user, url, &r->text, &problem) == REFS_OK) {
        url = refs_buf_text(&r->text);
        return add_url(r->set, url, &r->number[id], err);
    }
    REFS_TRY(add_url(r->set, url, &r->number[id], err));
    return mark_problem(r->set, r->number[id], &problem, err);
}

static refs_status render_urls(rendering *r, refs_error *err) {
    const uint64_t limit = MAX_RENDERED + MAX_RENDERED_TIMES * (uint64_t)r->urls.text.size;
    for (uint32_t id = 0; id < r->urls.count; id++) {
        REFS_TRY(render_url(r, id, err));
        if (r->set->urls.text.size > limit)
            return refs_fail(err, REFS_LIMIT,
                             "the rendered URLs need more than the limit of %llu bytes",
                             (unsigned long long)limit);
    }
    return REFS_OK;
}

static void renumber_entries(const rendering *r, refs_entry *entries, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (entries[i].url < REFS_ENTRY_MAX_URLS) entries[i].url = r->number[entries[i].url];
}

static void renumber(const rendering *r) {
    refs_set *set = r->set;
    renumber_entries(r, set->named, set->names.count);
    for (size_t i = 0; i < set->n_tables; i++)
        renumber_entries(r, set->tables[i].entries, set->tables[i].count);
    for (size_t i = 0; i < set->n_wide; i++) set->wide[i].url = r->number[set->wide[i].url];
}

refs_status refs_references__builder_render(refs_set_builder *builder, refs_url_renderer render,
                                            void *user, refs_error *err) {
    refs_set *set = builder->set;
    rendering r = {
        .set = set, .urls = set->urls, .url_of = set->url_of, .render = render, .user = user};
    REFS_NEW(r.number, r.urls.count, err);
    set->urls = (refs_intern){.count = 0};
    set->url_of = NULL;
    set->url_of_capacity = 0;
    builder->last_url = REFS_INTERN_NONE;
    refs_status status = render_urls(&r, err);
    if (status == REFS_OK) renumber(&r);
    refs_intern_clear(&r.urls);
    refs_free(r.url_of);
    refs_free(r.number);
    refs_buf_clear(&r.text);
    return status;
}

/* -- locations --------------------------------------------------------------------------------- */

static refs_status map_text(refs_str text, const refs_url_context *context, refs_buf *location,
                            refs_error *err) {
    if (refs_references__holds_template(text))
        return refs_fail(err, REFS_INVALID,
                         "URL \"%.*s\" contains a template that was not rendered",
                         REFS_STR_ARG(text));
    return refs_url_map(text, context, location, err);
}

/* Decodes a data: URL, whether it was rendered or added directly. */
static refs_status add_content(refs_set_builder *builder, uint32_t id, refs_buf *decoded,
                               refs_error *err) {
    refs_set *set = builder->set;
    refs_error problem = REFS_ERROR_INIT;
    refs_str text = refs_intern_get(&set->urls, id);
    if (refs_references__data_url_decode(text, decoded, &problem) != REFS_OK)
        return mark_problem(set, id, &problem, err);
    if (!refs_grow((void **)&set->contents, &set->contents_capacity, set->n_contents,
                   sizeof *set->contents) ||
        set->n_contents == UINT32_MAX)
        return refs_fail_nomem(err);
    REFS_TRY(keep_bytes(builder, refs_buf_view(decoded), &set->contents[set->n_contents], err));
    set->url_of[id].location = REFS_URL_CONTENT;
    set->url_of[id].detail = (uint32_t)set->n_contents++;
    return REFS_OK;
}

static refs_status map_url(refs_set_builder *builder, uint32_t id, const refs_url_context *context,
                           refs_buf *location, refs_error *err) {
    refs_set *set = builder->set;
    refs_set_url *url = &set->url_of[id];
    refs_str text = refs_intern_get(&set->urls, id);
    refs_error problem = REFS_ERROR_INIT;
    if (url->status != REFS_OK) return REFS_OK;
    location->size = 0;
    if (refs_references__is_data_url(text) && !refs_references__holds_template(text))
        return add_content(builder, id, location, err);
    if (map_text(text, context, location, &problem) != REFS_OK)
        return mark_problem(set, id, &problem, err);
    return refs_intern_add(&set->locations, refs_buf_text(location), &url->location, err);
}

static refs_status map_urls(refs_set_builder *builder, refs_error *err) {
    const refs_set_options *options = &builder->options;
    refs_set *set = builder->set;
    const refs_url_context context = {set->location, options->rewrites, options->remote_to_local};
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    for (uint32_t id = 0; id < set->urls.count; id++)
        REFS_TRY(map_url(builder, id, &context, &location, err));
    return REFS_OK;
}

/* -- values ------------------------------------------------------------------------------------ */

static refs_status put(refs_set *set, const refs_slot *slot, refs_entry entry, refs_error *err) {
    if (slot->table != REFS_INTERN_NONE)
        return refs_references__chunk_table_add(&set->tables[slot->table], slot->place, entry, err);
    set->named[slot->place] = entry;
    return REFS_OK;
}

/* Adds bytes to the set, as an inline value or with the meaning of `code`. */
static refs_status put_bytes(refs_set_builder *builder, const refs_slot *slot, refs_bytes bytes,
                             uint32_t code, refs_error *err) {
    refs_entry entry = {0};
    REFS_TRY(keep_bytes(builder, bytes, &entry, err));
    entry.url = code;
    return put(builder->set, slot, entry, err);
}

refs_status refs_references__builder_put_inline(refs_set_builder *builder, const refs_slot *slot,
                                                refs_bytes bytes, refs_error *err) {
    return put_bytes(builder, slot, bytes, REFS_ENTRY_INLINE, err);
}

refs_status refs_references__builder_put_broken(refs_set_builder *builder, const refs_slot *slot,
                                                const refs_error *problem, refs_error *err) {
    if (problem->status == REFS_NOMEM) return refs_fail_nomem(err);
    return put_bytes(builder, slot, refs_bytes_view(problem->message, strlen(problem->message)),
                     REFS_ENTRY_BROKEN + (uint32_t)problem->status, err);
}

refs_status refs_references__builder_put_whole(refs_set_builder *builder, const refs_slot *slot,
                                               uint32_t url, refs_error *err) {
    return put(builder->set, slot, (refs_entry){0, REFS_ENTRY_WHOLE, url}, err);
}

refs_status refs_references__builder_put_range(refs_set_builder *builder, const refs_slot *slot,
                                               const refs_wide_range *range, refs_error *err) {
    refs_set *set = builder->set;
    uint64_t end;
    if (!refs_add_u64(range->offset, range->length, &end)) {
        refs_error problem = REFS_ERROR_INIT;
        (void)refs_fail(&problem, REFS_INVALID, "offset %llu and length %llu overflow",
                        (unsigned long long)range->offset, (unsigned long long)range->length);
        return refs_references__builder_put_broken(builder, slot, &problem, err);
    }
    if (range->length < REFS_ENTRY_WHOLE && range->filter_mask == 0)
        return put(set, slot, (refs_entry){range->offset, (uint32_t)range->length, range->url},
                   err);
    REFS_GROW(set->wide, set->wide_capacity, set->n_wide, err);
    set->wide[set->n_wide] = *range;
    return put(set, slot, (refs_entry){set->n_wide++, 0, REFS_ENTRY_WIDE}, err);
}

/* -- the public calls -------------------------------------------------------------------------- */

refs_status refs_set_builder_inline(refs_set_builder *builder, refs_str key, refs_bytes bytes,
                                    refs_error *err) {
    refs_slot slot;
    REFS_TRY(refs_references__builder_slot(builder, key, &slot, err));
    return refs_references__builder_put_inline(builder, &slot, bytes, err);
}

refs_status refs_set_builder_range(refs_set_builder *builder, refs_str key, refs_str url,
                                   refs_byte_range range, refs_error *err) {
    refs_slot slot;
    refs_wide_range wide = {.offset = range.offset, .length = range.length};
    REFS_TRY(refs_references__builder_slot(builder, key, &slot, err));
    REFS_TRY(refs_references__builder_url(builder, url, &wide.url, err));
    return refs_references__builder_put_range(builder, &slot, &wide, err);
}

refs_status refs_set_builder_whole(refs_set_builder *builder, refs_str key, refs_str url,
                                   refs_error *err) {
    refs_slot slot;
    uint32_t id;
    REFS_TRY(refs_references__builder_slot(builder, key, &slot, err));
    REFS_TRY(refs_references__builder_url(builder, url, &id, err));
    return refs_references__builder_put_whole(builder, &slot, id, err);
}

refs_status refs_set_builder_broken(refs_set_builder *builder, refs_str key, refs_status status,
                                    const char *message, refs_error *err) {
    refs_slot slot;
    refs_error problem = REFS_ERROR_INIT;
    (void)refs_fail(&problem, status, "%s", message);
    REFS_TRY(refs_references__builder_slot(builder, key, &slot, err));
    return refs_references__builder_put_broken(builder, &slot, &problem, err);
}

static refs_status finish(refs_set_builder *builder, refs_error *err) {
    refs_set *set = builder->set;
    set->size = set->names.count;
    for (size_t i = 0; i < set->n_tables; i++) {
        REFS_TRY(refs_references__chunk_table_finish(&set->tables[i], err));
        set->size += set->tables[i].count;
    }
    if (builder->n_added > set->size)
        refs_note(&builder->options.notes, REFS_NOTE_DEBUG,
                  "%s: %llu keys occur more than once: the last reference of each is used",
                  set->location, (unsigned long long)(builder->n_added - set->size));
    return map_urls(builder, err);
}

refs_status refs_set_builder_finish(refs_set_builder *builder, refs_set **set, refs_error *err) {
    *set = NULL;
    refs_status status = finish(builder, err);
    if (status == REFS_OK) {
        *set = builder->set;
        builder->set = NULL;
    }
    refs_set_builder_free(builder);
    return status;
}
