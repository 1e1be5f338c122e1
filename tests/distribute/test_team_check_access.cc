#include "queue/queue_test.h"
#include "support/environment.h"

/* The access checker brings home what it looks at, where members' arrays lie over one memory. */

namespace {

class TeamCheckAccess : public QueueTest {};

TEST_F(TeamCheckAccess, WhatTwoMembersWouldComputeIsUpdatedOnce) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "access");
    std::vector<float> x_memory(64, 1), y_memory(64, 3), z_memory(64, 0);
    polytile_queue *queue = open("host(memory=16KiB),host(memory=16KiB)");
    polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory), *z = wrap("z", z_memory);
    polytile_kernel *around = create("around[i]: in x[i-1:i+1], y[i]; out z[i]", &add_kernel);
    ASSERT_EQ(attach(queue, {x, y, z}), POLYTILE_OK) << error();
    for (int step = 0; step < 4; step++) {
        ASSERT_EQ(launch(queue, scale(), line(64), {x}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, around, line(64), {x, y, z}), POLYTILE_OK) << error();
    }
    ASSERT_EQ(detach(queue, {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 16));
    EXPECT_EQ(z_memory, std::vector<float>(64, 19));
}

} // namespace
