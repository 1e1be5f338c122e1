#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "support/braces.h"
#include "support/elements.h"
#include "support/launch.h"
#include "support/list.h"
#include "support/mixture.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/conflict.h"
#include "access/declare/access_text.h"
#include "access/isl/relations.h"
}
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

namespace {

/** The section around the first access, as text. */
std::string section_around(const Launch &launch) {
    pti_text text = {};
    const polytile_declaration *declaration = launch.kernel()->declaration;
    pti_access_write(&text, declaration, &declaration->access[0]);
    const std::string section = text.data;
    pti_text_free(&text);
    return section;
}

TEST(Relation, TheSectionAroundItIsTheSmallestThatCanBeSaid) {
    struct Case {
        const char *relation, *section;
        bool exact;
    };
    const Case cases[] = {
        {"{[i, j] -> A[a, b] : a = i and 0 <= b <= j}", "in A[i, 0:j]", true},
        {"{[i, j] -> A[i, j]}", "in A[i, j]", true},
        {"{[x, y] -> A[y, x + 1]}", "in A[j, i+1]", true},
        {"{[i, j] -> A[a, b]}", "in A[:, :]", true},
        {"{[i, j] -> A[i, b] : b >= 0}", "in A[i, 0:]", true},
        {"{[i, j] -> A[i, b] : b < n}", "in A[i, :n-1]", true},
        {"[n] -> {[i, j] -> A[n, b] : i - 1 <= b <= i + 1}", "in A[n, i-1:i+1]", true},
        {"{[i, j] -> A[i, b] : exists (e : b = j + 2e) and j <= b <= j + 8}", "in A[i, j:j+8:2]",
         true},
        {"{[i, j] -> A[i, b] : j <= b <= j + 8 and (b - j) mod 2 = 0}", "in A[i, j:j+8:2]", true},
        {"{[i, j] -> A[2i, b] : 0 <= b, j < 9}", "in A[2*i, 0:8]", false},
        {"{[i, j] -> A[a, j] : 2a = i}", "in A[:, j]", false},
        {"{[i, j] -> A[i, b] : 0 <= b <= i, j}", "in A[i, 0:", false},
        {"{[i, j] -> A[a, b] : i <= a <= i + 1 and j <= b <= j + 1 and a + b < i + j + 2}",
         "in A[i:i+1, j:j+1]", false},
    };
    for (const Case &c : cases) {
        Launch::Options options;
        options.parameters["n"] = 3;
        Launch launch(std::string("k[i, j]: in ") + c.relation + "; out B[i, j+0*n]", "3x3",
                      {{"A", "-9:19, -9:19"}, {"B", "3x3"}}, options);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        EXPECT_EQ(section_around(launch).rfind(c.section, 0), 0u)
            << section_around(launch) << " for " << c.relation;
        EXPECT_EQ(launch.kernel()->declaration->access[0].exact, c.exact) << c.relation;
    }
}

TEST(Relation, EveryPieceIsAnAccess) {
    struct Case {
        const char *relation;
        int n_accesses;
    };
    const Case cases[] = {
        {"{[i] -> A[i]; [i] -> A[i + 1]; [i] -> B[i]}", 3},
        {"{[i] -> A[a] : a = i or a = i + 1 or a = 7}", 3},
        {"{[i] -> A[a] : a != i}", 2},
        {"{[i] -> A[a] : (a = i or a = 2) and (i < 3 or i > 5)}", 4},
        {"{[i] -> A[a] : i <= a <= i + 1}", 1},
        {"{[i] -> A[i] : i < 3 && i > 1}", 1},
        {"{[i] -> A[i] : i < 3 || i > 1}", 2},
    };
    for (const Case &c : cases) {
        Launch launch(std::string("k[i]: in ") + c.relation, "1", {});
        ASSERT_NE(launch.kernel(), nullptr) << launch.error();
        EXPECT_EQ(launch.kernel()->declaration->n_accesses, c.n_accesses) << c.relation;
    }
}

/* ---- against enumeration ---- */

const polytile_domain threads_of[] = {domain_of("-2:5"), domain_of("-1:3, 0:4")};
const polytile_domain elements_of[] = {domain_of("-6:6"), domain_of("-5:5, -3:7")};

/** Threads and elements side by side, as one domain. */
polytile_domain pairs_of(const polytile_domain &threads, const polytile_domain &elements) {
    polytile_domain pairs = threads;
    pairs.n_dims = threads.n_dims + elements.n_dims;
    for (int d = 0; d < elements.n_dims; d++)
        pairs.range[threads.n_dims + d] = elements.range[d];
    return pairs;
}

struct Collected {
    Elements *elements;
    int n_dims;
};

isl_stat collect(isl_point *point, void *user) {
    auto *collected = static_cast<Collected *>(user);
    Point found;
    for (int d = 0; d < collected->n_dims; d++) {
        isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, d);
        found.push_back(isl_val_get_num_si(value));
        isl_val_free(value);
    }
    collected->elements->add(found);
    isl_point_free(point);
    return isl_stat_ok;
}

