#include "support/environment.h"
#include "support/fake_cuda.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <numeric>
#include <string>
#include <vector>

/* Launches of a queue whose threads write what they look up, against plain loops. */

namespace {

POLYTILE_KERNEL(scatter, (e), (const uint32_t, x, 1), (uint32_t, z, 1), (const int32_t, K, 1)) {
    PT_AT(z, PT_AT(K, e)) = 3 * PT_AT(x, e) + (uint32_t)e;
}

POLYTILE_KERNEL(update, (e), (const uint32_t, x, 1), (uint32_t, z, 1), (const int32_t, K, 1)) {
    PT_AT(z, PT_AT(K, e)) = 5 * PT_AT(z, PT_AT(K, e)) + PT_AT(x, e);
}

POLYTILE_KERNEL(ranges, (e), (const uint32_t, x, 1), (uint32_t, z, 1), (const int32_t, P, 1)) {
    for (int64_t k = PT_AT(P, e); k < PT_AT(P, e + 1); k++)
        PT_AT(z, k) = PT_AT(x, e) + 7 * (uint32_t)k;
}

POLYTILE_KERNEL(swapped, (e), (const uint32_t, z, 1), (uint32_t, x, 1)) {
    PT_AT(x, e) = PT_AT(z, e) ^ (uint32_t)e;
}

enum Kind { SCATTER, UPDATE, RANGES, BACK, N_KINDS };

const struct {
    const char *declaration;
    const polytile_implementation *implementation;
} kernels[N_KINDS] = {
    {"scatter[e]: in x[e]; out z[K[e]]", &scatter_kernel},
    {"update[e]: in x[e]; inout z[K[e]]", &update_kernel},
    {"ranges[e]: in x[e]; out z[P[e]:P[e+1]-1]", &ranges_kernel},
    {"swapped[e]: in z[e]; out x[e]", &swapped_kernel},
};

struct Program {
    int64_t n_x, n_z;
    std::vector<uint32_t> x, z;
    std::vector<int32_t> K, P;
    struct Step {
        Kind kind;
        polytile_range threads;
    };
    std::vector<Step> steps;
    bool waits;
};

void shuffle(std::vector<int32_t> *of, Random *random) {
    for (size_t k = of->size() - 1; k > 0; k--)
        std::swap((*of)[k], (*of)[static_cast<size_t>(random->number(0, static_cast<int64_t>(k)))]);
}

/** As many threads as elements, or fewer; what they write lies anywhere, or near. */
Program draw(Random *random) {
    Program made = {};
    made.n_x = random->number(1, 200);
    made.n_z = made.n_x + random->one_of({0, 0, 3, 150});
    for (int64_t k = 0; k < made.n_x; k++)
        made.x.push_back(static_cast<uint32_t>(random->number(0, 1 << 30)));
    for (int64_t k = 0; k < made.n_z; k++)
        made.z.push_back(static_cast<uint32_t>(random->number(0, 1 << 30)));
    made.K.resize(static_cast<size_t>(made.n_z));
    std::iota(made.K.begin(), made.K.end(), 0);
    if (random->chance(70))
        shuffle(&made.K, random);
    made.P.push_back(0);
    for (int64_t k = 0; k < made.n_x; k++)
        made.P.push_back(
            std::min<int32_t>(static_cast<int32_t>(made.n_z),
                              made.P.back() + static_cast<int32_t>(random->number(0, 3))));
    for (int64_t n = random->number(1, 6); n > 0; n--) {
        const int64_t lo = random->one_of({0, 0, random->number(0, made.n_x - 1)});
        made.steps.push_back(
            {static_cast<Kind>(random->number(0, N_KINDS - 1)),
             {lo, random->one_of({made.n_x - 1, random->number(lo, made.n_x - 1)}), 1}});
    }
    made.waits = random->chance(30);
    return made;
}

void run_plain(Program *of) {
    for (const Program::Step &step : of->steps)
        for (int64_t e = step.threads.lo; e <= step.threads.hi; e++) {
            const auto at = static_cast<size_t>(e);
            uint32_t &met = of->z[static_cast<size_t>(of->K[at])];
            if (step.kind == SCATTER)
                met = 3 * of->x[at] + static_cast<uint32_t>(e);
            else if (step.kind == UPDATE)
                met = 5 * met + of->x[at];
            else if (step.kind == BACK)
                of->x[at] = of->z[at] ^ static_cast<uint32_t>(e);
            for (int32_t k = of->P[at]; step.kind == RANGES && k < of->P[at + 1]; k++)
                of->z[static_cast<size_t>(k)] = of->x[at] + 7 * static_cast<uint32_t>(k);
        }
}

/** Run a program on a device; false: one of its launches fits nowhere. */
bool run_queued(Program *of, const std::string &device, FakeCuda *cuda) {
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *made[N_KINDS] = {};
    polytile_array *x = nullptr, *z = nullptr, *K = nullptr, *P = nullptr;
    const auto n_P = static_cast<int64_t>(of->P.size());
    polytile_status status = POLYTILE_OK;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (int k = 0; k < N_KINDS; k++) {
        polytile_implementation body = *kernels[k].implementation;
        body.cuda = reinterpret_cast<const void *>(body.host);
        cuda->add_kernel(body.cuda, body);
        EXPECT_EQ(polytile_kernel_create(ctx, kernels[k].declaration, &body, &made[k]), POLYTILE_OK)
            << polytile_last_error(ctx);
    }
    EXPECT_EQ(polytile_queue_create(ctx, device.c_str(), &queue), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_array_wrap(ctx, "x", POLYTILE_U32, 1, &of->n_x, of->x.data(), &x);
    polytile_array_wrap(ctx, "z", POLYTILE_U32, 1, &of->n_z, of->z.data(), &z);
    polytile_array_wrap(ctx, "K", POLYTILE_I32, 1, &of->n_z, of->K.data(), &K);
    polytile_array_wrap(ctx, "P", POLYTILE_I32, 1, &n_P, of->P.data(), &P);
    EXPECT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(x, z, K, P)), POLYTILE_OK);
    for (size_t k = 0; k < of->steps.size() && status == POLYTILE_OK; k++) {
        const Program::Step &step = of->steps[k];
        const polytile_domain threads = {1, {step.threads}};
        polytile_array *given[] = {x, z, step.kind == RANGES ? P : K};
        polytile_array *back[] = {z, x};
        status = step.kind == BACK
                     ? polytile_queue_launch(queue, made[BACK], &threads, 2, back, nullptr)
                     : polytile_queue_launch(queue, made[step.kind], &threads, 3, given, nullptr);
        if (status == POLYTILE_OK && of->waits)
            status = polytile_queue_wait(queue);
    }
    if (status == POLYTILE_OK)
        status = polytile_queue_detach(queue, POLYTILE_ARRAYS(x, z, K, P));
    EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT) << polytile_last_error(ctx);
    polytile_queue_destroy(queue);
    polytile_context_destroy(ctx);
    return status == POLYTILE_OK;
}

