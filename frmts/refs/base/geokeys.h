/* geokeys.h -- names of GeoKeys, as tifffile spells them in sets that it makes of TIFF files.
 *
 * OGC GeoTIFF 1.1 (19-008r4), 7.1.
 *
 * Read before this: error.h.
 */
#ifndef REFS_GEOKEYS_H
#define REFS_GEOKEYS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The value of a key. */
typedef enum refs_geo_key_kind {
    REFS_GEO_KEY_CODE,
    REFS_GEO_KEY_NUMBERS,
    REFS_GEO_KEY_TEXT
} refs_geo_key_kind;

typedef struct refs_geo_key {
    const char *name;
    uint16_t number;
    refs_geo_key_kind kind;
} refs_geo_key;

#define REFS_N_GEO_KEYS 50

/** All keys, in ascending order of their numbers. Some numbers have two spellings. */
extern const refs_geo_key refs_geo_keys[REFS_N_GEO_KEYS];

#ifdef __cplusplus
}
#endif
#endif
