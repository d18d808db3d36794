/* contracts_test.cc -- what the public headers promise about threads, memory and lifetimes, and no
 * other test shows. */
#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "in_threads.h"
#include "memory_array.h"
#include "refs/aggregation.h"
#include "refs/cf.h"
#include "refs/cloud.h"
#include "refs/codec.h"
#include "refs/combine.h"
#include "refs/json.h"
#include "refs/write.h"
#include "temporary_folder.h"

namespace {

constexpr unsigned nThreads = 8;

refs_str view(const std::string &text) {
    return refs_str_view(text.data(), text.size());
}

std::string text(const refs_buf &buf) {
    return buf.size == 0 ? "" : std::string(reinterpret_cast<const char *>(buf.data), buf.size);
}

/* -- bytes.h: every …_free and …_close takes NULL -------------------------------------------------
 */

TEST(Ownership, FreeingNothingIsAllowed) {
    refs_aggregations_free(nullptr);
    refs_fragments_free(nullptr);
    refs_cache_free(nullptr);
    refs_array_free(nullptr);
    refs_reader_free(nullptr);
    refs_chain_free(nullptr);
    refs_combine_free(nullptr);
    refs_combine_sources_free(nullptr);
    refs_fetcher_free(nullptr);
    refs_cloud_free(nullptr);
    refs_http_free(nullptr);
    refs_http_vfs_free(nullptr);
    refs_json_reader_free(nullptr);
    refs_json_doc_free(nullptr);
    refs_pool_free(nullptr);
    refs_group_free(nullptr);
    refs_set_free(nullptr);
    refs_set_builder_free(nullptr);
    refs_store_free(nullptr);
    refs_writer_free(nullptr);
    refs_hierarchy_free(nullptr);
}

TEST(Ownership, ClearingWhatIsZeroedIsAllowed) {
    refs_buf buf = {};
    refs_buf_clear(&buf);
    refs_scratch scratch = {};
    refs_scratch_clear(&scratch);
    refs_cf_items items = {};
    refs_cf_items_clear(&items);
    refs_cf_description description = {};
    refs_cf_description_clear(&description);
    refs_ref ref = {};
    refs_ref_release(&ref);
}

/* json.h: a tree does not need its text. */
TEST(Ownership, OfATextStaysWithTheCallerOfTheJsonParser) {
    std::string document = R"({"name":"temperature","values":[1,2.5]})";
    refs_json_doc *doc = nullptr;
    ASSERT_EQ(refs_json_parse(view(document), &doc, nullptr), REFS_OK);
    std::fill(document.begin(), document.end(), '#');
    refs_buf written = REFS_BUF_INIT;
    EXPECT_EQ(refs_json_write(refs_json_root(doc), &written, nullptr), REFS_OK);
    EXPECT_EQ(text(written), R"({"name":"temperature","values":[1,2.5]})");
    refs_buf_clear(&written);
    refs_json_doc_free(doc);
}

/* cloud.h: what its options point to is copied. */
TEST(Ownership, OfSettingsStaysWithTheCallerOfTheCloud) {
    std::string settings[] = {"AWS_NO_SIGN_REQUEST=YES", "AWS_REGION=eu-west-1", "S3NC_CONFIG=NONE",
                              "AWS_CONFIG_FILE=/nonexistent"};
    std::vector<const char *> items;
    for (const std::string &setting : settings) items.push_back(setting.c_str());
    items.push_back(nullptr);
    refs_cloud_options options = REFS_CLOUD_OPTIONS_INIT;
    options.settings = items.data();
    refs_cloud *cloud = nullptr;
    ASSERT_EQ(refs_cloud_open(&options, &cloud, nullptr), REFS_OK);
    for (std::string &setting : settings) std::fill(setting.begin(), setting.end(), '#');
    items.assign(items.size(), nullptr);
    const refs_http_provider *functions = refs_cloud_functions(cloud);
    refs_buf url = REFS_BUF_INIT;
    EXPECT_EQ(functions->url(functions->self, "/vsis3/bucket/key", &url, nullptr), REFS_OK);
    EXPECT_EQ(text(url), "https://bucket.s3.eu-west-1.amazonaws.com/key");
    refs_buf_clear(&url);
    refs_cloud_free(cloud);
}

/* -- memory --------------------------------------------------------------------------------------
 */

std::atomic<size_t> nCalls{0}, liveBytes{0};

void *countedMalloc(size_t size) {
    void *memory = std::malloc(size);
    nCalls++;
    liveBytes += malloc_usable_size(memory);
    return memory;
}
void *countedRealloc(void *memory, size_t size) {
    liveBytes -= malloc_usable_size(memory);
    void *moved = std::realloc(memory, size);
    nCalls++;
    liveBytes += malloc_usable_size(moved);
    return moved;
}
void countedFree(void *memory) {
    liveBytes -= malloc_usable_size(memory);
    std::free(memory);
}

/** Counts all memory of the core for as long as it lives. */
class CountedMemory {
  public:
    CountedMemory() {
        nCalls = 0;
        liveBytes = 0;
        const refs_allocator counted = {countedMalloc, countedRealloc, countedFree};
        refs_allocator_set(&counted);
    }
    ~CountedMemory() { refs_allocator_set(nullptr); }
};

/** A figure that callers add up to a budget is neither too small nor twice what is taken. */
void expectMemory(size_t told, size_t taken) {
    EXPECT_GE(told, taken - taken / 8) << taken;
    EXPECT_LE(told, 2 * taken) << taken;
}

/* error.h */
TEST(Memory, IsNotNeededToFail) {
    const CountedMemory counted;
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_fail(&error, REFS_IO, "%0*d", REFS_ERROR_SIZE, 1), REFS_IO);
    refs_error_prefix(&error, "%s", "a.json");
    refs_note(nullptr, REFS_NOTE_WARNING, "%s", error.message);
    refs_error_clear(&error);
    EXPECT_EQ(refs_fail_nomem(&error), REFS_NOMEM);
    EXPECT_EQ(nCalls, 0u);
}