std::string draw_device(const Program &of, Random *random) {
    const int64_t bytes = 4 * (2 * of.n_x + 3 * of.n_z);
    const std::string kind = random->one_of({0, 0, 1}) == 0 ? "host" : "cuda";
    const auto one = [&](int number) {
        const std::string memory =
            "(memory=" + std::to_string(bytes * random->number(20, 150) / 100 + 1600) + "B)";
        if (kind == "host" && random->chance(30))
            return std::string("host(threads=3)");
        return kind == "host" ? "host" + memory : "cuda:" + std::to_string(number) + memory;
    };
    return random->chance(70) ? one(0) : one(0) + "," + one(1);
}

TEST(QueueScatter, GivesTheResultsOfPlainLoops) {
    Random random(test_seed("QueueScatter.GivesTheResultsOfPlainLoops"));
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    int64_t n_run = 0;
    const int64_t n_rounds = scaled(200);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        FakeCuda::Options options;
        options.n_devices = 2;
        FakeCuda cuda(static_cast<uint64_t>(random.number(0, int64_t{1} << 62)), options);
        Program wanted = draw(&random), got = wanted;
        const std::string device = draw_device(got, &random);
        SCOPED_TRACE(device + ", " + std::to_string(got.steps.size()) + " launches of " +
                     std::to_string(got.n_x) + " threads");
        if (!run_queued(&got, device, &cuda))
            continue;
        run_plain(&wanted);
        EXPECT_TRUE(got.z == wanted.z && got.x == wanted.x);
        EXPECT_EQ(cuda.violations(), "");
        n_run++;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

} // namespace
