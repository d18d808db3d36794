/* flat_copy.c -- see flat_copy.h. */
#include "icechunk/flat_copy.h"

#include "icechunk/object_id.h"
#include "icechunk/schema.h"

/* -- tables of the info ------------------------------------------------------------------------ */

#define NUMBER(size)                                                                               \
    { REFS_FLAT_NUMBER, size, size, NULL }
#define ID                                                                                         \
    { REFS_FLAT_STRUCT, REFS_OBJECT_ID_SIZE, 1, NULL }
#define TEXT                                                                                       \
    { REFS_FLAT_TEXT, 1, 1, NULL }
#define VECTOR(size, aligned)                                                                      \
    { REFS_FLAT_VECTOR, size, aligned, NULL }
#define TABLES(shape)                                                                              \
    { REFS_FLAT_TABLES, 4, 4, shape }
#define SHAPE(name, fields)                                                                        \
    { name, sizeof(fields) / sizeof *(fields), fields }

static const refs_flat_field item[] = {[ITEM_NAME] = TEXT, [ITEM_VALUE] = VECTOR(1, 1)};
const refs_flat_shape refs_icechunk__shape_item = SHAPE("MetadataItem", item);

static const refs_flat_field info[] = {[INFO_ID] = ID,
                                       [INFO_PARENT] = NUMBER(4),
                                       [INFO_WRITTEN] = NUMBER(8),
                                       [INFO_MESSAGE] = TEXT,
                                       [INFO_METADATA] = TABLES(&refs_icechunk__shape_item),
                                       [INFO_PRUNED] = VECTOR(REFS_OBJECT_ID_SIZE, 1)};
const refs_flat_shape refs_icechunk__shape_info = SHAPE("SnapshotInfo", info);

static const refs_flat_field repo_status[] = {
    [STATUS_AVAILABILITY] = NUMBER(1), [STATUS_SET_AT] = NUMBER(8), [STATUS_REASON] = TEXT};
const refs_flat_shape refs_icechunk__shape_status = SHAPE("RepoStatus", repo_status);

/* Copies updates of names (with one or two snapshots) and of flags. A status update contains a
 * table, stored as a vector of one table; the others contain none. */
static const refs_flat_field name[] = {TEXT};
static const refs_flat_field name_and_id[] = {TEXT, ID};
static const refs_flat_field name_and_ids[] = {TEXT, ID, ID};
static const refs_flat_field one_id[] = {ID};
static const refs_flat_field versions[] = {NUMBER(1), NUMBER(1)};
static const refs_flat_field flag[] = {NUMBER(2), NUMBER(1), NUMBER(1)};
static const refs_flat_field new_status[] = {{REFS_FLAT_TABLE, 4, 4, &refs_icechunk__shape_status}};

const refs_flat_shape refs_icechunk__shapes_of_updates[REFS_UPDATE_N_TYPES + 1] = {
    {"none", 0, NULL},
    {"RepoInitializedUpdate", 0, NULL},
    SHAPE("RepoMigratedUpdate", versions),
    {"ConfigChangedUpdate", 0, NULL},
    {"MetadataChangedUpdate", 0, NULL},
    SHAPE("TagCreatedUpdate", name),
    SHAPE("TagDeletedUpdate", name_and_id),
    SHAPE("BranchCreatedUpdate", name),
    SHAPE("BranchDeletedUpdate", name_and_id),
    SHAPE("BranchResetUpdate", name_and_id),
    SHAPE("NewCommitUpdate", name_and_id),
    SHAPE("CommitAmendedUpdate", name_and_ids),
    SHAPE("NewDetachedSnapshotUpdate", one_id),
    {"GCRanUpdate", 0, NULL},
    {"ExpirationRanUpdate", 0, NULL},
    SHAPE("FeatureFlagChangedUpdate", flag),
    SHAPE("RepoStatusChangedUpdate", new_status)};

/* -- copying ----------------------------------------------------------------------------------- */

/* A table that is being copied. */
typedef struct copying {
    refs_flat_writer *writer;
    const refs_flat_table *from;
    size_t to;
} copying;

static bool has_field(const refs_flat_table *table, unsigned field) {
    const uint8_t *entry = table->buffer.data + table->vtable + 4 + 2 * (size_t)field;
    return field < table->n_fields && (entry[0] != 0 || entry[1] != 0);
}

