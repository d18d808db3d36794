/* json_text.h -- JSON for tests: parsed, and written. */
#ifndef REFS_TEST_JSON_TEXT_H
#define REFS_TEST_JSON_TEXT_H

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "refs/json.h"

using JsonDoc = std::shared_ptr<refs_json_doc>;

inline JsonDoc ParseJson(const std::string &text) {
    refs_json_doc *doc = nullptr;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_json_parse(refs_str_view(text.data(), text.size()), &doc, &err), REFS_OK)
        << err.message << " in " << text;
    return JsonDoc(doc, refs_json_doc_free);
}

inline std::string JsonText(const refs_json *value) {
    refs_buf text = REFS_BUF_INIT;
    EXPECT_EQ(refs_json_write(value, &text, nullptr), REFS_OK);
    std::string copy(reinterpret_cast<const char *>(text.data), text.size);
    refs_buf_clear(&text);
    return copy;
}

#endif
