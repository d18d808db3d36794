/* store_objects.h -- the objects of a store, as GDAL lists them with the credentials that it has.
 */
#ifndef REFS_STORE_OBJECTS_H
#define REFS_STORE_OBJECTS_H

#include "refs/cloud.h"

/** refs_application.list. REFS_IO: the store does not list, or stops before the end. */
refs_status RefsListStore(void *self, const refs_list_request *request,
                          const refs_list_visitor *visitor, refs_error *error);

#endif
