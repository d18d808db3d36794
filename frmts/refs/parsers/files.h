/* files.h -- the files that one scan reads: the one that it is of, and others that this one names.
 *
 * Another file is looked for where HDF5 looks for it: in the folders that a variable of the
 * environment lists, then in the folder of the file that names it. A file that is not local names
 * files in its own place only, and one that may have come from another machine is never a way to
 * local ones (refs_location_confine), unless the options of the scan allow it.
 */
#ifndef REFS_PARSERS_FILES_H
#define REFS_PARSERS_FILES_H

#include "scan.h"

/** Files of one scan at most. */
#define REFS_SCAN_MAX_FILES 100000

/** How many files may name each other in a row. */
#define REFS_SCAN_MAX_DEPTH 8

typedef struct refs_scan_files refs_scan_files;

refs_status refs_scan_files_open(const refs_vfs *vfs, refs_scan_files **files, refs_error *err);
void refs_scan_files_free(refs_scan_files *files);

const refs_vfs *refs_scan_files_vfs(const refs_scan_files *files);

/** The number of `location`, the same for the same; the first is 0. */
refs_status refs_scan_files_add(refs_scan_files *files, const char *location, uint32_t *id,
                                refs_error *err);

/** A location, which lives as long as `files`; NULL where there is none of that number. */
const char *refs_scan_files_location(const refs_scan_files *files, uint32_t id);
uint32_t refs_scan_files_count(const refs_scan_files *files);

/** Notes the state of file `id`, or what is known of it. */
refs_status refs_scan_files_note(refs_scan_files *files, uint32_t id,
                                 const refs_vfs_validators *seen, refs_error *err);

/** The state of file `id` that was noted last; false where none was. */
bool refs_scan_files_seen(const refs_scan_files *files, uint32_t id, refs_vfs_validators *seen);

/** How a file is named by another. */
typedef struct refs_file_name {
    uint32_t from;        /**< the number of the file that names it */
    refs_str name;        /**< as it stands there */
    const char *variable; /**< of the environment, with folders to look in, "HDF5_EXT_PREFIX" */
    const refs_scan_options *options; /**< never NULL */
} refs_file_name;

/** Finds a file and sets *id to its number. REFS_NOT_FOUND where there is none; REFS_INVALID where
 * it is a local one that may not be looked for. */
refs_status refs_scan_files_find(refs_scan_files *files, const refs_file_name *name, uint32_t *id,
                                 refs_error *err);

/** The scan of file `id`, opened where it is not yet. REFS_UNSUPPORTED where it is being opened:
 * files name each other in a circle. */
refs_status refs_scan_files_scan(refs_scan_files *files, uint32_t id,
                                 const refs_scan_options *options, refs_scan **scan,
                                 refs_error *err);

/** Whether the scan of file `id` is open; ends it, so that not all files of many are open at once.
 */
bool refs_scan_files_is_open(const refs_scan_files *files, uint32_t id);
void refs_scan_files_close(refs_scan_files *files, uint32_t id);

#endif
