/* output.h -- a file that is written from beginning to end, compressed or not. */
#ifndef REFS_REFERENCES_OUTPUT_H
#define REFS_REFERENCES_OUTPUT_H

#include "refs/staged.h"
#include "refs/write.h"

typedef struct refs_output refs_output;

/** Makes the file of a place. In the options, packing counts. */
refs_status refs_write__output_open(const refs_staged *place, const refs_writer_options *options,
                                    refs_output **output, refs_error *err);

refs_status refs_write__output_append(refs_output *output, const void *data, size_t size,
                                      refs_error *err);

/** Writes what is left, and frees the output, also on failure. */
refs_status refs_write__output_finish(refs_output *output, refs_error *err);

/** Frees it; the file stays as it is. NULL is allowed. */
void refs_write__output_free(refs_output *output);

/** Makes the folders in `root` that a name in it has before its last slash. */
refs_status refs_write__make_folders(const char *root, refs_str name, refs_error *err);

/** Makes the file at `path`, which must not be there, of `bytes`. */
refs_status refs_write__file(const char *path, refs_bytes bytes, refs_error *err);

#endif