TEST(Memory, OfTreesIsWhatTheyTell) {
    std::string document = "[";
    for (int i = 0; i < 2000; i++)
        document += (i > 0 ? ",{\"name\":\"" : "{\"name\":\"") + std::to_string(i) + "\"}";
    const CountedMemory counted;
    refs_json_doc *doc = nullptr;
    ASSERT_EQ(refs_json_parse(view(document + "]"), &doc, nullptr), REFS_OK);
    expectMemory(refs_json_doc_memory(doc), liveBytes);
    refs_json_doc_free(doc);
    EXPECT_EQ(liveBytes, 0u);
}

TEST(Memory, OfSetsAndHierarchiesIsWhatTheyTell) {
    std::string document = R"({".zgroup":"{\"zarr_format\":2}")";
    for (int i = 0; i < 200; i++) {
        const std::string name = "v" + std::to_string(i);
        document += ",\"" + name +
                    R"(/.zarray":"{\"zarr_format\":2,\"shape\":[9],\"chunks\":[1],)"
                    R"(\"dtype\":\"<f4\",\"order\":\"C\",\"fill_value\":0,\"filters\":null,)"
                    R"(\"compressor\":null}")";
        for (int chunk = 0; chunk < 9; chunk++)
            document += ",\"" + name + "/" + std::to_string(chunk) + "\":[\"" + name + "\",0,4]";
    }
    MemoryVfs vfs;
    vfs.files["a.json"] = document + "}";
    const CountedMemory counted;
    refs_set *set = nullptr;
    ASSERT_EQ(refs_set_open(vfs.get(), "a.json", nullptr, &set, nullptr), REFS_OK);
    expectMemory(refs_set_memory(set), liveBytes);
    refs_fetcher *fetcher = nullptr;
    refs_store *store = nullptr;
    refs_hierarchy *hierarchy = nullptr;
    ASSERT_EQ(refs_fetcher_open(vfs.get(), nullptr, &fetcher, nullptr), REFS_OK);
    ASSERT_EQ(refs_store_open(set, fetcher, &store, nullptr), REFS_OK);
    const size_t before = liveBytes;
    ASSERT_EQ(refs_hierarchy_open(store, nullptr, &hierarchy, nullptr), REFS_OK);
    expectMemory(refs_hierarchy_memory(hierarchy), liveBytes - before);
    refs_hierarchy_free(hierarchy);
    refs_store_free(store);
    refs_fetcher_free(fetcher);
    refs_set_free(set);
    EXPECT_EQ(liveBytes, 0u);
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* vfs.h: a host without open_whole and peek. */
TEST(Vfs, WithoutOptionalMembersIsOpenedAndNotLookedAt) {
    MemoryVfs vfs;
    vfs.files["digits"] = "0123456789";
    void *handle = nullptr;
    ASSERT_EQ(refs_vfs_open_whole(vfs.get(), "digits", &handle, nullptr), REFS_OK);
    refs_buf content = REFS_BUF_INIT;
    EXPECT_EQ(refs_vfs_read_opened(vfs.get(), handle, 9, &content, nullptr), REFS_LIMIT);
    EXPECT_EQ(refs_vfs_read_opened(vfs.get(), handle, 10, &content, nullptr), REFS_OK);
    EXPECT_EQ(text(content), "0123456789");
    refs_buf_clear(&content);
    vfs.get()->close(vfs.get()->self, handle);
    refs_vfs_validators seen;
    EXPECT_FALSE(refs_vfs_look(vfs.get(), "digits", &seen));
}

