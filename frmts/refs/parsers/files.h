/* files.h -- the files of one scan: the scanned file, and the files that it names.
 *
 * Another file is searched for as HDF5 does: in the folders of an environment variable, then in the
 * folder of the file that names it. Names in a file that is not local are only resolved against its
 * own folder, and a file that may come from another machine must not name local ones
 * (refs_location_confine), unless the options of the scan allow it.
 */
#ifndef REFS_PARSERS_FILES_H
#define REFS_PARSERS_FILES_H

#include "scan.h"

/** Most files of one scan. */
#define REFS_SCAN_MAX_FILES 100000

/** Longest chain of files that name each other. */
#define REFS_SCAN_MAX_DEPTH 8

typedef struct refs_scan_files refs_scan_files;

refs_status refs_scan_files_open(const refs_vfs *vfs, refs_scan_files **files, refs_error *err);
void refs_scan_files_free(refs_scan_files *files);

const refs_vfs *refs_scan_files_vfs(const refs_scan_files *files);

/** Sets *id to the number of `location`, which is added if it is new; the first is 0. */
refs_status refs_scan_files_add(refs_scan_files *files, const char *location, uint32_t *id,
                                refs_error *err);

/** The location with a number, which lives as long as `files`; NULL if there is none. */
const char *refs_scan_files_location(const refs_scan_files *files, uint32_t id);
uint32_t refs_scan_files_count(const refs_scan_files *files);

/** Records the validators of file `id`, as far as they are known. */
refs_status refs_scan_files_note(refs_scan_files *files, uint32_t id,
                                 const refs_vfs_validators *seen, refs_error *err);

/** The validators of file `id` that were recorded last; false if none were. */
bool refs_scan_files_seen(const refs_scan_files *files, uint32_t id, refs_vfs_validators *seen);

/** A file name in another file. */
typedef struct refs_file_name {
    uint32_t from;        /**< number of the file that contains the name */
    refs_str name;        /**< as written there */
    const char *variable; /**< environment variable with folders to search, "HDF5_EXT_PREFIX" */
    const refs_scan_options *options; /**< never NULL */
} refs_file_name;

/** Finds a file and sets *id to its number. REFS_NOT_FOUND if it does not exist; REFS_INVALID if it
 * is a local file that must not be searched for. */
refs_status refs_scan_files_find(refs_scan_files *files, const refs_file_name *name, uint32_t *id,
                                 refs_error *err);

/** The scan of file `id`, which is opened if necessary. REFS_UNSUPPORTED if it is being opened:
 * files name each other in a cycle. */
refs_status refs_scan_files_scan(refs_scan_files *files, uint32_t id,
                                 const refs_scan_options *options, refs_scan **scan,
                                 refs_error *err);

/** Whether the scan of file `id` is open. Closes it, so that not all of many files are open at
 * once.
 */
bool refs_scan_files_is_open(const refs_scan_files *files, uint32_t id);
void refs_scan_files_close(refs_scan_files *files, uint32_t id);

#endif
