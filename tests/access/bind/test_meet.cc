#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/bind/meet.h"
#include "partition/window/plan.h"
}

/* Threads that write what they look up, compared with going through all pairs of them. */

namespace {

using Element = std::pair<int64_t, int64_t>;

/** The elements of A that a thread writes, and those that it reads alone. */
struct Touched {
    std::vector<Element> written, read;
};

/** A launch over threads i, j and index arrays, of which all elements are inside A. */
struct Drawn {
    int64_t n_i, n_j, n_rows, n_columns;
    std::vector<int64_t> P, K, L;

    int64_t k(int64_t at) const { return K[static_cast<size_t>(at)]; }
    int64_t l(int64_t at) const { return L[static_cast<size_t>(at)]; }
    int64_t p(int64_t at) const { return P[static_cast<size_t>(at)]; }
};

struct Kernel {
    const char *declaration;
    Touched (*touched)(const Drawn &of, int64_t i, int64_t j);
};

const Kernel kernels[] = {
    {"k[i, j]: in P[i], L[i]; out A[K[i], j]",
     [](const Drawn &of, int64_t i, int64_t j) {
         return Touched{{{of.k(i), j}}, {}};
     }},
    {"k[i, j]: in P[i], L[i]; inout A[K[i], 0]",
     [](const Drawn &of, int64_t i, int64_t) {
         return Touched{{{of.k(i), 0}}, {}};
     }},
    {"k[i, j]: in P[i]; out A[K[i], L[j]]",
     [](const Drawn &of, int64_t i, int64_t j) {
         return Touched{{{of.k(i), of.l(j)}}, {}};
     }},
    {"k[i, j]: in P[i], L[i]; out A[K[i+j], 0]",
     [](const Drawn &of, int64_t i, int64_t j) {
         return Touched{{{of.k(i + j), 0}}, {}};
     }},
    {"k[i, j]: in P[i]; out A[K[i], 0]; in A[L[j], 0]",
     [](const Drawn &of, int64_t i, int64_t j) {
         return Touched{{{of.k(i), 0}}, {{of.l(j), 0}}};
     }},
    {"k[i, j]: in L[i], P[i]; out A[K[i], j], A[K[i+1], j]",
     [](const Drawn &of, int64_t i, int64_t j) {
         return Touched{{{of.k(i), j}, {of.k(i + 1), j}}, {}};
     }},
    {"k[i, j]: in K[i], L[i]; out A[j, P[i]:P[i+1]-1]",
     [](const Drawn &of, int64_t i, int64_t j) {
         Touched made;
         for (int64_t e = of.p(i); e < of.p(i + 1); e++)
             made.written.emplace_back(j, e);
         return made;
     }},
    {"k[i, j]: in K[i], L[i]; out A[j, P[i]:P[i+1]]",
     [](const Drawn &of, int64_t i, int64_t j) {
         Touched made;
         for (int64_t e = of.p(i); e <= of.p(i + 1); e++)
             made.written.emplace_back(j, e);
         return made;
     }},
    {"k[i, j]: in L[i]; out A[j, K[P[i]:P[i+1]-1]]",
     [](const Drawn &of, int64_t i, int64_t j) {
         Touched made;
         for (int64_t e = of.p(i); e < of.p(i + 1); e++)
             made.written.emplace_back(j, of.k(e));
         return made;
     }},
};

bool meet(const Touched &one, const Touched &other) {
    const auto has = [](const std::vector<Element> &of, const Element &element) {
        return std::find(of.begin(), of.end(), element) != of.end();
    };
    return std::any_of(one.written.begin(), one.written.end(), [&](const Element &element) {
        return has(other.written, element) || has(other.read, element);
    });
}

class Meet : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_array *wrap(const char *name, std::vector<int64_t> &of) {
        const auto extent = static_cast<int64_t>(of.size());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_I64, 1, &extent, of.data(), &array),
                  POLYTILE_OK);
        return array;
    }

    /** Each index array holds numbers of its own, mostly, all of which are inside A. */
    static std::vector<int64_t> draw_indices(size_t n, int64_t extent, Random *random) {
        std::vector<int64_t> drawn;
        for (int64_t k = 0; k < extent; k++)
            drawn.push_back(k);
        for (size_t k = drawn.size() - 1; k > 0; k--)
            std::swap(drawn[k],
                      drawn[static_cast<size_t>(random->number(0, static_cast<int64_t>(k)))]);
        drawn.resize(n);
        if (random->chance(30))
            drawn[static_cast<size_t>(random->number(0, static_cast<int64_t>(n) - 1))] =
                random->number(0, extent - 1);
        return drawn;
    }

    static Drawn draw(Random *random) {
        Drawn made = {random->number(1, 5), random->number(1, 4), 0, 0, {0}, {}, {}};
        made.n_rows = made.n_columns = 16;
        for (int64_t i = 0; i <= made.n_i; i++)
            made.P.push_back(std::min<int64_t>(9, made.P.back() + random->one_of({0, 1, 1, 2})));
        made.K = draw_indices(10, 16, random);
        made.L = draw_indices(5, 16, random);
        if (random->chance(20))
            std::sort(made.K.begin(), made.K.end());
        return made;
    }

    polytile_status bind(const Kernel &of, Drawn *drawn, pti_instance **instance) {
        polytile_kernel *kernel = nullptr;
        polytile_array *A = nullptr;
        const polytile_launch_options options = {};
        const int64_t extents[] = {drawn->n_rows, drawn->n_columns};
        const polytile_domain domain = polytile_domain_from_extents(2, extents);
        EXPECT_EQ(polytile_array_describe(ctx, "A", POLYTILE_F32, &domain, &A), POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx, of.declaration, nullptr, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx);
        const std::map<std::string, polytile_array *> named = {{"A", A},
                                                               {"P", wrap("P", drawn->P)},
                                                               {"K", wrap("K", drawn->K)},
                                                               {"L", wrap("L", drawn->L)}};
        std::vector<polytile_array *> arrays;
        for (int a = 0; a < polytile_kernel_get_n_arrays(kernel); a++)
            arrays.push_back(named.at(polytile_kernel_get_array_name(kernel, a)));
        return pti_plan_bind_operands(kernel, POLYTILE_EXTENTS(drawn->n_i, drawn->n_j),
                                      arrays.data(), &options, instance);
    }

    polytile_context *ctx = nullptr;
};

