/* own_attributes.h -- attributes and members of our own: what Zarr or netCDF has no place for.
 * Other programs ignore them.
 *
 * Read before this: nothing.
 */
#ifndef REFS_OWN_ATTRIBUTES_H
#define REFS_OWN_ATTRIBUTES_H

/** The attribute of a group in a set that names those of its dimensions that had no limit in the
 * file that the set was made of, as a list of strings. netCDF-C takes such dimensions for those of
 * records. */
#define REFS_UNLIMITED_DIMENSIONS "_nc_unlimited_dimensions"

/** The attribute of a group that has the dimensions of the group that no variable has: an object, a
 * size for each name. */
#define REFS_UNUSED_DIMENSIONS "_nc_unused_dimensions"

/** The attribute that parsers give to the container of an aggregation: the sizes of its dimensions,
 * which may have no variables, in the order in which one of the attributes below names them. */
#define REFS_DIMENSION_SIZES "_dimension_sizes"

/** Attributes of CFA-0.4 and 0.5, and of CF-1.13, that name the dimensions of an aggregation. */
#define REFS_CFA_DIMENSIONS        "cfa_dimensions"
#define REFS_AGGREGATED_DIMENSIONS "aggregated_dimensions"

/** The global attribute of a master (cfa.h) that records its fragments, by the names that it has
 * for them: the document in which a set records its sources (refset.h). */
#define REFS_SOURCES_ATTRIBUTE "_refs_sources"

/** Most bytes of that document: an attribute of HDF5 is read as one structure, with what describes
 * it (parsers/hdf5/file.h). */
#define REFS_SOURCES_MAX_BYTES (63 * REFS_MIB)

/** The member of "zarr.json", of an array that Icechunk holds, with the members of ".zarray" that
 * version 3 has other words for, or none: codecs in their places, a fill value that is null. What
 * is combined of it has them again, and its missing values are those of version 2. Also the
 * attributes _FillValue and missing_value, if xarray does not read the first and it has the name of
 * the second now. By "must_understand" other readers are told to ignore it. */
#define REFS_V2_MEMBER "refs_v2"

/** The member of ".zarray" (true) which says that nothing fills what its file did not write: then
 * "fill_value" is null, and netCDF's default fill value is a value, unlike in the sets of others.
 */
#define REFS_UNFILLED_MEMBER "refs_unfilled"

/** The member of REFS_V2_MEMBER which says of which manifests its holes are: if others have been
 * written since, the holes may have values, and are not. */
#define REFS_SEAL_MEMBER "manifests"

#endif
