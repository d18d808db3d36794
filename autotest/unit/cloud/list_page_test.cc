/* list_page_test.cc -- answers to ListObjectsV2. */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "list_page.h"
}

namespace {

/** Names with sizes, folders without, and what comes next; or the failure. */
std::string parse(const std::string &xml) {
    refs_list_page page;
    refs_error err = REFS_ERROR_INIT;
    if (refs_list_page__parse(refs_bytes_view(xml.data(), xml.size()), &page, &err) != REFS_OK)
        return err.message;
    std::string shown;
    for (size_t i = 0; i < page.n; i++) {
        const refs_list_item &item = page.items[i];
        shown.append(reinterpret_cast<const char *>(page.names.data) + item.begin,
                     item.end - item.begin);
        shown += item.is_folder ? "; " : " " + std::to_string(item.size) + "; ";
    }
    shown += page.next != nullptr ? page.next : "end";
    refs_list_page__clear(&page);
    return shown;
}

std::string list(const std::string &content) {
    return parse("<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/\">" +
                 content + "</ListBucketResult>");
}

} // namespace

TEST(ListPage, HasObjectsAndFolders) {
    EXPECT_EQ(list("<Name>b</Name><Prefix>a/</Prefix><IsTruncated>false</IsTruncated>"
                   "<Contents><Key>a/x &amp; y</Key><Size>12</Size><Owner><ID>o</ID></Owner>"
                   "</Contents><CommonPrefixes><Prefix>a/f/</Prefix></CommonPrefixes>"),
              "a/x & y 12; a/f/; end");
}

TEST(ListPage, SaysWhatToAskForNext) {
    EXPECT_EQ(list("<IsTruncated>true</IsTruncated><NextContinuationToken>1+a=="
                   "</NextContinuationToken>"),
              "1+a==");
    EXPECT_EQ(list("<NextContinuationToken>old</NextContinuationToken>"), "end");
}

TEST(ListPage, DecodesNamesOnlyWhereTheyAreEncoded) {
    const std::string object = "<Contents><Key>a%2Bb+c%zz</Key><Size>0</Size></Contents>";
    EXPECT_EQ(list(object), "a%2Bb+c%zz 0; end");
    EXPECT_EQ(list(object + "<EncodingType>url</EncodingType>"), "a+b c%zz 0; end");
}

TEST(ListPage, IsRefusedWithAReason) {
    EXPECT_EQ(parse("<Error><Code>x</Code></Error>"),
              "a list of objects: expected ListBucketResult as the root element");
    EXPECT_EQ(parse("<ListBucketResult>"), "a list of objects: no element found in line 1");
    EXPECT_EQ(list("<IsTruncated>true</IsTruncated>"),
              "a list of objects: a truncated list without a continuation token");
    EXPECT_EQ(list("<Contents><Size>1</Size></Contents>"),
              "a list of objects: an object has no name");
    EXPECT_EQ(list("<Contents><Key>k</Key><Size>-1</Size></Contents>"),
              "a list of objects: an object has no size");
    EXPECT_EQ(parse("<!DOCTYPE l [<!ENTITY e 'x'>]><ListBucketResult/>"),
              "a list of objects: a list of objects has a document type");
    EXPECT_EQ(list("<Contents><Key>" + std::string(20000, 'k') + "</Key></Contents>"),
              "a list of objects: a name is too long");
}
