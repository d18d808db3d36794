/* without.c -- a build without libexpat: a DMR++ is recognised, but cannot be read. */
#include "format.h"

static refs_status refuse(const refs_set_input *input, refs_set **set, refs_error *err) {
    (void)input;
    *set = NULL;
    return refs_fail(err, REFS_UNSUPPORTED, "this build cannot read DMR++: it lacks libexpat");
}

const refs_set_format refs_references__dmrpp = {"DMR++", refs_references__dmrpp_sniff, refuse,
                                                NULL};
