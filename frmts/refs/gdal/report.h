/* report.h -- the one place where failures and notes of the core become GDAL's. */
#ifndef REFS_REPORT_H
#define REFS_REPORT_H

#include <string>

#include "cpl_error.h"
#include "refs/error.h"
#include "refs/fetch.h"

/** `text` with all that is secret taken out of its URLs. */
std::string RefsHideSecrets(const char *text);

/** Raises `error` as one CPLError, whose message begins with the code of the error
 * (docs/error-codes.md), and returns CE_Failure. */
CPLErr RefsReport(const refs_error &error);

/** Whether the last CPLError of this thread is that of `error`. */
bool RefsIsReported(const refs_error &error);

/** The advice for users of the driver. */
refs_fetch_advice RefsAdvice();

/** Notes of the core as warnings and debug messages of GDAL, see collected_notes.h. */
refs_notes RefsReportNotes();

/** Raises a note at once. */
void RefsRaiseNote(refs_note_kind kind, const char *note);

/** While it lives, what GDAL says on this thread is kept instead of shown: it becomes part of the
 * one message that the driver raises. The error state of before is put back at the end. */
class RefsQuietErrors {
  public:
    RefsQuietErrors();
    ~RefsQuietErrors();
    RefsQuietErrors(const RefsQuietErrors &) = delete;
    RefsQuietErrors &operator=(const RefsQuietErrors &) = delete;

    /** The first thing that GDAL said, or "". */
    const std::string &said() const { return said_; }

  private:
    static void CPL_STDCALL keep(CPLErr kind, CPLErrorNum number, const char *message);
    CPLErrorStateBackuper state_;
    std::string said_;
};

/** Puts back, when it goes out of scope, what GDAL knew of the last failure of a file: where no
 * driver opens a name GDAL reports that, and a file that was only looked for is none of it. */
class RefsVsiErrorKept {
  public:
    RefsVsiErrorKept();
    ~RefsVsiErrorKept();
    RefsVsiErrorKept(const RefsVsiErrorKept &) = delete;
    RefsVsiErrorKept &operator=(const RefsVsiErrorKept &) = delete;

  private:
    int number_;
    std::string said_;
};

#endif
