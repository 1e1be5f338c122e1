#include "queue/queue_test.h"

/* What a queue over several devices says of all of them. */

namespace {

class GroupReport : public QueueTest {};

TEST_F(GroupReport, ThePeakIsThatOfTheDeviceWithTheMost) {
    constexpr int64_t n = 12288, memory_bytes = 64 << 10;
    std::vector<float> memory(n);
    polytile_queue *queue = open("host(memory=64KiB),host(memory=64KiB),host(memory=64KiB)");
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, scale(), line(n), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    const polytile_report told = report(queue);
    EXPECT_EQ(told.h2d_bytes, 4 * n);
    EXPECT_GE(told.peak_device_bytes, 4 * n / 3);
    EXPECT_LE(told.peak_device_bytes, memory_bytes);
    EXPECT_LT(told.peak_device_bytes, 2 * (4 * n / 3));
}

} // namespace
