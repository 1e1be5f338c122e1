#ifndef POLYTILE_TESTS_PARTITION_PROVE_JOINT_JOINT_INTERPRETER_H
#define POLYTILE_TESTS_PARTITION_PROVE_JOINT_JOINT_INTERPRETER_H

#include <cstdint>
#include <vector>

#include "support/elements.h"
#include "support/random.h"

extern "C" {
#include "partition/schedule/joint.h"
}

/** One element that a thread uses. */
struct JointAccess {
    int array;
    size_t at;
    bool reduces;
};

/** What a thread does. */
struct JointThread {
    uint64_t seed;
    std::vector<JointAccess> reads, writes;
};

/** The launches of a joint schedule thread by thread, and what each element is before and after. */
class JointValues {
  public:
    explicit JointValues(const pti_joint_schedule &schedule);

    const JointThread &thread(int launch, const Point &at) const;
    size_t offset(int array, const Point &element) const;
    size_t size(int array) const { return before_[static_cast<size_t>(array)].size(); }
    uint64_t before(int array, size_t at) const { return before_[static_cast<size_t>(array)][at]; }
    uint64_t after(int array, size_t at) const { return after_[static_cast<size_t>(array)][at]; }

  private:
    void list_threads(const pti_call &call);
    void run(const pti_call &call, size_t launch);

    std::vector<polytile_domain> domains_;
    std::vector<polytile_domain> threads_; /* of each launch */
    std::vector<std::vector<JointThread>> work_;
    std::vector<std::vector<uint64_t>> before_, after_;
};

/** What a thread makes of what it reads, for the element that it writes there. */
uint64_t joint_mix(uint64_t hash, uint64_t value);

/** Runs joint schedules element by element, in an order drawn by chance: queues late or early,
 * processes slow or fast, and devices that bring to the host what they have at any time. It knows
 * neither sets nor versions, only values. */
bool runs_right(const pti_joint_schedule &schedule, const JointValues &values, Random *random);

#endif
