/* progress_caller.h -- GDAL's callback of progress, also while nothing arrives.
 *
 * The callback of GDAL's Python bindings hands on only another percent than the last one: a program
 * that wants to cancel a read of a silent server would not be asked. It is told one percent more
 * and less in turn then. Whoever has no such callback sees nothing of that but a percent.
 */
#ifndef REFS_PROGRESS_CALLER_H
#define REFS_PROGRESS_CALLER_H

#include <cstdint>

#include "cpl_progress.h"

class RefsProgressCaller {
  public:
    RefsProgressCaller(GDALProgressFunc progress, void *data) : progress_(progress), data_(data) {}

    /** Whether to go on; `done` never falls. */
    bool goesOn(double done, const char *message);

  private:
    const GDALProgressFunc progress_;
    void *const data_;
    int percent_ = -1;        ///< that was told last
    uint64_t changed_ms_ = 0; ///< when it was told first
};

#endif