/* fetch.h: cancelling ends later calls, too; a size that is not known is no failure. */
TEST(CancelledFetcher, FetchesNothingMore) {
    MemoryVfs vfs;
    vfs.files["digits"] = "0123456789";
    refs_fetcher *fetcher = nullptr;
    ASSERT_EQ(refs_fetcher_open(vfs.get(), nullptr, &fetcher, nullptr), REFS_OK);
    refs_sized_location locations[] = {{0, "digits", 0}, {1, "missing", 0}};
    EXPECT_EQ(refs_fetcher_measure(fetcher, locations, 2, nullptr), REFS_OK);
    EXPECT_EQ(locations[1].size, REFS_FETCH_WHOLE);
    size_t n = 0;
    const refs_range range = {0, "digits", 2, 3, 0, REFS_RANGE_REQUIRED};
    const refs_fetch_client client = {
        [](void *user, size_t, refs_bytes bytes, refs_block *, refs_error *) {
            *static_cast<size_t *>(user) += bytes.size;
            return REFS_OK;
        },
        &n, nullptr};
    EXPECT_EQ(refs_fetch(fetcher, &range, 1, &client, nullptr), REFS_OK);
    EXPECT_EQ(n, 3u);
    refs_fetcher_cancel(fetcher);
    EXPECT_EQ(refs_fetch(fetcher, &range, 1, &client, nullptr), REFS_CANCELLED);
    EXPECT_EQ(n, 3u);
    refs_fetcher_free(fetcher);
}

/* fetch.h: one note for each location, whichever thread comes first, on the thread that checks. */
struct NotesOfThreads {
    std::mutex lock;
    std::map<std::thread::id, int> made;

    static void fn(void *user, refs_note_kind, const char *) {
        auto *self = static_cast<NotesOfThreads *>(user);
        const std::lock_guard<std::mutex> guard(self->lock);
        self->made[std::this_thread::get_id()]++;
    }
};

/* -- threads -------------------------------------------------------------------------------------
 */

/** A set of two arrays, with inline values and ranges, and all that reads it. */
class SharedSet {
  public:
    SharedSet() {
        v.addIntegers({{40, 9}, {3, 4}});
        v.store.vfs.files["/file"] = "0123456789abcdef";
        for (int i = 0; i < 16; i++) v.store.range("f/" + std::to_string(i), "/file", i, 1);
        v.store.put("f/.zarray",
                    R"({"zarr_format":2,"shape":[16],"chunks":[1],"dtype":"|u1","order":"C",)"
                    R"("fill_value":0,"filters":null,"compressor":null})");
        v.store.put("g/.zattrs", R"({"title":"group"})");
        EXPECT_EQ(refs_hierarchy_open(v.store.get(), nullptr, &hierarchy, nullptr), REFS_OK);
    }
    ~SharedSet() { refs_hierarchy_free(hierarchy); }

    const refs_set *set() { return refs_store_set(v.store.opened()); }

    MemoryArray v;
    refs_hierarchy *hierarchy = nullptr;
};

