#include "queue/twin.h"
#include "support/environment.h"

#include <gtest/gtest.h>

/* Queued launches that combine into elements: onto what was there, or from the identity. */

namespace {

constexpr int64_t m = 24, n = 20, k = 28, element_bytes = 4;
constexpr int64_t data_bytes = (m * k + k * n + m * n) * element_bytes;

struct Case {
    polytile_role role;
    const char *name;
};
const Case cases[] = {
    {POLYTILE_SUM, "Sum"}, {POLYTILE_PROD, "Prod"}, {POLYTILE_MIN, "Min"}, {POLYTILE_MAX, "Max"}};

void PrintTo(const Case &of, std::ostream *out) {
    *out << of.name;
}

class QueueReductions : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Roles, QueueReductions, testing::ValuesIn(cases),
                         [](const auto &of) { return of.param.name; });

/** Three arrays, and launches that combine into the third. */
class Combining {
  public:
    Combining(int64_t memory_bytes, polytile_role role, Random *random)
        : twin("host(memory=" + std::to_string(memory_bytes) + "B)", random) {
        const int A = twin.add_field({m, k}, element_bytes);
        const int B = twin.add_field({k, n}, element_bytes);
        const int C = twin.add_field({m, n}, element_bytes);
        const GenericSection of_A = {{0, 0, 0}, {2, 0, 0}}, of_B = {{2, 0, 0}, {1, 0, 0}},
                             of_C = {{0, 0, 0}, {1, 0, 0}};
        for (const bool is_fresh : {false, true})
            kernel[is_fresh] = twin.add_kernel(
                3,
                {{POLYTILE_IN, A, {of_A}}, {POLYTILE_IN, B, {of_B}}, {role, C, {of_C}, is_fresh}});
    }

    Twin twin;
    int kernel[2]; /* onto what is there, from the identity */
};

TEST_P(QueueReductions, GoOnFromWhatIsThereOrBeginAnewWhateverFits) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("QueueReductions"));
    const int64_t block[] = {2, 2, 4};
    polytile_launch_options options = {};
    options.plan.block = block;
    int64_t n_kernels = 0;
    for (const int64_t share : {1, 2, 3, 5, 8}) {
        SCOPED_TRACE(share);
        Combining of(data_bytes / share + 512, GetParam().role, &random);
        for (const int is_fresh : {0, 0, 1, 0, 1, 1, 0}) {
            const int kernel = of.kernel[is_fresh];
            ASSERT_EQ(of.twin.launch(kernel, of.twin.widest(kernel), &options), POLYTILE_OK)
                << of.twin.error();
        }
        of.twin.finish();
        EXPECT_GE(of.twin.report().n_kernels, n_kernels);
        n_kernels = of.twin.report().n_kernels;
    }
    EXPECT_GT(n_kernels, 7 * 8) << "nothing was split";
}

TEST_P(QueueReductions, OfAPartOfTheThreadsLeaveOtherElementsAlone) {
    Random random(test_seed("QueueReductions"));
    for (const int64_t share : {1, 3}) {
        Combining of(data_bytes / share + 512, GetParam().role, &random);
        for (int round = 0; round < 6; round++) {
            const int kernel = of.kernel[round % 2];
            polytile_domain threads = of.twin.widest(kernel);
            for (int d = 0; d < 3; d++) {
                polytile_range &range = threads.range[d];
                range.lo = random.number(range.lo, range.hi);
                range.hi = random.number(range.lo, range.hi);
            }
            ASSERT_EQ(of.twin.launch(kernel, threads), POLYTILE_OK) << of.twin.error();
        }
        of.twin.finish();
    }
}

} // namespace
