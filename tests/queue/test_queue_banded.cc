#include "queue/queue_test.h"

#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

#include <polytile/kernel.h>

#include <algorithm>

extern "C" {
#include "partition/prove/needs/needs.h"
#include "queue/queue.h"
}

/* Launches that look up neighbours, as on a mesh whose cells are numbered so that neighbours have
 * near numbers: slabs go through many of them. */

namespace {

enum { N_NEIGHBOURS = 3 };

POLYTILE_KERNEL(relax, (i), (const int32_t, E, 2), (const uint32_t, u, 1), (uint32_t, v, 1)) {
    uint32_t sum = 5 * PT_AT(u, i);
    for (int64_t k = 0; k < N_NEIGHBOURS; k++)
        sum = 3 * sum + PT_AT(u, PT_AT(E, i, k));
    PT_AT(v, i) = sum;
}

POLYTILE_KERNEL(layers, (i, j), (const int32_t, E, 2), (const uint32_t, u, 2), (uint32_t, v, 2)) {
    uint32_t sum = 5 * PT_AT(u, i, j);
    for (int64_t k = 0; k < N_NEIGHBOURS; k++)
        sum = 3 * sum + PT_AT(u, PT_AT(E, i, k), j);
    PT_AT(v, i, j) = sum;
}

const char *const relax_declaration = "relax[i]: in E[i, 0:2], u[E[i, 0:2]], u[i]; out v[i]";
const char *const layers_declaration =
    "layers[i, j]: in E[i, 0:2], u[E[i, 0:2], j], u[i, j]; out v[i, j]";

/** A mesh of some cells, each with some layers, whose neighbours are at most `reach` away. */
struct Mesh {
    Mesh(int64_t n_cells, int64_t n_layers, int64_t reach, Random *random)
        : n(n_cells), layers(n_layers) {
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < N_NEIGHBOURS; k++)
                E.push_back(static_cast<int32_t>(random->number(
                    std::max<int64_t>(0, i - reach), std::min<int64_t>(n - 1, i + reach))));
        for (int64_t k = 0; k < n * layers; k++)
            u.push_back(static_cast<uint32_t>(random->number(0, 1 << 30)));
        v.assign(u.size(), 0);
    }

    /** What a step makes of the cells. */
    std::vector<uint32_t> step(const std::vector<uint32_t> &from) const {
        std::vector<uint32_t> made;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < layers; j++) {
                uint32_t sum = 5 * from[static_cast<size_t>(i * layers + j)];
                for (int k = 0; k < N_NEIGHBOURS; k++)
                    sum = 3 * sum + from[static_cast<size_t>(
                                        E[static_cast<size_t>(i * N_NEIGHBOURS + k)] * layers + j)];
                made.push_back(sum);
            }
        return made;
    }

    int64_t bytes() const {
        return static_cast<int64_t>(E.size() * sizeof E[0] + u.size() * sizeof u[0]);
    }

    int64_t n, layers;
    std::vector<int32_t> E;
    std::vector<uint32_t> u, v;
};

class QueueBanded : public QueueTest {
  protected:
    polytile_array *wrap_as(const char *name, polytile_type type, const Lengths &extents,
                            void *data) {
        polytile_array *made = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, type, static_cast<int>(extents.size()),
                                      extents.data(), data, &made),
                  POLYTILE_OK)
            << error();
        return made;
    }

    /** Run steps, and return what came home: u after an even number, else v. */
    const std::vector<uint32_t> &run(polytile_queue *queue, Mesh *mesh, int n_steps) {
        const bool has_layers = mesh->layers > 1;
        const Lengths cells = has_layers ? Lengths{mesh->n, mesh->layers} : Lengths{mesh->n};
        polytile_kernel *kernel = has_layers ? create(layers_declaration, &layers_kernel)
                                             : create(relax_declaration, &relax_kernel);
        polytile_array *E = wrap_as("E", POLYTILE_I32, {mesh->n, N_NEIGHBOURS}, mesh->E.data());
        polytile_array *u = wrap_as("u", POLYTILE_U32, cells, mesh->u.data()),
                       *v = wrap_as("v", POLYTILE_U32, cells, mesh->v.data());
        const polytile_domain threads =
            polytile_domain_from_extents(static_cast<int>(cells.size()), cells.data());
        EXPECT_EQ(attach(queue, {E, u, v}), POLYTILE_OK) << error();
        polytile_queue_pause(queue);
        for (int k = 0; k < n_steps; k++)
            EXPECT_EQ(launch(queue, kernel, threads, {E, k % 2 == 0 ? u : v, k % 2 == 0 ? v : u}),
                      POLYTILE_OK)
                << error();
        polytile_queue_resume(queue);
        EXPECT_EQ(detach(queue, {E, u, v}), POLYTILE_OK) << error();
        return n_steps % 2 == 0 ? mesh->u : mesh->v;
    }
};

TEST_F(QueueBanded, StepsAreThoseOfALoop) {
    const uint64_t seed = test_seed("QueueBanded.StepsAreThoseOfALoop");
    Random random(seed);
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (int64_t round = 0; round < scaled(60) && !HasFailure(); round++) {
        const int64_t n = random.number(30, 900), layers = random.one_of({1, 1, 3, 40});
        Mesh mesh(n, layers, random.one_of({0, 1, 2, 5, n / 20, n / 6, n}), &random);
        const int n_steps = static_cast<int>(random.number(2, 14));
        std::vector<uint32_t> expected = mesh.u;
        for (int k = 0; k < n_steps; k++)
            expected = mesh.step(expected);
        const std::string device =
            random.chance(15)
                ? "host"
                : "host(memory=" + std::to_string(mesh.bytes() / random.number(1, 5) + 4096) + "B)";
        polytile_queue *queue = open(device.c_str());
        EXPECT_EQ(run(queue, &mesh, n_steps), expected)
            << "seed " << seed << ": " << n << " cells of " << layers << " on " << device;
        polytile_queue_destroy(queue);
    }
}

