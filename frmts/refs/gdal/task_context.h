/* task_context.h -- what work on other threads takes along from the thread that calls the driver:
 * the options of the call (call_options.h), and where its notes go. */
#ifndef REFS_TASK_CONTEXT_H
#define REFS_TASK_CONTEXT_H

#include "refs/pool.h"

const refs_task_context *RefsTaskContext();

#endif
