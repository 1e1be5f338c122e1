#ifndef POLYTILE_TESTS_QUEUE_TWO_ARRAYS_H
#define POLYTILE_TESTS_QUEUE_TWO_ARRAYS_H

#include "queue/queue_test.h"

/** A queue on the device of the parameter with two arrays of ones, and a kernel that doubles
 * one. */
class QueueOfTwoArrays : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open(GetParam());
        x = wrap("x", x_memory);
        y = wrap("y", y_memory);
        doubling = scale();
        ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    }

    polytile_status double_all(polytile_array *array) {
        return launch(queue, doubling, all, {array});
    }

    const polytile_domain all = line(64);
    std::vector<float> x_memory = std::vector<float>(64, 1);
    std::vector<float> y_memory = std::vector<float>(64, 1);
    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr, *y = nullptr;
    polytile_kernel *doubling = nullptr;
};

#endif
