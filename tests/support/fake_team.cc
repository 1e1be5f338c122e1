#include "support/fake_team.h"

#include "support/fake_message.h"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace {

constexpr int n_lanes = 2;

/* A barrier that can be passed again and again. */
class Barrier {
  public:
    /* Returns whether any of those who arrive says so. */
    bool arrive(bool value) {
        std::unique_lock<std::mutex> lock(mutex_);
        const int64_t round = round_;
        does_any_ |= value;
        if (++n_arrived_ == n_lanes) {
            n_arrived_ = 0;
            said_ = does_any_;
            does_any_ = false;
            round_++;
            passed_.notify_all();
        }
        passed_.wait(lock, [&] { return round_ != round; });
        return said_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable passed_;
    int n_arrived_ = 0;
    int64_t round_ = 0;
    bool does_any_ = false; /* of the round */
    bool said_ = false;     /* of the one before */
};

thread_local int lane = 0;
thread_local Barrier *barrier = nullptr;

} // namespace

int fake_lane(void) {
    return lane;
}

int fake_lanes(void) {
    return n_lanes;
}

int fake_team_or(int value) {
    return barrier->arrive(value != 0);
}

void fake_pause(void) {
    std::this_thread::yield();
}

void FakeTeam::begin(int n_slots, const Body &body) {
    n_running_ = n_slots * n_lanes;
    for (int slot = 0; slot < n_slots; slot++) {
        const auto of_slot = std::make_shared<Barrier>();
        for (int number = 0; number < n_lanes; number++)
            threads_.emplace_back([this, slot, number, of_slot, body] {
                lane = number;
                barrier = of_slot.get();
                body(slot);
                n_running_--;
            });
    }
}

bool FakeTeam::is_over() {
    if (n_running_ > 0)
        return false;
    join();
    return true;
}

void FakeTeam::join() {
    for (std::thread &thread : threads_)
        thread.join();
    threads_.clear();
}