/* refset.h, store.h, fetch.h: a store, its set and its fetcher. */
TEST(SharedByThreads, StoresGiveEachItsValues) {
    SharedSet shared;
    inThreads([&](unsigned thread) {
        for (unsigned round = 0; round < 200; round++) {
            const unsigned i = (thread + round) % 16;
            const std::string key = "f/" + std::to_string(i);
            refs_buf value = REFS_BUF_INIT;
            ASSERT_EQ(refs_store_get(shared.v.store.opened(), view(key), 1, &value, nullptr),
                      REFS_OK);
            ASSERT_EQ(text(value), std::string(1, "0123456789abcdef"[i]));
            refs_buf_clear(&value);
            refs_ref ref = {};
            ASSERT_EQ(refs_set_find(shared.set(), view(key), &ref, nullptr), REFS_OK);
            ASSERT_EQ(ref.offset, i);
            refs_ref_release(&ref);
            ASSERT_EQ(refs_set_find(shared.set(), view("f/16"), &ref, nullptr), REFS_NOT_FOUND);
            refs_store_extent extent;
            ASSERT_EQ(refs_store_measure(shared.v.store.opened(), view("v/0.0"), &extent, nullptr),
                      REFS_OK);
            ASSERT_EQ(extent.size, 3u * 4 * 4);
        }
    });
}

/* zarr.h, json.h, cf.h: a hierarchy, the trees of its attributes, and descriptions of its arrays.
 */
TEST(SharedByThreads, HierarchiesAreSearchedAndDescribed) {
    SharedSet shared;
    inThreads([&](unsigned) {
        for (int round = 0; round < 100; round++) {
            const refs_array_meta *array =
                refs_hierarchy_resolve(shared.hierarchy, "/g", refs_str_from("v"));
            ASSERT_NE(array, nullptr);
            ASSERT_EQ(array, refs_hierarchy_find_array(shared.hierarchy, refs_str_from("/v")));
            const refs_group_meta *group =
                refs_hierarchy_find_group(shared.hierarchy, refs_str_from("g"));
            ASSERT_TRUE(
                refs_str_is(refs_json_text(refs_json_get(group->attributes, "title")), "group"));
            refs_cf_description description = {};
            ASSERT_EQ(refs_cf_describe(shared.hierarchy, array, nullptr, &description, nullptr),
                      REFS_OK);
            ASSERT_EQ(description.x_dim, 1u);
            refs_cf_description_clear(&description);
        }
    });
}

/* fetch.h: equal locations have equal numbers, whichever thread comes first. */
TEST(SharedByThreads, LocationsAreNumberedOnce) {
    refs_fetcher *fetcher = nullptr;
    ASSERT_EQ(refs_fetcher_open(refs_vfs_posix(), nullptr, &fetcher, nullptr), REFS_OK);
    std::vector<std::vector<uint32_t>> numbers(nThreads, std::vector<uint32_t>(500));
    inThreads([&](unsigned thread) {
        for (uint32_t i = 0; i < 500; i++) {
            const uint32_t number = (i + thread * 61) % 500;
            ASSERT_EQ(refs_fetcher_location_id(fetcher, std::to_string(number).c_str(),
                                               &numbers[thread][number], nullptr),
                      REFS_OK);
        }
    });
    EXPECT_EQ(std::set<uint32_t>(numbers[0].begin(), numbers[0].end()).size(), 500u);
    for (const std::vector<uint32_t> &other : numbers) EXPECT_EQ(other, numbers[0]);
    refs_fetcher_free(fetcher);
}

/* fetch.h: a location may get another number, but no two have the same. */
TEST(Locations, ThatAreForgottenGetNewNumbers) {
    refs_fetcher *fetcher = nullptr;
    ASSERT_EQ(refs_fetcher_open(refs_vfs_posix(), nullptr, &fetcher, nullptr), REFS_OK);
    std::set<uint32_t> numbers;
    uint32_t number = 0;
    for (int i = 0; i < 70000; i++) {
        ASSERT_EQ(refs_fetcher_location_id(fetcher, std::to_string(i).c_str(), &number, nullptr),
                  REFS_OK);
        ASSERT_TRUE(numbers.insert(number).second) << i;
    }
    ASSERT_EQ(refs_fetcher_location_id(fetcher, "0", &number, nullptr), REFS_OK);
    EXPECT_EQ(numbers.count(number), 0u) << "of those that were forgotten";
    refs_fetcher_free(fetcher);
}

