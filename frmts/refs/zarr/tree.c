/* tree.c -- from the keys of a store to paths with metadata documents, see zarr_internal.h. */
#include "refs/store.h"
#include "zarr_internal.h"

static const char *const document_names[REFS_DOCUMENT_KINDS] = {
    [REFS_DOCUMENT_ZARRAY] = ".zarray",       [REFS_DOCUMENT_ZATTRS] = ".zattrs",
    [REFS_DOCUMENT_ZGROUP] = ".zgroup",       [REFS_DOCUMENT_V3] = "zarr.json",
    [REFS_DOCUMENT_ZMETADATA] = ".zmetadata",
};

void refs_zarr__tree_clear(refs_tree *tree) {
    for (size_t i = 0; i < tree->n_docs; i++) refs_json_doc_free(tree->docs[i]);
    refs_free(tree->docs);
    refs_free(tree->nodes);
    refs_intern_clear(&tree->paths);
    refs_zarr__arena_clear(&tree->arena);
}

/* -- paths ------------------------------------------------------------------------------------- */

/* Adds the node of `path`, whose parent is known. */
static refs_status add_node(refs_tree *tree, refs_str path, uint32_t parent, uint32_t *id,
                            refs_error *err) {
    REFS_GROW(tree->nodes, tree->capacity, tree->n_nodes, err);
    if (tree->n_nodes == REFS_MAX_NODES && refs_intern_find(&tree->paths, path) == REFS_INTERN_NONE)
        return refs_fail(err, REFS_LIMIT, "the set has more arrays and groups than the limit of %d",
                         REFS_MAX_NODES);
    REFS_TRY(refs_intern_add(&tree->paths, path, id, err));
    if (*id == tree->n_nodes) tree->nodes[tree->n_nodes++] = (refs_node){.parent = parent};
    return REFS_OK;
}

/* Finds or adds the node of `path` and those above it. */
static refs_status node_of(refs_tree *tree, refs_str path, uint32_t *id, refs_error *err) {
    *id = refs_intern_find(&tree->paths, path);
    if (*id != REFS_INTERN_NONE) return REFS_OK;
    *id = 0;
    for (size_t i = 0; i < path.size; i++)
        if (path.data[i] == '/') REFS_TRY(add_node(tree, refs_str_part(path, 0, i), *id, id, err));
    return add_node(tree, path, *id, id, err);
}

static bool path_is_sane(refs_str path) {
    size_t n_slashes = 0;
    for (size_t i = 0; i < path.size; i++) n_slashes += path.data[i] == '/';
    return path.size <= REFS_MAX_PATH_BYTES && n_slashes < REFS_MAX_PATH_DEPTH &&
           refs_str_find(path, '\0') == SIZE_MAX;
}

/* Splits "forecast/t2m/.zarray"; false where that is not a metadata key. */
static bool split_key(refs_str key, refs_str *path, refs_document_kind *kind) {
    const refs_str name = refs_path_last(key);
    *path = refs_path_parent(key);
    for (int i = 0; i < REFS_DOCUMENT_KINDS; i++) {
        *kind = (refs_document_kind)i;
        if (refs_str_is(name, document_names[i])) return path_is_sane(*path);
    }
    return false;
}

/* -- documents --------------------------------------------------------------------------------- */

/* The metadata keys of a store, numbered, and what each one is for. */
typedef struct reading {
    refs_tree *tree;
    refs_intern keys;
    struct wanted {
        uint32_t node;
        refs_document_kind kind;
    } * wanted;
    size_t n_wanted;
    size_t capacity;
} reading;

static refs_document *document_of(const reading *job, size_t i) {
    return &job->tree->nodes[job->wanted[i].node].documents[job->wanted[i].kind];
}

static bool is_read(const refs_document *document) {
    return document->root != NULL || document->problem != NULL;
}

/* Failures that are about this process, and not about a document. */
static bool is_fatal(refs_status status) {
    return status == REFS_NOMEM || status == REFS_CANCELLED;
}

