// source_test.cc -- bytes of a file over a network: none twice, and those together that can be.

#include <gtest/gtest.h>

#include <memory>

#include "memory_vfs.h"

extern "C" {
#include "source.h"
}

namespace {

/** A remote file whose byte i is i % 251. */
class Remote {
  public:
    explicit Remote(size_t size) {
        std::string content(size, '\0');
        for (size_t i = 0; i < size; i++) content[i] = static_cast<char>(i % 251);
        files.files["far"] = content;
        vfs = *files.get();
        vfs.read_many = [](void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                           refs_error *err) {
            for (size_t i = 0; i < n; i++) {
                size_t got;
                REFS_TRY(static_cast<MemoryVfs *>(self)->get()->read(
                    self, handle, ranges[i].offset, ranges[i].length, ranges[i].dst, &got, err));
            }
            return REFS_OK;
        };
        EXPECT_EQ(refs_source_open(&vfs, "far", &source, nullptr), REFS_OK);
    }
    ~Remote() { refs_source_free(source); }

    void Want(uint64_t offset, uint64_t length) {
        refs_source_range range = {offset, length};
        EXPECT_EQ(refs_source_want(source, &range, 1, nullptr), REFS_OK);
    }

    void ExpectBytes(uint64_t offset, size_t length) {
        std::string bytes(length, '\0');
        refs_error err = REFS_ERROR_INIT;
        ASSERT_EQ(
            refs_source_read(source, offset, length, reinterpret_cast<uint8_t *>(&bytes[0]), &err),
            REFS_OK)
            << err.message;
        EXPECT_EQ(bytes, files.files["far"].substr(offset, length));
    }

    MemoryVfs files;
    refs_vfs vfs;
    refs_source *source = nullptr;
};

} // namespace

TEST(Sources, ReadWhatIsBehindAPieceThatIsKeptOfTheSameBlock) {
    Remote remote(1 << 20);
    remote.Want(210000, 100);
    remote.ExpectBytes(230000, 5000);
    remote.ExpectBytes(196000, 40000);
}

TEST(Sources, ReadTogetherInOneRound) {
    Remote remote(1 << 20);
    refs_source_range ranges[] = {{900000, 10}, {10, 20}, {500000, 4000}};
    ASSERT_EQ(refs_source_want(remote.source, ranges, 3, nullptr), REFS_OK);
    EXPECT_EQ(refs_source_costs_of(remote.source).reads, 3u);
    EXPECT_EQ(refs_source_costs_of(remote.source).rounds, 1u);
    remote.ExpectBytes(900000, 10);
    remote.ExpectBytes(500000, 4000);
    EXPECT_EQ(refs_source_costs_of(remote.source).rounds, 1u);
    EXPECT_TRUE(refs_source_has(remote.source, {500000, 4000}));
    EXPECT_FALSE(refs_source_has(remote.source, {500000, 40000}));
}
