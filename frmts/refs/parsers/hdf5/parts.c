/* parts.c -- virtual datasets: their chunks are those of their source datasets if the two chunk
 * grids match. */
#include "hdf5/hdf5.h"
#include "hdf5/index.h"
#include "hdf5/virtual.h"

/* A source dataset. */
typedef struct part_source {
    refs_hdf5_scan *scan;
    refs_hdf5_dataset *dataset;
    uint32_t file;
    bool is_to_close; /* its file was opened for this part */
} part_source;

/* The index of a chunk along a dimension in the virtual dataset and in the source. */
typedef struct chunk_pair {
    uint64_t here, source;
} chunk_pair;

typedef struct chunk_pairs {
    chunk_pair *pairs;
    size_t n, capacity;
} chunk_pairs;

typedef struct parts {
    refs_hdf5_scan *scan;
    refs_hdf5_dataset *dataset;
    refs_chunk_index *index; /* NULL while the dataset is described */
    bool has_chunks;         /* a source was found, whose chunks are used */
    bool may_be_cut; /* the source is contiguous, so that chunks can be as small as needed */
    uint64_t grain[REFS_SCAN_MAX_RANK];  /* along each dimension, divides all beginnings and lengths
                                            of parts */
    uint64_t extent[REFS_SCAN_MAX_RANK]; /* of parts without an end */
    bool is_extended[REFS_SCAN_MAX_RANK];
    refs_chunk_index stored; /* of the current source */
    chunk_pairs along[REFS_SCAN_MAX_RANK];
} parts;

/* -- sources ----------------------------------------------------------------------------------- */

static refs_status find_dataset(const refs_hdf5_scan *scan, refs_str name,
                                refs_hdf5_dataset **dataset, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_status status = refs_hdf5__clean_path(name, &path, err);
    *dataset = NULL;
    for (size_t i = 0; status == REFS_OK && *dataset == NULL && i < scan->tree.n; i++)
        if (scan->tree.items[i].kind == REFS_HDF5_ITEM_DATASET &&
            strcmp(scan->tree.items[i].path, (const char *)path.data) == 0)
            *dataset = scan->tree.items[i].dataset;
    return status == REFS_OK && *dataset == NULL ? REFS_NOT_FOUND : status;
}

static void close_source(const parts *job, part_source *from) {
    if (from->is_to_close) refs_scan_files_close(job->scan->files, from->file);
    from->is_to_close = false;
}

static refs_status open_source_file(const parts *job, refs_str name, part_source *from,
                                    refs_error *err) {
    const refs_file_name file = {job->scan->number, name, "HDF5_VDS_PREFIX",
                                 job->scan->file.options};
    const refs_scan_format *format;
    refs_scan *other;
    REFS_TRY(refs_scan_files_find(job->scan->files, &file, &from->file, err));
    if (from->file == job->scan->number) return REFS_OK;
    from->is_to_close = !refs_scan_files_is_open(job->scan->files, from->file);
    REFS_TRY(
        refs_scan_files_scan(job->scan->files, from->file, job->scan->file.options, &other, err));
    from->scan = refs_scan__self(other, &format);
    if (format == &refs_scan__hdf5) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "%.*s is not an HDF5 file", REFS_STR_ARG(name));
}

/* REFS_NOT_FOUND without a message if there is no such file or dataset: its elements are the fill
 * value. Call close_source even after a failure. */
static refs_status find_source(const parts *job, const refs_hdf5_mapping *mapping,
                               part_source *from, refs_error *err) {
    *from = (part_source){.scan = job->scan, .file = job->scan->number};
    refs_status status = REFS_OK;
    if (!refs_str_is(mapping->file, ".")) status = open_source_file(job, mapping->file, from, err);
    if (status == REFS_OK) status = find_dataset(from->scan, mapping->dataset, &from->dataset, err);
    if (status == REFS_NOT_FOUND) refs_error_clear(err);
    if (status == REFS_OK && from->dataset->layout.class == REFS_HDF5_VIRTUAL)
        status = refs_hdf5__describe_parts(from->scan, from->dataset, err);
    return status;
}

