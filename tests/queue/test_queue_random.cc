#include "queue/program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <ostream>

namespace {

struct RandomQueue {
    const char *device;
    int64_t n_rounds;
};

void PrintTo(const RandomQueue &of, std::ostream *out) {
    *out << of.device;
}

class QueueRandom : public testing::TestWithParam<RandomQueue> {};

INSTANTIATE_TEST_SUITE_P(
    Devices, QueueRandom,
    testing::Values(RandomQueue{"host", 40}, RandomQueue{"host(memory=512B)", 40},
                    RandomQueue{"host(memory=1KiB)", 40}, RandomQueue{"host(memory=2500B)", 60},
                    RandomQueue{"host(memory=6KiB)", 60}, RandomQueue{"host(memory=9KiB)", 60},
                    RandomQueue{"host(memory=14KiB)", 60}, RandomQueue{"host(memory=1MiB)", 40}));

/** Run random programs; with a proof of every schedule. */
TEST_P(QueueRandom, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("QueueRandom"));
    const int64_t n_rounds = scaled(GetParam().n_rounds);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const Program::Options options = Program::Options::draw(&random);
        Program program(GetParam().device, options, &random);
        program.run();
        n_run += program.n_launched() > 0;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

/** Where all fits, and slabs that stay in a cache promise much. */
TEST(QueueRandomSlabs, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("QueueRandomSlabs"));
    polytile_link link = polytile_link_default;
    link.kernel_bytes_per_s = 1e3;
    link.kernel_accesses_per_s = 0;
    link.launch_latency_s = 0;
    int64_t n_more_kernels = 0;
    const int64_t n_rounds = scaled(200);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        link.cache_bytes = static_cast<double>(random.number(300, 9000));
        Program::Options options;
        options.n = random.one_of({24, 48});
        options.n_steps = static_cast<int>(random.one_of({30, 100}));
        options.link = &link;
        Program program("host(memory=1MiB)", options, &random);
        program.run();
        n_more_kernels += program.n_kernels() > program.n_launched();
    }
    EXPECT_GE(n_more_kernels, least_count(n_rounds, 0.08));
}

/** While everything is guarded, each transfer opens what it needs and no more is open for long. */
TEST_P(QueueRandom, GuardsDoNotGetInTheWay) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "attach");
    Random random(test_seed("QueueRandom"));
    Program::Options options;
    options.n = 48;
    Program program(GetParam().device, options, &random);
    program.run();
}

} // namespace
