/* codec_table.c -- prints docs/codecs.md: the table of codecs of this build. */
#include <stdio.h>

#include "refs/codec.h"
#include "table.h"

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
         "codecs here but say how elements lie in a chunk, and so does virtual-tiff's "
         "`ChunkyCodec`.\n"
         "\n"
         "The output of a codec must have the size that the metadata of the array announce: "
         "more or less is\n"
         "an error, except for chunks at the edge of an array that end where the array does.\n"
         "\n"
         "## Not decoded\n"
         "\n"
         "Arrays with one of these codecs are listed; reading them is an error that has the name. "
         "No "
         "published reference set\n"
         "that we know has one of them.\n"
         "\n"
         "| codec | what it is |\n"
         "|---|---|");
    const refs_codec_common *common;
    for (size_t i = 0; (common = refs_codec__common_at(i)) != NULL; i++)
        printf("| `%s` | %s |\n", common->id, common->name);
    puts("\n`FITSVarBintable` gives arrays of another length in each row, for which neither GDAL "
         "nor "
         "netCDF has a type, and kerchunk\n"
         "0.2.10 with zarr 3.1 fails to write them. The libraries of `omfiles.*` and LZO are under "
         "the GPL. Blosc2's containers, which\n"
         "its HDF5 filter writes, can make libblosc2 run programs.");
    return 0;
}
