/* validators_test.cc -- whether states of files and objects are the same. */
#include <gtest/gtest.h>

#include <string>

#include "refs/validators.h"

namespace {

refs_vfs_validators Object(const char *etag, int64_t modified, uint64_t size) {
    refs_vfs_validators made = {};
    snprintf(made.etag, sizeof made.etag, "%s", etag);
    made.modified_s = modified;
    made.size = size;
    return made;
}

refs_vfs_validators File(int64_t modified, uint32_t ns, uint64_t size) {
    refs_vfs_validators made = {};
    made.modified_s = modified;
    made.modified_ns = ns;
    made.size = size;
    made.has_size = true;
    made.device = 1;
    made.inode = 7;
    return made;
}

refs_vfs_validators Fresh(int64_t second, int64_t answered = 0) {
    refs_vfs_validators made = {};
    made.fresh_s = second;
    made.date_s = answered;
    return made;
}

} // namespace

TEST(Validators, DifferWhereAnythingKnownOfBothDoes) {
    const struct {
        refs_vfs_validators one, other;
        const char *difference;
        bool is_proven_same;
    } rows[] = {
        {Object("", 0, 0), Object("\"1\"", 5, 10), "", false},
        {Object("\"1\"", 5, 10), Object("\"1\"", 5, 10), "", true},
        {Object("\"1\"", 5, 10), Object("W/\"1\"", 5, 10), "", true},
        {Object("1", 5, 10), Object("\"1\"", 5, 10), "", true},
        {Object("\"1\"", 5, 10), Object("\"2\"", 5, 10), "ETag", false},
        {Object("\"1\"", 5, 10), Object("\"1\"", 6, 10), "", true}, // the ETag knows better
        {Object("", 5, 10), Object("\"1\"", 6, 10), "Last-Modified", false},
        {Object("", 5, 10), Object("\"1\"", 5, 0), "", true},
        {Object("\"1\"", 5, 10), Object("\"1\"", 5, 11), "size", false},
        {Object("", 0, 10), Object("", 0, 10), "", false},
        {Fresh(5), Object("", 5, 0), "", false},
        {Fresh(5), Object("", 6, 0), "Last-Modified", false},
        {Fresh(5), Fresh(6), "", false},
        {Fresh(5, 5), Fresh(6, 6), "", false}, // there are servers that date all answers so
        {Fresh(5, 6), Fresh(5, 5), "", false},
        {Fresh(5, 6), Fresh(9, 9), "Last-Modified", false}, // which this one does not
        {Fresh(5, 5), Fresh(8, 9), "Last-Modified", false},
        {Fresh(5, 6), Fresh(8, 9), "Last-Modified", false},
    };
    for (const auto &row : rows) {
        EXPECT_STREQ(refs_validators_difference(&row.one, &row.other), row.difference);
        EXPECT_EQ(refs_validators_prove_same(&row.one, &row.other), row.is_proven_same);
    }
}

TEST(Validators, ContradictWhereAStrongEtagComesWithTwoSizes) {
    const refs_vfs_validators tagged = Object("\"1\"", 5, 10), cut = Object("\"1\"", 5, 9),
                              other = Object("\"2\"", 5, 9), weak = Object("W/\"1\"", 5, 10),
                              weakCut = Object("W/\"1\"", 5, 9), plain = Object("", 5, 10),
                              plainCut = Object("", 5, 9), unsized = Object("\"1\"", 5, 0);
    EXPECT_TRUE(refs_validators_contradict(&tagged, &cut));
    EXPECT_FALSE(refs_validators_contradict(&tagged, &tagged));
    EXPECT_FALSE(refs_validators_contradict(&tagged, &other));
    EXPECT_FALSE(refs_validators_contradict(&weak, &weakCut));
    EXPECT_FALSE(refs_validators_contradict(&plain, &plainCut));
    EXPECT_FALSE(refs_validators_contradict(&tagged, &unsized));
}

TEST(Validators, OfFilesOfThisMachineCountExactly) {
    const refs_vfs_validators file = File(5, 1000, 10);
    const struct {
        refs_vfs_validators other;
        const char *difference;
    } rows[] = {
        {File(5, 1000, 10), ""},     {File(5, 1001, 10), "time"}, {File(5, 0, 10), "time"},
        {File(6, 1000, 10), "time"}, {File(0, 0, 10), "time"},    {File(5, 1000, 0), "size"},
    };
    for (const auto &row : rows)
        EXPECT_STREQ(refs_validators_difference(&file, &row.other), row.difference);
}

TEST(Validators, OfCopiesCountInMicroseconds) {
    refs_vfs_validators recorded = Object("", 5, 10);
    const refs_vfs_validators file = File(5, 1999, 10), other = File(5, 2000, 10);
    recorded.modified_ns = 1000;
    EXPECT_STREQ(refs_validators_difference(&recorded, &file), "");
    EXPECT_STREQ(refs_validators_difference(&recorded, &other), "time");
    recorded.modified_ns = 0; // whole seconds were kept
    EXPECT_STREQ(refs_validators_difference(&recorded, &other), "");
}

TEST(Validators, AreSettledByAnEtagOrAnOldTime) {
    const refs_vfs_validators nothing = {}, tagged = Object("\"1\"", 0, 0), old = Object("", 5, 0),
                              recent = Object("", time(nullptr), 0);
    EXPECT_FALSE(refs_validators_are_settled(&nothing));
    EXPECT_TRUE(refs_validators_are_settled(&tagged));
    EXPECT_TRUE(refs_validators_are_settled(&old));
    EXPECT_FALSE(refs_validators_are_settled(&recent));
}

TEST(Validators, TellOlderFromYounger) {
    const refs_vfs_validators first = File(5, 1, 0), second = File(5, 2, 0), third = File(6, 0, 0);
    EXPECT_TRUE(refs_validators_is_older(&first, &second));
    EXPECT_FALSE(refs_validators_is_older(&second, &first));
    EXPECT_FALSE(refs_validators_is_older(&first, &first));
    EXPECT_TRUE(refs_validators_is_older(&second, &third));
}

TEST(Validators, KnowTheDateOfWhatIsFresh) {
    const refs_vfs_validators fresh = Fresh(9), old = Object("", 5, 0);
    EXPECT_EQ(refs_validators_date_s(&fresh), 9);
    EXPECT_EQ(refs_validators_date_s(&old), 5);
}

TEST(Validators, FailInOneSentenceWhereThereAreNone) {
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_validators_fail("x.nc", &error), REFS_NOT_FOUND);
    EXPECT_STREQ(error.message, "x.nc: cannot stat it: no size and no date");
}

TEST(Etag, IsItsOpaquePart) {
    for (const char *etag : {"abc", "\"abc\"", "W/\"abc\""}) {
        const refs_str opaque = refs_etag_opaque(etag);
        EXPECT_EQ(std::string(opaque.data, opaque.size), "abc") << etag;
    }
    EXPECT_EQ(refs_etag_opaque("").size, 0U);
    EXPECT_EQ(refs_etag_opaque("\"").size, 1U);
}
