#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

#include <polytile/polytile.h>

extern "C" {
#include "access/set/range.h"
#include "distribute/share/distribution.h"
}

namespace {

class Distribution : public ::testing::Test {
  protected:
    Distribution() { polytile_context_create(&ctx_); }
    ~Distribution() override { polytile_context_destroy(ctx_); }

    pti_distribution parsed(const std::string &text) {
        pti_distribution distribution;
        EXPECT_EQ(pti_distribution_parse(ctx_, text.c_str(), &distribution), POLYTILE_OK)
            << polytile_last_error(ctx_);
        return distribution;
    }

    /** The part of each index, as text: "0011". */
    std::string parts(const std::string &text, int64_t n, int n_parts) {
        const pti_distribution distribution = parsed(text);
        const polytile_range whole = {5, 5 + n - 1, 1};
        std::string owners(static_cast<size_t>(n), '.');
        for (int part = 0; part < n_parts; part++) {
            const int64_t n_ranges = distribution.kind->count(&distribution, &whole, part, n_parts);
            int64_t next = whole.lo;
            for (int64_t k = 0; k < n_ranges; k++) {
                const polytile_range range =
                    distribution.kind->get(&distribution, &whole, part, n_parts, k);
                EXPECT_GE(range.lo, next) << "ranges do not ascend";
                EXPECT_LE(range.lo, range.hi);
                EXPECT_LE(range.hi, whole.hi);
                EXPECT_EQ(range.step, 1);
                next = range.hi + 1;
                for (int64_t x = range.lo; x <= std::min(range.hi, whole.hi); x++) {
                    char &owner = owners[static_cast<size_t>(x - whole.lo)];
                    EXPECT_EQ(owner, '.') << "index " << x << " has two owners";
                    owner = static_cast<char>('0' + part);
                }
            }
        }
        return owners;
    }

    polytile_context *ctx_ = nullptr;
};

TEST_F(Distribution, DealsOutAsItsTextSays) {
    const struct {
        const char *text;
        int64_t n;
        int n_parts;
        const char *parts;
    } rows[] = {
        {"block", 10, 4, "0001112233"},     {"block", 3, 5, "012"},
        {"block", 8, 1, "00000000"},        {"block(dim=0)", 4, 2, "0011"},
        {"cyclic(1)", 7, 3, "0120120"},     {"cyclic(2)", 7, 3, "0011220"},
        {"cyclic(3)", 4, 4, "0001"},        {"cyclic(2)", 6, 1, "000000"},
        {"cyclic(100)", 4, 2, "0000"},      {"weighted(3,1)", 8, 2, "00000011"},
        {"weighted(0,1)", 3, 2, "111"},     {"weighted(1,0,1)", 4, 3, "0022"},
        {"weighted(.5,1.5)", 4, 2, "0111"}, {"weighted(1,1)", 1, 2, "0"},
        {"weighted", 6, 3, "001122"},
    };
    for (const auto &row : rows)
        EXPECT_EQ(parts(row.text, row.n, row.n_parts), row.parts) << row.text;
}

TEST_F(Distribution, GivesEveryIndexOneOwner) {
    Random random(test_seed("Distribution.GivesEveryIndexOneOwner"));
    for (int64_t round = 0; round < scaled(3000); round++) {
        const int n_parts = static_cast<int>(random.number(1, 9));
        std::string weights;
        for (int p = 0; p < n_parts; p++)
            weights += (p ? "," : "") + std::to_string(random.number(p == 0, 9));
        const std::vector<std::string> texts = {
            "block", "cyclic(" + std::to_string(random.number(1, 7)) + ")",
            "weighted(" + weights + ")"};
        const std::string &text = texts[static_cast<size_t>(random.number(0, 2))];
        const int64_t n = random.number(1, random.chance(30) ? n_parts : 40);
        ASSERT_EQ(parts(text, n, n_parts).find('.'), std::string::npos)
            << text << " of " << n << " over " << n_parts;
        ASSERT_FALSE(HasFailure()) << text << " of " << n << " over " << n_parts;
    }
}

TEST_F(Distribution, ManyIndicesDoNotOverflow) {
    const polytile_range whole = {-(INT64_C(1) << 61), INT64_C(1) << 61, 1};
    for (const char *text : {"block", "cyclic(1000000000000000000)", "weighted(1,2,3)"}) {
        const pti_distribution distribution = parsed(text);
        int64_t n = 0;
        for (int part = 0; part < 3; part++)
            for (int64_t k = 0; k < distribution.kind->count(&distribution, &whole, part, 3); k++) {
                const polytile_range own =
                    distribution.kind->get(&distribution, &whole, part, 3, k);
                EXPECT_TRUE(pti_range_contains(whole, own)) << text;
                n += pti_range_count(own);
            }
        EXPECT_EQ(n, pti_range_count(whole)) << text;
    }
}

TEST_F(Distribution, TheDefaultIsBlocks) {
    pti_distribution distribution;
    ASSERT_EQ(pti_distribution_parse(ctx_, nullptr, &distribution), POLYTILE_OK);
    EXPECT_EQ(distribution.kind, &pti_distribution_block);
    EXPECT_EQ(distribution.only_dim, -1);
    EXPECT_EQ(parsed("block(dim=1)").only_dim, 1);
}

TEST_F(Distribution, WrongTextsAreRefusedWithWhatThereIs) {
    std::string many = "weighted(1";
    for (int k = 0; k < PTI_MAX_WEIGHTS; k++)
        many += ",1";
    for (const std::string &wrong : {std::string("blok"),
                                     std::string(""),
                                     std::string("block("),
                                     std::string("block)"),
                                     std::string("block(dim=8)"),
                                     std::string("block(dim=-1)"),
                                     std::string("block(dim=0)x"),
                                     std::string("block(0)"),
                                     std::string("cyclic"),
                                     std::string("cyclic(0)"),
                                     std::string("cyclic(-1)"),
                                     std::string("cyclic(1,2)"),
                                     std::string("cyclic(99999999999999999999)"),
                                     std::string("weighted(,)"),
                                     std::string("weighted(1"),
                                     std::string("weighted(0,0)"),
                                     std::string("weighted(1,)"),
                                     std::string("weighted(-1,2)"),
                                     std::string("weighted(nan)"),
                                     std::string("weighted(1e999)"),
                                     std::string("weighted(1;2)"),
                                     many + ")"}) {
        pti_distribution distribution;
        EXPECT_EQ(pti_distribution_parse(ctx_, wrong.c_str(), &distribution), POLYTILE_INVALID)
            << wrong;
        const std::string error = polytile_last_error(ctx_);
        EXPECT_NE(error.find("\"" + wrong + "\""), std::string::npos) << error;
        EXPECT_NE(error.find("cyclic(64)"), std::string::npos) << error;
    }
}

} // namespace