static refs_status check_fields(const refs_flat_table *table, const refs_flat_shape *shape,
                                refs_error *err) {
    for (unsigned field = shape->n; field < table->n_fields; field++)
        if (has_field(table, field))
            return refs_fail(err, REFS_UNSUPPORTED,
                             "a table %s of the repository has field %u, expected at most %u: it "
                             "was written by a later version of Icechunk: update REFS, or write "
                             "with Icechunk",
                             shape->name, field + 1, shape->n);
    return REFS_OK;
}

static refs_status draft_field(const refs_flat_table *table, const refs_flat_shape *shape,
                               unsigned field, refs_flat_draft *draft, refs_error *err) {
    const refs_flat_field *is = &shape->fields[field];
    const uint8_t *data;
    uint64_t number = 0;
    if (is->kind == REFS_FLAT_NUMBER) {
        REFS_TRY(refs_icechunk__flat_number(table, field, is->size, &number, err));
        refs_icechunk__draft_number(draft, field, is->size, number);
    } else if (is->kind == REFS_FLAT_STRUCT) {
        REFS_TRY(refs_icechunk__flat_struct(table, field, is->size, &data, err));
        if (data != NULL) refs_icechunk__draft_struct(draft, field, data, is->size);
    } else if (has_field(table, field)) {
        refs_icechunk__draft_offset(draft, field);
    }
    return REFS_OK;
}

static refs_status copy_child(const copying *at, const refs_flat_shape *shape, unsigned field,
                              size_t *to, refs_error *err) {
    refs_flat_table child;
    REFS_TRY(refs_icechunk__flat_child(at->from, field, &child, err));
    return refs_icechunk__flat_copy(at->writer, &child, shape, to, err);
}

static refs_status copy_text(const copying *at, unsigned field, size_t *to, refs_error *err) {
    refs_str text;
    REFS_TRY(refs_icechunk__flat_string(at->from, field, &text, err));
    return refs_icechunk__flat_add_string(at->writer, text, to, err);
}

static refs_status copy_vector(const copying *at, const refs_flat_field *is, unsigned field,
                               size_t *to, refs_error *err) {
    refs_flat_vector vector;
    REFS_TRY(refs_icechunk__flat_vector(at->from, field, is->size, &vector, err));
    if (is->kind == REFS_FLAT_TABLES)
        return refs_icechunk__flat_copy_tables(at->writer, &vector, is->shapes, to, err);
    const refs_flat_elements elements = {vector.buffer.data + vector.at, vector.n, is->size,
                                         is->alignment};
    return refs_icechunk__flat_add_vector(at->writer, &elements, to, err);
}

static refs_status copy_field(const copying *at, const refs_flat_field *is, unsigned field,
                              refs_error *err) {
    size_t to = 0;
    if (is->kind == REFS_FLAT_NUMBER || is->kind == REFS_FLAT_STRUCT || !has_field(at->from, field))
        return REFS_OK;
    if (is->kind == REFS_FLAT_TEXT)
        REFS_TRY(copy_text(at, field, &to, err));
    else if (is->kind == REFS_FLAT_TABLE)
        REFS_TRY(copy_child(at, is->shapes, field, &to, err));
    else
        REFS_TRY(copy_vector(at, is, field, &to, err));
    refs_icechunk__flat_link(at->writer, at->to, field, to);
    return REFS_OK;
}

refs_status refs_icechunk__flat_copy(refs_flat_writer *writer, const refs_flat_table *table,
                                     const refs_flat_shape *shape, size_t *at, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    REFS_TRY(check_fields(table, shape, err));
    for (unsigned field = 0; field < shape->n; field++)
        REFS_TRY(draft_field(table, shape, field, &draft, err));
    REFS_TRY(refs_icechunk__flat_add_table(writer, &draft, at, err));
    const copying copied = {writer, table, *at};
    for (unsigned field = 0; field < shape->n; field++)
        REFS_TRY(copy_field(&copied, &shape->fields[field], field, err));
    return REFS_OK;
}

refs_status refs_icechunk__flat_copy_tables(refs_flat_writer *writer,
                                            const refs_flat_vector *tables,
                                            const refs_flat_shape *shape, size_t *at,
                                            refs_error *err) {
    REFS_TRY(refs_icechunk__flat_add_offsets(writer, tables->n, at, err));
    for (uint32_t i = 0; i < tables->n; i++) {
        refs_flat_table table;
        size_t copy;
        REFS_TRY(refs_icechunk__flat_table_at(tables, i, &table, err));
        REFS_TRY(refs_icechunk__flat_copy(writer, &table, shape, &copy, err));
        refs_icechunk__flat_link_element(writer, *at, i, copy);
    }
    return REFS_OK;
}