static refs_status want(void *user, refs_str key, refs_error *err) {
    reading *job = user;
    struct wanted wanted;
    refs_str path;
    uint32_t id;
    job->tree->any_key = true;
    if (!split_key(key, &path, &wanted.kind)) return REFS_OK;
    REFS_TRY(node_of(job->tree, path, &wanted.node, err));
    REFS_GROW(job->wanted, job->capacity, job->n_wanted, err);
    REFS_TRY(refs_intern_add(&job->keys, key, &id, err));
    if (id == job->n_wanted) job->wanted[job->n_wanted++] = wanted;
    job->tree->any_document = true;
    return REFS_OK;
}

static refs_status set_problem(refs_tree *tree, refs_document *document, refs_status status,
                               const char *message, refs_error *err) {
    if (is_fatal(status)) return refs_fail(err, status, "%s", message);
    document->status = status;
    document->problem = refs_zarr__arena_printf(&tree->arena, "%s", message);
    return document->problem != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status parse_text(refs_bytes text, refs_json_doc **doc, refs_error *err) {
    REFS_SCOPED_BUF decoded = REFS_BUF_INIT;
    REFS_TRY(refs_json_parse(refs_bytes_text(text), doc, err));
    REFS_TRY(refs_zarr__decode_fill_attribute(refs_json_root(*doc), &decoded, err));
    if (decoded.size > 0) {
        refs_json_doc_free(*doc);
        *doc = NULL;
        REFS_TRY(refs_json_parse(refs_buf_text(&decoded), doc, err));
    }
    return REFS_OK;
}

/* Parses one document; what is wrong with its text is its own problem. */
static refs_status parse(refs_tree *tree, refs_bytes text, refs_document *document,
                         refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_json_doc *doc = NULL;
    REFS_GROW(tree->docs, tree->docs_capacity, tree->n_docs, err);
    refs_status status = parse_text(text, &doc, &problem);
    if (status != REFS_OK) refs_json_doc_free(doc);
    if (status == REFS_OK &&
        tree->docs_memory + refs_json_doc_memory(doc) > REFS_JSON_MAX_TREE_BYTES) {
        refs_json_doc_free(doc);
        status = refs_fail(&problem, REFS_LIMIT,
                           "the metadata need more than the limit of %zu bytes of memory",
                           REFS_JSON_MAX_TREE_BYTES);
    }
    if (status == REFS_OK) {
        tree->n_controls += refs_json_doc_n_controls(doc);
        tree->docs_memory += refs_json_doc_memory(doc);
        tree->docs[tree->n_docs++] = doc;
        if (refs_json_is_object(refs_json_root(doc)))
            document->root = refs_json_root(doc);
        else
            status = refs_fail(&problem, REFS_INVALID, "expected a JSON object");
    }
    return status == REFS_OK ? REFS_OK : set_problem(tree, document, status, problem.message, err);
}

static refs_status keep(void *user, size_t index, const refs_store_value *value, refs_error *err) {
    const reading *job = user;
    if (!value->is_present) return REFS_OK;
    return parse(job->tree, value->bytes, document_of(job, index), err);
}

/* Reads one document by itself, after reading all together has failed. */
static refs_status read_alone(reading *job, struct refs_store *store, uint32_t i, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    REFS_SCOPED_BUF value = REFS_BUF_INIT;
    refs_status status = refs_store_get(store, refs_intern_get(&job->keys, i),
                                        REFS_MAX_METADATA_BYTES, &value, &problem);
    if (status == REFS_OK)
        status = parse(job->tree, refs_buf_view(&value), document_of(job, i), err);
    else if (status == REFS_NOT_FOUND)
        status = REFS_OK;
    else
        status = set_problem(job->tree, document_of(job, i), status, problem.message, err);
    return status;
}

/* All documents in one fetch; where that fails, those that are left one by one, so that each
 * failure stays with its own document. */
static refs_status read_documents(reading *job, struct refs_store *store, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_store_key *keys = refs_calloc(job->n_wanted, sizeof *keys);
    if (keys == NULL) return refs_fail_nomem(err);
    for (uint32_t i = 0; i < job->n_wanted; i++)
        keys[i] = (refs_store_key){.text = refs_intern_get(&job->keys, i),
                                   .max_size = REFS_MAX_METADATA_BYTES};
    const refs_store_client client = {.sink = keep, .user = job};
    refs_status status = refs_store_get_many(store, keys, job->n_wanted, &client, &problem);
    refs_free(keys);
    if (is_fatal(status)) return refs_fail(err, status, "%s", problem.message);
    size_t n_bad = 0;
    for (uint32_t i = 0; status != REFS_OK && i < job->n_wanted; i++) {
        refs_document *document = document_of(job, i);
        if (is_read(document)) continue;
        if (n_bad == REFS_MAX_BAD_DOCUMENTS)
            REFS_TRY(set_problem(job->tree, document, REFS_IO,
                                 "too much of the other metadata cannot be read", err));
        else
            REFS_TRY(read_alone(job, store, i, err));
        if (document->problem != NULL && n_bad < REFS_MAX_BAD_DOCUMENTS) n_bad++;
    }
    return REFS_OK;
}

/* -- consolidated metadata --------------------------------------------------------------------- */

/* Takes one document for `key`, unless that has one of its own. */
static refs_status adopt_document(refs_tree *tree, refs_str key, const refs_json *root,
                                  refs_error *err) {
    refs_str path;
    refs_document_kind kind;
    uint32_t id;
    if (!refs_json_is_object(root) || !split_key(key, &path, &kind)) return REFS_OK;
    REFS_TRY(node_of(tree, path, &id, err));
    refs_document *document = &tree->nodes[id].documents[kind];
    if (!is_read(document)) document->root = root;
    tree->any_document = true;
    return REFS_OK;
}

/* Takes the members of `metadata`: below the node, their names and `suffix` make up their keys. */
static refs_status adopt(refs_tree *tree, uint32_t node, const refs_json *metadata,
                         const char *suffix, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    for (size_t i = 0; i < refs_json_size(metadata); i++) {
        refs_str path = refs_intern_get(&tree->paths, node);
        key.size = 0;
        REFS_TRY(refs_buf_append_str(&key, path, err));
        if (path.size > 0) REFS_TRY(refs_buf_append(&key, "/", 1, err));
        REFS_TRY(refs_buf_append_str(&key, refs_json_name_at(metadata, i), err));
        REFS_TRY(refs_buf_append_str(&key, refs_str_from(suffix), err));
        REFS_TRY(adopt_document(tree, refs_buf_text(&key), refs_json_at(metadata, i), err));
    }
    return REFS_OK;
}

/* ".zmetadata" of v2 and what zarr-python puts into "zarr.json" of a v3 group. */
static refs_status read_consolidated(refs_tree *tree, const refs_notes *notes, refs_error *err) {
    size_t n_nodes = tree->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++) {
        refs_document v2 = tree->nodes[id].documents[REFS_DOCUMENT_ZMETADATA];
        refs_document v3 = tree->nodes[id].documents[REFS_DOCUMENT_V3];
        if (v2.problem != NULL)
            refs_note(notes, REFS_NOTE_WARNING, ".zmetadata is ignored: %s", v2.problem);
        REFS_TRY(adopt(tree, id, refs_json_get(v2.root, "metadata"), "", err));
        const refs_json *inside = refs_json_get(v3.root, "consolidated_metadata");
        REFS_TRY(adopt(tree, id, refs_json_get(inside, "metadata"), "/zarr.json", err));
    }
    return REFS_OK;
}

refs_status refs_zarr__tree_read(struct refs_store *store, const refs_notes *notes, refs_tree *tree,
                                 refs_error *err) {
    reading job = {.tree = tree};
    uint32_t root;
    refs_status status = add_node(tree, refs_str_from(""), 0, &root, err);
    if (status == REFS_OK) status = refs_store_each_name(store, want, &job, err);
    if (status == REFS_OK) status = read_documents(&job, store, err);
    if (status == REFS_OK) status = read_consolidated(tree, notes, err);
    if (tree->n_controls > 0)
        refs_note(notes, REFS_NOTE_WARNING,
                  "%llu control characters in strings of the metadata lack an escape",
                  (unsigned long long)tree->n_controls);
    refs_intern_clear(&job.keys);
    refs_free(job.wanted);
    return status;
}
