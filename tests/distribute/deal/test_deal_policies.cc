#include "queue/queue_test.h"
#include "support/random.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <polytile/kernel.h>

namespace {

POLYTILE_KERNEL(root, (i, j), (const float, x, 2), (float, y, 2)) {
    PT_AT(y, i, j) = sqrtf(PT_AT(x, i, j)) + (float)(i + j);
}

POLYTILE_KERNEL(total, (i, j), (const float, x, 2), (float, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i, j));
}

POLYTILE_KERNEL(columns, (i, j), (const float, x, 2), (float, c, 1)) {
    PT_SUM(PT_AT(c, j), PT_AT(x, i, j));
}

POLYTILE_KERNEL(rows, (i, j), (const float, x, 2), (float, r, 1)) {
    PT_SUM(PT_AT(r, i), PT_AT(x, i, j));
}

POLYTILE_KERNEL(transposed, (i, j), (const float, x, 2), (float, y, 2)) {
    PT_AT(y, j, i) = PT_AT(x, i, j);
}

struct Case {
    const char *declaration;
    const polytile_implementation *implementation;
    Lengths written;
};

int64_t take_by_size(const polytile_work *work, int unit, void *) {
    return unit == 0 ? work->rows_left / 3 + 1 : 2;
}

int64_t take_nonsense(const polytile_work *work, int unit, void *) {
    return unit == 0 ? INT64_MIN : work->rows_left % 3 == 0 ? INT64_MAX / 2 : 0;
}

void weigh_nonsense(const polytile_work *work, double *weights, void *) {
    for (int u = 0; u < work->n_units; u++)
        weights[u] = u == 0 ? std::numeric_limits<double>::quiet_NaN() : u == 1 ? 1 : -INFINITY;
}

void weigh_nothing(const polytile_work *, double *, void *) {}

class GroupPolicies : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        add_policy("by_size", nullptr, take_by_size);
        add_policy("nonsense", nullptr, take_nonsense);
        add_policy("weights", weigh_nonsense, nullptr);
        add_policy("nothing", weigh_nothing, nullptr);
    }

    void add_policy(const char *name, decltype(polytile_policy::weigh) weigh,
                    decltype(polytile_policy::take) take) {
        polytile_policy policy = {};
        policy.name = name;
        policy.weigh = weigh;
        policy.take = take;
        ASSERT_EQ(polytile_policy_register(ctx, &policy), POLYTILE_OK) << error();
    }

    /** What is written, run by a policy; NULL: by default. */
    std::vector<float> run(const Case &of, const char *devices, const char *policy) {
        enum { N = 97, M = 13 };
        polytile_share_options share = {};
        share.policy = policy;
        polytile_queue *queue = nullptr;
        EXPECT_EQ(polytile_queue_create_shared(ctx, devices, &share, &queue), POLYTILE_OK)
            << error();
        std::vector<float> x(N * M);
        Random random(7);
        for (float &element : x)
            element = 1 / static_cast<float>(random.number(1, 1000));
        int64_t n_written = 1;
        for (int64_t extent : of.written)
            n_written *= extent;
        std::vector<float> y(static_cast<size_t>(n_written), 0.1F);
        polytile_array *in = wrap("x", x, {N, M}), *out = wrap("y", y, of.written);
        polytile_kernel *kernel = create(of.declaration, of.implementation);
        EXPECT_EQ(attach(queue, {in, out}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, kernel, box({0, 0}, {N - 1, M - 1}), {in, out}), POLYTILE_OK)
            << error();
        EXPECT_EQ(detach(queue, {in, out}), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
        return y;
    }
};

/** Bit by bit; floats that are added up depend on their order. */
TEST_F(GroupPolicies, GiveTheSameBits) {
    const Case cases[] = {
        {"root[i, j]: in x[i, j]; out y[i, j]", &root_kernel, {97, 13}},
        {"transposed[i, j]: in x[i, j]; out y[j, i]", &transposed_kernel, {13, 97}},
        {"total[i, j]: in x[i, j]; sum s[0]", &total_kernel, {1}},
        {"total[i, j]: in x[i, j]; out sum s[0]", &total_kernel, {1}},
        {"columns[i, j]: in x[i, j]; sum c[j]", &columns_kernel, {13}},
        {"columns[i, j]: in x[i, j]; out sum c[j]", &columns_kernel, {13}},
        {"rows[i, j]: in x[i, j]; sum r[i]", &rows_kernel, {97}},
    };
    const char *const policies[] = {nullptr,   "equal(node)", "weighted(1,5)", "weighted(0,1)",
                                    "self(1)", "self(7)",     "self(3,20)",    "guided",
                                    "by_size", "nonsense",    "weights",       "nothing"};
    for (const Case &of : cases) {
        for (const char *devices : {"host(threads=1),host(threads=1)",
                                    "host(threads=1,memory=8KiB),host(threads=1,memory=8KiB)"}) {
            const std::vector<float> expected = run(of, devices, "equal");
            for (const char *policy : policies)
                EXPECT_EQ(run(of, devices, policy), expected)
                    << of.declaration << " on " << devices << " by "
                    << (policy == nullptr ? "default" : policy);
        }
    }
}

} // namespace
