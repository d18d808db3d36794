/* image.h -- reads images from the directories of a TIFF file. */
#ifndef REFS_PARSERS_TIFF_IMAGE_H
#define REFS_PARSERS_TIFF_IMAGE_H

#include "format.h"
#include "tiff/file.h"

typedef struct tiff_image {
    const tiff_directory *directory;
    const tiff_directory *full; /**< the full image of this reduced image, or the image of this
                                   mask */
    uint64_t width, height, samples;
    uint64_t bits, format; /**< of all samples */
    uint64_t compression, photometric, predictor, fill_order;
    bool is_planar, is_tiled;
    bool is_packed;                    /**< samples have a number of bits that no element type
                                          has */
    uint64_t chunk[2];                 /**< rows and columns */
    uint64_t strip_rows;               /**< rows of a strip or a tile in the file */
    uint64_t n_down;                   /**< number of tile rows */
    uint64_t n_tiles;                  /**< number of tiles of all planes */
    uint64_t parts;                    /**< chunks into which a strip is divided */
    const tiff_field *offsets, *sizes; /**< NULL: there are none */
} tiff_image;

/** Reads the image of a directory. REFS_UNSUPPORTED if its samples cannot be an array. */
refs_status refs_scan__tiff_image(const tiff_file *file, const tiff_directory *directory,
                                  tiff_image *image, refs_error *err);

/** The NumPy type string of its samples. */
void refs_scan__tiff_dtype(const tiff_file *file, const tiff_image *image, char *dtype,
                           size_t size);

/** Adds tags of an image to `attributes`: GeoKeys and GDAL's metadata by the names of tifffile,
 * strings by those of GDAL. */
refs_status refs_scan__tiff_group_attributes(const tiff_file *file, const tiff_directory *directory,
                                             json_t *attributes, refs_error *err);

/** The content of GDAL's tags about samples: nodata, scale, offset and unit; and of images of one
 * sample what it is: "tiff_colors", a list of red, green and blue of the values 0, 1, …, or
 * "tiff_gray". */
refs_status refs_scan__tiff_array_attributes(const tiff_file *file, const tiff_image *image,
                                             json_t **attributes, json_t **fill_value,
                                             refs_error *err);

#endif
