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
         "REFS decodes these codecs, as compressors and filters of Zarr version 2 and as codecs of "
         "version 3. The first column has\n"
         "their names; names of numcodecs may begin with `numcodecs.`. "
         "`cmake --build --preset release --target codec_table_page`\n"
         "writes this page from the driver's own table.\n"
         "\n"
         "| codec, other names | reads | library |\n"
         "|---|---|---|");
    const refs_codec_type *type;
    for (size_t i = 0; (type = refs_codec_at(i)) != NULL; i++) {
        print_names(type);
        if (type->missing != NULL)
            printf(" | only in builds with this library | %s |\n", type->missing);
        else
            printf(" | %s | %s |\n", type->reads, type->library);
    }
    puts("\nREFS itself implements the codecs whose library is \"REFS\". A build without a "
         "codec's library keeps its name:\n"
         "reading an array that needs it is an error that names the library. `transpose` and "
         "`bytes` of Zarr version 3, and\n"
         "virtual-tiff's `ChunkyCodec`, are not in the table: they only say how elements lie in a "
         "chunk.\n"
         "\n"
         "The output of a codec must have the size that the metadata of the array say: another "
         "size is\n"
         "an error, but an edge chunk may omit what lies beyond the array.\n"
         "\n"
         "## Not decoded\n"
         "\n"
         "REFS lists arrays with one of these codecs; reading them is an error that names the "
         "codec. We know\n"
         "no published reference set that has one of them.\n"
         "\n"
         "| codec | what it is |\n"
         "|---|---|");
    const refs_codec_common *common;
    for (size_t i = 0; (common = refs_codec__common_at(i)) != NULL; i++)
        printf("| `%s` | %s |\n", common->id, common->name);
    puts("\n`FITSVarBintable` gives arrays of a different length in each row, for which neither "
         "GDAL nor netCDF has a type, and kerchunk\n"
         "0.2.10 with zarr 3.1 fails to write them. The libraries of `omfiles.*` and LZO are under "
         "the GPL.");
    return 0;
}
