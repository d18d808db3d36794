/* fuzz_name.cc -- names that users write: each is parsed, or refused in words. What is shown for it
 * is parsed to the same. */
#include <cstdlib>
#include <string>

#include "open_name.h"
#include "report.h"

extern "C" {
#include "fuzz.h"
}

namespace {

/** A name with these parts is as good as the one that was parsed. */
void checkShown(const RefsName &name) {
    const std::string array = "/" + name.array;
    const bool ambiguous = name.selection.empty() && array.back() == ']';
    /* What has secrets is kept for good under a number: not here, as there is no end of names. */
    const bool hidden = RefsHideSecrets(name.set.c_str()) != name.set;
    if (ambiguous || hidden || name.set.find('"') != std::string::npos) return;
    RefsName again;
    std::string problem;
    const std::string shown = RefsSubdatasetName(name, array.c_str()) + RefsSelectionSuffix(name);
    if (!RefsNameParse(shown.c_str(), again, problem)) abort();
    if (again.set != name.set || again.array != array || again.selection != name.selection ||
        again.setIndex != name.setIndex || again.location != name.location)
        abort();
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text(reinterpret_cast<const char *>(data), size);
    RefsName name;
    std::string problem;
    const bool parsed = RefsNameParse(text.c_str(), name, problem);
    if (parsed == !problem.empty()) abort();
    if (!parsed) return 0;
    (void)RefsKeepsIn(name);
    (void)RefsKeptBeside(name);
    if (RefsNameIsPrefixed(text.c_str())) checkShown(name);
    return 0;
}
