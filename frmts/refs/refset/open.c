/* open.c -- which format a set is in, see refset.h. */
#include "format.h"

/* What formats are told by. */
#define HEAD_SIZE (4 * REFS_KIB)

static const refs_set_format *const formats[] = {&refs_refset__json};

static refs_status read_head(const refs_set_input *input, uint8_t *head, size_t *size,
                             refs_error *err) {
    const refs_vfs *vfs = input->vfs;
    void *handle;
    REFS_TRY(vfs->open(vfs->self, input->location, &handle, err));
    refs_status status = vfs->read(vfs->self, handle, 0, HEAD_SIZE, head, size, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", input->location);
    vfs->close(vfs->self, handle);
    return status;
}

static refs_status open_known(const refs_set_input *input, refs_bytes head, refs_set **set,
                              refs_error *err) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i]->sniff(input, head)) return formats[i]->open(input, set, err);
    return refs_fail(err, REFS_INVALID, "%s",
                     head.size == 0 ? "the file is empty"
                                    : "it does not begin as a reference "
                                      "set: neither \"{\" nor \"[\"");
}

refs_status refs_set_open(const refs_vfs *vfs, const char *location,
                          const refs_set_options *options, refs_set **set, refs_error *err) {
    refs_set_options known = REFS_SET_OPTIONS_INIT;
    const refs_set_input input = {vfs, location, &known};
    uint8_t head[HEAD_SIZE];
    size_t size = 0;
    *set = NULL;
    if (options != NULL)
        memcpy(&known, options,
               options->struct_size < sizeof known ? options->struct_size : sizeof known);
    REFS_TRY(read_head(&input, head, &size, err));
    refs_status status = open_known(&input, refs_bytes_view(head, size), set, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", location);
    return status;
}
