#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "base/context.h"
}
#include <polytile/polytile.h>

namespace {

/** One thing that is done to the errors of a context. */
struct Step {
    enum {
        FAIL,    /* with a text */
        KEEP,    /* the last error, as POLYTILE_INVALID */
        KEEP_OK, /* of a call that went well */
        CLEAR,
        RESTORE,
        RESTORE_BOTH,
        PREFIX,
        PLACE, /* of the second of three launches */
        ADD,   /* arrays that are left incomplete */
        SET    /* others in their place */
    } what;
    const char *text = "";
};

const struct {
    std::vector<Step> steps;
    const char *text;
} rows[] = {
    {{}, ""},
    {{{Step::FAIL, "a"}}, "a"},
    {{{Step::FAIL, "a"}, {Step::FAIL, "b"}}, "b"},
    /* Kept. */
    {{{Step::RESTORE}}, ""},
    {{{Step::FAIL, "a"}, {Step::RESTORE}}, "a"},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::RESTORE}}, "a"},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::CLEAR}}, ""},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::CLEAR}, {Step::RESTORE}}, "a"},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::FAIL, "b"}, {Step::RESTORE}}, "a"},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::FAIL, "b"}, {Step::KEEP}, {Step::RESTORE}}, "a"},
    {{{Step::FAIL, "a"}, {Step::KEEP_OK}, {Step::FAIL, "b"}, {Step::RESTORE}}, "b"},
    {{{Step::FAIL, "a"},
      {Step::KEEP_OK},
      {Step::FAIL, "b"},
      {Step::KEEP},
      {Step::CLEAR},
      {Step::RESTORE}},
     "b"},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::RESTORE}, {Step::FAIL, "b"}, {Step::RESTORE}}, "a"},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::FAIL, "b"}, {Step::RESTORE_BOTH}}, "a; and then b"},
    {{{Step::KEEP}, {Step::FAIL, "b"}, {Step::RESTORE}}, ""}, /* without a text */
    {{{Step::FAIL, "\x1b[31m"}, {Step::KEEP}, {Step::CLEAR}, {Step::RESTORE}}, "\\x1b[31m"},
    {{{Step::FAIL, "100%s"}, {Step::KEEP}, {Step::CLEAR}, {Step::RESTORE}}, "100%s"},
    /* Reworded. */
    {{{Step::FAIL, "a"}, {Step::PREFIX, "on cpu: "}}, "on cpu: a"},
    {{{Step::FAIL, "a"}, {Step::PREFIX, "on\r: "}}, "on\\x0d: a"},
    {{{Step::FAIL, "a"}, {Step::PLACE}}, "launch 2 of 3: a"},
    /* With arrays. */
    {{{Step::FAIL, "a"}, {Step::ADD, ""}}, "a"},
    {{{Step::FAIL, "a"}, {Step::SET, ""}}, "a"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x, y"}}, "a; left incomplete: x, y"},
    {{{Step::FAIL, "a"}, {Step::SET, "x, y"}}, "a; left incomplete: x, y"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x"}, {Step::ADD, "y"}},
     "a; left incomplete: x; left incomplete: y"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x"}, {Step::ADD, "y"}, {Step::SET, "z"}},
     "a; left incomplete: z"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x"}, {Step::SET, ""}}, "a; left incomplete: x"},
    {{{Step::FAIL, "a"}, {Step::SET, "x"}, {Step::SET, "y"}}, "a; left incomplete: y"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x"}, {Step::FAIL, "b"}, {Step::SET, "y"}},
     "b; left incomplete: y"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x"}, {Step::PREFIX, "on cpu: "}, {Step::SET, "y"}},
     "on cpu: a; left incomplete: y"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x"}, {Step::PLACE}, {Step::SET, "y"}},
     "launch 2 of 3: a; left incomplete: y"},
    {{{Step::FAIL, "a"},
      {Step::ADD, "x"},
      {Step::KEEP},
      {Step::FAIL, "b"},
      {Step::RESTORE},
      {Step::SET, "y"}},
     "a; left incomplete: y"},
    {{{Step::FAIL, "a"}, {Step::ADD, "x"}, {Step::KEEP}, {Step::FAIL, "b"}, {Step::RESTORE_BOTH}},
     "a; left incomplete: x; and then b"},
    {{{Step::FAIL, "a"},
      {Step::ADD, "x"},
      {Step::KEEP},
      {Step::FAIL, "b"},
      {Step::RESTORE_BOTH},
      {Step::SET, "y"}},
     "a; left incomplete: y"},
    {{{Step::FAIL, "a"},
      {Step::KEEP},
      {Step::FAIL, "b"},
      {Step::ADD, "x"},
      {Step::RESTORE_BOTH},
      {Step::SET, "y"}},
     "a; and then b; left incomplete: y"},
    {{{Step::FAIL, "a"}, {Step::KEEP}, {Step::FAIL, "b"}, {Step::RESTORE_BOTH}, {Step::SET, "y"}},
     "a; and then b; left incomplete: y"},
    /* The words are the program's, too. */
    {{{Step::FAIL, "array b; left incomplete: c: no"}, {Step::SET, "x"}},
     "array b; left incomplete: c: no; left incomplete: x"},
    {{{Step::FAIL, "array b; left incomplete: c: no"}, {Step::ADD, "x"}, {Step::SET, "y"}},
     "array b; left incomplete: c: no; left incomplete: y"},
};

class Errors : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    void do_step(const Step &step, pti_error *kept) {
        pti_text names = {};
        switch (step.what) {
        case Step::FAIL:
            EXPECT_EQ(pti_fail(ctx_, POLYTILE_IO, "%s", step.text), POLYTILE_IO);
            break;
        case Step::KEEP:
            EXPECT_EQ(pti_error_keep(kept, ctx_, POLYTILE_INVALID), POLYTILE_INVALID);
            break;
        case Step::KEEP_OK:
            EXPECT_EQ(pti_error_keep(kept, ctx_, POLYTILE_OK), kept->status);
            break;
        case Step::CLEAR:
            pti_clear_error(ctx_);
            break;
        case Step::RESTORE:
            EXPECT_EQ(pti_error_restore(ctx_, kept), kept->status);
            break;
        case Step::RESTORE_BOTH:
            EXPECT_EQ(pti_error_restore_both(ctx_, kept), kept->status);
            break;
        case Step::PREFIX:
            EXPECT_EQ(pti_error_prefix(ctx_, POLYTILE_IO, "%s", step.text), POLYTILE_IO);
            break;
        case Step::PLACE:
            pti_place_error(ctx_, 1, 3);
            break;
        case Step::ADD:
            pti_text_add(&names, "%s", step.text);
            pti_error_add_incomplete(ctx_, POLYTILE_IO, &names);
            break;
        case Step::SET:
            pti_text_add(&names, "%s", step.text);
            pti_error_set_incomplete(ctx_, POLYTILE_IO, &names);
            break;
        }
        EXPECT_EQ(names.data, nullptr);
    }

    std::string text_after(const std::vector<Step> &steps) {
        pti_error kept = {};
        pti_clear_error(ctx_);
        for (const Step &step : steps)
            do_step(step, &kept);
        return polytile_last_error(ctx_);
    }

    bool has_witness() { return polytile_last_witness(ctx_, nullptr); }

    void fail_with_witness() {
        polytile_witness witness = {};
        witness.kind = POLYTILE_WITNESS_CONFLICT;
        pti_text text = {};
        pti_text_add(&text, "conflict");
        pti_fail_with_witness(ctx_, POLYTILE_CONFLICT, &text, &witness);
    }

    polytile_context *ctx_ = nullptr;
};

