// outlines_test.cc -- where outlines of fragments are looked for.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "refs/combine_aggregate.h"

namespace {

using Texts = std::vector<std::string>;

struct Folder {
    std::set<std::string> files;
    Texts looked;

    static refs_status look(void *user, const char *name, bool *isThere, refs_error *) {
        auto *self = static_cast<Folder *>(user);
        self->looked.emplace_back(name);
        *isThere = self->files.count(name) > 0;
        return REFS_OK;
    }

    Texts order(const Texts &names) {
        std::vector<const char *> texts;
        for (const std::string &name : names) texts.push_back(name.c_str());
        const refs_combine_outline_search search = {texts.data(), texts.size(), look, this};
        refs_buf ordered = REFS_BUF_INIT;
        EXPECT_EQ(refs_combine_outlines_first(&search, &ordered, nullptr), REFS_OK);
        Texts all;
        const char *name = nullptr;
        for (refs_str rest = refs_buf_text(&ordered); refs_str_next_text(&rest, &name);)
            all.emplace_back(name);
        refs_buf_clear(&ordered);
        return all;
    }
};

} // namespace

TEST(Outlines, AreFoundNextToFragments) {
    Folder folder;
    folder.files = {"m/m.outline.nca"};
    EXPECT_EQ(folder.order({"m/m.g.tas.0.0.nc", "m/m.g.tas.1.0.nc"}),
              (Texts{"m/m.outline.nca", "m/m.g.tas.0.0.nc", "m/m.g.tas.1.0.nc"}));
    EXPECT_EQ(folder.looked, (Texts{"m/m.g.outline.nca", "m/m.outline.nca"})) << "each once";
}

TEST(Outlines, ComeFirstAndOnceWhereTheyAreNamed) {
    Folder folder;
    folder.files = {"m/m.outline.nca"};
    EXPECT_EQ(folder.order({"m/m.tas.0.nc", "m/m.outline.nca", "n.outline.nca", "m/m.outline.nca"}),
              (Texts{"m/m.outline.nca", "n.outline.nca", "m/m.tas.0.nc"}));
}

TEST(Outlines, AreLookedForNextToNumberedNamesOnly) {
    Folder folder;
    const Texts names = {"a.nc", "m/b.tas.nc", "c.0.json", "d.0.nc"};
    EXPECT_EQ(folder.order(names), names);
    EXPECT_EQ(folder.looked, Texts{});
}

TEST(Outlines, AreLookedForALimitedNumberOfTimes) {
    Folder folder;
    Texts names;
    for (int i = 0; i < 1500; i++) names.push_back("m" + std::to_string(i) + ".v.0.nc");
    EXPECT_EQ(folder.order(names), names);
    EXPECT_EQ(folder.looked.size(), 1000U);
}
