/* memory_store.h -- a store over references that a test adds, and files in memory. */
#ifndef REFS_TEST_MEMORY_STORE_H
#define REFS_TEST_MEMORY_STORE_H

#include <gtest/gtest.h>

#include <string>

#include "memory_vfs.h"
#include "refs/fetch.h"
#include "refs/refset.h"
#include "refs/store.h"

class MemoryStore {
  public:
    MemoryStore() {
        EXPECT_EQ(refs_set_builder_open("set.json", nullptr, &builder_, nullptr), REFS_OK);
    }
    ~MemoryStore() {
        refs_store_free(store_);
        refs_fetcher_free(fetcher_);
        refs_set_free(set_);
        refs_set_builder_free(builder_);
    }

    void put(const std::string &key, const std::string &value) {
        EXPECT_EQ(refs_set_builder_inline(builder_, view(key),
                                          refs_bytes_view(value.data(), value.size()), nullptr),
                  REFS_OK);
    }
    void range(const std::string &key, const std::string &url, uint64_t offset, uint64_t length) {
        EXPECT_EQ(refs_set_builder_range(builder_, view(key), view(url), {offset, length}, nullptr),
                  REFS_OK);
    }
    void whole(const std::string &key, const std::string &url) {
        EXPECT_EQ(refs_set_builder_whole(builder_, view(key), view(url), nullptr), REFS_OK);
    }

    /** The store over all that was added; nothing may be added afterwards. */
    refs_store *get() {
        if (store_ != nullptr) return store_;
        EXPECT_EQ(refs_set_builder_finish(builder_, &set_, nullptr), REFS_OK);
        builder_ = nullptr;
        EXPECT_EQ(refs_fetcher_open(vfs.get(), nullptr, &fetcher_, nullptr), REFS_OK);
        EXPECT_EQ(refs_store_open(set_, fetcher_, &store_, nullptr), REFS_OK);
        return store_;
    }
    /** The same once it was got. */
    refs_store *opened() const { return store_; }

    refs_fetch_stats stats() const {
        refs_fetch_stats counts;
        refs_fetcher_stats(fetcher_, &counts);
        return counts;
    }

    static refs_str view(const std::string &text) {
        return refs_str_view(text.data(), text.size());
    }

    MemoryVfs vfs;

  private:
    refs_set_builder *builder_ = nullptr;
    refs_set *set_ = nullptr;
    refs_fetcher *fetcher_ = nullptr;
    refs_store *store_ = nullptr;
};

#endif
