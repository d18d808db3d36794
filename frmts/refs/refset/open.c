/* open.c -- which format a set is in, see refset.h. */
#include "format.h"

#include "metadata_file.h"

/* What formats are told by. */
#define HEAD_SIZE (4 * REFS_KIB)

static const refs_set_format *const formats[] = {&refs_refset__parquet, &refs_refset__scanned,
                                                 &refs_refset__json};

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

/* What people give for a set: mostly the file that one would be of. */
static const char *other_content(refs_bytes head) {
    static const struct {
        const char *begins;
        size_t size;
        const char *is;
    } contents[] = {{"\x89HDF", 4, "as a NetCDF-4 or HDF5 file"},
                    {"CDF", 3, "as a NetCDF-3 file"},
                    {"GRIB", 4, "as a GRIB file"},
                    {"II*", 4, "as a TIFF file"},
                    {"MM\0*", 4, "as a TIFF file"},
                    {"PAR1", 4, "as a Parquet file"},
                    {"PK\3\4", 4, "as a ZIP archive"},
                    {"<", 1, "as a web page or XML"}};
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++)
        if (head.size >= contents[i].size &&
            memcmp(head.data, contents[i].begins, contents[i].size) == 0)
            return contents[i].is;
    return NULL;
}

static refs_status fail_on_content(const char *location, refs_bytes head, refs_error *err) {
    const char *other = other_content(head);
    if (head.size == 0) return refs_fail(err, REFS_INVALID, "%s: the file is empty", location);
    if (other == NULL)
        return refs_fail(err, REFS_INVALID,
                         "%s: it does not begin as a reference set: neither \"{\" nor \"[\"",
                         location);
    return refs_fail(err, REFS_INVALID, "%s: it begins %s, not as a reference set", location,
                     other);
}

/* What a location holds. */
typedef struct found {
    const refs_set_format *format;
    refs_set *set; /* opened, where that was needed to know the format */
} found;

/* Of the formats of which no beginning tells. */
static refs_status try_formats(const refs_set_input *input, found *what, refs_error *err) {
    refs_status status = REFS_INVALID;
    for (size_t i = 0; status == REFS_INVALID && i < sizeof formats / sizeof formats[0]; i++) {
        what->format = formats[i];
        if (formats[i]->try_open == NULL) continue;
        refs_error_clear(err);
        status = formats[i]->try_open(input, &what->set, err);
    }
    if (status != REFS_OK && status != REFS_INVALID) refs_error_prefix(err, "%s", input->location);
    return status;
}

static refs_status find_format(const refs_set_input *input, found *what, refs_error *err) {
    uint8_t head[HEAD_SIZE];
    size_t size = 0;
    refs_error problem = REFS_ERROR_INIT;
    REFS_TRY(read_head(input, head, &size, err));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        what->format = formats[i];
        if (formats[i]->sniff(input, refs_bytes_view(head, size))) return REFS_OK;
    }
    refs_status status = size == HEAD_SIZE ? try_formats(input, what, &problem) : REFS_INVALID;
    if (status == REFS_INVALID)
        return fail_on_content(input->location, refs_bytes_view(head, size), err);
    return refs_fail(err, status, "%s", problem.message);
}

/* Sets the location of the input to the first candidate that is there and may be a set. */
static refs_status choose(const refs_candidates *candidates, refs_set_input *input, found *what,
                          refs_error *err) {
    refs_error problems[2] = {REFS_ERROR_INIT, REFS_ERROR_INIT};
    for (size_t i = 0; i < 2 && candidates->location[i] != NULL; i++) {
        input->location = candidates->location[i];
        refs_status status = find_format(input, what, &problems[i]);
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
    found what = {NULL, NULL};
    REFS_TRY(choose(candidates, input, &what, err));
    *set = what.set;
    refs_status status = what.set == NULL ? what.format->open(input, set, err) : REFS_OK;
    if (status != REFS_OK) refs_error_prefix(err, "%s", input->location);
    return status;
}

/* Before any of them is needed: that may be much later, or never. */
static refs_status check_rewrites(const char *const *rewrites, refs_error *err) {
    for (; rewrites != NULL && *rewrites != NULL; rewrites++)
        if (strstr(*rewrites, "=>") == NULL)
            return refs_fail(err, REFS_INVALID, "rewrite \"%s\" has no \"=>\"", *rewrites);
    return REFS_OK;
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
    REFS_TRY(check_rewrites(known.rewrites, err));
    refs_status status = refs_refset__candidates(location, &candidates, err);
    if (status == REFS_OK) status = open_chosen(&candidates, &input, set, err);
    refs_refset__candidates_clear(&candidates);
    return status;
}
