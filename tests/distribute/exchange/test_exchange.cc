#include <gtest/gtest.h>

#include <ctime>

#include "distribute/shared_program.h"

extern "C" {
#include "distribute/exchange/transfers.h"
}

namespace {

polytile_domain square(int64_t n) {
    const int64_t extents[] = {n, n};
    return polytile_domain_from_extents(2, extents);
}

/** Jacobi steps between two squares. */
void add_steps(SharedProgram *program, int64_t n, int n_steps, const char *stencil) {
    const polytile_domain inner = {2, {{1, n - 2, 1}, {1, n - 2, 1}}};
    for (int step = 0; step < n_steps; step++)
        ASSERT_TRUE(program->add_launch(stencil, inner, {step % 2, 1 - step % 2}))
            << program->error();
}

const char *const five_points = "five[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const char *const nine_points = "nine[i, j]: in A[i-1:i+1, j-1:j+1]; out B[i, j]";

/** All that members lack of all arrays. */
bool find_missing(const pti_superstep *superstep, pti_copies *copies, int first, int n_local,
                  pti_exchange *exchange) {
    pti_transfers transfers = pti_transfers_begin(superstep, first, n_local, exchange);
    for (int a = 0; a < superstep->n_arrays; a++)
        pti_transfers_add_missing(&transfers, a, copies);
    return pti_transfers_end(&transfers);
}

/** Transfers before or after the first group, as text without boxes: "0>1:8" elements. */
class Exchanges {
  public:
    Exchanges(const SharedProgram &program, int n_members)
        : superstep_(program.superstep(0, program.launches().size(), n_members)) {
        pti_copies_create(superstep_.n_arrays, n_members, &copies_);
    }
    ~Exchanges() { pti_copies_free(&copies_); }
    Exchanges(const Exchanges &) = delete;
    Exchanges &operator=(const Exchanges &) = delete;

    std::string before(int first, int n_local) { return text(pti_exchange_before, first, n_local); }
    std::string after(int first, int n_local) { return text(pti_exchange_after, first, n_local); }
    std::string missing(int first, int n_local) { return text(find_missing, first, n_local); }

  private:
    std::string text(decltype(pti_exchange_before) *function, int first, int n_local) {
        pti_exchange exchange;
        std::string text;
        EXPECT_TRUE(function(&superstep_, &copies_, first, n_local, &exchange));
        for (int t = 0; t < exchange.n_transfers; t++) {
            const pti_transfer &transfer = exchange.transfer[t];
            text += (t ? " " : "") + std::to_string(transfer.from) + ">" +
                    std::to_string(transfer.to) + ":" + std::to_string(transfer.n_elements);
        }
        pti_exchange_free(&exchange);
        return text;
    }

