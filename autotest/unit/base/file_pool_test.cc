/* file_pool_test.cc -- a limit on files that are open at a time. */
#include "in_threads.h"
#include "refs/file_pool.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

/** Files of one byte, the last of their names; those that begin with "/vsi" are elsewhere, and
 * "gone" is not there. */
struct Files {
    std::atomic<int> nOpen{0}, mostOpen{0}, opens{0};
    uint64_t inode = 1;
    refs_vfs vfs{};

    Files() {
        vfs.self = this;
        vfs.open = [](void *self, const char *location, void **handle, refs_error *err) {
            auto &files = *static_cast<Files *>(self);
            if (strcmp(location, "gone") == 0) return refs_fail(err, REFS_NOT_FOUND, "gone");
            files.opens++;
            const int n = strncmp(location, "/vsi", 4) == 0 ? 0 : ++files.nOpen;
            for (int most = files.mostOpen; n > most;)
                if (files.mostOpen.compare_exchange_weak(most, n)) break;
            *handle = new std::string(location);
            return REFS_OK;
        };
        vfs.size = [](void *, void *, uint64_t *size, refs_error *) {
            *size = 1;
            return REFS_OK;
        };
        vfs.read = [](void *, void *handle, const refs_vfs_range *range, size_t *got,
                      refs_error *) {
            *range->dst = static_cast<uint8_t>(static_cast<std::string *>(handle)->back());
            *got = 1;
            return REFS_OK;
        };
        vfs.close = [](void *self, void *handle) {
            auto *name = static_cast<std::string *>(handle);
            if (name->compare(0, 4, "/vsi") != 0) static_cast<Files *>(self)->nOpen--;
            delete name;
        };
        vfs.peek = [](void *self, const char *, void *, refs_vfs_validators *validators,
                      refs_error *) {
            *validators = refs_vfs_validators{};
            validators->inode = static_cast<Files *>(self)->inode;
            return REFS_OK;
        };
        vfs.is_local = [](void *, const char *location) {
            return strncmp(location, "/vsi", 4) != 0;
        };
    }
};

struct FreePool {
    void operator()(refs_file_pool *pool) const { refs_file_pool_free(pool); }
};

class FilePool : public testing::Test {
  protected:
    void Limit(size_t max) {
        refs_file_pool *pool = nullptr;
        ASSERT_EQ(refs_file_pool_open(&files_.vfs, max, &pool, nullptr), REFS_OK);
        pool_.reset(pool);
        vfs_ = refs_file_pool_functions(pool);
    }
    void *Open(const std::string &name) {
        void *handle = nullptr;
        EXPECT_EQ(vfs_->open(vfs_->self, name.c_str(), &handle, nullptr), REFS_OK);
        return handle;
    }
    char Read(void *handle) {
        uint8_t byte = 0;
        const refs_vfs_range range = {0, 1, &byte};
        size_t got = 0;
        EXPECT_EQ(vfs_->read(vfs_->self, handle, &range, &got, nullptr), REFS_OK);
        return static_cast<char>(byte);
    }
    void Close(void *handle) { vfs_->close(vfs_->self, handle); }

    Files files_;
    std::unique_ptr<refs_file_pool, FreePool> pool_;
    const refs_vfs *vfs_ = nullptr;
};

} // namespace

TEST_F(FilePool, AreOpenThoughMoreAreHeld) {
    Limit(2);
    std::vector<void *> handles;
    for (const char *name : {"a", "b", "c", "d"}) handles.push_back(Open(name));
    for (size_t i = 0; i < handles.size(); i++)
        EXPECT_EQ(Read(handles[i]), static_cast<char>('a' + i));
    EXPECT_EQ(files_.mostOpen, 2);
    for (void *handle : handles) Close(handle);
    EXPECT_EQ(files_.nOpen, 0);
}

TEST_F(FilePool, CloseTheLeastRecentlyUsedFirst) {
    Limit(2);
    void *a = Open("a"), *b = Open("b");
    Read(a);
    void *c = Open("c"); // b goes
    EXPECT_EQ(files_.opens, 3);
    Read(a);
    Read(c);
    EXPECT_EQ(files_.opens, 3);
    Read(b);
    EXPECT_EQ(files_.opens, 4);
    for (void *handle : {a, b, c}) Close(handle);
}