/** Whether the witness's threads meet at its element. */
void expect_witness(const polytile_context *ctx, const Kernel &of, const Drawn &drawn) {
    polytile_witness found;
    ASSERT_TRUE(polytile_last_witness(ctx, &found));
    const Touched one = of.touched(drawn, found.thread[0], found.thread[1]);
    Touched other = of.touched(drawn, found.other[0], found.other[1]);
    other.written.insert(other.written.end(), other.read.begin(), other.read.end());
    const Element element = {found.element[0], found.element[1]};
    EXPECT_TRUE(found.thread[0] != found.other[0] || found.thread[1] != found.other[1]);
    EXPECT_EQ(std::count(one.written.begin(), one.written.end(), element) > 0, true);
    EXPECT_EQ(std::count(other.written.begin(), other.written.end(), element) > 0, true);
}

TEST_F(Meet, ThreadsAreRefusedWhereTwoMeet) {
    Random random(test_seed("Meet.ThreadsAreRefusedWhereTwoMeet"));
    int64_t n_refused = 0;
    const int64_t n_rounds = scaled(2000);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const Kernel &of = kernels[static_cast<size_t>(round) % (sizeof kernels / sizeof *kernels)];
        Drawn drawn = draw(&random);
        std::vector<Touched> threads;
        bool is_wrong = false;
        for (int64_t i = 0; i < drawn.n_i; i++)
            for (int64_t j = 0; j < drawn.n_j; j++)
                threads.push_back(of.touched(drawn, i, j));
        for (size_t a = 0; a < threads.size(); a++)
            for (size_t b = 0; b < threads.size(); b++)
                is_wrong = is_wrong || (a != b && meet(threads[a], threads[b]));
        pti_instance *instance = nullptr;
        const polytile_status status = bind(of, &drawn, &instance);
        EXPECT_EQ(status, is_wrong ? POLYTILE_CONFLICT : POLYTILE_OK)
            << of.declaration << ": " << polytile_last_error(ctx) << " K "
            << testing::PrintToString(drawn.K) << " L " << testing::PrintToString(drawn.L) << " P "
            << testing::PrintToString(drawn.P) << " " << drawn.n_i << "x" << drawn.n_j;
        if (status == POLYTILE_CONFLICT)
            expect_witness(ctx, of, drawn);
        pti_instance_free(instance);
        n_refused += is_wrong;
    }
    EXPECT_GE(n_refused, least_count(n_rounds, 0.3));
    EXPECT_GE(n_rounds - n_refused, least_count(n_rounds, 0.3));
}

/* Numbers that both index arrays hold, and some that one holds twice, do not make it slow. */
TEST_F(Meet, ThreadsAreToldApartByWhatTheyLookUpWhereThatCanBe) {
    const struct {
        size_t kernel;
        std::vector<int64_t> K;
        int64_t n_j;
        bool are;
    } rows[] = {
        {0, {7, 2, 4, 1, 0}, 2, true},
        {2, {4, 2, 3, 1, 0}, 2, true},  /* L has all of them, too */
        {4, {7, 9, 11, 8, 6}, 1, false} /* another section reads */
    };
    for (const auto &row : rows) {
        Drawn drawn = {3, row.n_j, 16, 16, {0, 1, 2, 3, 4}, row.K, {0, 1, 2, 3, 4}};
        pti_instance *instance = nullptr;
        pti_meeting meeting;
        ASSERT_EQ(bind(kernels[row.kernel], &drawn, &instance), POLYTILE_OK)
            << polytile_last_error(ctx);
        for (int o = 0; o < instance->n_operands; o++) {
            if (!pti_operand_is_written_by_lookup(instance, o))
                continue;
            ASSERT_EQ(pti_inspection_find_meeting(ctx, instance, o, &meeting), POLYTILE_OK);
            EXPECT_EQ(meeting.are_told_apart, row.are) << kernels[row.kernel].declaration;
            EXPECT_FALSE(meeting.is_found);
        }
        pti_instance_free(instance);
    }
}

TEST_F(Meet, TheRefusalNamesBothThreadsAndTheElement) {
    Drawn drawn = {3, 2, 16, 16, {0, 1, 2, 3, 4}, {7, 2, 7, 1, 0}, {0, 1, 2, 3, 4}};
    pti_instance *instance = nullptr;
    EXPECT_EQ(bind(kernels[0], &drawn, &instance), POLYTILE_CONFLICT);
    const std::string error = polytile_last_error(ctx);
    EXPECT_NE(
        error.find("k: threads [0, 0] and [2, 0] conflict on A[7, 0]: the first writes it (out "
                   "A[K[i], j]), the second writes it (out A[K[i], j]); declare a reducing "
                   "role"),
        std::string::npos)
        << error;
}

} // namespace
