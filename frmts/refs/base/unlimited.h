/* unlimited.h -- which dimensions had no limit in the file that a set was made of.
 *
 * Zarr has nothing for it. Programs that use netCDF-C take such dimensions for
 * those of records.
 *
 * Read before this: nothing.
 */
#ifndef REFS_UNLIMITED_H
#define REFS_UNLIMITED_H

/** The attribute of a group that names those of its dimensions, as a list of strings. xarray passes
 * over attributes that begin so. */
#define REFS_UNLIMITED_DIMENSIONS "_nc_unlimited_dimensions"

#endif
