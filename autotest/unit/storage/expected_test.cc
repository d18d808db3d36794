// expected_test.cc -- locations that are not as whoever refers to them has seen them.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include "driven_queue.h"
#include "refs/fetch.h"
#include "temporary_folder.h"

namespace {

constexpr int64_t seen = 1714521600;

class Expected : public testing::Test {
  protected:
    void SetUp() override {
        folder_.Write("file", "0123456789");
        name_ = folder_ / "file";
        const utimbuf times = {seen, seen};
        ASSERT_EQ(utime(name_.c_str(), &times), 0);
    }

    // What was read of the file, or why not.
    std::string Read(const refs_expected &expected, refs_changed changed = REFS_CHANGED_ERROR,
                     int times = 1) {
        refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
        options.changed = changed;
        options.advice = advice;
        options.notes = {[](void *user, refs_note_kind, const char *text) {
                             static_cast<Expected *>(user)->notes += std::string(text) + "\n";
                         },
                         this};
        expected_ = expected;
        refs_fetcher *fetcher = nullptr;
        EXPECT_EQ(refs_fetcher_open(refs_vfs_posix(), &options, &fetcher, nullptr), REFS_OK);
        std::string said;
        for (int i = 0; i < times; i++)
            for (const std::string &name : names.empty() ? std::vector{name_} : names)
                said = Fetch(fetcher, name);
        refs_fetcher_free(fetcher);
        return said;
    }

    std::string ETag() const {
        struct stat status;
        EXPECT_EQ(stat(name_.c_str(), &status), 0);
        char text[80];
        snprintf(text, sizeof text, "%llx-%llx-%llx",
                 static_cast<unsigned long long>(status.st_ino),
                 static_cast<unsigned long long>(status.st_mtime) * 1000000ull, 10ull);
        return text;
    }

    std::string notes, name_;
    std::vector<std::string> names; // read instead of name_, unless empty
    TemporaryFolder folder_;
    refs_fetch_advice advice = {};

  private:
    std::string Fetch(refs_fetcher *fetcher, const std::string &name) {
        refs_range range = {};
        EXPECT_EQ(refs_fetcher_location_id(fetcher, name.c_str(), &range.location_id, nullptr),
                  REFS_OK);
        range.location = name.c_str();
        range.offset = 3;
        range.length = 2;
        DrivenQueue queue({range});
        queue.expect(0, expected_);
        queue.take = [this](size_t, refs_bytes bytes, refs_block *, refs_error *) {
            read_.assign(reinterpret_cast<const char *>(bytes.data), bytes.size);
            return REFS_OK;
        };
        refs_error err = REFS_ERROR_INIT;
        return queue.run(fetcher, &err) == REFS_OK ? read_ : err.message;
    }

    std::string read_;
    refs_expected expected_ = {};
};

TEST_F(Expected, NothingIsNoReasonToRefuse) {
    EXPECT_EQ(Read({nullptr, 0, 0, 0, false, 0}), "34");
}

TEST_F(Expected, TimesAreThoseUntilWhichAFileMayHaveChanged) {
    EXPECT_EQ(Read({nullptr, seen, 0, 0, false, 0}), "34");
    EXPECT_EQ(Read({nullptr, seen + 1, 0, 0, false, 0}), "34");
    const std::string said = Read({nullptr, seen - 1, 0, 0, false, 0});
    EXPECT_EQ(said, name_ + ": it changed after its references were made: it was modified at "
                            "2024-05-01T00:00:00Z, after 2024-04-30T23:59:59Z (index it again)");
    advice.changed = "this";
    EXPECT_EQ(Read({nullptr, seen - 1, 0, 0, false, 0}),
              said.substr(0, said.size() - 1) + "; this reads it anyway)");
}

// A date within a second of the answer proves nothing, and is a date.
TEST_F(Expected, DatesThatAreRecentAreTold) {
    refs_expected expected = {};
    refs_vfs_validators known = {};
    char text[320];
    expected.modified_s = seen;
    known.fresh_s = seen + 60;
    EXPECT_TRUE(refs_expected_differs(&expected, &known, text, sizeof text));
    EXPECT_STREQ(text, "it was modified at 2024-05-01T00:01:00Z, before at 2024-05-01T00:00:00Z");
    expected.modified_s = 0;
    expected.not_after_s = seen;
    EXPECT_TRUE(refs_expected_differs(&expected, &known, text, sizeof text));
    EXPECT_STREQ(text, "it was modified at 2024-05-01T00:01:00Z, after 2024-05-01T00:00:00Z");
}

TEST_F(Expected, ETagsOfFilesAreMadeOfNumberTimeAndSize) {
    EXPECT_EQ(Read({ETag().c_str(), 0, 0, 0, false, 0}), "34");
    EXPECT_EQ(Read({("\"" + ETag() + "\"").c_str(), 0, 0, 0, false, 0}), "34");
    EXPECT_NE(Read({"other", 0, 0, 0, false, 0})
                  .find("its ETag is \"" + ETag() + "\", and was \"other\""),
              std::string::npos);
}

TEST_F(Expected, OtherSizesAreNotReadAnyway) {
    advice.changed = "this";
    const std::string said = Read({nullptr, 0, seen - 9, 11, false, 0});
    EXPECT_NE(said.find("it has 10 bytes, and had 11 (index it again)"), std::string::npos) << said;
}

TEST_F(Expected, CopiesOfAnotherTimeAreTold) {
    EXPECT_NE(Read({nullptr, 0, seen - 9, 10, false, 0}).find("it was modified"),
              std::string::npos);
    EXPECT_EQ(notes, "");
    EXPECT_EQ(Read({nullptr, 0, seen - 9, 10, true, 0}, REFS_CHANGED_ERROR, 3), "34");
    EXPECT_EQ(std::count(notes.begin(), notes.end(), '\n'), 1) << notes;
}

TEST_F(Expected, OtherDatesOfManyFilesGiveOneWarning) {
    folder_.Write("other", "0123456789");
    names = {name_, folder_ / "other"};
    EXPECT_EQ(Read({nullptr, 0, seen - 9, 10, true, 0}), "34");
    EXPECT_EQ(std::count(notes.begin(), notes.end(), '\n'), 1) << notes;
    notes.clear();
    EXPECT_EQ(Read({nullptr, 0, seen - 9, 11, false, 0}, REFS_CHANGED_WARN), "34");
    EXPECT_EQ(std::count(notes.begin(), notes.end(), '\n'), 2) << notes;
}

TEST_F(Expected, CopiesOfAnotherSizeAreRefused) {
    EXPECT_NE(Read({nullptr, 0, seen - 9, 11, true, 0}).find("it has 10 bytes, and had 11"),
              std::string::npos);
    EXPECT_NE(Read({nullptr, 0, seen - 9, 0, true, 0}).find("it was modified"), std::string::npos);
}

TEST_F(Expected, ChangesAreToldOnceOrNotAtAll) {
    EXPECT_EQ(Read({"other", 0, 0, 0, false, 0}, REFS_CHANGED_WARN, 3), "34");
    EXPECT_EQ(std::count(notes.begin(), notes.end(), '\n'), 1) << notes;
    notes.clear();
    EXPECT_EQ(Read({"other", 0, 0, 0, false, 0}, REFS_CHANGED_IGNORE), "34");
    EXPECT_EQ(notes, "");
}

} // namespace
