#include "refs/watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include <unistd.h>

#include "text.h"

namespace {

namespace fs = std::filesystem;

struct FreeWatch {
    void operator()(refs_watch *watch) const { refs_watch_free(watch); }
};

/** A watch over a folder of its own. */
class Watch : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(folder_);
        WriteOld(path_, "0123456789");
        Renew(refs_vfs_posix());
    }
    void TearDown() override { fs::remove_all(folder_); }

    void Renew(const refs_vfs *below) {
        refs_watch *watch = nullptr;
        ASSERT_EQ(refs_watch_open(below, &watch, nullptr), REFS_OK);
        watch_.reset(watch);
        vfs_ = refs_watch_functions(watch);
    }

    static void Write(const std::string &path, const std::string &content) {
        std::ofstream(path, std::ios::binary) << content;
    }
    static void WriteOld(const std::string &path, const std::string &content, int hours = 9) {
        Write(path, content);
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    }

    /** What reading the whole file comes to: its content, or the message. */
    std::string Read(const std::string &path) {
        Buf content;
        refs_error err = REFS_ERROR_INIT;
        return refs_vfs_read_whole(vfs_, path.c_str(), 1000, &content, &err) == REFS_OK
                   ? content.Text()
                   : err.message;
    }
    bool IsCurrent() { return refs_watch_is_current(watch_.get()); }

    const std::string folder_ = testing::TempDir() + "refs-watch-" + std::to_string(getpid());
    const std::string path_ = folder_ + "/file";
    std::unique_ptr<refs_watch, FreeWatch> watch_;
    const refs_vfs *vfs_ = nullptr;
};

const char replaced[] = "was replaced after it was first read";

} // namespace

TEST_F(Watch, FindsWhatIsAsItWas) {
    EXPECT_TRUE(IsCurrent()) << "nothing was read";
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_TRUE(IsCurrent());
    EXPECT_EQ(refs_watch_sum_of(watch_.get()).locations, 1u);
    EXPECT_EQ(refs_watch_sum_of(watch_.get()).unknown, 0u);
}

TEST_F(Watch, FindsAnotherSizeAndAnotherTimeAndRefusesToReadOn) {
    for (const char *content : {"9876543210", "01234"}) {
        WriteOld(path_, "0123456789", 9);
        Renew(refs_vfs_posix());
        EXPECT_EQ(Read(path_), "0123456789");
        WriteOld(path_, content, 8);
        EXPECT_FALSE(IsCurrent());
        EXPECT_NE(Read(path_).find(replaced), std::string::npos);
        EXPECT_NE(Read(path_).find(path_), std::string::npos);
    }
}

/* Who asks in between is not given what is read of the file as it was before. */
TEST_F(Watch, FindsWhatIsReplacedBetweenOpeningAndNoting) {
    static std::function<void()> afterOpen;
    static refs_vfs below = *refs_vfs_posix();
    below.open = [](void *self, const char *location, void **handle, refs_error *err) {
        const refs_status status = refs_vfs_posix()->open(self, location, handle, err);
        afterOpen();
        return status;
    };
    afterOpen = [this] {
        EXPECT_TRUE(IsCurrent());
        WriteOld(folder_ + "/next", "9876543210", 8);
        fs::rename(folder_ + "/next", path_);
        EXPECT_FALSE(IsCurrent());
    };
    Renew(&below);
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_FALSE(IsCurrent());
}

/* Nobody was given anything of what it was before. */
TEST_F(Watch, ReadsWhatIsReplacedBeforeItIsOpenedFirst) {
    static std::function<void()> beforeOpen;
    static refs_vfs below = *refs_vfs_posix();
    below.open = [](void *self, const char *location, void **handle, refs_error *err) {
        beforeOpen();
        return refs_vfs_posix()->open(self, location, handle, err);
    };
    beforeOpen = [this] {
        WriteOld(folder_ + "/next", "987", 8);
        fs::rename(folder_ + "/next", path_);
        beforeOpen = [] {};
    };
    Renew(&below);
    EXPECT_EQ(Read(path_), "987");
    EXPECT_TRUE(IsCurrent());
}