TEST_F(FilePool, OfOtherMachinesAreNotCounted) {
    Limit(1);
    void *far = Open("/vsicurl/x"), *near = Open("y");
    EXPECT_EQ(Read(far), 'x');
    EXPECT_EQ(Read(near), 'y');
    EXPECT_EQ(Read(far), 'x');
    EXPECT_EQ(files_.opens, 2);
    Close(far);
    Close(near);
}

TEST_F(FilePool, ThatAreNotThereTakeNoPlace) {
    Limit(1);
    for (int i = 0; i < 3; i++) {
        void *handle = nullptr;
        EXPECT_EQ(vfs_->open(vfs_->self, "gone", &handle, nullptr), REFS_NOT_FOUND);
    }
    void *handle = Open("a");
    EXPECT_EQ(Read(handle), 'a');
    Close(handle);
}

TEST_F(FilePool, AreReadByMoreThreadsThanThereAreFiles) {
    Limit(3);
    std::vector<void *> handles;
    for (char name = 'a'; name <= 'p'; name++) handles.push_back(Open(std::string(1, name)));
    std::atomic<int> wrong{0};
    inThreads([&](unsigned t) {
        for (size_t i = 0; i < 400; i++) {
            const size_t which = (i * (2 * t + 1) + t) % handles.size();
            wrong += Read(handles[which]) != static_cast<char>('a' + which);
        }
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(files_.mostOpen, 3);
    for (void *handle : handles) Close(handle);
    EXPECT_EQ(files_.nOpen, 0);
}

TEST_F(FilePool, DoesNotReadOnInAnotherFileOfTheSameName) {
    Limit(1);
    void *a = Open("a"), *b = Open("b"); // a is closed below
    files_.inode = 2;
    uint8_t byte = 0;
    const refs_vfs_range range = {0, 1, &byte};
    size_t got = 0;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(vfs_->read(vfs_->self, a, &range, &got, &err), REFS_IO);
    EXPECT_STREQ(err.message, "a: the name now belongs to another file (expected inode 1, found 2);"
                              " open the set again");
    files_.inode = 1;
    EXPECT_EQ(Read(a), 'a');
    for (void *handle : {a, b}) Close(handle);
    EXPECT_EQ(files_.nOpen, 0);
}

TEST_F(FilePool, ReopensFilesOnceInTheChildOfAFork) {
    Limit(2);
    void *a = Open("a");
    const pid_t child = fork();
    if (child == 0) {
        const bool isRead = Read(a) == 'a' && Read(a) == 'a';
        const bool isReopened = files_.opens == 2 && files_.nOpen == 1;
        Close(a);
        _exit(isRead && isReopened && files_.nOpen == 0 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(Read(a), 'a');
    EXPECT_EQ(files_.opens, 1);
    Close(a);
}

TEST_F(FilePool, SharesTheLimitOfTheProcessWithOtherPools) {
    const size_t most = refs_file_pool_process_limit();
    EXPECT_GE(most, 8u);
    EXPECT_LE(most, 1024u);
    Limit(0);
    refs_file_pool *other = nullptr;
    ASSERT_EQ(refs_file_pool_open(&files_.vfs, 0, &other, nullptr), REFS_OK);
    const refs_vfs *vfs = refs_file_pool_functions(other);
    std::vector<void *> handles, others;
    for (size_t i = 0; i < most; i++) {
        void *handle = nullptr;
        handles.push_back(Open("a"));
        ASSERT_EQ(vfs->open(vfs->self, "b", &handle, nullptr), REFS_OK);
        others.push_back(handle);
    }
    EXPECT_EQ(files_.nOpen, static_cast<int>(most));
    EXPECT_EQ(files_.mostOpen, static_cast<int>(most));
    EXPECT_EQ(Read(handles[0]), 'a');
    for (void *handle : others) vfs->close(vfs->self, handle);
    refs_file_pool_free(other);
    for (void *handle : handles) Close(handle);
    EXPECT_EQ(files_.nOpen, 0);
}
