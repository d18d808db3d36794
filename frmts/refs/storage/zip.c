/* zip.c -- see zip.h; numbers of sections are those of APPNOTE.TXT. */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "refs/zip_signature.h"

#ifdef REFS_HAS_deflate
#include <libdeflate.h>
#endif

#define END_SIZE       22u /* 4.3.16, without its comment */
#define MAX_COMMENT    65535u
#define LOCATOR_SIZE   20u /* 4.3.15 */
#define END_64_SIZE    56u /* 4.3.14 */
#define ENTRY_SIZE     46u /* 4.3.12 */
#define LOCAL_SIZE     30u /* 4.3.7 */
#define EXTRA_ZIP64    1u  /* 4.5.3 */
#define FLAG_ENCRYPTED 1u
#define STORED         0u
#define DEFLATED       8u

/* DEFLATE decompresses two bits to at most 258 bytes. */
#define MAX_RATIO 1032u

/* -- reading ----------------------------------------------------------------------------------- */

static refs_status read_all(const refs_zip_file *file, const refs_vfs_range *range,
                            refs_error *err) {
    size_t got = 0;
    if (range->length == 0) return REFS_OK;
    REFS_TRY(file->vfs->read(file->vfs->self, file->handle, range, &got, err));
    return got == range->length
               ? REFS_OK
               : refs_fail(err, REFS_IO, "truncated: read %zu of %zu bytes", got, range->length);
}

static bool begins(const uint8_t *bytes, const char *signature) {
    return memcmp(bytes, signature, 4) == 0;
}

/* -- the end ----------------------------------------------------------------------------------- */

/* The directory of an archive, as the end record describes it. */
typedef struct ending {
    uint64_t n, size;
    uint64_t end;    /* where the directory ends in the file */
    uint64_t offset; /* where it begins, counted from where the archive begins */
    bool is_split;   /* over several files */
} ending;

/* The last bytes of a file. */
typedef struct tail {
    refs_buf bytes;
    uint64_t begin; /* offset of the first of them */
} tail;

static void clear_tail(tail *last) {
    refs_buf_clear(&last->bytes);
}

static refs_status read_tail(const refs_zip_file *file, tail *last, refs_error *err) {
    uint64_t size = 0;
    REFS_TRY(file->vfs->size(file->vfs->self, file->handle, &size, err));
    const size_t length = size < END_SIZE + MAX_COMMENT ? (size_t)size : END_SIZE + MAX_COMMENT;
    last->begin = size - length;
    REFS_TRY(refs_buf_resize(&last->bytes, length, err));
    const refs_vfs_range range = {last->begin, length, last->bytes.data};
    return read_all(file, &range, err);
}

/* The record of archives with larger numbers; the locator before the end says where it is. */
static refs_status read_ending_64(const refs_zip_file *file, const uint8_t *locator, ending *found,
                                  refs_error *err) {
    uint8_t record[END_64_SIZE];
    const refs_vfs_range range = {refs_load_le64(locator + 8), sizeof record, record};
    REFS_TRY(read_all(file, &range, err));
    if (!begins(record, "PK\6\6"))
        return refs_fail(err, REFS_CORRUPT, "expected the end of a ZIP64 archive at %llu",
                         (unsigned long long)range.offset);
    *found = (ending){.n = refs_load_le64(record + 32),
                      .size = refs_load_le64(record + 40),
                      .end = range.offset,
                      .offset = refs_load_le64(record + 48),
                      .is_split = refs_load_le32(record + 16) != 0};
    return REFS_OK;
}