TEST_F(Watch, ReadsWhatItForgotAsItIsNow) {
    EXPECT_EQ(Read(path_), "0123456789");
    WriteOld(path_, "01234");
    refs_watch_forget(watch_.get(), (folder_ + "/other").c_str());
    EXPECT_NE(Read(path_).find(replaced), std::string::npos);
    refs_watch_forget(watch_.get(), folder_.c_str());
    EXPECT_EQ(Read(path_), "01234");
    WriteOld(path_, "0123456");
    EXPECT_NE(Read(path_).find(replaced), std::string::npos);
}

TEST_F(Watch, ForgetsNoFileWhoseNameOnlyBeginsAsTheOther) {
    const std::string longer = path_ + ".bak";
    WriteOld(longer, "0123456789");
    EXPECT_EQ(Read(longer), "0123456789");
    WriteOld(longer, "01234");
    refs_watch_forget(watch_.get(), path_.c_str());
    EXPECT_NE(Read(longer).find(replaced), std::string::npos);
}

TEST_F(Watch, IsCurrentAgainOnceWhatHasChangedIsForgotten) {
    EXPECT_EQ(Read(path_), "0123456789");
    WriteOld(path_, "01234");
    EXPECT_NE(Read(path_).find(replaced), std::string::npos);
    EXPECT_FALSE(IsCurrent());
    refs_watch_forget(watch_.get(), path_.c_str());
    EXPECT_EQ(Read(path_), "01234");
    EXPECT_TRUE(IsCurrent());
    WriteOld(path_, "0123456");
    EXPECT_FALSE(IsCurrent());
}

TEST_F(Watch, FindsAnotherFileOfTheSameSizeAndTime) {
    EXPECT_EQ(Read(path_), "0123456789");
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the clock of inodes is coarse
    Write(path_ + "2", "9876543210");
    fs::last_write_time(path_ + "2", fs::last_write_time(path_));
    fs::rename(path_ + "2", path_);
    EXPECT_FALSE(IsCurrent());
    EXPECT_NE(Read(path_).find(replaced), std::string::npos) << "half of each would be read";
}

TEST_F(Watch, ReadsOnWhereAFileHasAnotherNumberOrWasGivenAnotherOwner) {
    EXPECT_EQ(Read(path_), "0123456789");
    fs::permissions(path_, fs::perms::owner_read);
    EXPECT_EQ(Read(path_), "0123456789") << "the time of its inode changed";
}

TEST_F(Watch, FindsContentThatWasWrittenUnderTheSameTime) {
    EXPECT_EQ(Read(path_), "0123456789");
    const auto time = fs::last_write_time(path_);
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the clock of inodes is coarse
    Write(path_, "9876543210");
    fs::last_write_time(path_, time);
    EXPECT_FALSE(IsCurrent());
}

TEST_F(Watch, FindsWhatIsThereNoMoreAndWhatWasNotThereBefore) {
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_NE(Read(path_ + "2"), "");
    EXPECT_TRUE(IsCurrent());
    WriteOld(path_ + "2", "late");
    EXPECT_FALSE(IsCurrent());
    EXPECT_EQ(Read(path_ + "2"), "late");
    EXPECT_FALSE(IsCurrent()) << "who looked for it before found nothing";
    Renew(refs_vfs_posix());
    EXPECT_EQ(Read(path_), "0123456789");
    fs::remove(path_);
    EXPECT_FALSE(IsCurrent());
}

TEST_F(Watch, TrustsNoFileThatWasWrittenJustBeforeItWasRead) {
    Write(path_, "0123456789");
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_FALSE(IsCurrent());
    EXPECT_EQ(Read(path_), "0123456789") << "which is no failure";
}

TEST_F(Watch, RefusesWhatIsWrittenToWhileItIsRead) {
    void *handle = nullptr;
    char bytes[4];
    size_t got = 0;
    refs_error err = REFS_ERROR_INIT;
    const auto read = [&] {
        const refs_vfs_range range = {2, sizeof bytes, reinterpret_cast<uint8_t *>(bytes)};
        return vfs_->read(vfs_->self, handle, &range, &got, &err);
    };
    ASSERT_EQ(vfs_->open(vfs_->self, path_.c_str(), &handle, nullptr), REFS_OK);
    EXPECT_EQ(read(), REFS_OK);
    EXPECT_EQ(std::string(bytes, got), "2345");
    std::ofstream(path_, std::ios::binary | std::ios::in) << "9876";
    EXPECT_EQ(read(), REFS_CHANGED);
    EXPECT_NE(std::string(err.message).find(replaced), std::string::npos) << err.message;
    vfs_->close(vfs_->self, handle);
}

