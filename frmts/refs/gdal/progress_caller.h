/* progress_caller.h -- GDAL's callback of progress, also while nothing arrives.
 *
 * The callback of GDAL's Python bindings hands on only another percent than the last one: a program
 * that wants to cancel a read of a silent server would not be asked. While nothing arrives, it gets
 * one percent more now and then, ever more seldom, and never much more than is true. Its
 * values never fall.
 */
#ifndef REFS_PROGRESS_CALLER_H
#define REFS_PROGRESS_CALLER_H

#include <cstdint>

#include "cpl_progress.h"

class RefsProgressCaller {
  public:
    RefsProgressCaller(GDALProgressFunc progress, void *data) : progress_(progress), data_(data) {}

    /** Whether to go on. */
    bool goesOn(double done, const char *message);

    /** The same where the read ends in any case: another percent, so that it is handed on. */
    void tellOfEnd(const char *message);

  private:
    const GDALProgressFunc progress_;
    void *const data_;
    double done_ = -1;       ///< what was true when it changed last
    double reported_ = 0;    ///< the most that was told
    uint64_t since_ms_ = 0;  ///< when either changed
    uint64_t stands_ms_ = 0; ///< how long it is to stand
};

#endif