static refs_status find_ending(const refs_zip_file *file, const tail *last, ending *found,
                               refs_error *err) {
    for (size_t at = last->bytes.size; at-- > 0;) {
        const uint8_t *bytes = last->bytes.data + at;
        const size_t left = last->bytes.size - at;
        if (left < END_SIZE || !begins(bytes, "PK\5\6") ||
            refs_load_le16(bytes + 20) > left - END_SIZE)
            continue;
        const uint8_t *locator = at >= LOCATOR_SIZE ? bytes - LOCATOR_SIZE : NULL;
        if (locator != NULL && begins(locator, "PK\6\7"))
            return read_ending_64(file, locator, found, err);
        *found = (ending){.n = refs_load_le16(bytes + 10),
                          .size = refs_load_le32(bytes + 12),
                          .end = last->begin + at,
                          .offset = refs_load_le32(bytes + 16),
                          .is_split = refs_load_le16(bytes + 4) != 0};
        return REFS_OK;
    }
    return refs_fail(err, REFS_CORRUPT,
                     "expected a ZIP archive, found no end of its directory: "
                     "it is truncated, or no archive");
}

/* -- the directory ----------------------------------------------------------------------------- */

/* Reads the numbers that do not fit into 32 bits from the extra fields of an entry. */
static refs_status read_extra(refs_bytes extra, refs_zip_member *member, refs_error *err) {
    uint64_t *const numbers[] = {&member->size, &member->stored_size, &member->header};
    for (size_t at = 0; at + 4 <= extra.size;) {
        const size_t size = refs_load_le16(extra.data + at + 2);
        if (size > extra.size - at - 4) break;
        const uint8_t *next = extra.data + at + 4, *end = next + size;
        if (refs_load_le16(extra.data + at) == EXTRA_ZIP64) {
            for (size_t i = 0; i < 3; i++) {
                if (*numbers[i] != UINT32_MAX) continue;
                if (end - next < 8) break;
                *numbers[i] = refs_load_le64(next);
                next += 8;
            }
            return REFS_OK;
        }
        at += 4 + size;
    }
    if (member->size != UINT32_MAX && member->stored_size != UINT32_MAX &&
        member->header != UINT32_MAX)
        return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "member \"%.*s\" lacks its ZIP64 sizes",
                     (int)member->name.size, member->name.data);
}

/* Reads the entry at the beginning of *bytes, and drops it from there. */
static refs_status read_entry(refs_bytes *bytes, uint64_t before, refs_zip_member *member,
                              refs_error *err) {
    const uint8_t *entry = bytes->data;
    if (bytes->size < ENTRY_SIZE || !begins(entry, "PK\1\2"))
        return refs_fail(err, REFS_CORRUPT, "its directory is damaged: expected another member");
    const size_t name = refs_load_le16(entry + 28), extra = refs_load_le16(entry + 30);
    const size_t size = ENTRY_SIZE + name + extra + refs_load_le16(entry + 32);
    if (size > bytes->size)
        return refs_fail(err, REFS_CORRUPT,
                         "its directory is damaged: a member of %zu bytes "
                         "extends past its end",
                         size);
    *member = (refs_zip_member){.name = refs_str_view((const char *)entry + ENTRY_SIZE, name),
                                .header = refs_load_le32(entry + 42),
                                .stored_size = refs_load_le32(entry + 20),
                                .size = refs_load_le32(entry + 24),
                                .crc = refs_load_le32(entry + 16),
                                .method = refs_load_le16(entry + 10),
                                .is_encrypted = (refs_load_le16(entry + 8) & FLAG_ENCRYPTED) != 0};
    REFS_TRY(read_extra(refs_bytes_view(entry + ENTRY_SIZE + name, extra), member, err));
    *bytes = refs_bytes_view(entry + size, bytes->size - size);
    if (refs_add_u64(member->header, before, &member->header)) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "member \"%.*s\" begins past the end of the archive",
                     (int)name, member->name.data);
}

static int compare_names(refs_str one, refs_str other) {
    const size_t shared = one.size < other.size ? one.size : other.size;
    const int order = shared > 0 ? memcmp(one.data, other.data, shared) : 0;
    if (order != 0) return order;
    return (one.size > other.size) - (one.size < other.size);
}

