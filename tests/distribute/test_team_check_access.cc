#include "queue/queue_test.h"
#include "support/environment.h"

/* POLYTILE_CHECK=access in queues over several devices: each member checks its part. */

namespace {

class TeamCheckAccess : public QueueTest {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "access");
        QueueTest::SetUp();
    }
    Environment environment_;
};

TEST_F(TeamCheckAccess, WrongLaunchesAreToldByTheNextWait) {
    std::vector<float> fine(201), coarse(100, -1);
    for (size_t k = 0; k < fine.size(); k++)
        fine[k] = static_cast<float>(k);
    polytile_queue *queue = open("host(memory=4KiB),host(memory=4KiB)");
    polytile_array *f = wrap("f", fine), *c = wrap("c", coarse);
    ASSERT_EQ(attach(queue, {f, c}), POLYTILE_OK) << error();
    polytile_kernel *wrong = create("coarsen[i]: in f[2*i:2*i+1]; out c[i]", &coarsen_kernel);
    polytile_status status = launch(queue, wrong, line(100), {f, c});
    if (status == POLYTILE_OK)
        status = polytile_queue_wait(queue);
    EXPECT_EQ(status, POLYTILE_INVALID) << error();
    expect_says({"coarsen: its declaration is wrong", "in f[2*i:2*i+1]"});
    EXPECT_EQ(launch(queue, create("coarsen[i]: in f[2*i:2*i+2]; out c[i]", &coarsen_kernel),
                     line(100), {f, c}),
              POLYTILE_OK);
    EXPECT_EQ(detach(queue, {f, c}), POLYTILE_OK) << error();
    for (size_t i = 0; i < coarse.size(); i++)
        EXPECT_EQ(coarse[i], static_cast<float>(6 * i + 3));
}

} // namespace
