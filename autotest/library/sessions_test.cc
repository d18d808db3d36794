/* sessions_test.cc -- how many sessions there are at a time: sessions.c alone, with sessions that
 * are counted. */
#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "library.h"
}

namespace {

int nOpen = 0, nOpened = 0;

} // namespace

extern "C" {

refs_status refs_session_open(const refs_cloud_options *, refs_session **session, refs_error *) {
    nOpen++;
    nOpened++;
    *session = reinterpret_cast<refs_session *>(new int(nOpened));
    return REFS_OK;
}

void refs_session_free(refs_session *session) {
    nOpen--;
    delete reinterpret_cast<int *>(session);
}

} // extern "C"

namespace {

refs_session *hold(int number) {
    const std::string setting = "AWS_REGION=region-" + std::to_string(number);
    const char *const settings[] = {setting.c_str(), nullptr};
    refs_session *session = nullptr;
    EXPECT_EQ(refs_library_hold_session(settings, &session, nullptr), REFS_OK);
    return session;
}

} // namespace

TEST(LibrarySessions, ThatNobodyUsesAreFew) {
    const int few = 4;
    for (int number = 0; number < 200; number++) {
        refs_library_release_session(hold(number));
        EXPECT_LE(nOpen, few);
    }
    EXPECT_EQ(nOpened, 200);
    refs_library_release_session(hold(199));
    EXPECT_EQ(nOpened, 200) << "which was kept";
    std::vector<refs_session *> held; /* in use, all of them are there */
    for (int number = 300; number < 320; number++) held.push_back(hold(number));
    EXPECT_EQ(nOpen, few + 20);
    for (refs_session *each : held) refs_library_release_session(each);
    EXPECT_EQ(nOpen, few);
}
