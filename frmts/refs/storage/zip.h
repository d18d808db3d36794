/* zip.h -- the directory of a ZIP archive, and one member of it.
 *
 * Source: PKWARE's APPNOTE.TXT 6.3.10. The directory at the end alone says what an archive holds;
 * of members with one name the last one counts, as writers that append mean it. Nothing in the
 * format protects the directory: the local header of a member, which repeats its name, tells
 * whether an entry is damaged. Members are stored or deflated.
 *
 * Read before this: vfs.h.
 */
#ifndef REFS_STORAGE_ZIP_H
#define REFS_STORAGE_ZIP_H

#include "refs/block.h"
#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The largest directory, and the largest member that is decompressed. */
#define REFS_ZIP_MAX_DIRECTORY_BYTES (64 * REFS_MIB)
#define REFS_ZIP_MAX_MEMBER_BYTES    (1024 * REFS_MIB)

/** A member, as the directory describes it. */
typedef struct refs_zip_member {
    refs_str name;
    uint64_t header;      /**< where its local header begins in the archive */
    uint64_t stored_size; /**< bytes in the archive */
    uint64_t size;        /**< bytes once they are decompressed */
    uint32_t crc;
    unsigned method; /**< 0: stored, 8: deflated */
    bool is_encrypted;
} refs_zip_member;

/** The directory of an archive. Zeroed is an empty one. */
typedef struct refs_zip {
    refs_buf bytes;           /**< that names are views of */
    refs_zip_member *members; /**< sorted by name; of those with one name the last one counts */
    size_t n;
    uint64_t end; /**< where the directory begins and members end */
} refs_zip;

/** An open archive. */
typedef struct refs_zip_file {
    const refs_vfs *vfs;
    void *handle;
} refs_zip_file;

/** Reads the directory of an open archive. */
refs_status refs_zip_read(const refs_zip_file *file, refs_zip *zip, refs_error *err);
void refs_zip_clear(refs_zip *zip);

/** The member with this name, or NULL. */
const refs_zip_member *refs_zip_find(const refs_zip *zip, refs_str name);

/** The next member after `previous` (NULL: from the first one on) whose name differs from `name` in
 * one byte, so that a flipped bit may have made it of `name`; or NULL. If `name` is a folder, "" or
 * with a slash at its end: files in it, and in folders whose names differ in one byte. */
const refs_zip_member *refs_zip_next_similar(const refs_zip *zip, refs_str name,
                                             const refs_zip_member *previous);

/** Calls `listing` for each file and folder of `folder`, which is "" or ends in a slash. */
refs_status refs_zip_list(const refs_zip *zip, refs_str folder, const refs_vfs_listing *listing,
                          refs_error *err);

/** Fails if the member can never be read: it is encrypted, or compressed by another method. */
refs_status refs_zip_check(const refs_zip_member *member, refs_error *err);

/** The offset of the bytes of a member, after its local header. Fails if that has another name. */
refs_status refs_zip_locate(const refs_zip_file *file, const refs_zip *zip,
                            const refs_zip_member *member, uint64_t *begin, refs_error *err);

/** Reads all of a member whose bytes begin at `begin`, and compares its checksum. */
refs_status refs_zip_unpack(const refs_zip_file *file, const refs_zip_member *member,
                            uint64_t begin, refs_block **content, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
