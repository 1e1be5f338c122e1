#include <gtest/gtest.h>
#include <polytile/message.h>
#include <polytile/polytile.h>

#include <csignal>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "base/clock.h"
#include "message/hang.h"
#include "message/serve.h"
}

/* A server whose slots never run: the test does what they would, and looks at what it does. */

namespace {

/* A launch of some slots, which are on the host or on a device. */
class Launch {
  public:
    Launch(int n_slots, double timeout_s, pti_slot_device *device = nullptr) {
        pti_server_request request = {};
        request.kernel_name = "still";
        request.n_slots = n_slots;
        request.threads = *POLYTILE_EXTENTS(n_slots);
        request.timeout_s = timeout_s;
        polytile_context_create(&ctx_);
        server = pti_server_create(&request);
        part = pti_server_get_part(server, 0);
        if (device == nullptr)
            begin(nullptr);
    }
    ~Launch() {
        end();
        pti_server_release(server);
        polytile_context_destroy(ctx_);
    }
    Launch(const Launch &) = delete;
    Launch &operator=(const Launch &) = delete;

    void begin(const pti_slot_device *device, const std::vector<pt_memory> &memories = {}) {
        views_.resize(memories.size());
        EXPECT_EQ(pti_server_begin(part, ctx_, memories.data(), views_.data(),
                                   static_cast<int>(memories.size()), device),
                  POLYTILE_OK);
        EXPECT_EQ(pti_server_meet(part, ctx_), POLYTILE_OK);
    }

    /** Nobody uses the device's memory any more. */
    void end() { pti_server_abandon(part, nullptr); }

    double check_time() {
        pthread_mutex_lock(&server->mutex);
        const double left_s = pti_hang_check_time(server, part);
        pthread_mutex_unlock(&server->mutex);
        return left_s;
    }

    void begin_wait(const uint64_t *word, uint64_t wanted) {
        pthread_mutex_lock(&server->mutex);
        pti_hang_begin_wait(server, 0, word, wanted);
        pthread_mutex_unlock(&server->mutex);
    }

    void note_progress() {
        pthread_mutex_lock(&server->mutex);
        pti_server_note_progress(server);
        pthread_mutex_unlock(&server->mutex);
    }

    pti_server *server;
    pti_server_part *part;

