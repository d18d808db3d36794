/* remote_set.cc -- see remote_set.h. */
#include "remote_set.h"

#include <gtest/gtest.h>

#include "set.h"

refs_set *remoteSet(std::atomic<unsigned> *nLookups) {
    static const char meta[] =
        R"({"zarr_format":2,"shape":[8],"chunks":[2],"dtype":"|u1","order":"C","fill_value":9,)"
        R"("compressor":null,"filters":null})";
    refs_set *set = nullptr;
    refs_set_builder *builder = nullptr;
    EXPECT_EQ(refs_set_builder_open("http://host/set", nullptr, &builder, nullptr), REFS_OK);
    for (const char *key : {"a/.zarray", "b/.zarray"})
        EXPECT_EQ(refs_set_builder_inline(builder, refs_str_from(key),
                                          refs_bytes_view(meta, sizeof meta - 1), nullptr),
                  REFS_OK);
    EXPECT_EQ(refs_set_builder_finish(builder, &set, nullptr), REFS_OK);
    set->chunks = {};
    set->chunks.self = nLookups;
    set->chunks.find = [](void *self, const refs_split_key *, refs_ref *, refs_error *) {
        ++*static_cast<std::atomic<unsigned> *>(self);
        return REFS_NOT_FOUND;
    };
    set->chunks.n_locations = [](void *) { return uint32_t{0}; };
    set->chunks.free = [](void *) {};
    return set;
}