TEST_F(Watch, CountsWhatNothingIsKnownOfWithoutAsking) {
    refs_vfs blind = *refs_vfs_posix();
    blind.peek = [](void *, const char *, void *, refs_vfs_validators *, refs_error *) {
        return REFS_UNSUPPORTED;
    };
    blind.validators = [](void *, const char *, refs_vfs_validators *, refs_error *) {
        ADD_FAILURE() << "that may be a request";
        return REFS_OK;
    };
    static int forgotten = 0;
    blind.forget = [](void *, const char *) { forgotten++; };
    Renew(&blind);
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_NE(Read(path_ + "2"), "");
    EXPECT_EQ(refs_watch_sum_of(watch_.get()).unknown, 2u);
    EXPECT_TRUE(IsCurrent());
    EXPECT_EQ(forgotten, 2) << "once for each";
}

TEST_F(Watch, RemembersSoManyLocationsAndNoMore) {
    for (int i = 0; i < REFS_WATCH_MAX_LOCATIONS - 1; i++) Read(path_ + "-" + std::to_string(i));
    EXPECT_EQ(Read(path_), "0123456789");
    EXPECT_TRUE(IsCurrent());
    EXPECT_NE(Read(path_ + "-more"), "");
    EXPECT_FALSE(IsCurrent());
    EXPECT_EQ(Read(path_), "0123456789");
}

TEST_F(Watch, ExpectsAFileAsAnotherWatchSawIt) {
    const std::unique_ptr<refs_watch, FreeWatch> before = std::move(watch_);
    const refs_vfs *functions = refs_watch_functions(before.get());
    Buf content;
    ASSERT_EQ(refs_vfs_read_whole(functions, path_.c_str(), 1000, &content, nullptr), REFS_OK);
    Renew(refs_vfs_posix());
    refs_watch_expect(watch_.get(), before.get(), path_.c_str());
    refs_watch_expect(watch_.get(), before.get(), "/never/seen");
    WriteOld(path_, "9876543210", 8);
    EXPECT_NE(Read(path_).find("was replaced"), std::string::npos);
}

TEST_F(Watch, ExpectsNothingOfWhatAnotherHasForgotten) {
    const std::unique_ptr<refs_watch, FreeWatch> before = std::move(watch_);
    Buf content;
    ASSERT_EQ(refs_vfs_read_whole(refs_watch_functions(before.get()), path_.c_str(), 1000, &content,
                                  nullptr),
              REFS_OK);
    refs_watch_forget(before.get(), path_.c_str());
    Renew(refs_vfs_posix());
    EXPECT_EQ(Read(path_), "0123456789");
    refs_watch_expect(watch_.get(), before.get(), path_.c_str());
    refs_watch_expect_all(watch_.get(), before.get());
    EXPECT_TRUE(IsCurrent());
}

TEST_F(Watch, AsksForRelativeNamesAsTheyAreIfTheProcessStays) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    Renew(refs_vfs_posix());
    refs_watch_stay(watch_.get());
    refs_vfs_validators known;
    const refs_status here = vfs_->validators(vfs_->self, "file", &known, nullptr);
    fs::current_path("/");
    const refs_status elsewhere = vfs_->validators(vfs_->self, "file", &known, nullptr);
    fs::current_path(before);
    EXPECT_EQ(here, REFS_OK);
    EXPECT_NE(elsewhere, REFS_OK);
}

TEST_F(Watch, AsksForRelativeNamesWhereTheyWere) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    Renew(refs_vfs_posix());
    fs::current_path("/");
    refs_vfs_validators known;
    const refs_status status = vfs_->validators(vfs_->self, "file", &known, nullptr);
    const refs_status peeked = vfs_->peek(vfs_->self, "file", nullptr, &known, nullptr);
    std::string names;
    const refs_vfs_listing listing = {[](void *user, refs_str name, refs_error *) {
                                          static_cast<std::string *>(user)->append(name.data,
                                                                                   name.size);
                                          return REFS_OK;
                                      },
                                      &names};
    const refs_status listed = vfs_->list(vfs_->self, ".", &listing, nullptr);
    fs::current_path(before);
    EXPECT_EQ(status, REFS_OK);
    EXPECT_EQ(peeked, REFS_OK);
    EXPECT_EQ(known.size, 10u);
    EXPECT_EQ(listed, REFS_OK);
    EXPECT_EQ(names, "file");
}
