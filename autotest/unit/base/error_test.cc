#include "refs/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

TEST(Error, RecordsStatusAndMessage) {
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_fail(&err, REFS_CORRUPT, "%s at %d", "cut", 7), REFS_CORRUPT);
    EXPECT_EQ(err.status, REFS_CORRUPT);
    EXPECT_STREQ(err.message, "cut at 7");
}

TEST(Error, KeepsTheFirstFailure) {
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_fail(&err, REFS_IO, "first"), REFS_IO);
    EXPECT_EQ(refs_fail(&err, REFS_LIMIT, "second"), REFS_LIMIT);
    EXPECT_EQ(err.status, REFS_IO);
    EXPECT_STREQ(err.message, "first");
}

TEST(Error, MayBeNull) {
    EXPECT_EQ(refs_fail(nullptr, REFS_INVALID, "lost"), REFS_INVALID);
    EXPECT_EQ(refs_fail_nomem(nullptr), REFS_NOMEM);
    refs_error_prefix(nullptr, "lost");
    refs_error_clear(nullptr);
}

TEST(Error, PutsContextBeforeTheMessageOfAFailureOnly) {
    refs_error err = REFS_ERROR_INIT;
    refs_error_prefix(&err, "chunk %d", 1);
    EXPECT_STREQ(err.message, "");
    EXPECT_EQ(refs_fail(&err, REFS_IO, "reset"), REFS_IO);
    refs_error_prefix(&err, "chunk %d", 1);
    refs_error_prefix(&err, "/t2m");
    EXPECT_STREQ(err.message, "/t2m: chunk 1: reset");
}

TEST(Error, RepeatsNoContext) {
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_fail(&err, REFS_IO, "a.json: /t2m: reset"), REFS_IO);
    refs_error_prefix(&err, "%s", "a.json");
    EXPECT_STREQ(err.message, "a.json: /t2m: reset");
    refs_error_prefix(&err, "%s", "a");
    EXPECT_STREQ(err.message, "a: a.json: /t2m: reset");
}

TEST(Error, CutsWhatIsTooLong) {
    const std::string lengthy(3 * REFS_ERROR_SIZE, 'x');
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_fail(&err, REFS_IO, "%s", lengthy.c_str()), REFS_IO);
    refs_error_prefix(&err, "%s", lengthy.c_str());
    EXPECT_EQ(std::string(err.message), std::string(REFS_ERROR_SIZE - 1, 'x'));
}

TEST(Error, IsForgottenWhenCleared) {
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_fail(&err, REFS_IO, "first"), REFS_IO);
    refs_error_clear(&err);
    EXPECT_EQ(refs_fail(&err, REFS_LIMIT, "second"), REFS_LIMIT);
    EXPECT_STREQ(err.message, "second");
}

TEST(Error, NamesEveryStatusDifferently) {
    std::set<std::string> names;
    for (int status = REFS_OK; status <= REFS_CHANGED; status++) {
        names.insert(refs_status_text(static_cast<refs_status>(status)));
        names.insert(refs_status_code(static_cast<refs_status>(status)));
    }
    EXPECT_EQ(names.size(), 2 * (static_cast<size_t>(REFS_CHANGED) + 1));
    EXPECT_EQ(names.count("unknown status") + names.count("REFS"), 0u);
    EXPECT_STREQ(refs_status_code(static_cast<refs_status>(REFS_CHANGED + 1)), "REFS");
}

TEST(Error, HasTheCodeOfItsEnumerator) {
    EXPECT_STREQ(refs_status_code(REFS_NOT_FOUND), "NOT_FOUND");
    EXPECT_STREQ(refs_status_code(REFS_FORBIDDEN), "FORBIDDEN");
    EXPECT_STREQ(refs_status_code(REFS_CHANGED), "CHANGED");
}

TEST(Error, OfTheSystemIsAStatus) {
    EXPECT_EQ(refs_status_of_errno(ENOENT), REFS_NOT_FOUND);
    EXPECT_EQ(refs_status_of_errno(ENOTDIR), REFS_NOT_FOUND);
    EXPECT_EQ(refs_status_of_errno(EACCES), REFS_FORBIDDEN);
    EXPECT_EQ(refs_status_of_errno(EIO), REFS_IO);
}

TEST(Error, ShowsVariablesUnderTheNamesThatNetcdfGivesThem) {
    refs_error err = REFS_ERROR_INIT;
    (void)refs_fail(&err, REFS_IO, "/_nc4_non_coord_x, \"/g/_nc4_non_coord_y\" chunk %s",
                    "g/_nc4_non_coord_x/0.0: no");
    refs_error_prefix(&err, "a.nc: %s", "/_nc4_non_coord_z");
    EXPECT_STREQ(err.message, "a.nc: /z: /x, \"/g/y\" chunk g/_nc4_non_coord_x/0.0: no");
    std::string heard;
    const refs_notes notes = {[](void *user, refs_note_kind, const char *text) {
                                  *static_cast<std::string *>(user) = text;
                              },
                              &heard};
    refs_note(&notes, REFS_NOTE_WARNING, "%s is left out", "/_nc4_non_coord_");
    EXPECT_EQ(heard, "/ is left out");
}

TEST(Notes, ReachTheirReceiver) {
    std::string heard;
    const refs_notes notes = {[](void *user, refs_note_kind kind, const char *text) {
                                  *static_cast<std::string *>(user) +=
                                      kind == REFS_NOTE_WARNING ? "W:" : "D:";
                                  *static_cast<std::string *>(user) += text;
                              },
                              &heard};
    refs_note(&notes, REFS_NOTE_WARNING, "%d duplicate keys", 3);
    refs_note(&notes, REFS_NOTE_DEBUG, ";");
    EXPECT_EQ(heard, "W:3 duplicate keysD:;");
}

TEST(Notes, NeedNoReceiver) {
    const refs_notes nobody = {nullptr, nullptr};
    refs_note(nullptr, REFS_NOTE_WARNING, "unheard");
    refs_note(&nobody, REFS_NOTE_WARNING, "unheard");
}
