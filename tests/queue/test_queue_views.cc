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
    int n_launched = 0;
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++)
        for (const char *device : host_devices)
            n_launched += ViewProgram(&random).run_in_queue(device, ignore);
    EXPECT_GT(n_launched, 0);
}

TEST_F(RunViews, ResultsAreThoseOfPlainLoops) {
    Random random(test_seed("RunViews.ResultsAreThoseOfPlainLoops"));
    int n_launched = 0;
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++)
        for (const char *device :
             {"host", "host(memory=200B)", "host(memory=700B)", "host(memory=4KiB)"})
            n_launched += ViewProgram(&random).run_alone(device, ignore);
    EXPECT_GT(n_launched, 0);
}

} // namespace
