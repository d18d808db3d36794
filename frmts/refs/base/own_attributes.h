/* own_attributes.h -- attributes and members defined by REFS, for facts that Zarr or netCDF cannot
 * express. Other programs ignore them.
 *
 * Read before this: nothing.
 */
#ifndef REFS_OWN_ATTRIBUTES_H
#define REFS_OWN_ATTRIBUTES_H

/** The attribute of a group in a set that lists, as strings, the unlimited dimensions of the group
 * in the source file. netCDF-C treats such dimensions as record dimensions. */
#define REFS_UNLIMITED_DIMENSIONS "_nc_unlimited_dimensions"

/** The attribute of a group that lists the dimensions of the group that no variable uses: an object
 * with a size for each name. */
#define REFS_UNUSED_DIMENSIONS "_nc_unused_dimensions"

/** The attribute that parsers add to the container of an aggregation: the sizes of its dimensions,
 * which may have no variables, in the order of one of the attributes below. */
#define REFS_DIMENSION_SIZES "_dimension_sizes"

/** Attributes of CFA-0.4 and 0.5, and of CF-1.13, that name the dimensions of an aggregation. */
#define REFS_CFA_DIMENSIONS        "cfa_dimensions"
#define REFS_AGGREGATED_DIMENSIONS "aggregated_dimensions"

/** The global attribute of a master (cfa.h) that records the states of its fragment files, by their
 * names in the master: the document in which a set records its sources (refset.h). */
#define REFS_SOURCES_ATTRIBUTE "_refs_sources"

/** Most bytes of that document: an HDF5 attribute is read together with its header as one structure
 * (parsers/hdf5/file.h). */
#define REFS_SOURCES_MAX_BYTES (63 * REFS_MIB)

/** The member of "zarr.json", for an array of version 2 stored in Icechunk, with the members of
 * ".zarray" that version 3 expresses differently or not at all: codecs in their places, a fill
 * value of null. Sets combined from it get them back, and their missing values are those of version
 * 2. It also has the attributes _FillValue and missing_value if the first was renamed to the second
 * because xarray cannot read it. "must_understand" makes other readers ignore the member. */
#define REFS_V2_MEMBER "refs_v2"

/** The member of ".zarray" (true) which says that the file has no fill value for unwritten
 * elements: then "fill_value" is null, and netCDF's default fill value is a valid value, unlike in
 * sets of other writers.
 */
#define REFS_UNFILLED_MEMBER "refs_unfilled"

/** The member of REFS_V2_MEMBER that lists the manifests for which its holes were recorded: if
 * others have been written since, the holes may have been filled, and the record is ignored. */
#define REFS_SEAL_MEMBER "manifests"

#endif
