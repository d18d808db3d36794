/* pickle.c -- codec "pickle": never decoded, since unpickling runs code; listed so that the message
 * can say so. */
#include "refs/codec.h"

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)context, (void)self, (void)encoded_size;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "pickle is not supported: pickled chunks can run programs");
}

const refs_codec_type refs_codec_pickle = {.name = "pickle",
                                           .reads = "nothing: refused, since pickles are programs",
                                           .library = "REFS",
                                           .open = open_codec};
