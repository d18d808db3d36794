/* stream.c -- stores references as differences to the previous one, in numbers of seven bits per
 * byte. */
#include "combine_internal.h"

/* The meaning of the lowest bits of a reference's first number. */
enum { INLINE, SAME_URL, OTHER_URL, WHOLE };

static uint8_t *put(uint8_t *to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    return to;
}

static uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (difference >> 63 != 0 ? UINT64_MAX : 0);
}

refs_status refs_stream_put(refs_stream_writer *writer, const refs_stream_ref *ref,
                            refs_error *err) {
    refs_streams *streams = writer->streams;
    uint8_t text[REFS_STREAM_MAX_REF], *end = text;
    uint64_t step = ref->number - writer->number;
    bool is_same = writer->has_any && writer->url == ref->url;
    int kind = ref->kind == REFS_REF_INLINE  ? INLINE
               : ref->kind == REFS_REF_WHOLE ? WHOLE
               : is_same                     ? SAME_URL
                                             : OTHER_URL;
    *end++ = (uint8_t)kind;
    end = put(end, step);
    if (kind == INLINE) end = put(put(end, ref->bytes.size), streams->values.size);
    if (kind == OTHER_URL || kind == WHOLE) end = put(end, ref->url);
    if (kind == OTHER_URL || kind == SAME_URL) {
        end = put(end, zigzag(ref->offset - writer->end));
        end = put(end, ref->length);
        writer->end = ref->offset + ref->length;
    }
    if (kind != INLINE) writer->url = ref->url;
    writer->has_any = writer->has_any || kind != INLINE;
    writer->number = ref->number;
    REFS_TRY(refs_buf_append(&streams->held, text, (size_t)(end - text), err));
    if (kind == INLINE)
        REFS_TRY(refs_buf_append(&streams->values, ref->bytes.data, ref->bytes.size, err));
    return refs_streams_check(streams, err);
}

static uint64_t get(refs_stream_reader *reader) {
    uint64_t number = 0;
    for (unsigned shift = 0; reader->at < reader->stop; shift += 7) {
        uint8_t byte = *reader->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    return number;
}

bool refs_stream_get(refs_stream_reader *reader, refs_stream_ref *ref) {
    while (reader->next < reader->end_of_stream && reader->stop - reader->at < REFS_STREAM_MAX_REF)
        if (!refs_stream_load(reader)) return false;
    if (reader->at == reader->stop) {
        refs_buf_clear(&reader->window);
        return false;
    }
    int kind = *reader->at++;
    memset(ref, 0, sizeof *ref);
    reader->number += get(reader);
    ref->number = reader->number;
    ref->kind = kind == INLINE ? REFS_REF_INLINE : kind == WHOLE ? REFS_REF_WHOLE : REFS_REF_RANGE;
    if (kind == INLINE) {
        const size_t size = (size_t)get(reader), begin = (size_t)get(reader);
        if (size > 0) ref->bytes = refs_bytes_view(reader->streams->values.data + begin, size);
        return true;
    }
    if (kind != SAME_URL) reader->url = (uint32_t)get(reader);
    ref->url = reader->url;
    if (kind == WHOLE) return true;
    uint64_t step = get(reader);
    ref->offset = reader->end + (step >> 1 ^ ((step & 1) != 0 ? UINT64_MAX : 0));
    ref->length = get(reader);
    reader->end = ref->offset + ref->length;
    return true;
}
