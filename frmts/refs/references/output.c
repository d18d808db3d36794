/* output.c -- see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unpack.h"

#ifdef REFS_HAS_z
#include <zlib.h>
#endif
#ifdef REFS_HAS_zstd
#include <zstd.h>
#endif

/* The size of the write buffer. */
#define BUFFER_BYTES (256 * REFS_KIB)

struct refs_output {
    char *path;
    int descriptor;
    refs_write_packing packing;
    refs_buf collected, packed;
#ifdef REFS_HAS_z
    z_stream *deflate;
#endif
#ifdef REFS_HAS_zstd
    ZSTD_CCtx *zstd;
#endif
};

/* -- writing ----------------------------------------------------------------------------------- */

static refs_status make_folder(const char *name, refs_error *err) {
    if (mkdir(name, 0777) == 0 || errno == EEXIST) return REFS_OK;
    return refs_fail(err, REFS_IO, "%s: cannot be created: %s", name, strerror(errno));
}

refs_status refs_write__make_folders(const char *root, refs_str name, refs_error *err) {
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] != '/') continue;
        REFS_SCOPED_BUF path = REFS_BUF_INIT;
        REFS_TRY(refs_buf_printf(&path, err, "%s/%.*s", root, (int)i, name.data));
        REFS_TRY(make_folder((const char *)path.data, err));
    }
    return REFS_OK;
}

refs_status refs_write__file(const char *path, refs_bytes bytes, refs_error *err) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) return refs_staged_fail(path, err);
    refs_status status = refs_staged_write_all(descriptor, path, bytes, err);
    if (close(descriptor) != 0 && status == REFS_OK) status = refs_staged_fail(path, err);
    return status;
}

/* -- compressing ------------------------------------------------------------------------------- */

#ifdef REFS_HAS_z
static refs_status open_deflate(refs_output *output, refs_error *err) {
    z_stream *stream = refs_references__zlib_stream();
    if (stream == NULL) return refs_fail_nomem(err);
    if (deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, REFS_GZIP_WINDOW_BITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        refs_free(stream);
        return refs_fail_nomem(err);
    }
    output->deflate = stream;
    return REFS_OK;
}

static refs_status deflate_some(refs_output *output, bool last, refs_error *err) {
    z_stream *stream = output->deflate;
    int result;
    stream->next_in = output->collected.data;
    stream->avail_in = (unsigned)output->collected.size;
    do {
        stream->next_out = output->packed.data;
        stream->avail_out = (unsigned)output->packed.capacity;
        result = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
        REFS_TRY(refs_staged_write_all(
            output->descriptor, output->path,
            refs_bytes_view(output->packed.data, output->packed.capacity - stream->avail_out),
            err));
    } while (stream->avail_out == 0 || (last && result == Z_OK));
    return REFS_OK;
}
#endif

#ifdef REFS_HAS_zstd
static refs_status zstd_some(refs_output *output, bool last, refs_error *err) {
    ZSTD_inBuffer in = {output->collected.data, output->collected.size, 0};
    size_t rest;
    do {
        ZSTD_outBuffer out = {output->packed.data, output->packed.capacity, 0};
        rest = ZSTD_compressStream2(output->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(rest))
            return refs_fail(err, REFS_NOMEM, "%s: zstd: %s", output->path,
                             ZSTD_getErrorName(rest));
        REFS_TRY(refs_staged_write_all(output->descriptor, output->path,
                                       refs_bytes_view(output->packed.data, out.pos), err));
    } while (in.pos < in.size || (last && rest > 0));
    return REFS_OK;
}
#endif

static refs_status open_packing(refs_output *output, refs_error *err) {
    REFS_TRY(refs_buf_reserve(&output->collected, BUFFER_BYTES, err));
    if (output->packing == REFS_PACK_NONE) return REFS_OK;
    REFS_TRY(refs_buf_reserve(&output->packed, BUFFER_BYTES, err));
#ifdef REFS_HAS_z
    if (output->packing == REFS_PACK_GZIP) return open_deflate(output, err);
#endif
#ifdef REFS_HAS_zstd
    output->zstd = ZSTD_createCCtx();
    if (output->packing == REFS_PACK_ZSTD) {
        if (output->zstd == NULL) return refs_fail_nomem(err);
        (void)ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_checksumFlag, 1);
        return REFS_OK;
    }
#endif
    return refs_fail(err, REFS_UNSUPPORTED, "%s: cannot be compressed: this build lacks %s",
                     output->path, output->packing == REFS_PACK_GZIP ? "zlib" : "zstd");
}

static refs_status flush(refs_output *output, bool last, refs_error *err) {
    refs_status status = REFS_OK;
    (void)last;
    if (output->packing == REFS_PACK_NONE)
        status = refs_staged_write_all(output->descriptor, output->path,
                                       refs_buf_view(&output->collected), err);
#ifdef REFS_HAS_z
    if (output->packing == REFS_PACK_GZIP) status = deflate_some(output, last, err);
#endif
#ifdef REFS_HAS_zstd
    if (output->packing == REFS_PACK_ZSTD) status = zstd_some(output, last, err);
#endif
    output->collected.size = 0;
    return status;
}

/* -- the file ---------------------------------------------------------------------------------- */

refs_status refs_write__output_open(const refs_staged *place, const refs_writer_options *options,
                                    refs_output **output, refs_error *err) {
    refs_output *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->descriptor = -1;
    opened->packing = options->packing;
    opened->path = refs_str_copy(refs_str_from(place->written));
    refs_status status = opened->path != NULL ? open_packing(opened, err) : refs_fail_nomem(err);
    if (status == REFS_OK) status = refs_staged_create(place, &opened->descriptor, err);
    if (status == REFS_OK)
        *output = opened;
    else
        refs_write__output_free(opened);
    return status;
}

refs_status refs_write__output_append(refs_output *output, const void *data, size_t size,
                                      refs_error *err) {
    const uint8_t *rest = data;
    while (size > 0) {
        size_t room = BUFFER_BYTES - output->collected.size, n = size < room ? size : room;
        memcpy(output->collected.data + output->collected.size, rest, n);
        output->collected.size += n;
        rest += n;
        size -= n;
        if (output->collected.size == BUFFER_BYTES) REFS_TRY(flush(output, false, err));
    }
    return REFS_OK;
}

refs_status refs_write__output_finish(refs_output *output, refs_error *err) {
    refs_status status = flush(output, true, err);
    int closed = close(output->descriptor);
    output->descriptor = -1;
    if (status == REFS_OK && closed != 0) status = refs_staged_fail(output->path, err);
    refs_write__output_free(output);
    return status;
}

void refs_write__output_free(refs_output *output) {
    if (output == NULL) return;
    if (output->descriptor >= 0) close(output->descriptor);
#ifdef REFS_HAS_z
    if (output->deflate != NULL) {
        deflateEnd(output->deflate);
        refs_free(output->deflate);
    }
#endif
#ifdef REFS_HAS_zstd
    ZSTD_freeCCtx(output->zstd);
#endif
    refs_buf_clear(&output->collected);
    refs_buf_clear(&output->packed);
    refs_free(output->path);
    refs_free(output);
}