static bool is_same_json(json_t *one, json_t *other) {
    bool is_same = one == other || json_equal(one, other);
    json_decref(one);
    json_decref(other);
    return is_same;
}

static refs_status pair_with_source(const parts *job, const part_source *from,
                                    const refs_hdf5_mapping *mapping, size_t *pairs,
                                    refs_error *err) {
    const refs_hdf5_dataset *here = job->dataset, *there = from->dataset;
    if (mapping->source.rank != there->layout.rank || mapping->here.rank != here->layout.rank)
        return refs_fail(err, REFS_CORRUPT, "a source dataset has another rank");
    if (there->has_external_files)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "a source dataset has its values in external files");
    if (here->type.class != there->type.class || here->type.size != there->type.size ||
        !is_same_json(refs_hdf5__dtype(&here->type), refs_hdf5__dtype(&there->type)))
        return refs_fail(err, REFS_UNSUPPORTED, "a source dataset has another data type");
    if (!refs_hdf5__pair_dimensions(mapping, pairs))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "a mapping of it selects different shapes in source and virtual dataset");
    return REFS_OK;
}

static bool is_chunked(const refs_hdf5_dataset *dataset) {
    return dataset->layout.class == REFS_HDF5_CHUNKED || dataset->layout.class == REFS_HDF5_VIRTUAL;
}

/* -- parts with a number in their names -------------------------------------------------------- */

/* Whether the name has the placeholder "%b" for a block's number; "%%" is a percent sign. */
static bool counts(refs_str name) {
    for (size_t i = 0; i + 1 < name.size; i++) {
        if (name.data[i] != '%') continue;
        if (name.data[i + 1] == 'b') return true;
        i++;
    }
    return false;
}

static refs_status print_name(refs_str name, uint64_t number, refs_buf *text, refs_error *err) {
    text->size = 0;
    for (size_t i = 0; i < name.size; i++) {
        bool is_mark = name.data[i] == '%' && i + 1 < name.size;
        if (is_mark && name.data[i + 1] == 'b')
            REFS_TRY(refs_buf_printf(text, err, "%llu", (unsigned long long)number));
        else
            REFS_TRY(refs_buf_append(text, name.data + i, 1, err));
        if (is_mark && (name.data[i + 1] == 'b' || name.data[i + 1] == '%')) i++;
    }
    return REFS_OK;
}

/* -- type and chunks --------------------------------------------------------------------------- */

/* Combines the grain with where blocks of a part begin and how long they are. The length does not
 * count at the end of the dataset. */
static void add_grain(parts *job, const refs_hdf5_mapping *mapping, const size_t *pairs) {
    for (size_t i = 0; i < mapping->here.rank; i++) {
        const refs_hdf5_span *here = &mapping->here.spans[i];
        uint64_t *grain = &job->grain[i], n = refs_hdf5__span_size(here);
        const refs_hdf5_span *source =
            pairs[i] < REFS_SCAN_MAX_RANK ? &mapping->source.spans[pairs[i]] : NULL;
        bool is_last = refs_hdf5__span_at(here, n - 1) + 1 >= job->dataset->layout.shape[i];
        *grain = refs_hdf5__common_divisor(*grain, here->start);
        if (refs_hdf5__span_run(here, 0) < n)
            *grain = refs_hdf5__common_divisor(refs_hdf5__common_divisor(*grain, here->stride),
                                               here->block);
        else if (!is_last || source == NULL)
            *grain = refs_hdf5__common_divisor(*grain, n);
        if (source == NULL) continue;
        *grain = refs_hdf5__common_divisor(*grain, source->start);
        if (refs_hdf5__span_run(source, 0) < n)
            *grain = refs_hdf5__common_divisor(refs_hdf5__common_divisor(*grain, source->stride),
                                               source->block);
    }
}

/* If a part uses only some indices of a dimension of the source, values are not contiguous along
 * those before it. */
