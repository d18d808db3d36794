/* tip.c -- see tip.h. */
#include "icechunk/tip.h"

#include <time.h>

#include "icechunk/info_writer.h"
#include "icechunk/object_file.h"
#include "icechunk/schema.h"

/* The id of the first snapshot of every repository: 1CECHNKREP0F1RSTCMT0. */
static const refs_object_id first_id = {
    {0x0b, 0x1c, 0xc8, 0xd6, 0x78, 0x75, 0x80, 0xf0, 0xe3, 0x3a, 0x65, 0x34}};

int64_t refs_icechunk__now_us(void) {
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static refs_status read_snapshot(const refs_icechunk_source *source, refs_icechunk_tip *tip,
                                 refs_error *err) {
    REFS_SCOPED_BY(refs_icechunk__snapshot_clear) refs_icechunk_snapshot snapshot = {.n_refs = 0};
    refs_snapshot_head head;
    refs_status status = refs_icechunk__snapshot_read(source, &tip->id, &snapshot, err);
    if (status == REFS_OK)
        status = refs_icechunk__snapshot_head(refs_buf_view(&snapshot.buffer), &head, err);
    if (status == REFS_OK) tip->written_us = head.written_us;
    if (status == REFS_OK) status = refs_icechunk__nodes_of_snapshot(&snapshot, &tip->nodes, err);
    return status == REFS_NOT_FOUND ? REFS_IO : status;
}

refs_status refs_icechunk__tip_read(const refs_vfs *vfs, const char *folder,
                                    const refs_icechunk_version *version, refs_icechunk_tip *tip,
                                    refs_error *err) {
    const refs_icechunk_source source = {vfs, folder, 2, REFS_ICECHUNK_LIMITS_INIT};
    REFS_TRY(refs_icechunk__info_read(&source, &tip->info, err));
    REFS_TRY(refs_icechunk__info_choose(&tip->info, version, &tip->id, err));
    return read_snapshot(&source, tip, err);
}

void refs_icechunk__tip_clear(refs_icechunk_tip *tip) {
    refs_icechunk__info_clear(&tip->info);
    refs_icechunk__nodes_clear(&tip->nodes);
    memset(tip, 0, sizeof *tip);
}

static refs_status write_first(const char *folder, refs_written_snapshot *first,
                               refs_flat_writer *flat, refs_error *err) {
    const refs_written_nodes none = {.capacity = 0};
    refs_object_file file = {folder, "snapshots", first->id.bytes, REFS_ICECHUNK_SNAPSHOT, 0};
    REFS_TRY(refs_icechunk__nodes_build(&none, first, flat, err));
    REFS_TRY(refs_icechunk__write_object(&file, refs_buf_view(&flat->bytes), err));
    REFS_TRY(refs_icechunk__nodes_build_log(&none, &none, first, flat, err));
    file.kind = "transactions";
    file.type = REFS_ICECHUNK_LOG;
    REFS_TRY(refs_icechunk__write_object(&file, refs_buf_view(&flat->bytes), err));
    return refs_icechunk__info_begin(first, first->written_us, flat, err);
}

refs_status refs_icechunk__tip_begin(const char *folder, refs_icechunk_tip *tip, refs_error *err) {
    refs_written_snapshot first = {.id = first_id,
                                   .written_us = refs_icechunk__now_us(),
                                   .message = refs_str_from("Repository initialized")};
    REFS_SCOPED_BY(refs_icechunk__flat_clear) refs_flat_writer flat = {.n_vtables = 0};
    refs_status status = write_first(folder, &first, &flat, err);
    tip->id = first_id;
    tip->written_us = first.written_us;
    if (status == REFS_OK)
        status = refs_icechunk__info_take(&tip->info, refs_buf_view(&flat.bytes), err);
    return status;
}
