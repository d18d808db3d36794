/* output.h -- a file that is written from beginning to end, compressed or not. */
#ifndef REFS_REFERENCES_OUTPUT_H
#define REFS_REFERENCES_OUTPUT_H

#include "refs/staged.h"
#include "refs/write.h"

typedef struct refs_output refs_output;

/** Creates the file of `place`, compressed as options->packing says. */
refs_status refs_write__output_open(const refs_staged *place, const refs_writer_options *options,
                                    refs_output **output, refs_error *err);

refs_status refs_write__output_append(refs_output *output, const void *data, size_t size,
                                      refs_error *err);

/** Flushes and frees the output, also on failure. */
refs_status refs_write__output_finish(refs_output *output, refs_error *err);

/** Frees the output without flushing it. NULL is allowed. */
void refs_write__output_free(refs_output *output);

/** Creates the folders in `root` of the path `name`. */
refs_status refs_write__make_folders(const char *root, refs_str name, refs_error *err);

/** Creates the file at `path`, which must not exist, with the content `bytes`. */
refs_status refs_write__file(const char *path, refs_bytes bytes, refs_error *err);

#endif
