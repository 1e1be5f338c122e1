#include "queue/view_program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

namespace {

const char *const host_devices[] = {
    "host",
    "host(memory=200B)",
    "host(memory=700B)",
    "host(memory=2KiB)",
    "host(memory=1MiB)",
    "host,host",
    "host(memory=2KiB),host(memory=2KiB)",
    "host(memory=1MiB),host",
};

class Views : public testing::Test {
  protected:
    void SetUp() override { environment_.set("POLYTILE_CHECK", "plan"); }

  private:
    Environment environment_;
};

void ignore(const ViewKernel &) {}

using QueueViews = Views;
using RunViews = Views;

TEST_F(QueueViews, ResultsAreThoseOfPlainLoops) {
    Random random(test_seed("QueueViews.ResultsAreThoseOfPlainLoops"));
    int64_t n_run = 0, n_programs = 0;
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++)
        for (const char *device : host_devices) {
            n_programs++;
            n_run += ViewProgram(&random).run_in_queue(device, ignore) > 0;
        }
    EXPECT_GE(n_run, least_count(n_programs, 0.75));
}

TEST_F(RunViews, ResultsAreThoseOfPlainLoops) {
    Random random(test_seed("RunViews.ResultsAreThoseOfPlainLoops"));
    int64_t n_run = 0, n_programs = 0;
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++)
        for (const char *device :
             {"host", "host(memory=200B)", "host(memory=700B)", "host(memory=4KiB)"}) {
            n_programs++;
            n_run += ViewProgram(&random).run_alone(device, ignore) > 0;
        }
    EXPECT_GE(n_run, least_count(n_programs, 0.75));
}

} // namespace