TEST_F(Errors, AreToldAsTheFirstThatWasKeptWithTheArraysThatAreLeftIncomplete) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        EXPECT_EQ(text_after(rows[k].steps), rows[k].text) << "row " << k;
}

TEST_F(Errors, OfAThreadOfTheLibrarysAreKeptInWordsAndToldInItsPlace) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        pti_error aside = {}, kept = {};
        pti_clear_error(ctx_);
        pti_redirect_errors(&aside);
        text_after(rows[k].steps);
        pti_error_keep(&kept, ctx_, POLYTILE_IO);
        pti_redirect_errors(nullptr);
        EXPECT_STREQ(polytile_last_error(ctx_), "") << "row " << k;
        EXPECT_EQ(pti_error_restore(ctx_, &kept), POLYTILE_IO);
        EXPECT_STREQ(polytile_last_error(ctx_), rows[k].text) << "row " << k;
    }
}

TEST_F(Errors, WithoutAContextAreKeptAndGivenToOne) {
    pti_error kept = {};
    pti_fail(nullptr, POLYTILE_INVALID, "the array is NULL");
    pti_error_keep(&kept, ctx_, POLYTILE_INVALID);
    pti_clear_error(ctx_);
    EXPECT_STREQ(polytile_last_error(ctx_), "");
    pti_error_restore(ctx_, &kept);
    EXPECT_STREQ(polytile_last_error(ctx_), "the array is NULL");
    EXPECT_STREQ(polytile_last_error(nullptr), "no context");
}