/* By name, and then by place in the directory. */
static int compare_members(const void *a, const void *b) {
    const refs_zip_member *one = a, *other = b;
    const int order = compare_names(one->name, other->name);
    return order != 0 ? order
                      : (one->name.data > other->name.data) - (one->name.data < other->name.data);
}

static refs_status read_members(const ending *found, refs_zip *zip, refs_error *err) {
    refs_bytes rest = refs_buf_view(&zip->bytes);
    if (found->n > rest.size / ENTRY_SIZE)
        return refs_fail(err, REFS_CORRUPT, "its directory of %zu bytes cannot have %llu members",
                         rest.size, (unsigned long long)found->n);
    zip->members = refs_calloc((size_t)found->n + 1, sizeof *zip->members);
    if (zip->members == NULL) return refs_fail_nomem(err);
    for (; zip->n < found->n; zip->n++)
        REFS_TRY(read_entry(&rest, zip->end - found->offset, &zip->members[zip->n], err));
    if (rest.size > 0)
        return refs_fail(err, REFS_CORRUPT, "its directory has %zu bytes after its %llu members",
                         rest.size, (unsigned long long)found->n);
    if (zip->n > 0) qsort(zip->members, zip->n, sizeof *zip->members, compare_members);
    return REFS_OK;
}

static refs_status check_ending(const ending *found, refs_error *err) {
    if (found->is_split)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the archive is split over several files: join them by zip -s 0");
    if (found->size > REFS_ZIP_MAX_DIRECTORY_BYTES)
        return refs_fail(err, REFS_LIMIT, "its directory has %llu bytes: expected at most %zu",
                         (unsigned long long)found->size, (size_t)REFS_ZIP_MAX_DIRECTORY_BYTES);
    if (found->size > found->end || found->offset > found->end - found->size)
        return refs_fail(err, REFS_CORRUPT, "its directory extends past the beginning of the file");
    return REFS_OK;
}

static refs_status read_directory(const refs_zip_file *file, refs_zip *zip, refs_error *err) {
    REFS_SCOPED_BY(clear_tail) tail last = {REFS_BUF_INIT, 0};
    ending found = {.n = 0};
    REFS_TRY(read_tail(file, &last, err));
    REFS_TRY(find_ending(file, &last, &found, err));
    REFS_TRY(check_ending(&found, err));
    zip->end = found.end - found.size;
    REFS_TRY(refs_buf_resize(&zip->bytes, (size_t)found.size, err));
    const refs_vfs_range range = {zip->end, (size_t)found.size, zip->bytes.data};
    const bool is_in_tail =
        zip->end >= last.begin && found.end - last.begin <= last.bytes.size; /* the file may grow */
    if (range.length > 0 && is_in_tail)
        memcpy(range.dst, last.bytes.data + (zip->end - last.begin), range.length);
    else
        REFS_TRY(read_all(file, &range, err));
    return read_members(&found, zip, err);
}

refs_status refs_zip_read(const refs_zip_file *file, refs_zip *zip, refs_error *err) {
    *zip = (refs_zip){.members = NULL};
    const refs_status status = read_directory(file, zip, err);
    if (status != REFS_OK) refs_zip_clear(zip);
    return status;
}

void refs_zip_clear(refs_zip *zip) {
    refs_buf_clear(&zip->bytes);
    refs_free(zip->members);
    *zip = (refs_zip){.members = NULL};
}

/* -- names ------------------------------------------------------------------------------------- */

