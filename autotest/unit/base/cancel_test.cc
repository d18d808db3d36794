/* cancel_test.cc -- scopes in which a thread asks whether its work is still requested. */
#include <gtest/gtest.h>

extern "C" {
#include "refs/cancel_wait.h"
}

namespace {

/** A check that counts how often it is asked, and what it sees of scopes meanwhile. */
struct Check {
    static bool goOn(void *user) {
        auto *self = static_cast<Check *>(user);
        self->nAsked++;
        self->sawScope = self->sawScope || refs_cancel_scope_is_any();
        return self->goesOn;
    }
    refs_cancel_check check() { return {goOn, this}; }
    bool goesOn = true, sawScope = false;
    int nAsked = 0;
};

} // namespace

TEST(CancelScope, AsksNobodyOutside) {
    EXPECT_FALSE(refs_cancel_scope_is_any());
    EXPECT_EQ(refs_cancel_scope_check(nullptr), REFS_OK);
}

TEST(CancelScope, AsksOuterScopesToo) {
    Check outer, inner;
    refs_cancel_scope scopes[2];
    refs_cancel_scope_begin(&scopes[0], outer.check());
    refs_cancel_scope_begin(&scopes[1], inner.check());
    EXPECT_EQ(refs_cancel_scope_check(nullptr), REFS_OK);
    EXPECT_EQ(inner.nAsked + outer.nAsked, 2);
    outer.goesOn = false;
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_cancel_scope_check(&error), REFS_CANCELLED);
    EXPECT_STREQ(error.message, "cancelled");
    refs_cancel_scope_end(&scopes[1]);
    EXPECT_EQ(refs_cancel_scope_check(nullptr), REFS_CANCELLED);
    refs_cancel_scope_end(&scopes[0]);
    EXPECT_EQ(refs_cancel_scope_check(nullptr), REFS_OK);
    EXPECT_EQ(inner.nAsked, 2);
}

TEST(CancelScope, WithoutACheckAsksNobody) {
    refs_cancel_scope scope;
    refs_cancel_scope_begin(&scope, {nullptr, nullptr});
    EXPECT_FALSE(refs_cancel_scope_is_any());
    EXPECT_EQ(refs_cancel_scope_check(nullptr), REFS_OK);
    refs_cancel_scope_end(&scope);
}

TEST(CancelScope, IsNoneWhileItsCheckIsAsked) {
    Check check;
    refs_cancel_scope scope;
    refs_cancel_scope_begin(&scope, check.check());
    EXPECT_EQ(refs_cancel_scope_check(nullptr), REFS_OK);
    EXPECT_FALSE(check.sawScope);
    EXPECT_TRUE(refs_cancel_scope_is_any());
    refs_cancel_scope_end(&scope);
}
