#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/braces.h"
#include "support/elements.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/random_instance.h"
#include "support/scale.h"

extern "C" {
#include "access/conflict.h"
}

namespace {

polytile_status check(const std::string &declaration, const std::string &threads,
                      const std::map<std::string, std::string> &arrays, std::string *error) {
    Launch launch(declaration, threads, arrays);
    if (launch.status() != POLYTILE_OK) {
        *error = launch.error();
        return launch.status();
    }
    const polytile_status status = pti_conflict_check(launch.kernel(), launch.instance());
    *error = status == POLYTILE_OK ? "" : launch.error();
    return status;
}

TEST(Conflict, DifferentThreadsMustNotShareWhatOneOfThemWrites) {
    struct Case {
        const char *declaration, *threads, *array;
        const char *says; /* "" where there is no conflict */
    };
    const Case cases[] = {
        {"k[i]: in A[i]; out A[i]", "9", "9", ""},
        {"k[i]: inout A[i]", "9", "9", ""},
        {"k[i, j]: inout A[j, i]", "9x5", "5x9", ""},
        {"k[i]: in A[i, 0]; out A[i, 1]", "9", "9x2", ""},
        {"k[i]: in A[2*i]; out A[2*i+1]", "9", "18", ""},
        {"k[i]: out A[2*i:2*i+1]", "9", "18", ""},
        {"k[i]: out A[2*i:2*i+2]", "9", "19", "k: threads ["},
        {"k[i]: in A[i-1:i+1]; out A[i]", "9", "9", "conflict on A["},
        {"k[i]: in A[i-1:i+1]; inout A[i]", "9", "9", "write to another array"},
        {"k[i]: in A[i+100]; out A[i]", "100", "200", ""},
        {"k[i]: in A[i+99]; out A[i]", "100", "200", "threads [0] and [99] conflict on A[99]"},
        {"k[i]: out A[0]", "1", "1", ""},
        {"k[i]: out A[0]", "2", "1", "declare a reducing role (sum, prod, min, max)"},
        {"k[i]: sum A[0]", "2", "1", ""},
        {"k[i]: out sum A[0]", "2", "1", ""},
        {"k[i]: max A[0:i]", "9", "9", ""},
        {"k[i, j]: out A[i]", "9x1", "9", ""},
        {"k[i, j]: out A[i]", "9x2", "9", "the first writes it (out A[i])"},
        {"k[i, j]: out A[i+j]", "3x3", "5", "conflict on A["},
        {"k[i, j]: out A[3*i+j]", "3x3", "9", ""},
        {"k[i, j]: out A[3*i+j]", "3x4", "10", "conflict on A["},
        {"k[i]: in {[i] -> A[a] : a = i and i mod 2 = 0}; out {[i] -> A[a] : a = i}", "9", "9", ""},
        {"k[i]: out {[i] -> A[a] : 2a = i}", "9", "5", ""},
        {"k[i]: out {[i] -> A[a] : 2a <= i < 2a + 2}", "9", "5", "conflict on A["},
        {"k[i]: in {[i] -> A[a] : a < i}; out {[i] -> A[a] : a = i}", "9", "9", "conflict on A["},
        {"k[i]: in {[i] -> A[a] : a != i and a < 0}; out {[i] -> A[i]}", "9", "-3:8", ""},
    };
    for (const Case &c : cases) {
        std::string error;
        const polytile_status status = check(c.declaration, c.threads, {{"A", c.array}}, &error);
        EXPECT_EQ(status, c.says[0] == '\0' ? POLYTILE_OK : POLYTILE_CONFLICT)
            << c.declaration << " over " << c.threads << "\n"
            << error;
        EXPECT_NE(error.find(c.says), std::string::npos) << c.declaration << "\n" << error;
    }
}

TEST(Conflict, WhatIsProvedAtRegistrationHoldsForEveryLaunch) {
    struct Case {
        const char *declaration;
        pti_conflict_class proved;
    };
    const Case cases[] = {
        {"k[i]: in x[i], y[i]; out z[i]", PTI_CONFLICT_NEVER},
        {"k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", PTI_CONFLICT_NEVER},
        {"k[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]", PTI_CONFLICT_NEVER},
        {"k[i]: in A[2*i]; out A[2*i+1]", PTI_CONFLICT_NEVER},
        {"k[i]: out A[3*i:3*i+2]", PTI_CONFLICT_NEVER},
        {"k[i]: in A[i+n]; out A[i]", PTI_CONFLICT_DEPENDS},
        {"k[i, j]: out A[i]", PTI_CONFLICT_DEPENDS},
        {"k[i]: in A[i-1]; out A[i]", PTI_CONFLICT_DEPENDS},
    };
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (const Case &c : cases) {
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, c.declaration, nullptr, &kernel), POLYTILE_OK);
        EXPECT_EQ(kernel->conflict_class, c.proved) << c.declaration;
    }
    polytile_context_destroy(ctx);
}