static void add_grain_of_source(parts *job, const part_source *from,
                                const refs_hdf5_mapping *mapping, const size_t *pairs) {
    const refs_hdf5_layout *there = &from->dataset->layout;
    size_t last = there->rank;
    while (last > 0 &&
           refs_hdf5__span_size(&mapping->source.spans[last - 1]) == there->shape[last - 1])
        last--;
    for (size_t i = 0; i < mapping->here.rank; i++)
        if (last > 0 && pairs[i] < last - 1) job->grain[i] = 1;
}

/* Uses the chunks of the first source that exists. */
static void take_chunks(parts *job, const part_source *from, const size_t *pairs) {
    refs_hdf5_dataset *here = job->dataset;
    const refs_hdf5_dataset *there = from->dataset;
    job->has_chunks = true;
    job->may_be_cut = !is_chunked(there);
    json_decref(here->codecs);
    here->codecs = refs_hdf5__filters(there);
    for (size_t i = 0; i < here->layout.rank && !job->may_be_cut; i++)
        here->layout.chunk[i] = pairs[i] < REFS_SCAN_MAX_RANK ? there->layout.chunk[pairs[i]] : 1;
}

/* Divides contiguous values at the beginnings of parts, along the slowest dimensions first. */
static void cut_by_grain(parts *job) {
    refs_hdf5_layout *layout = &job->dataset->layout;
    uint64_t bytes = layout->element_size, most = REFS_HDF5_CONTIGUOUS_CHUNK_BYTES;
    bool is_cut = false;
    for (size_t i = layout->rank; i-- > 0;) {
        uint64_t size = job->grain[i] > 0 ? job->grain[i] : layout->shape[i], rows = size;
        if (size == 0) size = rows = 1;
        if (bytes > most) bytes = most;
        if (is_cut) rows = 1;
        rows = refs_hdf5__divisor_below(rows, most / bytes > 0 ? most / bytes : 1);
        is_cut = is_cut || rows < layout->shape[i];
        bytes *= rows;
        layout->chunk[i] = rows;
    }
}

static void extend(parts *job, const refs_hdf5_mapping *mapping, size_t dim) {
    const refs_hdf5_span *span = &mapping->here.spans[dim];
    uint64_t n = refs_hdf5__span_size(span);
    uint64_t end = n > 0 ? refs_hdf5__span_at(span, n - 1) + 1 : 0;
    job->is_extended[dim] = true;
    if (end > job->extent[dim] && end <= INT64_MAX) job->extent[dim] = end;
}

static refs_status describe(parts *job, const part_source *from, const refs_hdf5_mapping *mapping,
                            refs_error *err) {
    size_t pairs[REFS_SCAN_MAX_RANK];
    REFS_TRY(pair_with_source(job, from, mapping, pairs, err));
    for (size_t i = 0; i < mapping->here.rank; i++)
        if (refs_hdf5__span_size(&mapping->here.spans[i]) == 0) return REFS_OK;
    add_grain(job, mapping, pairs);
    if (!is_chunked(from->dataset)) add_grain_of_source(job, from, mapping, pairs);
    if (!job->has_chunks) take_chunks(job, from, pairs);
    return REFS_OK;
}

/* -- its chunks -------------------------------------------------------------------------------- */

static refs_status do_not_fit(const char *what, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "its chunks do not match those of its source datasets: %s", what);
}

/* A part's interval along a dimension, and the source's. */
typedef struct span_pair {
    const refs_hdf5_span *here, *source;
    uint64_t source_size; /* length of the source's dimension */
    bool is_paired;       /* false: the source lacks that dimension */
} span_pair;

static span_pair pair_spans(const part_source *from, const refs_hdf5_mapping *mapping,
                            const size_t *pairs, size_t i) {
    static const refs_hdf5_span one = {0, 1, 1, 1};
    if (pairs[i] >= REFS_SCAN_MAX_RANK) return (span_pair){&mapping->here.spans[i], &one, 1, false};
    return (span_pair){&mapping->here.spans[i], &mapping->source.spans[pairs[i]],
                       from->dataset->layout.shape[pairs[i]], true};
}

