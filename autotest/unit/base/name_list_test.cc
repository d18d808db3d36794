#include "refs/name_list.h"

#include <gtest/gtest.h>

#include "refs/bytes.h"

namespace {

TEST(NameList, IsEndedByNull) {
    refs_name_list list = {nullptr, 0, 0};
    EXPECT_FALSE(refs_name_list_has(&list, "a"));
    for (const char *name : {"a", "b", "a"}) ASSERT_TRUE(refs_name_list_append(&list, name));
    EXPECT_EQ(list.n, 3u);
    EXPECT_STREQ(list.items[2], "a");
    EXPECT_EQ(list.items[3], nullptr);
    EXPECT_TRUE(refs_name_list_has(&list, "b"));
    EXPECT_FALSE(refs_name_list_has(&list, "c"));
    refs_free(list.items);
}

} // namespace
