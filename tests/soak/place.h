#ifndef POLYTILE_TESTS_SOAK_PLACE_H
#define POLYTILE_TESTS_SOAK_PLACE_H

#include "queue/twin.h"
#include "support/random.h"

#include <memory>
#include <string>
#include <vector>

/** Where a random program runs. */
class Place {
  public:
    virtual ~Place() = default;

    /** The text of a device, or of several, with this memory where it has any of its own. */
    virtual std::string device(int64_t memory_bytes) const = 0;
    virtual TwinPlace hooks() { return {}; }
    /** Whether programs run on queues only. */
    virtual bool is_queue() const { return false; }
    /** After a program, with everything destroyed. */
    virtual void expect_nothing_left() {}
};

/** One of those that this build has; with ranks, all of them share queues. */
std::unique_ptr<Place> draw_place(Random *random);

/** A place with a GPU that is not there; NULL: the build has no CUDA device. */
std::unique_ptr<Place> make_fake_cuda(uint64_t seed);

#endif
