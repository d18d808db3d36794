/* vfs.h -- the file functions that the core requires of the application.
 *
 * The core opens files through a refs_vfs only. The application passes one: the
 * GDAL driver over VSI, a test over memory, a program over POSIX. All members
 * may be called from several threads at once, each with handles of its own.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_VFS_H
#define REFS_VFS_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes [offset, offset + length) that are to be copied to `dst`. */
typedef struct refs_vfs_range {
    uint64_t offset;
    size_t length;
    uint8_t *dst;
} refs_vfs_range;

/** The validators of a file or an object. Members that are not known are zero or "". validators.h
 * compares them. */
typedef struct refs_vfs_validators {
    int64_t modified_s;   /**< seconds since 1970 */
    int64_t fresh_s;      /**< set instead of modified_s, which is then 0, if the modification time
                             is so recent that a later modification may have the same time, or is
                             the time of the answer */
    int64_t date_s;       /**< Date header of the server's answer */
    uint64_t size;        /**< bytes */
    bool has_size;        /**< `size` is known, and may be 0 */
    uint32_t modified_ns; /**< nanoseconds; this and the following members are only known for
                             files */
    uint32_t changed_ns;
    int64_t changed_s; /**< ctime of the inode, which changes even if the modification time is set
                          back */
    uint64_t device, inode;
    char etag[128]; /**< must be the last member: copies may be truncated after its NUL */
} refs_vfs_validators;

/** Receives the names in a folder. */
typedef struct refs_vfs_listing {
    refs_status (*visit)(void *user, refs_str name, refs_error *err);
    void *user;
} refs_vfs_listing;

typedef struct refs_vfs {
    void *self;

    /** Works like open(2) for reading. REFS_NOT_FOUND only if it is certain that nothing has this
     * name; every other failure is REFS_IO. */
    refs_status (*open)(void *self, const char *location, void **handle, refs_error *err);

    /** Size in bytes. */
    refs_status (*size)(void *self, void *handle, uint64_t *size, refs_error *err);

    /** Works like pread(2), repeated until all of `range` is read or the end of the file is
     * reached; sets *got to the number of bytes read. Fewer bytes before the end of the file are
     * REFS_IO. */
    refs_status (*read)(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                        refs_error *err);

    /** Reads several ranges, ascending and disjoint; a failure unless all are read completely. May
     * be NULL. */
    refs_status (*read_many)(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err);

    /** Works like close(2); never fails. */
    void (*close)(void *self, void *handle);

    /** The current validators of `location`, without reading it. May be NULL: none are known. */
    refs_status (*validators)(void *self, const char *location, refs_vfs_validators *validators,
                              refs_error *err);

    /** Whether a read of `location` costs no round trip, as for a local file. May be NULL:
     * false. */
    bool (*is_local)(void *self, const char *location);

    /** The current validators of `location`, or of its open `handle` unless that is NULL, without a
     * request to another machine: REFS_UNSUPPORTED without a message if one would be necessary. May
     * be NULL: always necessary. */
    refs_status (*peek)(void *self, const char *location, void *handle,
                        refs_vfs_validators *validators, refs_error *err);

    /** Drops cached content of `location` from earlier reads. May be NULL: nothing stale is
     * cached. */
    void (*forget)(void *self, const char *location);

    /** Works like open, for a file that is going to be read from beginning to end, so that it may
     * be fetched with one request. May be NULL: `open` is used. */
    refs_status (*open_whole)(void *self, const char *location, void **handle, refs_error *err);

    /** Calls `listing` for the name of each file and folder in the folder `location`, in no
     * particular order. A missing folder counts as empty, because some servers do not distinguish
     * them. May be NULL: folders cannot be listed. */
    refs_status (*list)(void *self, const char *location, const refs_vfs_listing *listing,
                        refs_error *err);

    /** Whether a recent request of `location` got no answer, so that requests to the same server
     * are useless. May be NULL: false. */
    bool (*is_silent)(void *self, const char *location);
} refs_vfs;

/** Opens with `open_whole` if there is one, else with `open`. */
refs_status refs_vfs_open_whole(const refs_vfs *vfs, const char *location, void **handle,
                                refs_error *err);

/** The current validators of a local `location`; call it before opening the file, so that a file
 * that replaces it in between is detected. False if a server would have to be asked: there,
 * `validators` returns those of the answer after the file was opened. */
bool refs_vfs_look(const refs_vfs *vfs, const char *location, refs_vfs_validators *seen);

/** The current validators of `location`; false if they cannot be read. */
bool refs_vfs_ask(const refs_vfs *vfs, const char *location, refs_vfs_validators *now);

/** Calls `is_local`; false if it is NULL. */
bool refs_vfs_is_local(const refs_vfs *vfs, const char *location);

/** Opens `location` and reads one range of it, as `read` does. */
refs_status refs_vfs_read_range(const refs_vfs *vfs, const char *location,
                                const refs_vfs_range *range, size_t *got, refs_error *err);

/** Appends all of an open file to `content`; REFS_LIMIT if it is larger than `max_size` bytes.
 */
refs_status refs_vfs_read_opened(const refs_vfs *vfs, void *handle, size_t max_size,
                                 refs_buf *content, refs_error *err);

/** Appends all of `location` to `content`; REFS_LIMIT if it is larger than `max_size` bytes. */
refs_status refs_vfs_read_whole(const refs_vfs *vfs, const char *location, size_t max_size,
                                refs_buf *content, refs_error *err);

/** Reads local files by POSIX calls: `location` is a path. Must not be freed. */
const refs_vfs *refs_vfs_posix(void);

#ifdef __cplusplus
}
#endif
#endif
