// parquet_writer_test.cc -- sets as folders of Parquet files.
#include "writer_under_test.h"

namespace {

const char kArray[] = R"({"zarr_format":2,"shape":[25],"chunks":[1],"dtype":"<i2"})";

TEST(ParquetWriter, WritesRecordFilesThatHoldChunks) {
    WriterUnderTest under("a.parq");
    under.options.record_size = 10;
    ASSERT_TRUE(under.Open()) << under.Message();
    ASSERT_TRUE(under.Document("g/a/.zarray", kArray));
    ASSERT_TRUE(under.Array("g/a/", {25}));
    for (uint64_t i = 0; i < 10; i++)
        ASSERT_TRUE(under.Range(i, "/d/" + std::to_string(i / 4), i, 1));
    ASSERT_TRUE(under.Range(24, "/d/x", 24, 1));
    ASSERT_TRUE(under.Finish()) << under.Message();
    for (uint64_t i = 0; i < 10; i++)
        EXPECT_EQ(under.At("g/a/" + std::to_string(i)),
                  "/d/" + std::to_string(i / 4) + " " + std::to_string(i) + "+1");
    EXPECT_EQ(under.At("g/a/10"), "absent");
    EXPECT_EQ(under.At("g/a/23"), "absent");
    EXPECT_EQ(under.At("g/a/24"), "/d/x 24+1");
    EXPECT_TRUE(std::filesystem::exists(under.folder / "a.parq/g/a/refs.0.parq"));
    EXPECT_FALSE(std::filesystem::exists(under.folder / "a.parq/g/a/refs.1.parq"));
    EXPECT_TRUE(std::filesystem::exists(under.folder / "a.parq/g/a/refs.2.parq"));
}

TEST(ParquetWriter, WritesDictionariesOfAnyWidth) {
    for (const uint64_t n_urls : {1, 2, 3, 5, 17, 300}) {
        WriterUnderTest under("a.parq");
        ASSERT_TRUE(under.Open());
        ASSERT_TRUE(under.Document(
            "a/.zarray", R"({"zarr_format":2,"shape":[1000],"chunks":[1],"dtype":"<i2"})"));
        ASSERT_TRUE(under.Array("a/", {1000}));
        for (uint64_t i = 0; i < 1000; i += 1 + i % 3)
            ASSERT_TRUE(under.Range(i, "/d/" + std::to_string(i % n_urls), i, 2));
        ASSERT_TRUE(under.Finish()) << under.Message();
        for (uint64_t i = 0; i < 1000; i += 1 + i % 3)
            ASSERT_EQ(under.At("a/" + std::to_string(i)),
                      "/d/" + std::to_string(i % n_urls) + " " + std::to_string(i) + "+2");
    }
}

TEST(ParquetWriter, ReplacesASet) {
    WriterUnderTest under("a.parq");
    under.folder.Write("a.parq/.zmetadata", "old");
    under.folder.Write("a.parq/b/refs.0.parq", "old");
    ASSERT_TRUE(under.Open()) << under.Message();
    ASSERT_TRUE(under.Document(".zgroup", R"({"zarr_format":2})"));
    EXPECT_EQ(under.folder.Read("a.parq/.zmetadata"), "old");
    ASSERT_TRUE(under.Finish()) << under.Message();
    EXPECT_FALSE(std::filesystem::exists(under.folder / "a.parq/b"));
    EXPECT_EQ(under.folder.List(), "a.parq ");
}

TEST(ParquetWriter, GrowsNoSetThatAnotherProgramWrites) {
    WriterUnderTest under("a.parq");
    ASSERT_TRUE(under.Open()) << under.Message();
    ASSERT_TRUE(under.Document(".zgroup", R"({"zarr_format":2})"));
    ASSERT_EQ(refs_writer_finish(under.writer, &under.error), REFS_OK) << under.Message();
    const std::string was = under.folder.Read("a.parq/.zmetadata");
    under.options.growth = REFS_WRITE_GROWING;
    ASSERT_TRUE(under.Open()) << under.Message();
    ASSERT_TRUE(under.Document(".zgroup", R"({"zarr_format":2})"));
    under.folder.Write("a.parq/.zmetadata", was + " ");
    EXPECT_EQ(refs_writer_finish(under.writer, &under.error), REFS_CHANGED);
    under.writer = nullptr;
    EXPECT_EQ(under.folder.Read("a.parq/.zmetadata"), was + " ");
}

TEST(ParquetWriter, ReplacesNoOtherFolder) {
    WriterUnderTest under("a.parq");
    under.folder.Write("a.parq/thesis.tex", "text");
    EXPECT_FALSE(under.Open());
    EXPECT_NE(under.Message().find("found thesis.tex"), std::string::npos) << under.Message();
    EXPECT_EQ(under.folder.List(), "a.parq ");
}

TEST(ParquetWriter, WritesMetadataThatAreRead) {
    for (const size_t n : {63, 65}) {
        WriterUnderTest under("a.parq");
        ASSERT_TRUE(under.Open()) << under.Message();
        ASSERT_TRUE(under.Document(".zgroup", R"({"zarr_format":2})"));
        for (size_t i = 0; i < n; i++) {
            const std::string name = std::to_string(10 + i) + std::string(REFS_MIB - 64, 'a');
            const refs_source_state state = {View(name), 1, 1, View(""), 1};
            ASSERT_EQ(refs_writer_source(under.writer, &state, &under.error), REFS_OK);
        }
        ASSERT_EQ(under.Finish(), n == 63) << under.Message();
        if (n == 63) continue;
        EXPECT_NE(
            under.Message().find("bytes: expected at most 67108864: write JSON, or several sets"),
            std::string::npos)
            << under.Message();
        EXPECT_EQ(under.folder.List(), "");
    }
}

TEST(ParquetWriter, RefusesWhatItCannotHold) {
    WriterUnderTest under("a.parq");
    ASSERT_TRUE(under.Open());
    EXPECT_FALSE(under.Document("x/zarr.json", "{}"));
    EXPECT_NE(under.Message().find("version 2"), std::string::npos) << under.Message();
    refs_error_clear(&under.error);
    EXPECT_FALSE(under.Array("../a/", {25}));
    refs_error_clear(&under.error);
    EXPECT_FALSE(under.Array("a/c/", {2, 5}, '/'));
}

} // namespace