/* ---- against enumeration ---- */

/** What a conflict is between, by enumeration: who touches an element, and by which accesses. */
class Touches {
  public:
    void add(int array, const Point &element, const Point &thread, polytile_role role) {
        by_element_[{array, element}].insert({thread, role});
    }

    bool conflicts() const {
        for (const auto &[place, who] : by_element_)
            for (const auto &a : who)
                for (const auto &b : who)
                    if (clash(a, b))
                        return true;
        return false;
    }

    bool conflict_at(int array, const Point &element, const Point &first,
                     const Point &second) const {
        const auto place = by_element_.find({array, element});
        if (place == by_element_.end())
            return false;
        for (const auto &a : place->second)
            for (const auto &b : place->second)
                if (a.first == first && b.first == second && clash(a, b))
                    return true;
        return false;
    }

  private:
    using Touch = std::pair<Point, polytile_role>;

    static bool clash(const Touch &a, const Touch &b) {
        const bool writes = a.second != POLYTILE_IN || b.second != POLYTILE_IN;
        const bool combine = a.second == b.second && a.second >= POLYTILE_SUM;
        return a.first != b.first && writes && !combine;
    }

    std::map<std::pair<int, Point>, std::set<Touch>> by_element_;
};

/** The numbers of the k-th pair of brackets in a text, counted from 0 after the given place. */
Point numbers_in_brackets(const std::string &text, size_t *at) {
    Point point;
    const size_t open = text.find('[', *at), close = text.find(']', *at);
    std::string inside = text.substr(open + 1, close - open - 1);
    for (char &c : inside)
        c = c == ',' ? ' ' : c;
    std::istringstream numbers(inside);
    for (int64_t number; numbers >> number;)
        point.push_back(number);
    *at = close + 1;
    return point;
}

/** Whether the witness of "threads [..] and [..] conflict on A[..]" really conflicts. */
bool is_witness(const std::string &text, const Touches &touches) {
    size_t at = text.find("threads [");
    if (at == std::string::npos)
        return false;
    const Point first = numbers_in_brackets(text, &at);
    const Point second = numbers_in_brackets(text, &at);
    const int array = text[text.find("conflict on ", at) + 12] - 'A';
    return touches.conflict_at(array, numbers_in_brackets(text, &at), first, second);
}

void compare(polytile_status status, const std::string &error, const Touches &touches,
             const std::string &declaration) {
    ASSERT_EQ(status, touches.conflicts() ? POLYTILE_CONFLICT : POLYTILE_OK) << declaration << "\n"
                                                                             << error;
    EXPECT_TRUE(status == POLYTILE_OK || is_witness(error, touches)) << declaration << "\n"
                                                                     << error;
}

Touches touches_of(const pti_instance &instance) {
    Touches touches;
    for (int s = 0; s < instance.n_sections; s++) {
        const pti_section &section = instance.section[s];
        for_each_point(instance.threads, [&](const Point &thread) {
            polytile_domain box = section_of_thread(section, thread), clipped;
            pti_box_intersect(&box, &instance.operand[section.operand].domain, &clipped);
            for_each_point(clipped, [&](const Point &element) {
                touches.add(section.operand, element, thread, section.role);
            });
        });
    }
    return touches;
}