/* Lists the chunks along dimension `i`. Fails unless each of them is exactly one chunk of the
 * source. */
static refs_status pair_chunks(parts *job, size_t i, const span_pair *spans, refs_error *err) {
    const refs_hdf5_layout *layout = &job->dataset->layout;
    const refs_hdf5_span *here = spans->here, *source = spans->source;
    uint64_t chunk = layout->chunk[i], n = refs_hdf5__span_size(here), run;
    chunk_pairs *along = &job->along[i];
    along->n = 0;
    if (!spans->is_paired && chunk != 1) return do_not_fit("a dimension is missing there", err);
    for (uint64_t at = 0; at < n; at += run) {
        uint64_t v = refs_hdf5__span_at(here, at), s = refs_hdf5__span_at(source, at);
        if (v >= layout->shape[i] || s >= spans->source_size) break;
        run = layout->shape[i] - v < chunk ? layout->shape[i] - v : chunk;
        if (v % chunk != 0 || s % chunk != 0)
            return do_not_fit("a source dataset begins within a chunk", err);
        if (refs_hdf5__span_run(here, at) < run || refs_hdf5__span_run(source, at) < run ||
            spans->source_size - s < run)
            return do_not_fit("a source dataset ends within a chunk", err);
        REFS_GROW(along->pairs, along->capacity, along->n, err);
        along->pairs[along->n++] = (chunk_pair){v / chunk, s / chunk};
    }
    return REFS_OK;
}

/* Reads the index of a source whose chunks must equal those of the virtual dataset. */
static refs_status read_source_index(parts *job, const part_source *from, const size_t *pairs,
                                     refs_error *err) {
    refs_hdf5_layout layout = from->dataset->layout; /* a copy that owns nothing */
    uint64_t wanted[REFS_SCAN_MAX_RANK];
    for (size_t i = 0; i < layout.rank; i++) wanted[i] = 1;
    for (size_t i = 0; i < job->dataset->layout.rank; i++)
        if (pairs[i] < REFS_SCAN_MAX_RANK) wanted[pairs[i]] = job->dataset->layout.chunk[i];
    bool is_cut = false; /* once a dimension is divided, all after it must be whole */
    for (size_t i = 0; i < layout.rank; i++) {
        if (is_chunked(from->dataset) && wanted[i] != layout.chunk[i])
            return do_not_fit("they have other shapes", err);
        uint64_t size = wanted[i] < layout.shape[i] ? wanted[i] : layout.shape[i];
        if (!is_chunked(from->dataset) && is_cut && size < layout.shape[i])
            return do_not_fit("they are not contiguous there", err);
        is_cut = is_cut || size > 1;
        if (!is_chunked(from->dataset)) layout.chunk[i] = size > 0 ? size : 1;
    }
    if (from->dataset->layout.class == REFS_HDF5_VIRTUAL)
        return refs_hdf5__index_parts(from->scan, from->dataset, &job->stored, err);
    if (layout.class == REFS_HDF5_COMPACT)
        for (size_t i = 0; i < layout.rank; i++)
            if (layout.chunk[i] < layout.shape[i])
                return do_not_fit("they are within an object header", err);
    REFS_TRY(refs_hdf5__read_index(&from->scan->file, &layout, &job->stored, err));
    if (job->stored.location_id == 0) job->stored.location_id = from->file;
    return refs_chunk_index_finish(&job->stored, err);
}

