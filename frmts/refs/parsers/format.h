/* format.h -- the interface of a file format; scan.c lists the formats in a table. */
#ifndef REFS_PARSERS_FORMAT_H
#define REFS_PARSERS_FORMAT_H

#include "chunk_index.h"
#include "document.h"
#include "files.h"
#include "source.h"

/** The arguments of a scanner; all of them outlive the scanner. */
typedef struct refs_scan_job {
    refs_source *source;
    refs_documents *documents;
    const refs_scan_options *options; /**< never NULL */
    refs_scan_files *files;
    uint32_t file; /**< number of the scanned file */
} refs_scan_job;

typedef struct refs_scan_format {
    const char *name; /**< "HDF5" */
    /** Whether a file that begins with `head` is of this format. */
    bool (*sniff)(refs_bytes head);
    /** Whether a file that no `sniff` recognised is of this format. NULL: `sniff` suffices. */
    refs_status (*look)(refs_source *source, bool *is_it, refs_error *err);
    /** Lists the file: adds its groups and arrays to the job's documents. */
    refs_status (*open)(const refs_scan_job *job, void **self, refs_error *err);
    /** Fills the zeroed index of array `number`. Called by one thread at a time;
     * the index is cleared by the caller, also on failure. */
    refs_status (*index)(void *self, size_t number, refs_chunk_index *index, refs_error *err);
    void (*close)(void *self);
} refs_scan_format;

extern const refs_scan_format refs_scan__grib;
extern const refs_scan_format refs_scan__grib_index;
extern const refs_scan_format refs_scan__hdf5;
extern const refs_scan_format refs_scan__netcdf3;
extern const refs_scan_format refs_scan__tiff;

#endif
