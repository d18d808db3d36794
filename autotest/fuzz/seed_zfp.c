/* seed_zfp.c -- writes the files of corpus/codec that zfp encodes: seed_zfp FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <zfp.h>

static void write_chunk(const char *folder, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/zfpy-%s", folder, mode);
    float numbers[60];
    uint8_t encoded[2000];
    for (int i = 0; i < 60; i++) numbers[i] = (float)(i * 7 % 41) / 8;
    zfp_field *field = zfp_field_2d(numbers, zfp_type_float, 10, 6);
    zfp_stream *stream = zfp_stream_open(NULL);
    bitstream *bits = stream_open(encoded, sizeof encoded);
    if (mode[0] == 'r')
        zfp_stream_set_rate(stream, 8, zfp_type_float, 2, 0);
    else if (mode[0] == 'a')
        zfp_stream_set_accuracy(stream, 0.01);
    else
        zfp_stream_set_reversible(stream);
    zfp_stream_set_bit_stream(stream, bits);
    zfp_write_header(stream, field, ZFP_HEADER_FULL);
    size_t size = zfp_compress(stream, field);
    FILE *file = fopen(path, "wb");
    if (file == NULL || size == 0) exit(1);
    fprintf(file, "{\"codecs\": [{\"id\": \"zfpy\"}], \"dtype\": \"<f4\", \"shape\": [6, 10]}\n");
    fwrite(encoded, 1, size, file);
    fclose(file);
    zfp_field_free(field);
    zfp_stream_close(stream);
    stream_close(bits);
}

int main(int argc, char **argv) {
    const char *const modes[] = {"rate", "accuracy", "whole"};
    for (int i = 0; argc == 2 && i < 3; i++) write_chunk(argv[1], modes[i]);
    return argc == 2 ? 0 : 1;
}