/* fetch.h: refs_fetcher_check. */
TEST(SharedByThreads, FetchersWarnOnceOfALocation) {
    MemoryVfs vfs;
    NotesOfThreads notes;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    options.notes = {NotesOfThreads::fn, &notes};
    refs_fetcher *fetcher = nullptr;
    ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
    std::set<std::thread::id> threads;
    std::mutex lock;
    inThreads([&](unsigned) {
        {
            const std::lock_guard<std::mutex> guard(lock);
            threads.insert(std::this_thread::get_id());
        }
        refs_seen_location seen = {"/file", 7, {}, {}};
        seen.expected.size = 10;
        seen.known.size = 11;
        seen.known.has_size = true;
        ASSERT_EQ(refs_fetcher_check(fetcher, REFS_CHANGED_WARN, &seen, nullptr), REFS_OK);
        ASSERT_EQ(refs_fetcher_check(fetcher, REFS_CHANGED_ERROR, &seen, nullptr), REFS_CHANGED);
    });
    ASSERT_EQ(notes.made.size(), 1u);
    EXPECT_EQ(notes.made.begin()->second, 1);
    EXPECT_EQ(threads.count(notes.made.begin()->first), 1u);
    refs_fetcher_free(fetcher);
}

/* cloud.h */
TEST(SharedByThreads, HostsSignEachUrl) {
    const char *settings[] = {"AWS_ACCESS_KEY_ID=id",     "AWS_SECRET_ACCESS_KEY=secret",
                              "AWS_REGION=eu-west-1",     "S3NC_CONFIG=NONE",
                              "AWS_CONFIG_FILE=/missing", nullptr};
    refs_cloud_options options = REFS_CLOUD_OPTIONS_INIT;
    options.settings = settings;
    refs_cloud *cloud = nullptr;
    ASSERT_EQ(refs_cloud_open(&options, &cloud, nullptr), REFS_OK);
    const refs_http_provider *functions = refs_cloud_functions(cloud);
    inThreads([&](unsigned thread) {
        for (int round = 0; round < 50; round++) {
            const std::string key = std::to_string(thread * 50 + round);
            refs_buf url = REFS_BUF_INIT;
            ASSERT_EQ(
                functions->url(functions->self, ("/vsis3/bucket/" + key).c_str(), &url, nullptr),
                REFS_OK);
            const std::string begin =
                "https://bucket.s3.eu-west-1.amazonaws.com/" + key + "?X-Amz-";
            ASSERT_EQ(text(url).substr(0, begin.size()), begin);
            refs_buf_clear(&url);
        }
    });
    refs_cloud_free(cloud);
}

/* vfs.h: members are called from several threads, each with handles of its own. */
TEST(SharedByThreads, FilesOfThisMachineAreReadByEach) {
    const TemporaryFolder folder;
    const std::string name = folder / "file";
    folder.Write("file", "0123456789");
    inThreads([&](unsigned thread) {
        for (int round = 0; round < 50; round++) {
            uint8_t byte = 0;
            size_t got = 0;
            const refs_vfs_range range = {thread, 1, &byte};
            ASSERT_EQ(refs_vfs_read_range(refs_vfs_posix(), name.c_str(), &range, &got, nullptr),
                      REFS_OK);
            ASSERT_EQ(got, 1u);
            ASSERT_EQ(byte, '0' + thread);
        }
    });
}

/* cf.h: refs_cf_convert_number. */
TEST(SharedByThreads, ConversionsConvertNumbers) {
    const refs_cf_units celsius = {refs_str_from("degC"), {nullptr, 0}};
    const refs_cf_units kelvin = {refs_str_from("K"), {nullptr, 0}};
    refs_cf_conversion conversion;
    ASSERT_EQ(refs_cf_convert_units(&celsius, &kelvin, REFS_CF_ROUND, &conversion, nullptr),
              REFS_OK);
    inThreads([&](unsigned thread) {
        for (int round = 0; round < 1000; round++) {
            double value = thread;
            ASSERT_EQ(refs_cf_convert_number(&conversion, REFS_CF_DOUBLE_DIGITS, &value, nullptr),
                      REFS_OK);
            ASSERT_DOUBLE_EQ(value, thread + 273.15);
        }
    });
}

} // namespace
