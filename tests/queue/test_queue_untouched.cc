#include "queue/queue_test.h"
#include "support/environment.h"

#include <ostream>

/* Launches some of whose threads, or all, touch nothing of an array: their sections are empty. */

namespace {

/** A body that touches nothing. */
const polytile_implementation nothing = [] {
    polytile_implementation made = {};
    made.host = [](const polytile_domain *, const polytile_view *, void *) {};
    return made;
}();

struct Untouched {
    const char *declaration;
    const char *device;
};

void PrintTo(const Untouched &of, std::ostream *out) {
    *out << of.declaration << " on " << of.device;
}

class QueueUntouched : public QueueTest, public testing::WithParamInterface<Untouched> {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "plan");
        QueueTest::SetUp();
    }

  private:
    Environment environment_;
};

INSTANTIATE_TEST_SUITE_P(
    Sections, QueueUntouched,
    testing::Values(Untouched{"k[i, j]: in A[i, 2*j:2*j-1]", "host(memory=2KiB)"},
                    Untouched{"k[i, j]: in A[j-2:j-3:3, 2*i:2*i+3]", "host(memory=2KiB)"},
                    Untouched{"k[i, j]: in A[i, 2*j:2*j-1]", "host(memory=16KiB)"},
                    Untouched{"k[i, j]: in A[i, i:i-1]", "host,host"},
                    Untouched{"k[i, j]: in A[j:j-1, i]", "host(memory=4KiB),host(memory=4KiB)"}));

TEST_P(QueueUntouched, ArraysAreNoError) {
    polytile_queue *queue = open(GetParam().device);
    std::vector<float> memory(8 * 16, 1);
    polytile_array *A = wrap("A", memory, {8, 16});
    polytile_kernel *kernel = create(GetParam().declaration, &nothing);
    ASSERT_EQ(attach(queue, {A}), POLYTILE_OK) << error();
    for (const int64_t rows : {8, 1, 5}) {
        ASSERT_EQ(launch(queue, kernel, box({0, 0}, {rows - 1, 4}), {A}), POLYTILE_OK) << error();
    }
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {A}), POLYTILE_OK) << error();
    EXPECT_EQ(memory, std::vector<float>(8 * 16, 1));
}

} // namespace