/** Each question has a limit of operations, which are slow where many variables are bound to each
 * other: without one this takes minutes. */
TEST(Relation, WhatExplodesIsRefusedInSeconds) {
    const std::clock_t start = std::clock();
    Launch launch("h[i, j]: inout {[i, j] -> A[a] : exists x, y, z : a = 79*x + 104*y - 155*z + i "
                  "and 129*x - 325*y + 67*z <= 499*j and 861*i <= 229*x + 100*z and 0 <= x < 1000 "
                  "and 0 <= y < 999 and 0 <= z < 123}",
                  "1000x1000", {{"A", "1000000000000"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    EXPECT_EQ(pti_conflict_check(launch.kernel(), launch.instance()), POLYTILE_UNSUPPORTED);
    EXPECT_NE(launch.error().find("too involved to prove"), std::string::npos) << launch.error();
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 120);
}

TEST(RelationRandom, SectionsContainWhatWasDeclared) {
    Random random(test_seed("RelationRandom.SectionsContainWhatWasDeclared"));
    int64_t n_exact = 0, n_inexact = 0;
    for (int64_t round = scaled(3000); round > 0 && !HasFailure();) {
        const int n_indices = static_cast<int>(random.number(1, 2));
        const int n_dims = static_cast<int>(random.number(1, 2));
        const RandomBraces braces(&random, n_indices, n_dims);
        const polytile_domain &threads = threads_of[n_indices - 1];
        const polytile_domain &elements = elements_of[n_dims - 1];
        Launch launch((n_indices == 1 ? "k[i]: in " : "k[i, j]: in ") + braces.text(),
                      n_indices == 1 ? "-2:5" : "-1:3, 0:4",
                      {{"A", n_dims == 1 ? "-6:6" : "-5:5, -3:7"}});
        if (launch.error().find("has no element in A") != std::string::npos)
            continue;
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const polytile_domain pairs = pairs_of(threads, elements);
        Elements united(pairs), declared(pairs);
        for (int a = 0; a < launch.kernel()->declaration->n_accesses; a++) {
            Elements related(pairs), around(pairs);
            ASSERT_EQ(pti_relations_begin(launch.kernel()), POLYTILE_OK);
            isl_map *map = pti_access_relation(launch.kernel(), a, launch.instance());
            isl_set *set = isl_map_wrap(map);
            isl_ctx_set_max_operations(launch.kernel()->relations->isl, 0); /* all its points */
            for (Elements *into : {&related, &united}) {
                Collected collected = {into, pairs.n_dims};
                ASSERT_EQ(isl_set_foreach_point(set, collect, &collected), isl_stat_ok);
            }
            isl_set_free(set);
            const pti_section &section = launch.instance()->section[a];
            for_each_point(pairs, [&](const Point &pair) {
                const Point thread(pair.begin(), pair.begin() + n_indices);
                const polytile_domain box = section_of_thread(section, thread);
                bool inside = true;
                for (int d = 0; d < n_dims; d++)
                    inside = inside &&
                             pti_range_has(box.range[d], pair[static_cast<size_t>(n_indices + d)]);
                if (inside)
                    around.add(pair);
            });
            EXPECT_TRUE(around.contains(related)) << braces.text() << text_of(section);
            EXPECT_TRUE(!section.exact || around == related) << braces.text() << text_of(section);
            (section.exact ? n_exact : n_inexact)++;
        }
        for_each_point(pairs, [&](const Point &pair) {
            if (braces.has(Point(pair.begin(), pair.begin() + n_indices),
                           Point(pair.begin() + n_indices, pair.end())))
                declared.add(pair);
        });
        EXPECT_TRUE(united == declared) << braces.text();
        round--;
    }
    EXPECT_GE(n_exact, least_count(n_exact + n_inexact, 0.5));
}

/* ---- end to end ---- */

/** What the kernel below reads and writes: two relations and the arrays' domains. */
struct Body {
    const RandomBraces *reads, *writes;
    polytile_role role;
    const polytile_domain *read_elements, *write_elements;
};

int32_t *element_of(const polytile_view &view, const Point &element) {
    return static_cast<int32_t *>(address_in(view, element.data(), element.size()));
}

/** Every written element becomes, or gains, a number made of the thread and all that it reads. */
void run_threads(const polytile_domain *threads, const polytile_view *views, void *user) {
    const Body &body = *static_cast<const Body *>(user);
    for_each_point(*threads, [&](const Point &thread) {
        int32_t sum = static_cast<int32_t>(thread[0]) + 100;
        for_each_point(*body.read_elements, [&](const Point &element) {
            if (body.reads->has(thread, element))
                sum += *element_of(views[0], element);
        });
        for_each_point(*body.write_elements, [&](const Point &element) {
            if (!body.writes->has(thread, element))
                return;
            int32_t *to = element_of(views[1], element);
            *to = (body.role == POLYTILE_OUT ? 0 : *to) + sum + static_cast<int32_t>(element[0]);
        });
    });
}

polytile_view whole_view(int32_t *data, const polytile_domain &domain) {
    polytile_view view = {};
    int64_t stride = sizeof *data, offset = 0;
    for (int d = domain.n_dims - 1; d >= 0; d--) {
        view.stride_bytes[d] = stride;
        offset += stride * domain.range[d].lo;
        stride *= pti_range_count(domain.range[d]);
    }
    view.origin = reinterpret_cast<char *>(data) - offset;
    view.resident = domain;
    return view;
}

std::vector<int32_t> numbers(Random *random, const polytile_domain &domain) {
    std::vector<int32_t> values(static_cast<size_t>(pti_box_count(&domain)));
    for (int32_t &value : values)
        value = static_cast<int32_t>(random->number(-1000, 1000));
    return values;
}

/** Run a random kernel under a limit and compare with a plain loop; false if it is refused. */
bool run_once(Random *random, polytile_context *ctx, polytile_device *device) {
    static const char *const words[] = {"in", "out", "inout", "sum"};
    const int n_indices = static_cast<int>(random->number(1, 2));
    const int n_read_dims = static_cast<int>(random->number(1, 2));
    const int n_write_dims = static_cast<int>(random->number(n_indices, 2));
    const auto role = static_cast<polytile_role>(random->number(POLYTILE_OUT, POLYTILE_SUM));
    const RandomBraces reads(random, n_indices, n_read_dims, "A");
    const RandomBraces writes(random, n_indices, n_write_dims, "B", role != POLYTILE_SUM);
    const polytile_domain &threads = threads_of[n_indices - 1];
    const polytile_domain &read_domain = elements_of[n_read_dims - 1];
    const polytile_domain &write_domain = elements_of[n_write_dims - 1];
    Body body = {&reads, &writes, role, &read_domain, &write_domain};
    const std::string text = std::string(n_indices == 1 ? "k[i]: in " : "k[i, j]: in ") +
                             reads.text() + "; " + words[role] + " " + writes.text();
    std::vector<int32_t> read = numbers(random, read_domain);
    std::vector<int32_t> written = numbers(random, write_domain), expected = written;
    const polytile_view views[] = {whole_view(read.data(), read_domain),
                                   whole_view(expected.data(), write_domain)};
    run_threads(&threads, views, &body);

    polytile_implementation implementation = {};
    implementation.host = run_threads;
    implementation.user = &body;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2] = {};
    EXPECT_EQ(polytile_kernel_create(ctx, text.c_str(), &implementation, &kernel), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_array_wrap_domain(ctx, "A", POLYTILE_I32, &read_domain, read.data(), &arrays[0]);
    polytile_array_wrap_domain(ctx, "B", POLYTILE_I32, &write_domain, written.data(), &arrays[1]);
    const polytile_status status = polytile_run(device, kernel, &threads, LIST(arrays), nullptr);
    const std::string error = polytile_last_error(ctx);
    if (status == POLYTILE_OK)
        EXPECT_EQ(written, expected) << text;
    else
        EXPECT_TRUE(status == POLYTILE_NO_FIT || status == POLYTILE_CONFLICT ||
                    status == POLYTILE_DECLARATION)
            << text << "\n"
            << error;
    polytile_array_destroy(arrays[0]);
    polytile_array_destroy(arrays[1]);
    polytile_kernel_destroy(kernel);
    return status == POLYTILE_OK;
}

TEST(RelationRandom, RunsUnderALimitEqualAPlainLoop) {
    Random random(test_seed("RelationRandom.RunsUnderALimitEqualAPlainLoop"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (const char *text : {"host(memory=256B,threads=2)", "host(memory=600B,threads=2)",
                             "host(memory=1200B,threads=1)", "host(threads=2)"}) {
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(ctx, text, &device), POLYTILE_OK)
            << polytile_last_error(ctx);
        int64_t n_runs = 0;
        for (int64_t round = scaled(400); round > 0 && !HasFailure(); round--)
            n_runs += run_once(&random, ctx, device);
        std::printf("%s: %lld runs\n", text, static_cast<long long>(n_runs));
    }
    polytile_context_destroy(ctx);
}

} // namespace