static refs_status add_chunk(parts *job, const part_source *from, uint64_t here, uint64_t there,
                             refs_error *err) {
    refs_index_entry entry;
    if (!refs_chunk_index_find(&job->stored, there, &entry)) {
        if (is_same_json(refs_hdf5__unwritten(job->dataset), refs_hdf5__unwritten(from->dataset)))
            return REFS_OK;
        return do_not_fit("unwritten elements there have another fill value", err);
    }
    uint32_t location = refs_chunk_index_location(&job->stored, there);
    if (location == REFS_SCAN_INLINE) {
        refs_buf *bytes = &job->index->inline_bytes;
        size_t offset = bytes->size;
        if (bytes->size + entry.length > job->scan->file.options->limits.max_inline_bytes)
            return refs_fail(err, REFS_LIMIT, "its values need more bytes than the limit of %llu",
                             (unsigned long long)job->scan->file.options->limits.max_inline_bytes);
        REFS_TRY(refs_buf_append(bytes, job->stored.inline_bytes.data + entry.offset,
                                 (size_t)entry.length, err));
        entry.offset = offset;
    }
    return refs_chunk_index_add_elsewhere(job->index, here, entry, location, err);
}

/* Adds each chunk that has a pair along all dimensions. */
static refs_status add_chunks(parts *job, const part_source *from, const refs_hdf5_mapping *mapping,
                              const size_t *pairs, refs_error *err) {
    size_t rank = mapping->here.rank, at[REFS_SCAN_MAX_RANK] = {0};
    for (size_t i = 0; i < rank; i++)
        if (job->along[i].n == 0) return REFS_OK;
    for (;;) {
        uint64_t here[REFS_SCAN_MAX_RANK], there[REFS_SCAN_MAX_RANK], number, source_number;
        for (size_t i = 0; i < mapping->source.rank; i++)
            there[i] =
                mapping->source.spans[i].start; /* for dimensions that the virtual dataset lacks */
        for (size_t i = 0; i < rank; i++) {
            here[i] = job->along[i].pairs[at[i]].here;
            if (pairs[i] < REFS_SCAN_MAX_RANK) there[pairs[i]] = job->along[i].pairs[at[i]].source;
        }
        if (refs_chunk_index_number(job->index, here, &number) &&
            refs_chunk_index_number(&job->stored, there, &source_number))
            REFS_TRY(add_chunk(job, from, number, source_number, err));
        size_t dim = rank;
        while (dim > 0 && ++at[dim - 1] == job->along[dim - 1].n) at[--dim] = 0;
        if (dim == 0) return REFS_OK;
    }
}

static refs_status place(parts *job, const part_source *from, const refs_hdf5_mapping *mapping,
                         refs_error *err) {
    size_t pairs[REFS_SCAN_MAX_RANK];
    REFS_TRY(pair_with_source(job, from, mapping, pairs, err));
    if (!is_same_json(refs_hdf5__filters(job->dataset), refs_hdf5__filters(from->dataset)))
        return do_not_fit("they use other filters", err);
    for (size_t i = 0; i < mapping->here.rank; i++) {
        const span_pair spans = pair_spans(from, mapping, pairs, i);
        REFS_TRY(pair_chunks(job, i, &spans, err));
    }
    refs_status status = read_source_index(job, from, pairs, err);
    if (status == REFS_OK) status = add_chunks(job, from, mapping, pairs, err);
    refs_chunk_index_clear(&job->stored);
    return status;
}

/* -- all parts --------------------------------------------------------------------------------- */

/* Visits one part; its names have no placeholders any more. */
static refs_status visit_one(parts *job, refs_hdf5_mapping *mapping, refs_error *err) {
    part_source from;
    refs_hdf5_layout *layout = &job->dataset->layout;
    size_t dim = mapping->here.is_all ? layout->rank : refs_hdf5__unlimited_dim(&mapping->here);
    refs_status status = find_source(job, mapping, &from, err);
    if (status == REFS_OK) {
        const refs_hdf5_layout *there = &from.dataset->layout;
        refs_hdf5__limit_selection(&mapping->source, there->rank, there->shape);
        bool has_end = dim >= mapping->here.rank;
        if (!has_end && dim < mapping->source.rank) {
            /* the length of the source determines that of the part */
            uint64_t n = refs_hdf5__span_size(&mapping->source.spans[dim]);
            refs_hdf5_span *span = &mapping->here.spans[dim];
            uint64_t step = span->stride > 0 ? span->stride : 1;
            span->count = span->block != REFS_HDF5_UNDEFINED ? n / span->block : 1;
            if (span->block == REFS_HDF5_UNDEFINED || step == span->block)
                *span = (refs_hdf5_span){span->start, 1, 1, n};
            extend(job, mapping, dim);
        }
        refs_hdf5__limit_selection(&mapping->here, layout->rank, layout->shape);
        status = job->index != NULL ? place(job, &from, mapping, err)
                                    : describe(job, &from, mapping, err);
    }
    close_source(job, &from);
    return status;
}