/** All steps in one pass: the mesh comes once, and each field goes once. */
TEST_F(QueueBanded, GoOnceThroughTheirArrays) {
    Random random(7);
    Mesh mesh(20000, 1, 8, &random);
    polytile_queue *queue = open("host(memory=64KiB)");
    run(queue, &mesh, 10);
    polytile_report told = {};
    polytile_queue_get_report(queue, false, &told);
    const auto field_bytes = static_cast<int64_t>(mesh.u.size() * sizeof mesh.u[0]);
    EXPECT_LE(told.h2d_bytes, mesh.bytes() + field_bytes);
    EXPECT_LE(told.d2h_bytes, 2 * field_bytes);
}

/** The interval that slabs know has all that a thread looks up, and little more. */
TEST_F(QueueBanded, SlabsKnowAnIntervalAroundAllThatIsLookedUp) {
    const uint64_t seed = test_seed("QueueBanded.SlabsKnowAnInterval");
    Random random(seed);
    for (int64_t round = 0; round < scaled(40); round++) {
        const int64_t n = random.number(200, 20000), reach = random.number(0, n / 10);
        Mesh mesh(n, 1, reach, &random);
        polytile_queue *queue = open("host(memory=16KiB)");
        run(queue, &mesh, 1);
        polytile_kernel *kernel = create(relax_declaration, &relax_kernel);
        polytile_array *E = wrap_as("E", POLYTILE_I32, {n, N_NEIGHBOURS}, mesh.E.data());
        polytile_array *u = wrap_as("u", POLYTILE_U32, {n}, mesh.u.data()),
                       *v = wrap_as("v", POLYTILE_U32, {n}, mesh.v.data());
        EXPECT_EQ(attach(queue, {E, u, v}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, kernel, line(n), {E, u, v}), POLYTILE_OK) << error();
        const pti_prepared *prepared = nullptr;
        for (const pti_prepared *bucket : queue->prepared)
            prepared = bucket != nullptr ? bucket : prepared;
        ASSERT_NE(prepared, nullptr);
        int64_t least = n, most = -n;
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < N_NEIGHBOURS; k++) {
                const int64_t off = mesh.E[static_cast<size_t>(i * N_NEIGHBOURS + k)] - i;
                least = std::min(least, off);
                most = std::max(most, off);
            }
        const pti_instance *slabs = prepared->instance->slabs;
        if (slabs == nullptr) {
            EXPECT_GT(most - least + 1 + (most - least) / 3 + 2 * n / 4096 + 2, n / 8)
                << "seed " << seed;
        } else {
            const pti_operand &operand = slabs->operand[1];
            const pti_subscript &along = slabs->section[operand.first_section].subscript[0];
            EXPECT_LE(along.lo.constant, least) << "seed " << seed;
            EXPECT_GE(along.hi.constant, most) << "seed " << seed;
            EXPECT_EQ(along.lo.index[0], 1);
            EXPECT_EQ(along.hi.index[0], 1);
            EXPECT_LE(along.hi.constant - along.lo.constant, n / 8);
        }
        EXPECT_EQ(detach(queue, {E, u, v}), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
    }
}

/** The checker asks index arrays, not the band: one that is too narrow is found. */
TEST_F(QueueBanded, TheCheckerFindsWhatABandLacks) {
    Random random(11);
    Mesh mesh(400, 1, 9, &random);
    mesh.E[3 * 200] = 209; /* the farthest */
    polytile_kernel *kernel = create(relax_declaration, &relax_kernel);
    polytile_array *E = wrap_as("E", POLYTILE_I32, {mesh.n, N_NEIGHBOURS}, mesh.E.data());
    polytile_array *u = wrap_as("u", POLYTILE_U32, {mesh.n}, mesh.u.data()),
                   *v = wrap_as("v", POLYTILE_U32, {mesh.n}, mesh.v.data());
    polytile_queue *queue = open("host(memory=4KiB)");
    ASSERT_EQ(attach(queue, {E, u, v}), POLYTILE_OK) << error();
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, kernel, line(mesh.n), {E, u, v}), POLYTILE_OK) << error();
    const pti_prepared *prepared = nullptr;
    for (const pti_prepared *bucket : queue->prepared)
        prepared = bucket != nullptr ? bucket : prepared;
    ASSERT_NE(prepared, nullptr);
    const pti_instance *slabs = prepared->instance->slabs;
    ASSERT_NE(slabs, nullptr);
    pti_section *section = &slabs->section[slabs->operand[1].first_section];
    const polytile_domain threads = line(mesh.n);
    const auto is_covered = [&](int64_t last_thread, int64_t hi) {
        polytile_domain some = threads, held = line(1), missing;
        some.range[0] = {190, last_thread, 1};
        held.range[0] = {170, last_thread + hi, 1};
        const int64_t before = section->subscript[0].hi.constant;
        section->subscript[0].hi.constant = hi;
        pti_boxes there = {};
        pti_boxes_add(&there, &held);
        const bool is = pti_needs_covered(slabs, section, &some, &there, &missing);
        pti_boxes_free(&there);
        section->subscript[0].hi.constant = before;
        return is;
    };
    EXPECT_TRUE(is_covered(200, 9));
    EXPECT_FALSE(is_covered(200, 8));
    EXPECT_TRUE(is_covered(199, 9));
    polytile_queue_resume(queue);
    ASSERT_EQ(detach(queue, {E, u, v}), POLYTILE_OK) << error();
}

} // namespace
