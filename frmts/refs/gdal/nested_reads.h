/* nested_reads.h -- the progress of a read that GDAL carries out by reads of its own. */
#ifndef REFS_NESTED_READS_H
#define REFS_NESTED_READS_H

#include "call_options.h"
#include "progress_caller.h"
#include "window.h"

/** GDAL carries out some reads by smaller ones of its own (it resamples, or computes statistics or
 * a histogram) and does not pass its caller's callback on to these. While this lives, they ask the
 * callback whether to go on, with the last value again: its values never fall. */
class RefsNestedReads {
  public:
    /** `extra` is that of the caller. `current` is where reads look for whom to ask. */
    RefsNestedReads(const GDALRasterIOExtraArg &extra, RefsNestedReads *&current);
    ~RefsNestedReads();
    RefsNestedReads(const RefsNestedReads &) = delete;
    RefsNestedReads &operator=(const RefsNestedReads &) = delete;

    /** The progress function to call GDAL with instead. */
    GDALRasterIOExtraArg *extra() { return &extra_; }

    /** Has a window report that is loaded before GDAL begins: as the first part of the progress. */
    RefsWindow &reportLoadTo(RefsWindow &window);

    /** Has a window ask that is read for GDAL. */
    void askFor(RefsWindow &window);

  private:
    static int CPL_STDCALL reportLoad(double done, const char *message, void *user);
    static int CPL_STDCALL reportRest(double done, const char *message, void *user);
    static int CPL_STDCALL ask(double done, const char *message, void *user);
    int tell(double done, const char *message);

    RefsCall call_;                   ///< all of them are one
    const GDALProgressFunc progress_; ///< of the caller, or null
    RefsProgressCaller caller_;
    GDALRasterIOExtraArg extra_;
    RefsNestedReads *&current_;
    RefsNestedReads *const outer_;
    bool loaded_ = false, cancelled_ = false;
    double most_ = 0; ///< that the caller was told
};

#endif
