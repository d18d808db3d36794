/* archive_listing.h -- whether an archive on this machine is proven to lack a member.
 *
 * GDAL lists an archive up to the first entry that it cannot read, and says nothing of those that
 * follow. A member is absent only where the listing was read to its end.
 *
 * Source: POSIX IEEE 1003.1, pax, "ustar Interchange Format" (headers, and the blocks of zeros at
 * the end).
 */
#ifndef REFS_ARCHIVE_LISTING_H
#define REFS_ARCHIVE_LISTING_H

#include <string>

/** Whether there is proof that `name`, of this machine, does not exist; `number` is the errno that
 * opening it left, 0 where it left none. Archives are listed. Throws std::bad_alloc. */
bool RefsIsProvenAbsent(const std::string &name, int number);

#endif
