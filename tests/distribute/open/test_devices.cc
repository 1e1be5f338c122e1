#include <gtest/gtest.h>

extern "C" {
#include "distribute/open/devices.h"
}

TEST(Devices, AreDrivenByAThreadOfTheHostUnlessTheyAreOne) {
    const struct {
        const char *text;
        int n_driven;
    } cases[] = {
        {nullptr, 0},  {"host", 0},        {"host(memory=1MiB,threads=2),host", 0},
        {"cuda:0", 1}, {"cuda:0,host", 1}, {"host+cuda:1(memory=1GiB,threads=3)+cuda:0", 2},
    };
    for (const auto &c : cases)
        EXPECT_EQ(pti_devices_count_driven(c.text), c.n_driven)
            << (c.text == nullptr ? "nothing" : c.text);
}
