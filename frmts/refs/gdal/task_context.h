/* task_context.h -- what work on other threads takes along from the thread that calls the driver.
 *
 * Options of GDAL may be set for one thread alone (CPLSetThreadLocalConfigOption, rasterio.Env).
 * All work for a call of the driver has those of the calling thread.
 */
#ifndef REFS_TASK_CONTEXT_H
#define REFS_TASK_CONTEXT_H

#include "refs/pool.h"

/** Options of the thread, and where its notes go. */
const refs_task_context *RefsTaskContext();

#endif