/* The first member whose name is not before `name`. */
static size_t find_place(const refs_zip *zip, refs_str name) {
    size_t begin = 0, end = zip->n;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (compare_names(zip->members[middle].name, name) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

const refs_zip_member *refs_zip_find(const refs_zip *zip, refs_str name) {
    const refs_zip_member *found = NULL;
    for (size_t i = find_place(zip, name); i < zip->n; i++) {
        if (!refs_str_equal(zip->members[i].name, name)) break;
        found = &zip->members[i];
    }
    return found;
}

/* In how many bytes `member` differs from `name` up to the end of that: at most 2. */
static unsigned count_differences(refs_str member, refs_str name) {
    unsigned n = member.size < name.size ? 2 : 0;
    for (size_t i = 0; i < name.size && n < 2; i++) n += member.data[i] != name.data[i];
    return n;
}

static bool may_be(refs_str member, refs_str name) {
    const unsigned n = count_differences(member, name);
    if (n > 1) return false;
    if (name.size > 0 && !refs_str_ends(name, "/")) return n == 1 && member.size == name.size;
    const refs_str rest = refs_str_part(member, name.size, member.size);
    const size_t slash = refs_str_find(rest, '/');
    /* The bit may be one that makes a slash. */
    return n == 1 || slash == SIZE_MAX ||
           (name.size > 0 &&
            refs_str_find(refs_str_part(rest, slash + 1, rest.size), '/') == SIZE_MAX);
}

const refs_zip_member *refs_zip_next_similar(const refs_zip *zip, refs_str name,
                                             const refs_zip_member *previous) {
    for (size_t i = previous != NULL ? (size_t)(previous - zip->members) + 1 : 0; i < zip->n; i++)
        if (may_be(zip->members[i].name, name)) return &zip->members[i];
    return NULL;
}

refs_status refs_zip_list(const refs_zip *zip, refs_str folder, const refs_vfs_listing *listing,
                          refs_error *err) {
    refs_str previous = {NULL, 0};
    for (size_t i = find_place(zip, folder); i < zip->n; i++) {
        const refs_str name = zip->members[i].name;
        if (name.size < folder.size || !refs_str_equal(refs_str_part(name, 0, folder.size), folder))
            break;
        const refs_str inside = refs_str_part(name, folder.size, name.size);
        const refs_str child = refs_str_part(inside, 0, refs_str_find(inside, '/'));
        if (child.size == 0 || refs_str_equal(child, previous)) continue;
        REFS_TRY(listing->visit(listing->user, child, err));
        previous = child;
    }
    return REFS_OK;
}

/* -- members ----------------------------------------------------------------------------------- */

refs_status refs_zip_check(const refs_zip_member *member, refs_error *err) {
    if (member->is_encrypted)
        return refs_fail(err, REFS_UNSUPPORTED, "the member is encrypted: unpack the archive");
    if (member->method != STORED && member->method != DEFLATED)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "compression method %u of ZIP is not supported: unpack the archive",
                         member->method);
    if (member->method == STORED && member->size != member->stored_size)
        return refs_fail(err, REFS_CORRUPT, "expected %llu stored bytes, found %llu",
                         (unsigned long long)member->size, (unsigned long long)member->stored_size);
    return REFS_OK;
}

static refs_status check_header(const uint8_t *header, const refs_zip_member *member,
                                refs_error *err) {
    if (!refs_is_zip_member(refs_bytes_view(header, LOCAL_SIZE)) ||
        refs_load_le16(header + 8) != member->method)
        return refs_fail(err, REFS_CORRUPT, "expected the header of the member at %llu",
                         (unsigned long long)member->header);
    const size_t size = refs_load_le16(header + 26);
    const refs_str name = refs_str_view((const char *)header + LOCAL_SIZE, member->name.size);
    if (size == name.size && refs_str_equal(name, member->name)) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "the archive is damaged: the member at %llu has another name in its header "
                     "than in the directory: copy the archive again",
                     (unsigned long long)member->header);
}