/* Visits the parts "%b" = 0, 1, … up to the first one that does not exist. */
static refs_status visit_counted(parts *job, const refs_hdf5_mapping *mapping, refs_error *err) {
    REFS_SCOPED_BUF file = REFS_BUF_INIT, dataset = REFS_BUF_INIT;
    size_t dim = refs_hdf5__unlimited_dim(&mapping->here);
    refs_status status = REFS_OK;
    for (uint64_t i = 0; status == REFS_OK && i < REFS_SCAN_MAX_FILES; i++) {
        refs_hdf5_mapping one = *mapping;
        if (dim < one.here.rank) {
            refs_hdf5_span *span = &one.here.spans[dim];
            *span = (refs_hdf5_span){span->start + i * span->stride, 1, 1, span->block};
        }
        status = print_name(mapping->file, i, &file, err);
        if (status == REFS_OK) status = print_name(mapping->dataset, i, &dataset, err);
        one.file = refs_buf_text(&file);
        one.dataset = refs_buf_text(&dataset);
        if (status == REFS_OK) status = visit_one(job, &one, err);
        if (status == REFS_OK && dim < one.here.rank) extend(job, &one, dim);
        if (dim >= one.here.rank) break;
    }
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

static refs_status visit(void *user, refs_hdf5_mapping *mapping, refs_error *err) {
    parts *job = user;
    if (!mapping->here.is_all && mapping->here.rank != job->dataset->layout.rank)
        return refs_fail(err, REFS_CORRUPT, "a source dataset has another rank");
    if (counts(mapping->file) || counts(mapping->dataset)) return visit_counted(job, mapping, err);
    refs_status status = visit_one(job, mapping, err);
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

static refs_status visit_all(parts *job, refs_error *err) {
    refs_hdf5_scan *scan = job->scan;
    if (scan->depth == REFS_SCAN_MAX_DEPTH)
        return refs_fail(err, REFS_UNSUPPORTED, "virtual datasets refer to each other in a loop");
    scan->depth++;
    refs_status status =
        refs_hdf5__each_mapping(&scan->file, &job->dataset->layout, visit, job, err);
    scan->depth--;
    for (size_t i = 0; i < REFS_SCAN_MAX_RANK; i++) refs_free(job->along[i].pairs);
    return status;
}

refs_status refs_hdf5__describe_parts(refs_hdf5_scan *scan, refs_hdf5_dataset *dataset,
                                      refs_error *err) {
    parts job = {.scan = scan, .dataset = dataset};
    if (dataset->is_described) return REFS_OK;
    REFS_TRY(visit_all(&job, err));
    dataset->is_described = true;
    for (size_t i = 0; i < dataset->layout.rank; i++)
        if (job.is_extended[i]) dataset->layout.shape[i] = dataset->shape[i] = job.extent[i];
    if (job.may_be_cut) cut_by_grain(&job);
    return REFS_OK;
}

refs_status refs_hdf5__index_parts(refs_hdf5_scan *scan, const refs_hdf5_dataset *dataset,
                                   refs_chunk_index *index, refs_error *err) {
    const refs_hdf5_layout *layout = &dataset->layout;
    refs_hdf5_dataset copy = *dataset; /* a copy that owns nothing */
    parts job = {.scan = scan, .dataset = &copy, .index = index};
    REFS_TRY(refs_chunk_index_init(index, layout->rank, layout->shape, layout->chunk, err));
    return visit_all(&job, err);
}