TEST_F(Errors, KeepThePointThatShowsThem) {
    pti_error kept = {};
    fail_with_witness();
    pti_error_keep(&kept, ctx_, POLYTILE_CONFLICT);
    pti_fail(ctx_, POLYTILE_IO, "another");
    EXPECT_FALSE(has_witness());
    pti_error_restore(ctx_, &kept);
    EXPECT_TRUE(has_witness());
    pti_error_prefix(ctx_, POLYTILE_CONFLICT, "on cpu: ");
    EXPECT_TRUE(has_witness());
    EXPECT_STREQ(polytile_last_error(ctx_), "on cpu: conflict");
    pti_clear_error(ctx_);
    EXPECT_FALSE(has_witness());
}

TEST_F(Errors, GoBackToWhereTheyWereRedirectedBefore) {
    pti_error outer = {}, inner = {};
    EXPECT_EQ(pti_redirect_errors(&outer), nullptr);
    EXPECT_EQ(pti_redirect_errors(&inner), &outer);
    EXPECT_EQ(pti_redirect_errors(&outer), &inner);
    EXPECT_EQ(pti_redirect_errors(nullptr), &outer);
}

TEST_F(Errors, ThatAreRedirectedHaveNoPointThatShowsThem) {
    pti_error aside = {};
    pti_redirect_errors(&aside);
    fail_with_witness();
    pti_redirect_errors(nullptr);
    EXPECT_FALSE(has_witness());
    pti_error_restore(ctx_, &aside);
    EXPECT_STREQ(polytile_last_error(ctx_), "conflict");
    EXPECT_FALSE(has_witness());
}

/* Of the longest text both ends are told, so that the arrays are. */
TEST_F(Errors, AsLongAsCanBeKeepTheirEndsAndFit) {
    const std::string longest(PTI_ERROR_BYTES - 1, 'a');
    EXPECT_EQ(
        text_after(
            {{Step::FAIL, longest.c_str()}, {Step::KEEP}, {Step::FAIL, "b"}, {Step::RESTORE}}),
        longest);
    const std::string named = text_after({{Step::FAIL, longest.c_str()},
                                          {Step::ADD, "x"},
                                          {Step::PREFIX, "on cpu: "},
                                          {Step::SET, "y"}});
    const std::string end = "a; left incomplete: y";
    EXPECT_LT(named.size(), PTI_ERROR_BYTES);
    EXPECT_EQ(named.substr(0, 9), "on cpu: a");
    EXPECT_EQ(named.substr(named.size() - end.size()), end);
    EXPECT_NE(named.find(" ... "), std::string::npos);
}

} // namespace
