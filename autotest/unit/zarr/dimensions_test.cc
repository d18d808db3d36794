/* dimensions_test.cc -- which dimensions arrays share. */
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memory_hierarchy.h"
#include "refs/dimensions.h"

namespace {

/** Arrays of a set, and what is found of their dimensions. */
class Dimensions : public testing::Test {
  protected:
    ~Dimensions() override { refs_dimensions_free(dimensions_); }

    /** An array of this shape; `names` is the list of its dimensions in JSON, "" for none. */
    void array(const std::string &path, const std::string &shape, const std::string &names,
               const std::string &dtype = "<f4") {
        set_.store.put(path + "/.zarray",
                       R"({"zarr_format":2,"shape":)" + shape + R"(,"chunks":)" + shape +
                           R"(,"dtype":")" + dtype +
                           R"(","order":"C","fill_value":null,"compressor":null,"filters":null})");
        if (!names.empty())
            set_.store.put(path + "/.zattrs", R"({"_ARRAY_DIMENSIONS":)" + names + "}");
    }

    const refs_dimensions *open() {
        refs_error error = REFS_ERROR_INIT;
        const refs_hierarchy *hierarchy = set_.get();
        const refs_status status = dimensions_ == nullptr
                                       ? refs_dimensions_open(hierarchy, &dimensions_, &error)
                                       : REFS_OK;
        EXPECT_EQ(status, REFS_OK) << error.message;
        return dimensions_;
    }

    /** "group/name size variable", with "*" before what is of one array alone. */
    static std::string show(const refs_dimension &dim) {
        return (dim.is_shared ? "" : "*") + std::string(dim.group) + "/" + dim.name + " " +
               std::to_string(dim.size) +
               (dim.variable != nullptr ? std::string(" ") + dim.variable->path : "");
    }
    std::vector<std::string> shared() {
        std::vector<std::string> shown;
        for (size_t i = 0; i < refs_dimensions_n_shared(open()); i++)
            shown.push_back(show(*refs_dimensions_shared(open(), i)));
        return shown;
    }
    std::vector<std::string> of(const std::string &path) {
        const refs_array_meta &meta = set_.good(path);
        const refs_dimension *dims = refs_dimensions_of(open(), &meta);
        std::vector<std::string> shown;
        for (size_t i = 0; dims != nullptr && i < meta.rank; i++) shown.push_back(show(dims[i]));
        return shown;
    }

    MemoryHierarchy set_;

  private:
    refs_dimensions *dimensions_ = nullptr;
};

using Shown = std::vector<std::string>;

TEST_F(Dimensions, AreSharedByArraysThatNameThemAlikeInTheOrderOfTheirUse) {
    array("v", "[2,3]", R"(["y","x"])");
    array("x", "[3]", R"(["x"])");
    array("w", "[3,4]", R"(["x","z"])");
    EXPECT_EQ(shared(), (Shown{"/y 2", "/x 3 /x", "/z 4"}));
    EXPECT_EQ(of("v"), (Shown{"/y 2", "/x 3 /x"}));
}

TEST_F(Dimensions, AreOfOneArrayAloneWithoutANameOrWithAnotherSize) {
    array("v", "[2,3]", R"(["y","x"])");
    array("w", "[4]", R"(["x"])");
    array("u", "[5]", "");
    EXPECT_EQ(shared(), (Shown{"/y 2", "/x 3"}));
    EXPECT_EQ(of("w"), (Shown{"*/x 4"}));
    EXPECT_EQ(of("u"), (Shown{"*/dim0 5"}));
}

TEST_F(Dimensions, AreAtHomeInTheOutermostGroupThatHasThemOrWhereTheirVariableIs) {
    array("lat", "[2]", R"(["lat"])");
    array("g/v", "[2,3]", R"(["lat","x"])");
    array("g/h/w", "[2,3,4]", R"(["lat","x","y"])");
    array("g/h/lat", "[5]", R"(["lat"])");
    array("g/u", "[5]", R"(["g/h/lat"])");
    array("g/h/t", "[2]", R"(["/lat"])");
    EXPECT_EQ(shared(), (Shown{"/lat 2 /lat", "/g/x 3", "/g/h/y 4", "/g/h/lat 5 /g/h/lat"}));
    EXPECT_EQ(of("g/h/w"), (Shown{"/lat 2 /lat", "/g/x 3", "/g/h/y 4"}));
    EXPECT_EQ(of("g/u"), (Shown{"/g/h/lat 5 /g/h/lat"}));
    EXPECT_EQ(of("g/h/t"), (Shown{"/lat 2 /lat"}));
}

TEST_F(Dimensions, HaveTheOnlyVariableOfTheirGroupWhereNoneIsCalledLikeThem) {
    array("one/lat", "[3]", R"(["n"])");
    array("one/v", "[3,3]", R"(["n","m"])");
    array("two/lat", "[3]", R"(["n"])");
    array("two/lon", "[3]", R"(["n"])");
    array("two/height", "[3]", R"(["n"])");
    EXPECT_EQ(shared(), (Shown{"/one/n 3 /one/lat", "/one/m 3", "/two/n 3"}));
}

TEST_F(Dimensions, OfCharactersAreNoneOfTheirStrings) {
    array("name", "[3,8]", R"(["station","width"])", "|S1");
    array("station", "[3]", R"(["station"])");
    array("letter", "[8,3]", R"(["width","station"])", "|S1");
    EXPECT_TRUE(refs_dimensions_hold_characters(open(), &set_.good("name")));
    EXPECT_FALSE(refs_dimensions_hold_characters(open(), &set_.good("letter")));
    EXPECT_FALSE(refs_dimensions_hold_characters(open(), &set_.good("station")));
}

TEST_F(Dimensions, LeaveOutArraysThatCannotBeUnderstood) {
    array("v", "[3]", R"(["x"])");
    array("x", "[3]", R"(["x"])", "nonsense");
    EXPECT_EQ(shared(), (Shown{"/x 3 /v"}));
    EXPECT_EQ(refs_dimensions_of(open(), &set_.array("x")), nullptr);
}

} // namespace
