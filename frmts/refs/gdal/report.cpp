/* report.cpp -- see report.h. */
#include "report.h"

#include <array>
#include <cstring>

#include "collected_notes.h"
#include "cpl_vsi_error.h"
#include "guard.h"
#include "refs/redact.h"

namespace {

struct ErrorNumber {
    refs_status status;
    CPLErrorNum number;
};

constexpr std::array<ErrorNumber, 10> errorNumbers{{{REFS_NOMEM, CPLE_OutOfMemory},
                                                    {REFS_INVALID, CPLE_AppDefined},
                                                    {REFS_NOT_FOUND, CPLE_OpenFailed},
                                                    {REFS_UNSUPPORTED, CPLE_NotSupported},
                                                    {REFS_CORRUPT, CPLE_AppDefined},
                                                    {REFS_IO, CPLE_FileIO},
                                                    {REFS_LIMIT, CPLE_AppDefined},
                                                    {REFS_CANCELLED, CPLE_UserInterrupt},
                                                    {REFS_FORBIDDEN, CPLE_FileIO},
                                                    {REFS_CHANGED, CPLE_FileIO}}};

CPLErrorNum errorNumberOf(refs_status status) {
    for (const auto &entry : errorNumbers)
        if (entry.status == status) return entry.number;
    return CPLE_AppDefined;
}

/** Shows names of /vsicurl/ as URLs. */
void showUrls(std::string &text) {
    static const std::string prefix = "/vsicurl/";
    for (size_t at = text.find(prefix + "http"); at != std::string::npos;
         at = text.find(prefix + "http", at))
        text.erase(at, prefix.size());
}

/** Calls `show` with `text` without its secrets. A text without memory for it is replaced by a
 * general one. */
template <class Show> void showHidden(const char *text, const char *general, Show show) {
    std::string shown;
    const refs_status status = RefsGuard(nullptr, [&] {
        shown = RefsHideSecrets(text);
        showUrls(shown);
        return REFS_OK;
    });
    show(status == REFS_OK ? shown.c_str() : general);
}

void takeNote(void *, refs_note_kind kind, const char *note) {
    RefsTakeNote(kind, note);
}

} // namespace

std::string RefsHideSecrets(const char *text) {
    std::string shown(text);
    refs_redact_secrets(&shown[0]);
    shown.resize(strlen(shown.c_str()));
    return shown;
}

CPLErr RefsReport(const refs_error &error) {
    RefsRaiseNotes();
    const char *general = refs_status_text(error.status);
    showHidden(error.message[0] != '\0' ? error.message : general, general, [&](const char *text) {
        CPLError(CE_Failure, errorNumberOf(error.status), "%s: %s", refs_status_code(error.status),
                 text);
    });
    return CE_Failure;
}

bool RefsIsReported(const refs_error &error) {
    const std::string text =
        std::string(refs_status_code(error.status)) + ": " + RefsHideSecrets(error.message);
    return text == CPLGetLastErrorMsg();
}

refs_fetch_advice RefsAdvice() {
    return {"-oo URL_REWRITE=old=>new", "the open option CHANGED=WARN or IGNORE"};
}

refs_notes RefsReportNotes() {
    return refs_notes{takeNote, nullptr};
}

void RefsRaiseNote(refs_note_kind kind, const char *note) {
    showHidden(note, refs_status_text(REFS_NOMEM), [kind](const char *text) {
        if (kind == REFS_NOTE_WARNING)
            CPLError(CE_Warning, CPLE_AppDefined, "%s", text);
        else
            CPLDebug("REFS", "%s", text);
    });
}

RefsVsiErrorKept::RefsVsiErrorKept()
    : number_(VSIGetLastErrorNo()), said_(number_ != 0 ? VSIGetLastErrorMsg() : "") {}

RefsVsiErrorKept::~RefsVsiErrorKept() {
    VSIErrorReset();
    if (number_ != 0) VSIError(static_cast<VSIErrorNum>(number_), "%s", said_.c_str());
}

RefsQuietErrors::RefsQuietErrors() {
    CPLPushErrorHandlerEx(keep, this);
}

RefsQuietErrors::~RefsQuietErrors() {
    CPLPopErrorHandler();
}

void CPL_STDCALL RefsQuietErrors::keep(CPLErr kind, CPLErrorNum, const char *message) {
    auto *self = static_cast<RefsQuietErrors *>(CPLGetErrorHandlerUserData());
    if (kind < CE_Failure || !self->said_.empty()) return;
    (void)RefsGuard(nullptr, [&] {
        self->said_ = message;
        return REFS_OK;
    });
}