refs_status refs_zip_locate(const refs_zip_file *file, const refs_zip *zip,
                            const refs_zip_member *member, uint64_t *begin, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    const size_t size = LOCAL_SIZE + member->name.size;
    if (member->header > zip->end || zip->end - member->header < size)
        return refs_fail(err, REFS_CORRUPT, "the member begins past the others");
    REFS_TRY(refs_buf_resize(&bytes, size, err));
    const refs_vfs_range range = {member->header, size, bytes.data};
    REFS_TRY(read_all(file, &range, err));
    const uint8_t *header = bytes.data;
    REFS_TRY(check_header(header, member, err));
    *begin =
        member->header + LOCAL_SIZE + refs_load_le16(header + 26) + refs_load_le16(header + 28);
    if (*begin <= zip->end && member->stored_size <= zip->end - *begin) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the member of %llu bytes extends past the others",
                     (unsigned long long)member->stored_size);
}

static refs_status check_size(const refs_zip_member *member, refs_error *err) {
    if (member->method == DEFLATED && member->size / MAX_RATIO > member->stored_size)
        return refs_fail(err, REFS_CORRUPT, "%llu bytes cannot be the %llu bytes of the member",
                         (unsigned long long)member->stored_size, (unsigned long long)member->size);
    if (member->size > REFS_ZIP_MAX_MEMBER_BYTES || member->stored_size > REFS_ZIP_MAX_MEMBER_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "the member has %llu bytes: expected at most %zu: unpack the archive",
                         (unsigned long long)member->size, (size_t)REFS_ZIP_MAX_MEMBER_BYTES);
    return REFS_OK;
}

#ifdef REFS_HAS_deflate
static refs_status decompress(refs_bytes packed, const refs_zip_member *member, uint8_t *content,
                              refs_error *err) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return refs_fail_nomem(err);
    const enum libdeflate_result result = libdeflate_deflate_decompress(
        decompressor, packed.data, packed.size, content, (size_t)member->size, NULL);
    libdeflate_free_decompressor(decompressor);
    if (result == LIBDEFLATE_SUCCESS) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the %zu bytes of the member are damaged", packed.size);
}

static refs_status check_sum(const uint8_t *content, const refs_zip_member *member,
                             refs_error *err) {
    const uint32_t crc = libdeflate_crc32(0, content, (size_t)member->size);
    if (crc == member->crc) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the member is damaged: expected CRC-32 %08x, found %08x",
                     (unsigned)member->crc, (unsigned)crc);
}
#else
static refs_status decompress(refs_bytes packed, const refs_zip_member *member, uint8_t *content,
                              refs_error *err) {
    (void)packed;
    (void)member;
    (void)content;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "members of ZIP archives need libdeflate, which is not "
                     "in this build");
}

static refs_status check_sum(const uint8_t *content, const refs_zip_member *member,
                             refs_error *err) {
    (void)content;
    (void)member;
    (void)err;
    return REFS_OK;
}
#endif

/* Reads the bytes of a member into `content`, decompressed. */
static refs_status read_content(const refs_zip_file *file, const refs_zip_member *member,
                                uint64_t begin, uint8_t *content, refs_error *err) {
    REFS_SCOPED_BUF packed = REFS_BUF_INIT;
    refs_vfs_range range = {begin, (size_t)member->stored_size, content};
    if (member->method == STORED) return read_all(file, &range, err);
    REFS_TRY(refs_buf_resize(&packed, range.length, err));
    range.dst = packed.data;
    REFS_TRY(read_all(file, &range, err));
    return decompress(refs_buf_view(&packed), member, content, err);
}

refs_status refs_zip_unpack(const refs_zip_file *file, const refs_zip_member *member,
                            uint64_t begin, refs_block **content, refs_error *err) {
    REFS_TRY(check_size(member, err));
    refs_block *block = refs_block_new((size_t)member->size, NULL, NULL);
    if (block == NULL) return refs_fail_nomem(err);
    uint8_t *bytes = refs_block_data(block);
    refs_status status = read_content(file, member, begin, bytes, err);
    if (status == REFS_OK) status = check_sum(bytes, member, err);
    if (status == REFS_OK)
        *content = block;
    else
        refs_block_release(block);
    return status;
}
