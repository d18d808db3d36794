// What reading a file in small parts costs: requests, bytes and memory.

#include <gtest/gtest.h>

#include <random>
#include <vector>

extern "C" {
#include "source.h"
}

#include "far_vfs.h"
#include "memory_vfs.h"

namespace {

/// Each byte tells where it is.
std::string Counted(size_t size) {
    std::string content(size, '\0');
    for (size_t i = 0; i < size; i++) content[i] = static_cast<char>(i * 2654435761u >> 24);
    return content;
}

class Source : public testing::Test {
  protected:
    void TearDown() override { refs_source_free(source); }

    void Open(const refs_vfs *vfs) {
        ASSERT_EQ(refs_source_open(vfs, "f", &source, nullptr), REFS_OK);
    }
    std::string Read(uint64_t offset, size_t length) {
        std::string bytes(length, '\0');
        size_t got = 0;
        EXPECT_EQ(refs_source_read_some(source, {offset, length},
                                        reinterpret_cast<uint8_t *>(&bytes[0]), &got, &error),
                  REFS_OK)
            << error.message;
        bytes.resize(got);
        return bytes;
    }
    void Want(std::vector<refs_source_range> ranges) {
        EXPECT_EQ(refs_source_want(source, ranges.data(), ranges.size(), &error), REFS_OK)
            << error.message;
    }

    refs_source *source = nullptr;
    refs_error error = REFS_ERROR_INIT;
};

/* -- local files ------------------------------------------------------------------------------- */

class NearSource : public Source {
  protected:
    NearSource() {
        vfs.near = true;
        vfs.files["f"] = content = Counted(200000);
    }
    MemoryVfs vfs;
    std::string content;
};

TEST_F(NearSource, GivesTheBytesOfTheFile) {
    Open(vfs.get());
    std::mt19937 random(7);
    for (int i = 0; i < 3000; i++) {
        const size_t offset = random() % 210000, length = 1 + random() % (i % 2 ? 40 : 5000);
        const std::string expected =
            offset < content.size() ? content.substr(offset, length) : std::string();
        ASSERT_EQ(Read(offset, length), expected) << offset << "+" << length;
    }
}

TEST_F(NearSource, ReadsWhatIsLargeByItself) {
    Open(vfs.get());
    for (uint64_t at = 0; at < 200000; at += 20000) Read(at, 3000);
    EXPECT_EQ(vfs.reads, 10);
    EXPECT_EQ(refs_source_costs_of(source).bytes, 30000u);
}

TEST_F(NearSource, ReadsWhatIsSmallInBlocks) {
    Open(vfs.get());
    for (int times = 0; times < 3; times++)
        for (uint64_t at = 0; at < 200000; at += 8) Read(at, 8);
    EXPECT_EQ(vfs.reads, 13);
}

/* -- files elsewhere --------------------------------------------------------------------------- */

class FarSource : public Source {
  protected:
    FarSource() { vfs.content = Counted(80 * REFS_MIB); }
    FarVfs vfs;
};

TEST_F(FarSource, GivesTheBytesOfTheFile) {
    Open(vfs.get());
    std::mt19937 random(7);
    for (int i = 0; i < 2000; i++) {
        const size_t offset = random() % vfs.content.size();
        const size_t length = 1 + random() % (i % 10 == 0 ? 300000 : 400);
        if (i % 50 == 0) Want({{offset + 7, 9000}, {offset + 100000, 80000}, {offset / 2, 5}});
        ASSERT_EQ(Read(offset, length), vfs.content.substr(offset, length));
    }
}

TEST_F(FarSource, WaitsOnceForWhatIsWantedTogether) {
    Open(vfs.get());
    std::vector<refs_source_range> ranges;
    for (uint64_t i = 0; i < 100; i++) ranges.push_back({i * 500000, 2000});
    Want(ranges);
    for (const auto &range : ranges) Read(range.offset, range.length);
    EXPECT_EQ(vfs.waits, 1u);
    EXPECT_EQ(vfs.reads, 100u);
    EXPECT_LE(vfs.bytes, 100u * 8192);
}

TEST_F(FarSource, FetchesAtOnceWhatIsKeptTogether) {
    Open(vfs.get());
    refs_source_keep_together(source, 4 * REFS_MIB);
    Read(0, 100);
    EXPECT_EQ(vfs.bytes, 64 * REFS_KIB);
    Read(3 * REFS_MIB, 100);
    EXPECT_EQ(vfs.reads, 2u);
    EXPECT_EQ(vfs.bytes, 4 * REFS_MIB);
    for (size_t at = 0; at < 4 * REFS_MIB; at += 60000)
        ASSERT_EQ(Read(at, 1000), vfs.content.substr(at, 1000));
    EXPECT_EQ(vfs.reads, 2u);
}

TEST_F(FarSource, FetchesWhatIsKeptTogetherWithWhatIsWanted) {
    Open(vfs.get());
    refs_source_keep_together(source, 4 * REFS_MIB);
    Read(0, 100);
    Want({{9 * REFS_MIB, 100}, {1 * REFS_MIB, 100}, {2 * REFS_MIB, 100}});
    EXPECT_EQ(vfs.waits, 2u);
    EXPECT_EQ(vfs.reads, 3u);
    EXPECT_EQ(vfs.bytes, 4 * REFS_MIB + 4 * REFS_KIB);
    Want({{3 * REFS_MIB, 100}});
    EXPECT_EQ(vfs.reads, 3u);
}

TEST_F(FarSource, KeepsLargePagesApart) {
    Open(vfs.get());
    refs_source_keep_together(source, REFS_SOURCE_MAX_TOGETHER_BYTES + 1);
    Read(0, 100);
    Read(3 * REFS_MIB, 100);
    EXPECT_LE(vfs.bytes, 1 * REFS_MIB);
}

TEST_F(FarSource, FetchesSmallGapsAlong) {
    Open(vfs.get());
    std::vector<refs_source_range> ranges;
    for (uint64_t i = 0; i < 10; i++) ranges.push_back({i * 50000, 2000});
    Want(ranges);
    EXPECT_EQ(vfs.reads, 1u);
}

// With all gaps it would be 60 MB.
TEST_F(FarSource, CountsGapsAmongWhatIsWantedAtOnce) {
    Open(vfs.get());
    std::vector<refs_source_range> ranges;
    for (uint64_t i = 0; i < 1000; i++) ranges.push_back({i * 60000, 2000});
    Want(ranges);
    EXPECT_LE(vfs.mostBytesAtOnce, REFS_SOURCE_MAX_WANT_BYTES);
    for (const auto &range : ranges)
        ASSERT_EQ(Read(range.offset, 2000), vfs.content.substr(range.offset, 2000));
}

TEST_F(FarSource, KeepsWhatWasWantedLast) {
    Open(vfs.get());
    for (uint64_t at = 0; at < 60 * REFS_MIB; at += 4 * REFS_MIB) {
        std::vector<refs_source_range> ranges;
        for (uint64_t i = 0; i < 400; i++) ranges.push_back({at + i * 10000, 10000});
        Want(ranges);
        const uint64_t before = vfs.reads;
        for (const auto &range : ranges) Read(range.offset, range.length);
        ASSERT_EQ(vfs.reads, before) << at;
    }
}

TEST_F(FarSource, SaysThatTheLineIsCut) {
    Open(vfs.get());
    vfs.isCut = true;
    uint8_t byte;
    EXPECT_EQ(refs_source_read(source, 5, 1, &byte, &error), REFS_IO);
    EXPECT_STREQ(error.message, "the line is cut");
}

} // namespace
