#include <gtest/gtest.h>

#include "distribute/shared_program.h"
#include "support/scale.h"

namespace {

polytile_domain square(int64_t n) {
    const int64_t extents[] = {n, n};
    return polytile_domain_from_extents(2, extents);
}

polytile_domain line(int64_t n) {
    return polytile_domain_from_extents(1, &n);
}

polytile_domain cube(int64_t n) {
    const int64_t extents[] = {n, n, n};
    return polytile_domain_from_extents(3, extents);
}

polytile_domain rectangle(int64_t n, int64_t m) {
    const int64_t extents[] = {n, m};
    return polytile_domain_from_extents(2, extents);
}

polytile_domain range(int64_t lo, int64_t hi) {
    return polytile_domain_from_bounds(1, &lo, &hi);
}

/** Threads of a member as text. */
std::string threads_of(const SharedProgram &program, int member) {
    const pti_shared_launch &launch = program.launches().back();
    const pti_home home = pti_home_of(&launch, program.ownerships().data());
    pti_boxes threads = {};
    pti_home_threads(&home, &launch, program.ownerships().data(), member, &threads);
    std::string text;
    for (int b = 0; b < threads.n_boxes; b++)
        text += (b ? " " : "") + text_of(threads.box[b]);
    pti_boxes_free(&threads);
    return text;
}

enum { A, B, C, X, Y, S };

/** Arrays A, B, C are squares of 8, x and y lines of 8, s a line of 1, for four members; the third
 * has the last rows and columns. */
struct Row {
    const char *declaration;
    polytile_domain threads;
    std::vector<int> arrays;
    int operand;
    bool splits;
    const char *of_last;
};

const Row rows[] = {
    {"k[i, j]: in A[i-1:i+1, j]; out B[i, j]", square(8), {A, B}, 1, false, "[4:7, 4:7]"},
    {"k[i, j]: in A[i, j]; out B[j, i]", square(8), {A, B}, 1, false, "[4:7, 4:7]"},
    {"k[i, j]: in A[i, j]; out B[i+1, j]", square(7), {A, B}, 1, false, "[3:6, 4:6]"},
    {"k[i, j]: in A[i, :], B[:, j]; out C[i, j]", square(8), {A, B, C}, 2, false, "[4:7, 4:7]"},
    {"k[i]: in A[i, :]; out x[i]", line(8), {A, X}, 1, false, "[6:7]"},
    {"k[i]: in x[i]; out A[i, :]", line(8), {X, A}, 1, false, "[4:7]"},
    {"k[i]: out x[2*i:2*i+1]", line(4), {X}, 0, false, "[3:3]"},
    {"k[i]: out x[7-i]", line(8), {X}, 0, false, "[0:1]"},
    {"k[i]: out x[i]; out B[i, :]", line(8), {X, B}, 1, false, "[4:7]"},
    {"k[i]: in x[i]; out sum s[0]", line(8), {X, S}, 0, true, "[6:7]"},
    {"k[i, j]: in A[i, j]; sum s[0]", square(8), {A, S}, 0, true, "[4:7, 4:7]"},
    {"k[i, j]: in A[i, j]; sum x[i]", square(8), {A, X}, 1, false, "[6:7, 0:7]"},
    {"k[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
     cube(8),
     {A, B, C},
     2,
     false,
     "[4:7, 4:7, 0:7]"},
    {"k[i]: sum x[i:i+1]", line(8), {X}, 0, false, "[5:7]"},
    {"k[i, j]: in A[i, j]; sum y[i+j]", square(4), {A, Y}, 0, true, ""},
    {"k[i, j]: sum x[i], y[j]", square(8), {X, Y}, 0, true, "[6:7, 0:7]"},
    {"k[i, j]: out B[i, j]; max s[0]", square(8), {B, S}, 0, true, "[4:7, 4:7]"},
    {"k[i, j]: out B[i, j]; out sum x[0], x[4]", square(8), {B, X}, -1, false, "[0:7, 0:7]"},
    {"k[i, j]: sum C[i, j], s[0]", square(8), {C, S}, 0, true, "[4:7, 4:7]"},
    {"k[i]: in x[:]; out s[i]", line(1), {X, S}, -1, false, "[0:0]"},
    {"k[i]: in A[i, i]; out sum s[0]", line(8), {A, S}, 0, true, ""},
    {"k[i]: in A[i, 0]; sum x[0], x[4]", line(8), {A, X}, 0, true, ""},
    {"k[i]: in A[i, 0]; out sum x[0], x[4]", line(8), {A, X}, -1, false, "[0:7]"},
    {"k[i, j]: out x[2*i+j]", rectangle(4, 2), {X}, 0, false, "[3:3, 0:1]"},
    {"k[i, j]: out x[i+2*j]", rectangle(2, 4), {X}, 0, false, "[0:1, 3:3]"},
    {"k[i, j]: out x[7-2*i-j]", rectangle(4, 2), {X}, 0, false, "[0:0, 0:1]"},
    {"k[i, j]: inout x[4*i+j], x[4*i+j+2]", rectangle(2, 2), {X}, 0, false, ""},
    {"k[i, j]: out x[i+j]", rectangle(8, 1), {X}, 0, false, "[6:7, 0:0]"},
    {"k[i, j]: inout B[4*i+j, 0:7]", rectangle(2, 4), {B}, 0, false, "[1:1, 0:3]"},
    {"k[i, j]: sum x[2*i+j]", rectangle(4, 2), {X}, -1, false, "[0:3, 0:1]"},
};

TEST(Share, GoesByTheWrittenOperandOrByWhatIsCombined) {
    for (const Row &row : rows) {
        SharedProgram program;
        for (const polytile_domain &domain :
             {square(8), square(8), square(8), line(8), line(8), line(1)})
            program.add_array(domain, 4, "", "block");
        ASSERT_TRUE(program.add_launch(row.declaration, row.threads, row.arrays))
            << row.declaration << ": " << program.error();
        const pti_home home = pti_home_of(&program.launches()[0], program.ownerships().data());
        EXPECT_EQ(home.operand, row.operand) << row.declaration;
        EXPECT_EQ(home.splits, row.splits) << row.declaration;
        EXPECT_EQ(threads_of(program, 3), row.of_last) << row.declaration;
    }
}

/** Each thread is of one member, whichever of several indices a dimension follows. */
TEST(Share, DealsEachThreadOutOnceWhereADimensionNamesSeveralIndices) {
    Random random(test_seed("Share.DealsEachThreadOutOnceWhereADimensionNamesSeveralIndices"));
    const int64_t n_rounds = scaled(500);
    int64_t n_divided = 0;
    for (int64_t round = n_rounds; round > 0; round--) {
        const int64_t m = random.number(1, 5), n = random.number(1, 9);
        const int64_t inner = random.number(1, 3), outer = inner * m + random.number(0, 2);
        const bool falls = random.chance(30);
        const int64_t end = outer * (n - 1) + inner * (m - 1);
        const std::string at = (falls ? std::to_string(end) + "-" : "") + std::to_string(outer) +
                               "*i" + (falls ? "-" : "+") + std::to_string(inner) + "*j";
        const int n_members = static_cast<int>(random.number(1, 5));
        SharedProgram program;
        program.add_array(line(end + 1), n_members, "", random.chance(50) ? "block" : "cyclic(3)");
        ASSERT_TRUE(program.add_launch("k[i, j]: out x[" + at + "]", rectangle(n, m), {0}))
            << program.error();
        const pti_shared_launch &launch = program.launches()[0];
        const pti_home home = pti_home_of(&launch, program.ownerships().data());
        if (home.operand < 0)
            continue;
        std::vector<int> n_runs(static_cast<size_t>(n * m));
        pti_boxes threads = {};
        for (int member = 0; member < n_members; member++) {
            pti_home_threads(&home, &launch, program.ownerships().data(), member, &threads);
            for (int b = 0; b < threads.n_boxes; b++)
                for (int64_t i = threads.box[b].range[0].lo; i <= threads.box[b].range[0].hi; i++)
                    for (int64_t j = threads.box[b].range[1].lo; j <= threads.box[b].range[1].hi;
                         j++)
                        n_runs[static_cast<size_t>(i * m + j)]++;
        }
        pti_boxes_free(&threads);
        EXPECT_EQ(n_runs, std::vector<int>(n_runs.size(), 1)) << at << " " << n_members;
        n_divided += n_members > 1;
    }
    EXPECT_GE(n_divided, least_count(n_rounds, 0.7));
}

/* Of 100 rows, more than boxes are kept for, only the hull is known. */
TEST(Share, ElementsThatAreNotKnownStayWithTheirOwners) {
    const struct {
        const char *declaration;
        int operand;
    } triangles[] = {
        {"k[i]: out A[i, 0:i]", 0},
        {"k[i]: out A[0:i, i]", 0},
        {"k[i]: inout A[i, i:]", 0},
        {"k[i]: out A[99-i, 0:i]", 0},
    };
    for (const auto &row : triangles) {
        SharedProgram program;
        program.add_array(square(100), 4, "", "block");
        ASSERT_TRUE(program.add_launch(row.declaration, line(100), {0})) << program.error();
        ASSERT_TRUE(program.launches()[0].call.instance->operand[0].partial);
        const pti_home home = pti_home_of(&program.launches()[0], program.ownerships().data());
        EXPECT_EQ(home.operand, row.operand) << row.declaration;
    }
    SharedProgram program;
    program.add_array(square(100), 4, "", "block(dim=1)");
    program.add_array(line(100), 4, "", "block");
    ASSERT_TRUE(program.add_launch("k[i]: out x[i]; out A[i, 0:i]", line(100), {1, 0}));
    EXPECT_EQ(pti_home_of(&program.launches()[0], program.ownerships().data()).operand, -1)
        << "what x divides has its triangle's rows cut across members";
}

TEST(Share, WritersOfABoxAreAllThatTouchItAndFewMore) {
    const struct {
        const char *declaration;
        polytile_domain threads;
        polytile_domain box;
        const char *writers;
    } boxes[] = {
        {"k[i]: out x[i]", line(8), range(2, 4), "[2:4]"},
        {"k[i]: out x[2*i:2*i+1]", line(4), range(2, 4), "[1:2]"},
        {"k[i]: out x[7-i]", line(8), range(2, 4), "[3:5]"},
        {"k[i]: sum x[i-1:i+1]", line(8), range(2, 4), "[1:5]"},
        {"k[i, j]: out x[4*i+j]", rectangle(2, 4), range(2, 5), "[0:1, 0:3]"},
        {"k[i]: out x[3*i]", line(3), range(4, 5), "[]"},
        {"k[i]: sum x[3]", line(8), range(4, 5), "[]"},
    };
    for (const auto &row : boxes) {
        SharedProgram program;
        program.add_array(line(8), 4, "", "block");
        ASSERT_TRUE(program.add_launch(row.declaration, row.threads, {0})) << program.error();
        const polytile_domain writers = pti_home_writers(&program.launches()[0], 0, &row.box);
        EXPECT_EQ(pti_box_is_empty(&writers) ? "[]" : text_of(writers), row.writers)
            << row.declaration;
    }
}

/** Two launches that begin anew would leave of an element that both reduce into what the last
 * did. */
TEST(Share, WhatBeginsFromTheIdentityIsReducedByOneLaunch) {
    for (const char *role : {"sum", "out sum"}) {
        SharedProgram program;
        program.add_array(square(12), 4, "2x2", "cyclic(3)");
        const std::string text = "k[i, j]: " + std::string(role) + " A[i:i+1, j:j+1]";
        ASSERT_TRUE(program.add_launch(text, square(11), {0})) << program.error();
        const bool is_one = threads_of(program, 0).find("] [") == std::string::npos;
        EXPECT_EQ(is_one, text.find("out") != std::string::npos) << threads_of(program, 0);
    }
}

} // namespace
