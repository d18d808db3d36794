/* resampling.h -- the progress of a read that GDAL carries out by reads of its own. */
#ifndef REFS_RESAMPLING_H
#define REFS_RESAMPLING_H

#include "window.h"

/** GDAL resamples what it reads block by block, or in parts, as it computes statistics and
 * histograms, and does not pass its caller's callback on to these reads. While this lives, they ask it whether to go on, and tell it nothing
 * new; what it is told never falls. */
class RefsResampling {
  public:
    /** `extra` is that of the caller. `current` is where reads look for whom to ask. */
    RefsResampling(const GDALRasterIOExtraArg &extra, RefsResampling *&current);
    ~RefsResampling();
    RefsResampling(const RefsResampling &) = delete;
    RefsResampling &operator=(const RefsResampling &) = delete;

    /** What GDAL is to be called with instead. */
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

    const GDALProgressFunc progress_; ///< of the caller, or null
    void *const progressData_;
    GDALRasterIOExtraArg extra_;
    RefsResampling *&current_;
    RefsResampling *const outer_;
    bool loaded_ = false, cancelled_ = false;
    double most_ = 0; ///< that the caller was told
};

#endif
