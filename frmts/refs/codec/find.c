/* find.c -- the table of codecs, see codec.h. */
#include "table.h"

const refs_codec_type *refs_codec_at(size_t i) {
    for (size_t at = 0; refs_codec__table[at] != NULL; at++)
        if (at == i) return refs_codec__table[at];
    return NULL;
}

static bool answers_to(const refs_codec_type *type, refs_str id) {
    return refs_str_is(id, type->name) ||
           (type->aliases != NULL && refs_str_is_among(id, type->aliases));
}

const refs_codec_type *refs_codec_find(refs_str id) {
    static const char prefix[] = "numcodecs.";
    if (refs_str_starts(id, prefix)) id = refs_str_part(id, sizeof prefix - 1, id.size);
    for (const refs_codec_type *const *type = refs_codec__table; *type != NULL; type++)
        if (answers_to(*type, id)) return *type;
    return NULL;
}

/* Unsupported codecs: TIFF compressions of libtiff, registered HDF5 filters, and codecs of
 * zarr-python and imagecodecs, with the library that would decode them. */
static const refs_codec_common common_names[] = {
    {"imagecodecs_ccittrle", "CCITT modified Huffman, TIFF compression 2"},
    {"imagecodecs_ccittfax3", "CCITT Group 3 fax, TIFF compression 3"},
    {"imagecodecs_ccittfax4", "CCITT Group 4 fax, TIFF compression 4"},
    {"imagecodecs_ojpeg", "old-style JPEG, TIFF compression 6"},
    {"imagecodecs_jpeg12", "JPEG of 12 bits, TIFF compression 7"},
    {"imagecodecs_jpegxr", "JPEG XR (jxrlib)"},
    {"imagecodecs_jpegxs", "JPEG XS (libjxs)"},
    {"imagecodecs_htj2k", "high-throughput JPEG 2000 (OpenJPH)"},
    {"imagecodecs_ljpeg", "lossless JPEG (liblj92)"},
    {"imagecodecs_pcodec", "Pcodec (libpcodec)"},
    {"imagecodecs_sz3", "SZ3 (libSZ3)"},
    {"imagecodecs_sperr", "SPERR (libSPERR)"},
    {"imagecodecs_avif", "AVIF (libavif)"},
    {"imagecodecs_heif", "HEIF (libheif)"},
    {"imagecodecs_lzo", "LZO (liblzo2)"},
    {"imagecodecs_lzfse", "LZFSE (liblzfse)"},
    {"imagecodecs_lzham", "LZHAM (liblzham)"},
    {"imagecodecs_openzl", "OpenZL (libopenzl)"},
    {"imagecodecs_qoi", "QOI (qoi.h)"},
    {"imagecodecs_rcomp", "Rice compression of FITS (CFITSIO)"},
    {"imagecodecs_hcomp", "H-compress of FITS (CFITSIO)"},
    {"imagecodecs_plio", "PLIO of FITS (CFITSIO)"},
    {"imagecodecs_wavpack", "WavPack (libwavpack)"},
    {"imagecodecs_exr", "OpenEXR (tinyexr)"},
    {"omfiles.pfor", "PFor of Open-Meteo (om-file-format)"},
    {"omfiles.pfor_serializer", "PFor of Open-Meteo (om-file-format)"},
    {"turbo_pfor", "PFor of Open-Meteo (om-file-format)"},
    {"FITSVarBintable", "arrays of variable length in FITS tables"},
    {"n5_default", "chunks of N5"},
    {"tiff_compression_32766", "NeXT, TIFF compression 32766"},
    {"tiff_compression_32771", "CCITT modified Huffman in words, TIFF compression 32771"},
    {"tiff_compression_32809", "ThunderScan, TIFF compression 32809"},
    {"tiff_compression_34661", "JBIG, TIFF compression 34661"},
    {"tiff_compression_34676", "SGI LogLuv, TIFF compression 34676"},
    {"tiff_compression_34677", "SGI LogLuv of 24 bits, TIFF compression 34677"},
    {"hdf5_filter_305", "LZO, HDF5 filter 305"},
    {"hdf5_filter_32002", "MAFISC, HDF5 filter 32002"},
    {"hdf5_filter_32003", "Snappy, HDF5 filter 32003"},
    {"hdf5_filter_32010", "LPC-Rice, HDF5 filter 32010"},
    {"hdf5_filter_32012", "JPEG-LS, HDF5 filter 32012"},
    {"hdf5_filter_32014", "FPZip, HDF5 filter 32014"},
    {"hdf5_filter_32016", "B3D, HDF5 filter 32016"},
    {"hdf5_filter_32017", "SZ, HDF5 filter 32017"},
    {"hdf5_filter_32019", "JPEG, HDF5 filter 32019"},
    {"hdf5_filter_32024", "SZ3, HDF5 filter 32024"},
    {"hdf5_filter_32025", "Delta-Rice, HDF5 filter 32025"},
    {"hdf5_filter_32027", "FLAC, HDF5 filter 32027"},
    {"hdf5_filter_32028", "SPERR, HDF5 filter 32028"},
};

const refs_codec_common *refs_codec__common_at(size_t i) {
    return i < sizeof common_names / sizeof common_names[0] ? &common_names[i] : NULL;
}

const char *refs_codec__common_name(refs_str id) {
    const refs_codec_common *common;
    for (size_t i = 0; (common = refs_codec__common_at(i)) != NULL; i++)
        if (refs_str_is(id, common->id)) return common->name;
    return NULL;
}
