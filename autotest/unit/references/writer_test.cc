// writer_test.cc -- sets as JSON, and what writers have in common.
#include <signal.h>
#include <sys/resource.h>

#include "writer_under_test.h"

namespace {

const char kArray[] = R"({"zarr_format":2,"shape":[2,2],"chunks":[1,1],"dtype":"<i2"})";

// A set with one of each kind of reference.
void WriteOneOfEach(WriterUnderTest &under) {
    ASSERT_TRUE(under.Open()) << under.Message();
    ASSERT_TRUE(under.Document(".zgroup", R"({"zarr_format":2})"));
    ASSERT_TRUE(under.Document("a/.zarray", kArray));
    ASSERT_TRUE(under.Document("s/.zarray", R"({"shape":[],"chunks":[]})"));
    ASSERT_TRUE(under.Array("a/", {2, 2}));
    ASSERT_TRUE(under.Range(0, "/d/x", 5000000000, 7));
    ASSERT_TRUE(under.Whole(1, "https://h/y?a=\"b\""));
    ASSERT_TRUE(under.Inline(3, std::string("\0\xff", 2)));
    ASSERT_TRUE(under.Array("s/", {}));
    ASSERT_TRUE(under.Inline(0, "base64:?"));
    ASSERT_TRUE(under.Finish()) << under.Message();
}

void ExpectOneOfEach(WriterUnderTest &under) {
    EXPECT_EQ(under.At(".zgroup"), R"({"zarr_format":2})");
    EXPECT_EQ(under.At("a/.zarray"), kArray);
    EXPECT_EQ(under.At("a/0.0"), "/d/x 5000000000+7");
    EXPECT_EQ(under.At("a/0.1"), "https://h/y?a=\"b\"");
    EXPECT_EQ(under.At("a/1.0"), "absent");
    EXPECT_EQ(under.At("a/1.1"), std::string("\0\xff", 2));
    EXPECT_EQ(under.At("s/0"), "base64:?");
    EXPECT_EQ(under.folder.List(), under.name + " ");
}

class Written : public testing::TestWithParam<const char *> {};

TEST_P(Written, IsReadBackEqual) {
    WriterUnderTest under(GetParam());
    WriteOneOfEach(under);
    if (!HasFatalFailure()) ExpectOneOfEach(under);
}

INSTANTIATE_TEST_SUITE_P(Sets, Written,
                         testing::Values("a.json", "a.json.gz", "a.json.zst", "a.parq"));

TEST(Writer, WritesMetadataInAscii) {
    for (const char *name : {"a.json", "a.parq"}) {
        WriterUnderTest under(name);
        ASSERT_TRUE(under.Open()) << under.Message();
        ASSERT_TRUE(under.Document(".zattrs", "{\"t\":\"\u00e9 \u2260 \U0001F30D\"}"));
        ASSERT_TRUE(under.Finish()) << under.Message();
        if (under.name == "a.json") {
            EXPECT_EQ(under.At(".zattrs"), R"({"t":"\u00e9 \u2260 \ud83c\udf0d"})");
        }
        const std::string file = name == std::string("a.json") ? name : "a.parq/.zmetadata";
        for (const char c : under.folder.Read(file)) ASSERT_GE(c, 0);
    }
}

TEST(JsonWriter, WritesDocumentsAsObjectsWhereAskedTo) {
    WriterUnderTest under("a.json");
    under.options.documents = REFS_DOCUMENTS_OBJECTS;
    WriteOneOfEach(under);
    EXPECT_NE(under.folder.Read("a.json").find(R"(".zgroup":{"zarr_format":2})"),
              std::string::npos);
}

TEST(JsonWriter, WritesVersion0AsOneObject) {
    WriterUnderTest under("a.json");
    under.options.version = 0;
    WriteOneOfEach(under);
    ExpectOneOfEach(under);
    EXPECT_EQ(under.folder.Read("a.json").find("version"), std::string::npos);
}

TEST(JsonWriter, ShortensUrlsByTemplates) {
    WriterUnderTest under("a.json");
    const char *const templates[] = {"d=/d/", nullptr};
    under.options.templates = templates;
    WriteOneOfEach(under);
    ExpectOneOfEach(under);
    EXPECT_NE(under.folder.Read("a.json").find(R"(["{{d}}x",5000000000,7])"), std::string::npos);
}

TEST(JsonWriter, WritesKeysOfVersion3) {
    WriterUnderTest under("a.json");
    ASSERT_TRUE(under.Open());
    ASSERT_TRUE(under.Document("x/zarr.json", "{}"));
    ASSERT_TRUE(under.Array("x/c/", {2, 3}, '/'));
    ASSERT_TRUE(under.Range(5, "u", 1, 2));
    ASSERT_TRUE(under.Finish()) << under.Message();
    EXPECT_EQ(under.At("x/c/1/2"), "u 1+2");
}

TEST(Writer, LeavesWhatWasThereUntilItIsDone) {
    WriterUnderTest under("a.json");
    under.folder.Write("a.json", "old");
    ASSERT_TRUE(under.Open());
    ASSERT_TRUE(under.Document(".zgroup", "{}"));
    EXPECT_EQ(under.folder.Read("a.json"), "old");
    refs_writer_free(under.writer);
    under.writer = nullptr;
    EXPECT_EQ(under.folder.Read("a.json"), "old");
    EXPECT_EQ(under.folder.List(), "a.json ");
}

TEST(Writer, SaysWhyItCannotWrite) {
    WriterUnderTest under("nowhere/a.json");
    EXPECT_FALSE(under.Open());
    EXPECT_NE(under.Message().find("nowhere/a.json"), std::string::npos) << under.Message();
    EXPECT_NE(under.Message().find("nowhere does not exist: create it"), std::string::npos) << under.Message();
}

TEST(Writer, SaysThatAFileGrewTooLarge) {
    WriterUnderTest under("a.json");
    rlimit before, small = {4096, RLIM_INFINITY};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    ASSERT_TRUE(under.Open());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool written = under.Document("a/.zattrs", std::string(1 << 20, 'x')) && under.Finish();
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_FALSE(written);
    EXPECT_NE(under.Message().find("cannot be written"), std::string::npos) << under.Message();
    refs_writer_free(under.writer);
    under.writer = nullptr;
    EXPECT_EQ(under.folder.List(), "");
}

TEST(Writer, WantsChunksInOrder) {
    WriterUnderTest under("a.json");
    ASSERT_TRUE(under.Open());
    ASSERT_TRUE(under.Array("a/", {3}));
    ASSERT_TRUE(under.Range(1, "u", 0, 1));
    EXPECT_FALSE(under.Range(1, "u", 0, 1));
}

TEST(Writer, KeepsStatesOfSources) {
    for (const char *name : {"a.json", "a.parq"}) {
        WriterUnderTest under(name);
        ASSERT_TRUE(under.Open());
        const refs_source_state one = {refs_str_from("/d/x"), 12, 34, refs_str_from("\"e\""), 5678};
        const refs_source_state other = {refs_str_from("/d/y"), REFS_SOURCE_UNKNOWN, 0,
                                         refs_str_from(""), 0};
        ASSERT_EQ(refs_writer_source(under.writer, &one, nullptr), REFS_OK);
        ASSERT_EQ(refs_writer_source(under.writer, &other, nullptr), REFS_OK);
        ASSERT_TRUE(under.Document(".zgroup", R"({"zarr_format":2})"));
        ASSERT_TRUE(under.Finish()) << under.Message();
        std::string seen;
        const refs_source_visitor visitor = {
            [](void *user, const refs_source_state *state, refs_error *) {
                *static_cast<std::string *>(user) +=
                    std::string(state->url.data, state->url.size) + " " +
                    (state->size == REFS_SOURCE_UNKNOWN ? "?" : std::to_string(state->size)) + " " +
                    std::to_string(state->modified_s) + "." + std::to_string(state->modified_ns) +
                    " " + std::string(state->etag.data, state->etag.size) + ";";
                return REFS_OK;
            },
            &seen};
        ASSERT_EQ(refs_sources_read(under.set, &visitor, &under.error), REFS_OK) << under.Message();
        EXPECT_EQ(seen, "/d/x 12 34.5678 \"e\";/d/y ? 0.0 ;") << name;
    }
}

} // namespace
