/* file.c -- see file.h. */
#include "icechunk/file.h"

#include "icechunk/decompress.h"

/* Offsets in the header, after the magic and the writer's name. */
#define AT_VERSION     36
#define AT_TYPE        37
#define AT_COMPRESSION 38

#define NEWEST_VERSION 2

static const uint8_t magic[12] = {'I', 'C', 'E', 0xF0, 0x9F, 0xA7, 0x8A, 'C', 'H', 'U', 'N', 'K'};

bool refs_icechunk_sniff(refs_bytes head) {
    return head.size >= REFS_ICECHUNK_HEADER && memcmp(head.data, magic, sizeof magic) == 0;
}

/* All files of Icechunk before 0.2 begin with a map or a list of MessagePack. */
static bool is_messagepack(refs_bytes head) {
    const unsigned first = head.size > 0 ? head.data[0] : 0;
    return (first >= 0x80 && first <= 0x9f) || (first >= 0xdc && first <= 0xdf);
}

static refs_status check_header(refs_bytes file, refs_icechunk_file_type type, refs_error *err) {
    if (type != REFS_ICECHUNK_REPO && is_messagepack(file))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "expected Icechunk format 1 or 2, found MessagePack, written by Icechunk "
                         "before 0.2: write the repository again with a later version");
    if (!refs_icechunk_sniff(file))
        return refs_fail(
            err, type == REFS_ICECHUNK_REPO ? REFS_NOT_FOUND : REFS_CORRUPT,
            "not a file of an Icechunk repository: expected its magic bytes at the beginning");
    const unsigned version = file.data[AT_VERSION], found = file.data[AT_TYPE];
    if (version == 0 || version > NEWEST_VERSION)
        return refs_fail(err, REFS_UNSUPPORTED, "expected Icechunk format 1 or 2, found %u",
                         version);
    if (found != (unsigned)type)
        return refs_fail(err, REFS_CORRUPT, "its file type is %u: expected %u", found,
                         (unsigned)type);
    if (file.data[AT_COMPRESSION] > 1)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown compression %u",
                         (unsigned)file.data[AT_COMPRESSION]);
    return REFS_OK;
}

static refs_status unpack(refs_bytes file, size_t max_size, refs_buf *buffer, refs_error *err) {
    const refs_bytes rest =
        refs_bytes_view(file.data + REFS_ICECHUNK_HEADER, file.size - REFS_ICECHUNK_HEADER);
    if (file.data[AT_COMPRESSION] == 1) return refs_icechunk__unpack(rest, max_size, buffer, err);
    if (rest.size > max_size)
        return refs_fail(err, REFS_LIMIT, "it has more bytes than the limit of %zu", max_size);
    return refs_buf_append(buffer, rest.data, rest.size, err);
}

refs_status refs_icechunk__file_read(const refs_icechunk_source *source, refs_icechunk_file *which,
                                     refs_buf *buffer, refs_error *err) {
    REFS_SCOPED_BUF file = REFS_BUF_INIT;
    refs_status status = refs_vfs_read_whole(source->vfs, which->location,
                                             source->limits.max_file_bytes, &file, err);
    if (status != REFS_OK) return status;
    which->size = file.size;
    status = check_header(refs_buf_view(&file), which->type, err);
    if (status == REFS_OK)
        status = unpack(refs_buf_view(&file), source->limits.max_unpacked_bytes, buffer, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", which->location);
    return status;
}
