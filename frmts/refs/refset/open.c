/* open.c -- which format a set is in, see refset.h. */
#include "format.h"

#include "metadata_file.h"

/* What formats are told by. */
#define HEAD_SIZE (4 * REFS_KIB)

static const refs_set_format *const formats[] = {&refs_refset__parquet, &refs_refset__json};

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

static refs_status find_format(const refs_set_input *input, const refs_set_format **format,
                               refs_error *err) {
    uint8_t head[HEAD_SIZE];
    size_t size = 0;
    REFS_TRY(read_head(input, head, &size, err));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        *format = formats[i];
        if (formats[i]->sniff(input, refs_bytes_view(head, size))) return REFS_OK;
    }
    return refs_fail(err, REFS_INVALID, "%s: %s", input->location,
                     size == 0 ? "the file is empty"
                               : "it does not begin as a reference set: neither \"{\" nor \"[\"");
}

/* Sets the location of the input to the first candidate that is there and may be a set. */
static refs_status choose(const refs_candidates *candidates, refs_set_input *input,
                          const refs_set_format **format, refs_error *err) {
    refs_error problems[2] = {REFS_ERROR_INIT, REFS_ERROR_INIT};
    for (size_t i = 0; i < 2 && candidates->location[i] != NULL; i++) {
        input->location = candidates->location[i];
        refs_status status = find_format(input, format, &problems[i]);
        if (status == REFS_OK || status == REFS_NOMEM)
            return refs_fail(err, status, "%s", problems[i].message);
    }
    /* What is wrong with the thing itself says more, unless it is just not there. */
    const refs_error *itself = &problems[candidates->itself];
    const refs_error *inside = &problems[1 - candidates->itself];
    bool inside_is_there = inside->status != REFS_OK && inside->status != REFS_NOT_FOUND;
    const refs_error *said = itself->status == REFS_NOT_FOUND && inside_is_there ? inside : itself;
    return refs_fail(err, said->status, "%s", said->message);
}

static refs_status open_chosen(const refs_candidates *candidates, refs_set_input *input,
                               refs_set **set, refs_error *err) {
    const refs_set_format *format;
    REFS_TRY(choose(candidates, input, &format, err));
    refs_status status = format->open(input, set, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", input->location);
    return status;
}

refs_status refs_set_open(const refs_vfs *vfs, const char *location,
                          const refs_set_options *options, refs_set **set, refs_error *err) {
    refs_set_options known = REFS_SET_OPTIONS_INIT;
    refs_set_input input = {vfs, location, location, &known};
    refs_candidates candidates;
    *set = NULL;
    if (options != NULL)
        memcpy(&known, options,
               options->struct_size < sizeof known ? options->struct_size : sizeof known);
    refs_status status = refs_refset__candidates(location, &candidates, err);
    if (status == REFS_OK) status = open_chosen(&candidates, &input, set, err);
    refs_refset__candidates_clear(&candidates);
    return status;
}
