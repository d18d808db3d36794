/* vfs.h -- named things that can be read at an offset: what the core asks of the application.
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

/** The state of a file or an object. Members that are not known are zero or "". validators.h
 * compares them. */
typedef struct refs_vfs_validators {
    int64_t modified_s;   /**< seconds since 1970 */
    int64_t fresh_s;      /**< instead of modified_s, which is then 0: a time so recent that another
                               modification may leave it as it is, or that of the answer */
    int64_t date_s;       /**< of the answer of a server */
    uint64_t size;        /**< bytes */
    bool has_size;        /**< `size` is known, and may be 0 */
    uint32_t modified_ns; /**< billionths of a second; this, and what follows, of files */
    uint32_t changed_ns;
    int64_t changed_s; /**< of the inode: later where a time of modification was set */
    uint64_t device, inode;
    char etag[128]; /**< the last member: copies may be cut behind its end */
} refs_vfs_validators;

/** Receives the names in a folder. */
typedef struct refs_vfs_listing {
    refs_status (*visit)(void *user, refs_str name, refs_error *err);
    void *user;
} refs_vfs_listing;

typedef struct refs_vfs {
    void *self;

    /** Works like open(2) for reading. REFS_NOT_FOUND only where it is certain that nothing has
     * this name; everything else that prevents opening is REFS_IO. */
    refs_status (*open)(void *self, const char *location, void **handle, refs_error *err);

    /** Size in bytes. */
    refs_status (*size)(void *self, void *handle, uint64_t *size, refs_error *err);

    /** Works like pread(2), repeated until all of `range` is read or the end is reached; *got tells
     * how many bytes came. Fewer without the end having been reached is REFS_IO. */
    refs_status (*read)(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                        refs_error *err);

    /** Reads several ranges, ascending and apart; all of them whole, or an error. May be NULL. */
    refs_status (*read_many)(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err);

    /** Works like close(2); never fails. */
    void (*close)(void *self, void *handle);

    /** The state of `location` now, without reading it. May be NULL: nothing is known. */
    refs_status (*validators)(void *self, const char *location, refs_vfs_validators *validators,
                              refs_error *err);

    /** Whether a read of `location` costs no more than its bytes, as one of a local file does. May
     * be NULL: no. */
    bool (*is_local)(void *self, const char *location);

    /** The state of `location`, or of its open `handle` unless that is NULL, without asking another
     * machine: REFS_UNSUPPORTED without a message if that would be necessary. May be NULL: it
     * always is. */
    refs_status (*peek)(void *self, const char *location, void *handle,
                        refs_vfs_validators *validators, refs_error *err);

    /** Drops what may be cached of `location` from earlier reads. May be NULL: nothing that could
     * be out of date is cached. */
    void (*forget)(void *self, const char *location);

    /** Works like open, for a file that is going to be read from beginning to end, so that it may
     * be fetched at once. May be NULL: open is used. */
    refs_status (*open_whole)(void *self, const char *location, void **handle, refs_error *err);

    /** Calls `listing` for the name of each file and folder in the folder `location`, in no
     * particular order; for nothing if there is no such folder, which some servers cannot tell from
     * an empty one. May be NULL: nothing can be listed. */
    refs_status (*list)(void *self, const char *location, const refs_vfs_listing *listing,
                        refs_error *err);

    /** Whether `location` was requested a moment ago without an answer, so that it is useless to
     * request its neighbours. May be NULL: no. */
    bool (*is_silent)(void *self, const char *location);
} refs_vfs;

/** Opens with `open_whole` if there is one, else with `open`. */
refs_status refs_vfs_open_whole(const refs_vfs *vfs, const char *location, void **handle,
                                refs_error *err);

/** The state of `location` now, to be requested before it is opened: if another file takes its
 * place meanwhile, the bytes that were read are no younger. False where another machine would be
 * asked, which answers with it when the file is opened: `validators` tells it afterwards. */
bool refs_vfs_look(const refs_vfs *vfs, const char *location, refs_vfs_validators *seen);

/** The state of `location` now, if `validators` tells it. */
bool refs_vfs_ask(const refs_vfs *vfs, const char *location, refs_vfs_validators *now);

/** `is_local`, or false where there is none. */
bool refs_vfs_is_local(const refs_vfs *vfs, const char *location);

/** Opens `location` and reads one range of it, as `read` does. */
refs_status refs_vfs_read_range(const refs_vfs *vfs, const char *location,
                                const refs_vfs_range *range, size_t *got, refs_error *err);

/** Appends all of what was opened to `content`; REFS_LIMIT where it is larger than `max_size`
 * bytes.
 */
refs_status refs_vfs_read_opened(const refs_vfs *vfs, void *handle, size_t max_size,
                                 refs_buf *content, refs_error *err);

/** Appends all of `location` to `content`; REFS_LIMIT where it is larger than `max_size` bytes. */
refs_status refs_vfs_read_whole(const refs_vfs *vfs, const char *location, size_t max_size,
                                refs_buf *content, refs_error *err);

/** Local files by POSIX calls: `location` is a path. Needs no clean-up. */
const refs_vfs *refs_vfs_posix(void);

#ifdef __cplusplus
}
#endif
#endif
