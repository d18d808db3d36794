/* codec_table.c -- prints docs/codecs.md: the table of codecs of this build. */
#include <stdio.h>

#include "refs/codec.h"

static void print_names(const refs_codec_type *type) {
    printf("| `%s`", type->name);
    for (const char *const *alias = type->aliases; alias != NULL && *alias != NULL; alias++)
        printf(" `%s`", *alias);
}

int main(void) {
    puts("# Codecs\n\n"
         "This table lists what REFS decodes, as compressor or as filter of Zarr version 2 and as "
         "codec of version 3, under the\n"
         "names in the first column, and for those of numcodecs also with `numcodecs.` before "
         "them. The table is\n"
         "the driver's own: `cmake --build --preset release --target codec_table_page` writes this "
         "page.\n"
         "\n"
         "| codec, other names | reads | library |\n"
         "|---|---|---|");
    const refs_codec_type *type;
    for (size_t i = 0; (type = refs_codec_at(i)) != NULL; i++) {
        print_names(type);
        if (type->missing != NULL)
            printf(" | not in this build | needs %s |\n", type->missing);
        else
            printf(" | %s | %s |\n", type->reads, type->library);
    }
    puts("\nA library that is \"REFS\" is this project. Codecs whose library the build does not "
         "find are kept by\n"
         "name: reading what needs them is an error that says so. `transpose` and `bytes` of Zarr "
         "version 3 are no\n"
         "codecs here but say how elements lie in a chunk, and so does virtual-tiff's `ChunkyCodec`.\n"
         "\n"
         "The output of a codec must have the size that the metadata of the array announce: "
         "more or less is\n"
         "an error, except for chunks at the edge of an array that end where the array does.");
    return 0;
}