  private:
    polytile_context *ctx_ = nullptr;
    std::vector<polytile_view> views_;
};

/* Until time is up, the coarse clock's tick included. */
void let_time_pass(double timeout_s) {
    const double end_s = pti_now_s() + timeout_s + 3 * pti_coarse_tick_s();
    while (pti_now_s() < end_s)
        usleep(1000);
}

TEST(MessageServer, TimeIsUpForASlotThatWaits) {
    const uint64_t word = 0;
    Launch launch(2, 1e-3);
    launch.begin_wait(&word, 1);
    let_time_pass(1e-3);
    launch.check_time();
    EXPECT_EQ(launch.server->status, POLYTILE_TIMEOUT);
    EXPECT_NE(std::string(launch.server->text).find("slot 0 waits"), std::string::npos)
        << launch.server->text;
}

/* Its thread has not run since. */
TEST(MessageServer, TimeIsNotUpForASlotThatHasWhatItWaitsFor) {
    const uint64_t word = 1;
    Launch launch(2, 1e-3);
    launch.begin_wait(&word, 1);
    let_time_pass(1e-3);
    EXPECT_GT(launch.check_time(), 0);
    EXPECT_FALSE(launch.server->is_ending) << launch.server->text;
}

TEST(MessageServer, WhoLooksInVainAndWaitsForNothingIsToldSo) {
    Launch launch(2, 1e-3);
    launch.server->n_polls = 1;
    let_time_pass(1e-3);
    launch.check_time();
    EXPECT_STREQ(launch.server->text, "still: TIMEOUT, nothing went on for 0.0 s");
}

/* The coarse clock is a tick late at times, which is longer than this. */
TEST(MessageServer, TimeIsNotUpBeforeItIs) {
    const double tick_s = pti_coarse_tick_s(), timeout_s = tick_s / 4;
    const uint64_t word = 0;
    for (int round = 0; round < 20; round++) {
        Launch launch(2, timeout_s);
        double before_s = 0, late_s = 0;
        launch.begin_wait(&word, 1);
        do {
            before_s = pti_now_s();
            launch.note_progress();
            late_s = pti_now_s() - launch.server->progress_s;
        } while (late_s < tick_s / 2 || late_s > tick_s); /* a busy machine misses ticks */
        launch.check_time();
        const double passed_s = pti_now_s() - before_s;
        EXPECT_TRUE(!launch.server->is_ending || passed_s >= timeout_s)
            << "after " << passed_s << " s, not " << timeout_s << ", in round " << round;
    }
}

/* What lies beside a place, whose first reader is caught. */
char *guarded;
int64_t guarded_bytes;
const uint64_t *credits;
volatile uint64_t credits_at_read;

void catch_read(int) {
    credits_at_read = *credits;
    mprotect(guarded, static_cast<size_t>(guarded_bytes), PROT_READ | PROT_WRITE);
}

bool store(void *, void *to, const void *from, int64_t n_bytes) {
    memcpy(to, from, static_cast<size_t>(n_bytes));
    return true;
}

bool reaches(void *, void *) {
    return false;
}

/* Memory whose end is that of a page. */
class Pages {
  public:
    explicit Pages(int64_t n_bytes)
        : n_bytes_((static_cast<size_t>(n_bytes) / page_bytes() + 1) * page_bytes()),
          first_(static_cast<char *>(
              mmap(nullptr, n_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
          begin(first_ + n_bytes_ - n_bytes) {}
    ~Pages() { munmap(first_, n_bytes_); }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

    static size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

  private:
    size_t n_bytes_;
    char *first_;

  public:
    char *begin;
};

/* Who sees the credit may write the place again, and what lies beside it. */
TEST(MessageServer, APlaceIsGivenBackWhenAllIsRead) {
    pti_slot_device device = {};
    Launch launch(1, 10, &device);
    const std::vector<char> message(PT_PAYLOAD_BYTES, 7);
    const std::vector<pt_memory> memories = {{message.data(), message.data() + message.size(), 1}};
    const pti_server_bytes bytes = pti_server_count_bytes(launch.part, 1);
    Pages shared(bytes.shared_bytes);
    std::vector<pt_line> slots(static_cast<size_t>(bytes.slots_bytes) / sizeof(pt_line) + 1);
    device.shared = shared.begin;
    device.slots = slots.data();
    device.store = store;
    device.reaches = reaches;
    launch.begin(&device, memories);
    const pt_ring *ring = pti_server_get_slot(launch.part, 0)->ring;
    guarded = ring->payload;
    guarded_bytes = shared.begin + bytes.shared_bytes - ring->payload;
    if (reinterpret_cast<uintptr_t>(guarded) % Pages::page_bytes() != 0) {
        launch.end();
        GTEST_SKIP() << "pages are larger than what lies beside a place";
    }
    ring->entry[0].kind = PT_SEND_ENTRY;
    ring->entry[0].flags = PT_CARRIED;
    ring->entry[0].request = PT_NO_REQUEST;
    ring->entry[0].address = reinterpret_cast<uintptr_t>(message.data());
    ring->entry[0].n_bytes = PT_PAYLOAD_BYTES;
    PT_STORE_RELEASE(&ring->entry[0].commit, UINT64_C(1));
    credits = ring->n_taken;
    credits_at_read = 99;
    struct sigaction catches = {}, before;
    catches.sa_handler = catch_read;
    sigaction(SIGSEGV, &catches, &before);
    mprotect(guarded, static_cast<size_t>(guarded_bytes), PROT_NONE);
    pthread_mutex_lock(&launch.server->mutex);
    pti_serve(launch.server);
    pthread_mutex_unlock(&launch.server->mutex);
    mprotect(guarded, static_cast<size_t>(guarded_bytes), PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &before, nullptr);
    EXPECT_FALSE(launch.server->is_ending) << launch.server->text;
    EXPECT_EQ(credits_at_read, 0U) << "99: nobody read it";
    EXPECT_EQ(*ring->n_taken, 1U);
    launch.end();
}

} // namespace
