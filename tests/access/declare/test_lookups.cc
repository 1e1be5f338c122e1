#include <gtest/gtest.h>

#include <string>

#include "support/declared.h"
#include "support/random.h"
#include "support/scale.h"

/* What stands in subscripts of index arrays is an access of its own, once; what is written of such
 * a declaration is that declaration when it is read. */

namespace {

class Lookups : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    polytile_declaration *read(const std::string &text) {
        polytile_declaration *made = nullptr;
        EXPECT_EQ(pti_declaration_parse(ctx_, text.c_str(), &made), POLYTILE_OK)
            << text << ": " << polytile_last_error(ctx_);
        return made;
    }

    void expect_read_back(const std::string &text) {
        polytile_declaration *first = read(text);
        ASSERT_NE(first, nullptr);
        polytile_declaration *second = read(written(*first));
        ASSERT_NE(second, nullptr);
        EXPECT_EQ(difference(first, second), "") << text << " is written as " << written(*first);
        pti_declaration_free(second);
        pti_declaration_free(first);
    }

    int count(const std::string &text) {
        polytile_declaration *made = read(text);
        const int n = made == nullptr ? -1 : made->n_accesses;
        pti_declaration_free(made);
        return n;
    }

    polytile_context *ctx_ = nullptr;
};

TEST_F(Lookups, AreOneAccessEach) {
    EXPECT_EQ(count("k[i]: in V[P[i]], x[P[i]]; out y[i]"), 4);
    EXPECT_EQ(count("k[i]: in V[P[i]:P[i]+3]; out y[i]"), 3);
    EXPECT_EQ(count("k[i]: in V[K[P[i]]], x[K[P[i]]]; out y[i]"), 5);
    EXPECT_EQ(count("k[i]: in V[K[P[i]]], x[K[Q[i]]]; out y[i]"), 7);
    EXPECT_EQ(count("k[i]: in V[i, L[K[P[i]]]], x[L[K[P[i]]]]; out y[i]"), 6);
    EXPECT_EQ(count("k[i]: in x[K[P[i]]], K[P[i]], P[i]; out y[i]"), 4);
}

TEST_F(Lookups, AreReadBackHoweverDeep) {
    for (const char *text :
         {"k[i]: in V[i, x[K[P[i]]]]; out y[i]", "k[i]: in V[a[b[c[d[i]]]]]; out y[i]",
          "k[i]: in V[K[P[i]], K[P[i]]]; out y[i]",
          "k[i]: in V[K[P[i]]:K[P[i]]+2], x[K[P[i+1]]]; sum y[K[P[i]]]",
          "k[i]: in V[K[P[i]], K[P[i]+1]], K[P[i]]; out y[i]"})
        expect_read_back(text);
}

/** An element of an index array, so many deep at most. */
std::string draw_element(Random *random, int deepest) {
    const std::string arrays[] = {"K", "L", "P"};
    const std::string plus = random->one_of({0, 0, 1}) == 0 ? "" : "+1";
    if (deepest == 0)
        return "i" + plus;
    const auto deep = static_cast<size_t>(deepest - 1);
    return arrays[deep] + "[" +
           draw_element(random, static_cast<int>(random->number(0, deepest - 1))) + "]" + plus;
}

TEST_F(Lookups, AreReadBackAtRandom) {
    Random random(test_seed("Lookups.AreReadBackAtRandom"));
    for (int64_t round = 0; round < scaled(2000) && !HasFailure(); round++) {
        std::string text = "k[i]: in ";
        for (int64_t n = random.number(1, 4); n > 0; n--) {
            const bool is_wide = random.chance(50);
            text += (is_wide ? "V[" : "x[") + draw_element(&random, 3);
            text += is_wide ? ", " + draw_element(&random, 3) + "]" : "]";
            text += n > 1 ? ", " : "";
        }
        expect_read_back(text + "; out y[i]");
    }
}

} // namespace
