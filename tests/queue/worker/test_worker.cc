#include "queue/queue_test.h"

#include <chrono>
#include <csignal>
#include <future>
#include <thread>

extern "C" {
#include "launch/peers/peers_state.h"
#include "queue/queue.h"
}

namespace {

class Worker : public QueueTest {};

/** A launcher that looks at the signals that its thread blocks. */
int look_at_signals(const polytile_sub_kernel *launch) {
    return pthread_sigmask(SIG_BLOCK, nullptr, static_cast<sigset_t *>(launch->user));
}

TEST_F(Worker, LeavesSignalsToTheProgramsThreadsButThoseOfItsOwnFaults) {
    sigset_t blocked;
    sigemptyset(&blocked);
    polytile_implementation look = {};
    look.host_launcher = look_at_signals;
    look.user = &blocked;
    std::vector<float> memory(10, 1);
    polytile_queue *queue = open("host");
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, create("look[i]: inout x[i]", &look), line(10), {x}), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    for (int number : {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1})
        EXPECT_EQ(sigismember(&blocked, number), 1) << number;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        EXPECT_EQ(sigismember(&blocked, number), 0) << number;
    sigset_t mine;
    pthread_sigmask(SIG_BLOCK, nullptr, &mine);
    EXPECT_EQ(sigismember(&mine, SIGINT), 0) << "the program's own mask has changed";
}

/** Gives every signal that can be had a handler of the test's own, until it ends. */
class OwnHandlers {
  public:
    OwnHandlers() {
        struct sigaction own = {};
        own.sa_handler = do_nothing;
        for (int number = 1; number < NSIG; number++)
            is_set_[number] = sigaction(number, &own, &before_[number]) == 0;
    }
    ~OwnHandlers() {
        for (int number = 1; number < NSIG; number++)
            if (is_set_[number])
                sigaction(number, &before_[number], nullptr);
    }

    /** The signals that have another one now. */
    std::vector<int> list_replaced() const {
        std::vector<int> replaced;
        for (int number = 1; number < NSIG; number++) {
            struct sigaction now = {};
            sigaction(number, nullptr, &now);
            if (is_set_[number] && now.sa_handler != do_nothing)
                replaced.push_back(number);
        }
        return replaced;
    }

  private:
    static void do_nothing(int) {}

    struct sigaction before_[NSIG] = {};
    bool is_set_[NSIG] = {};
};

TEST_F(Worker, LeavesTheHandlersOfSignalsToTheProgram) {
    const OwnHandlers handlers;
    polytile_context *another = nullptr;
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_context_create(&another), POLYTILE_OK);
    EXPECT_EQ(polytile_device_open(another, "host(threads=2)", &device), POLYTILE_OK);
    std::vector<float> memory(100, 1), sums(100);
    for (const char *text : {"host(memory=4KiB)", "host,host"}) {
        polytile_queue *queue = open(text);
        polytile_array *x = wrap("x", memory), *z = wrap("z", sums);
        ASSERT_EQ(attach(queue, {x, z}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, create("add[i]: in x[i], y[i]; out z[i]", &add_kernel), line(100),
                         {x, x, z}),
                  POLYTILE_OK)
            << error();
        EXPECT_EQ(detach(queue, {x, z}), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
    }
    polytile_context_destroy(another);
    EXPECT_EQ(handlers.list_replaced(), std::vector<int>());
}

TEST_F(Worker, ManyQueuesStartAndStop) {
    for (int round = 0; round < 100; round++) {
        polytile_queue *queues[3];
        for (polytile_queue *&queue : queues)
            queue = open("host");
        for (polytile_queue *queue : queues)
            polytile_queue_destroy(queue);
    }
}

/** Who has the mutex of linked devices may be busy with one of them for long. */
TEST_F(Worker, LetsTheProgramLaunchWhileItCannotTellItsPeers) {
    Gate gate;
    polytile_device other = {};
    std::vector<float> memory(10, 1);
    polytile_queue *queue = open("host");
    polytile_device *both[] = {queue->device, &other};
    pti_peers *peers = pti_peers_create(2, both);
    ASSERT_NE(peers, nullptr);
    polytile_array *x = wrap("x", memory);
    polytile_kernel *kernel = gated(gate);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    pthread_mutex_lock(&peers->mutex);
    EXPECT_EQ(launch(queue, kernel, line(10), {x}), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::future<polytile_status> launched =
        std::async(std::launch::async, [&] { return launch(queue, kernel, line(10), {x}); });
    EXPECT_EQ(launched.wait_for(std::chrono::seconds(5)), std::future_status::ready);
    pthread_mutex_unlock(&peers->mutex);
    EXPECT_EQ(launched.get(), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(peers->peer[0].passed_number, 2);
    polytile_queue_destroy(queue);
    pti_peers_free(peers);
}

} // namespace