    pti_superstep superstep_;
    pti_copies copies_ = {};
};

TEST(Exchange, FivePointsNeedNoCornersAndNinePointsDo) {
    SharedProgram five, nine;
    for (SharedProgram *program : {&five, &nine}) {
        program->add_array(square(16), 4, "", "block");
        program->add_array(square(16), 4, "", "block");
    }
    add_steps(&five, 16, 1, five_points);
    add_steps(&nine, 16, 1, nine_points);
    EXPECT_EQ(Exchanges(five, 4).before(0, 1), "0>1:7 0>2:7 1>0:7 2>0:7");
    EXPECT_EQ(Exchanges(nine, 4).before(0, 1), "0>1:8 0>2:8 0>3:1 1>0:8 2>0:8 3>0:1");
}

TEST(Exchange, AGroupOfStepsBringsAsManyRowsOnce) {
    SharedProgram program;
    for (int a = 0; a < 2; a++)
        program.add_array(square(64), 4, "4x1", "block");
    add_steps(&program, 64, 5, five_points);
    Exchanges exchanges(program, 4);
    EXPECT_EQ(exchanges.before(1, 1), "0>1:318 1>0:318 1>2:318 2>1:318 0>1:6 1>0:6 1>2:6 2>1:6");
    EXPECT_EQ(exchanges.after(1, 1), "");
}

TEST(Exchange, WhatNobodyWritesIsBroughtOnce) {
    SharedProgram program;
    program.add_array(square(16), 2, "2x1", "block");
    program.add_array(square(16), 2, "2x1", "block");
    add_steps(&program, 16, 1, five_points);
    Exchanges exchanges(program, 2);
    EXPECT_EQ(exchanges.before(0, 2), "0>1:14 1>0:14");
    EXPECT_EQ(exchanges.after(0, 2), "");
    EXPECT_EQ(exchanges.before(0, 2), "");
}

TEST(Exchange, WhatAMemberLacksOfArraysComesFromAllOwners) {
    SharedProgram program;
    for (int a = 0; a < 2; a++)
        program.add_array(square(16), 2, "2x1", "block");
    add_steps(&program, 16, 1, five_points);
    Exchanges exchanges(program, 2);
    EXPECT_EQ(exchanges.missing(0, 2), "0>1:128 1>0:128 0>1:128 1>0:128");
    EXPECT_EQ(exchanges.before(0, 2), "0>1:14 1>0:14");
    EXPECT_EQ(exchanges.missing(0, 2), "0>1:114 1>0:114 0>1:128 1>0:128");
}

TEST(Exchange, WhatIsLackedIsListedAtBothEndsAlone) {
    SharedProgram program;
    program.add_array(square(16), 4, "4x1", "block");
    ASSERT_TRUE(program.add_launch("k[i, j]: out A[i, j]", square(16), {0}));
    EXPECT_EQ(Exchanges(program, 4).missing(1, 1), "0>1:64 1>0:64 1>2:64 1>3:64 2>1:64 3>1:64");
}

TEST(Exchange, WhatIsWrittenAwayFromHomeGoesThereAfterwards) {
    SharedProgram program;
    program.add_array(square(15), 2, "2x1", "block");
    const polytile_domain threads = {2, {{0, 6, 1}, {0, 14, 1}}};
    ASSERT_TRUE(program.add_launch("k[i, j]: out A[2*i+1:2*i+2, j]", threads, {0}));
    Exchanges exchanges(program, 2);
    EXPECT_EQ(exchanges.before(0, 2), "");
    EXPECT_EQ(exchanges.after(0, 2), "0>1:15");
}

/** A member packs or unpacks by its own list: Members::run() compares that of another one each time
 * with the list of all. */
TEST(Exchange, BothEndsOfATransferListItsBoxesInOneOrder) {
    const struct {
        const char *launch;
        polytile_domain threads, a, b;
    } rows[] = {
        {"columns[i, j]: sum A[4*i]; out B[i + 4*j]",
         {2, {{0, 3, 1}, {0, 7, 1}}},
         {1, {{0, 15, 1}}},
         {1, {{0, 31, 1}}}},
        {"steps[i, j]: out A[j, i]; sum B[:i, 3*j:3*j+2:2]",
         {2, {{0, 2, 1}, {0, 4, 1}}},
         {2, {{0, 4, 1}, {0, 2, 1}}},
         {2, {{0, 4, 1}, {0, 14, 1}}}},
    };
    constexpr int n_members = 2;
    for (const auto &row : rows) {
        SharedProgram program;
        program.add_array(row.a, n_members, "", "block");
        program.add_array(row.b, n_members, "", "block");
        ASSERT_TRUE(program.add_launch(row.launch, row.threads, {0, 1})) << program.error();
        Members members(program.ownerships(), n_members);
        for (int turn = 0; turn < n_members; turn++)
            EXPECT_EQ(members.run(program.launches()), "") << row.launch;
        EXPECT_GT(members.n_moved(), 0) << row.launch;
    }
}

TEST(Exchange, ManyMembersTakeLinearTime) {
    const auto seconds = [](int n_members) {
        SharedProgram program;
        for (int a = 0; a < 2; a++)
            program.add_array(square(8192), n_members, "", "block");
        add_steps(&program, 8192, 1, five_points);
        Exchanges exchanges(program, n_members);
        const std::clock_t begin = std::clock();
        exchanges.before(n_members / 2, 1);
        exchanges.after(n_members / 2, 1);
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    double least_256 = 1e9, least_4096 = 1e9;
    for (int turn = 0; turn < 5; turn++) {
        least_256 = std::min(least_256, seconds(256));
        least_4096 = std::min(least_4096, seconds(4096));
    }
    std::printf("256 members %.1f us, 4096 members %.1f us\n", 1e6 * least_256, 1e6 * least_4096);
    EXPECT_LT(least_4096, 64 * least_256);
}

TEST(Group, EndsWithWhatIsCombinedAndBeforeWhatIsScattered) {
    const struct {
        std::vector<const char *> launches;
        const char *distribution;
        int longest;
    } rows[] = {
        {{"a[i, j]: in A[i, j]; out B[i, j]", "b[i, j]: in A[i, j]; out B[i, j]"}, "block", 2},
        {{"a[i, j]: in A[i, j]; out B[i, j]", "b[i, j]: in A[i, j]; out sum B[0, 0]",
          "c[i, j]: in A[i, j]; out B[i, j]"},
         "block",
         2},
        {{"b[i, j]: in A[i, j]; out sum B[0, 0]", "c[i, j]: in A[i, j]; out B[i, j]"}, "block", 1},
        {{"a[i, j]: in A[i, j]; out B[i, j]", "b[i, j]: in A[i, j]; out B[i, j]"}, "cyclic(2)", 1},
    };
    for (const auto &row : rows) {
        SharedProgram program;
        for (int a = 0; a < 2; a++)
            program.add_array(square(16), 4, "", row.distribution);
        for (const char *launch : row.launches)
            ASSERT_TRUE(program.add_launch(launch, square(16), {0, 1})) << program.error();
        const pti_superstep superstep = program.superstep(0, program.launches().size(), 4);
        EXPECT_EQ(pti_superstep_longest(&superstep), row.longest);
    }
}

} // namespace
