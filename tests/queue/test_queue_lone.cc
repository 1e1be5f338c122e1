#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <string>
#include <vector>

/* Lone launches in a queue: products that keep their sums on the device until these are
 * complete. */

namespace {

int64_t element(const polytile_view &view, int64_t i, int64_t j) {
    return i * view.stride_bytes[0] + j * view.stride_bytes[1];
}

void multiply(const polytile_domain *threads, const polytile_view *views, void *) {
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        for (int64_t j = threads->range[1].lo; j <= threads->range[1].hi; j++)
            for (int64_t k = threads->range[2].lo; k <= threads->range[2].hi; k++) {
                const auto *a =
                    static_cast<const char *>(views[0].origin) + element(views[0], i, k);
                const auto *b =
                    static_cast<const char *>(views[1].origin) + element(views[1], k, j);
                auto *c = static_cast<char *>(views[2].origin) + element(views[2], i, j);
                *reinterpret_cast<uint32_t *>(c) +=
                    *reinterpret_cast<const uint32_t *>(a) * *reinterpret_cast<const uint32_t *>(b);
            }
}

/** C = A B, and what follows from it. */
struct Product {
    int64_t m, n, k;
    std::vector<uint32_t> a, b, c;

    Product(int64_t rows, int64_t columns, int64_t depth, Random *random)
        : m(rows), n(columns), k(depth), a(static_cast<size_t>(m * k)),
          b(static_cast<size_t>(k * n)), c(static_cast<size_t>(m * n)) {
        for (std::vector<uint32_t> *of : {&a, &b, &c})
            for (uint32_t &value : *of)
                value = static_cast<uint32_t>(random->number(0, UINT32_MAX));
    }

    int64_t result_bytes() const { return 4 * m * n; }
    int64_t all_bytes() const { return 4 * (m * n + m * k + k * n); }

    void expect_right() const {
        for (size_t i = 0; i < static_cast<size_t>(m); i++)
            for (size_t j = 0; j < static_cast<size_t>(n); j++) {
                uint32_t sum = 0;
                for (size_t l = 0; l < static_cast<size_t>(k); l++)
                    sum += a[i * static_cast<size_t>(k) + l] * b[l * static_cast<size_t>(n) + j];
                ASSERT_EQ(c[i * static_cast<size_t>(n) + j], sum) << i << ", " << j;
            }
    }
};

/** Without latencies small tiles pay, too. */
polytile_link fast_link() {
    polytile_link link = polytile_link_default;
    link.transfer_latency_s = link.launch_latency_s = link.run_overhead_bytes = 0;
    return link;
}

/** Multiply some times through one queue; returns the bytes that came home. */
int64_t run(Product *of, const std::string &devices, int times) {
    const polytile_link link = fast_link();
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[3] = {};
    polytile_launch_options options = {};
    polytile_report report = {};
    polytile_implementation implementation = {};
    implementation.host = multiply;
    options.plan.link = &link;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    const auto require = [ctx](polytile_status status) {
        ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
    };
    const int64_t extents[3][2] = {{of->m, of->k}, {of->k, of->n}, {of->m, of->n}};
    std::vector<uint32_t> *const memory[] = {&of->a, &of->b, &of->c};
    require(polytile_queue_create(ctx, devices.c_str(), &queue));
    require(polytile_kernel_create(ctx, "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
                                   &implementation, &kernel));
    for (int a = 0; a < 3; a++)
        require(polytile_array_wrap(ctx, &"A\0B\0C"[2 * a], POLYTILE_U32, 2, extents[a],
                                    memory[a] -> data(), &arrays[a]));
    require(polytile_queue_attach(queue, 3, arrays));
    const polytile_domain threads = {3, {{0, of->m - 1, 1}, {0, of->n - 1, 1}, {0, of->k - 1, 1}}};
    for (int t = 0; t < times; t++)
        require(polytile_queue_launch(queue, kernel, &threads, 3, arrays, &options));
    require(polytile_queue_detach(queue, 3, arrays));
    polytile_queue_get_report(queue, true, &report);
    polytile_context_destroy(ctx);
    return report.d2h_bytes;
}

class QueueLone : public testing::Test {
  protected:
    void SetUp() override { environment_.set("POLYTILE_CHECK", "plan"); }
    Environment environment_;
};

TEST_F(QueueLone, SumsComeHomeOnceALaunch) {
    for (const int times : {1, 3}) {
        Random random(1);
        Product of(128, 64, 256, &random);
        EXPECT_EQ(run(&of, "host(memory=45875B,threads=1)", times), times * of.result_bytes());
        of.expect_right();
    }
}

TEST_F(QueueLone, MembersHaveSomeOfTheirOwn) {
    Random random(1);
    Product of(256, 64, 256, &random);
    const std::string device = "host(memory=45875B,threads=1)";
    EXPECT_EQ(run(&of, device + "," + device, 1), of.result_bytes());
    of.expect_right();
}

TEST_F(QueueLone, ProductsOfAnySizeAreRight) {
    Random random(test_seed("QueueLone.ProductsOfAnySizeAreRight"));
    for (int64_t round = 0; round < scaled(40) && !HasFailure(); round++) {
        Product of(random.number(1, 160), random.number(1, 160), random.number(1, 300), &random);
        const std::string device =
            "host(memory=" + std::to_string(of.all_bytes() / random.number(4, 20) + 4096) +
            "B,threads=1)";
        run(&of, random.chance(70) ? device : device + "," + device,
            static_cast<int>(random.number(1, 3)));
        of.expect_right();
        if (HasFailure())
            ADD_FAILURE() << of.m << " x " << of.n << " x " << of.k << " on " << device;
    }
}

} // namespace
