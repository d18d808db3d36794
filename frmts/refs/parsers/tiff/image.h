/* image.h -- what the directories of a TIFF file say of images. */
#ifndef REFS_PARSERS_TIFF_IMAGE_H
#define REFS_PARSERS_TIFF_IMAGE_H

#include "format.h"
#include "tiff/file.h"

typedef struct tiff_image {
    const tiff_directory *directory;
    const tiff_directory *full; /**< that of the image that this is reduced from, or a mask of */
    uint64_t width, height, samples;
    uint64_t bits, format; /**< of all samples */
    uint64_t compression, photometric, predictor, fill_order;
    bool is_planar, is_tiled;
    bool is_packed;                    /**< samples are of bits that no element has */
    uint64_t chunk[2];                 /**< rows and columns */
    uint64_t strip_rows;               /**< of a strip as the file has it, or a tile */
    uint64_t n_down;                   /**< tiles one below the other */
    uint64_t n_tiles;                  /**< of all planes */
    uint64_t parts;                    /**< chunks that a strip is taken apart to */
    const tiff_field *offsets, *sizes; /**< NULL: there are none */
} tiff_image;

/** Reads what a directory says. REFS_UNSUPPORTED where its samples make no array. */
refs_status refs_scan__tiff_image(const tiff_file *file, const tiff_directory *directory,
                                  tiff_image *image, refs_error *err);

/** The NumPy type string of its samples. */
void refs_scan__tiff_dtype(const tiff_file *file, const tiff_image *image, char *dtype,
                           size_t size);

/** Adds what tags say of an image to `attributes`: GeoKeys and GDAL's metadata under the names of
 * tifffile, strings under those of GDAL. */
refs_status refs_scan__tiff_group_attributes(const tiff_file *file, const tiff_directory *directory,
                                             json_t *attributes, refs_error *err);

/** The content of GDAL's tags about samples: nodata, scale, offset and unit; and of images of one
 * sample what it is: "tiff_colors", a list of red, green and blue of the values 0, 1, …, or
 * "tiff_gray". */
refs_status refs_scan__tiff_array_attributes(const tiff_file *file, const tiff_image *image,
                                             json_t **attributes, json_t **fill_value,
                                             refs_error *err);

#endif
