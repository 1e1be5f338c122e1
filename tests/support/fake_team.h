#ifndef POLYTILE_TESTS_SUPPORT_FAKE_TEAM_H
#define POLYTILE_TESTS_SUPPORT_FAKE_TEAM_H

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

/** The thread blocks of a cooperative launch: each lane is a thread of the system, and few stand
 * for many. */
class FakeTeam {
  public:
    using Body = std::function<void(int slot)>;

    FakeTeam() = default;
    ~FakeTeam() { join(); }
    FakeTeam(const FakeTeam &) = delete;
    FakeTeam &operator=(const FakeTeam &) = delete;

    /** Let each lane of each slot run a body. */
    void begin(int n_slots, const Body &body);
    /** Whether all have returned. */
    bool is_over();
    /** Wait until they have. */
    void join();

  private:
    std::atomic<int> n_running_{0};
    std::vector<std::thread> threads_;
};

#endif