TEST(ConflictRandom, SectionsAreJudgedAsByEnumeration) {
    Random random(test_seed("ConflictRandom.SectionsAreJudgedAsByEnumeration"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    RandomShape shape;
    shape.inexact_percent = 0;
    shape.most_threads = 24;
    shape.most_elements = 400;
    shape.most_indices = 3;
    shape.most_dims = 3;
    int64_t n_conflicts = 0, n_free = 0;
    for (int64_t round = scaled(5000); round > 0 && !HasFatalFailure();) {
        shape.conflict_free = random.chance(25);
        RandomLaunch launch(ctx, &random, shape);
        launch.grow_arrays();
        const pti_instance *instance = nullptr;
        if (!launch.is_small() || launch.instantiate(&instance) != POLYTILE_OK)
            continue;
        polytile_kernel *kernel = nullptr;
        const std::string text = launch.declaration_text();
        ASSERT_EQ(polytile_kernel_create(ctx, text.c_str(), nullptr, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx);
        const Touches touches = touches_of(*instance);
        std::vector<polytile_array *> arrays;
        for (const polytile_domain &domain : launch.array_domains()) {
            arrays.push_back(nullptr);
            polytile_array_describe(ctx, "array", POLYTILE_F32, &domain, &arrays.back());
        }
        polytile_launch_options options = {};
        options.n_parameters = kernel->declaration->n_parameters;
        options.parameters = launch.parameters().data();
        const polytile_status status = polytile_check(
            kernel, &launch.threads(), static_cast<int>(arrays.size()), arrays.data(), &options);
        compare(status, polytile_last_error(ctx), touches, text + " " + text_of(*instance));
        (status == POLYTILE_OK ? n_free : n_conflicts)++;
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        polytile_kernel_destroy(kernel);
        round--;
    }
    EXPECT_GE(n_conflicts, least_count(n_conflicts + n_free, 0.15));
    EXPECT_GE(n_free, least_count(n_conflicts + n_free, 0.6));
    polytile_context_destroy(ctx);
}

TEST(ConflictRandom, RelationsAreJudgedAsByEnumeration) {
    Random random(test_seed("ConflictRandom.RelationsAreJudgedAsByEnumeration"));
    static const char *const roles[] = {"in", "out", "inout", "sum"};
    static const char *const threads[] = {"-1:3, 0:4", "7"};
    const int64_t n_rounds = scaled(3000);
    int64_t n_too_involved = 0;
    for (int64_t round = n_rounds; round > 0 && !HasFatalFailure();) {
        const int n_indices = static_cast<int>(random.number(1, 2));
        const RandomBraces first(&random, n_indices, 1), second(&random, n_indices, 1);
        const polytile_role role[] = {static_cast<polytile_role>(random.number(0, 3)),
                                      static_cast<polytile_role>(random.number(0, 3))};
        const std::string text = std::string(n_indices == 1 ? "k[i]: " : "k[i, j]: ") +
                                 roles[role[0]] + " " + first.text() + "; " + roles[role[1]] + " " +
                                 second.text();
        Launch launch(text, threads[n_indices % 2], {{"A", "-5:5"}});
        if (launch.error().find("has no element in A") != std::string::npos)
            continue;
        if ((role[0] == POLYTILE_SUM) != (role[1] == POLYTILE_SUM)) {
            EXPECT_EQ(launch.status(), POLYTILE_DECLARATION) << text;
            continue;
        }
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        Touches touches;
        for_each_point(domain_of(threads[n_indices % 2]), [&](const Point &thread) {
            for (Point element = {-5}; element[0] <= 5; element[0]++) {
                if (first.has(thread, element))
                    touches.add(0, element, thread, role[0]);
                if (second.has(thread, element))
                    touches.add(0, element, thread, role[1]);
            }
        });
        const polytile_status status = pti_conflict_check(launch.kernel(), launch.instance());
        round--;
        if (status == POLYTILE_UNSUPPORTED &&
            launch.error().find("is too involved to prove") != std::string::npos)
            n_too_involved++;
        else
            compare(status, launch.error(), touches, text);
    }
    /* A draw in ten thousands is. */
    EXPECT_LE(n_too_involved, n_rounds / 20 + 1);
}

} // namespace
