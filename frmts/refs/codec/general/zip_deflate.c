/* zip_deflate.c -- codec "deflate": a member of a ZIP archive with its local header, to which
 * kerchunk refers.
 *
 * Source: PKWARE's APPNOTE.TXT, section 4.3.7.
 */
#include "inflate.h"
#include "refs/zip_signature.h"

#define HEADER_SIZE 30
#define STORED      0
#define DEFLATED    8

/* Finds the content after the header; further bytes may follow it. */
static refs_status skip_header(refs_bytes member, refs_bytes *content, refs_error *err) {
    const uint8_t *header = member.data;
    if (member.size < HEADER_SIZE || !refs_is_zip_member(member))
        return refs_fail(err, REFS_CORRUPT, "expected the header of a member of a ZIP archive");
    size_t size = HEADER_SIZE + (size_t)refs_load_le16(header + 26) + refs_load_le16(header + 28);
    if (size > member.size)
        return refs_fail(err, REFS_CORRUPT, "the header extends past the %zu bytes", member.size);
    *content = refs_bytes_view(header + size, member.size - size);
    return REFS_OK;
}

static refs_status copy_stored(refs_bytes content, size_t size, refs_codec_output *output,
                               refs_error *err) {
    uint8_t *at;
    if (size > content.size)
        return refs_fail(err, REFS_CORRUPT, "the member of %zu bytes is truncated to %zu", size,
                         content.size);
    REFS_TRY(refs_codec__output_add(output, size, &at, err));
    if (size > 0) memcpy(at, content.data, size);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    refs_bytes content = {NULL, 0};
    REFS_TRY(skip_header(encoded, &content, err));
    unsigned method = refs_load_le16(encoded.data + 8);
    if (method == STORED)
        return copy_stored(content, refs_load_le32(encoded.data + 18), output, err);
    if (method != DEFLATED)
        return refs_fail(err, REFS_UNSUPPORTED, "compression method %u of ZIP is not supported",
                         method);
    return refs_codec__inflate_one(libdeflate_deflate_decompress_ex, content, output, err);
}

const refs_codec_type refs_codec_zip_deflate = {.name = "deflate",
                                                .reads =
                                                    "a member of a ZIP archive, with its header",
                                                .library = "libdeflate",
                                                .decode = decode};
