/* lazy_test.cc -- libraries that are loaded when they are used. */
#include <gtest/gtest.h>

#include <string>

#include "refs/lazy.h"

namespace {

double (*cosine)(double);
void (*absent)(void);

const refs_lazy_function cosineOnly[] = {
    {"cos", reinterpret_cast<void (**)()>(reinterpret_cast<void *>(&cosine))}, {nullptr, nullptr}};
const refs_lazy_function withAbsent[] = {{"refs_no_such_function", &absent}, {nullptr, nullptr}};

TEST(Lazy, LoadsALibraryAndItsFunctions) {
    refs_lazy_library library = REFS_LAZY_LIBRARY("libm.so.6", cosineOnly);
    for (int again = 0; again < 2; again++) EXPECT_EQ(refs_lazy_load(&library, nullptr), REFS_OK);
    EXPECT_EQ(cosine(0), 1);
}

TEST(Lazy, SaysWhichLibraryIsNotThere) {
    refs_lazy_library library = REFS_LAZY_LIBRARY("librefs_no_such_library.so.7", cosineOnly);
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_lazy_load(&library, &error), REFS_UNSUPPORTED);
    EXPECT_NE(std::string(error.message).find("librefs_no_such_library.so.7"), std::string::npos)
        << error.message;
}

TEST(Lazy, SaysWhichFunctionIsNotThere) {
    refs_lazy_library library = REFS_LAZY_LIBRARY("libm.so.6", withAbsent);
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_lazy_load(&library, &error), REFS_UNSUPPORTED);
    EXPECT_NE(std::string(error.message).find("refs_no_such_function"), std::string::npos)
        << error.message;
    EXPECT_FALSE(library.loaded);
}

} // namespace
