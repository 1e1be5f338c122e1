#ifndef POLYTILE_TESTS_QUEUE_RANDOM_PROGRAM_H
#define POLYTILE_TESTS_QUEUE_RANDOM_PROGRAM_H

#include "queue/twin.h"
#include "support/random_chain.h"

#include <string>

/**
 * A random program on a queue: loops over steps of random kernels, most of which may be
 * interleaved, and some of which have parameters, with values of each launch's own, with other
 * launches, waits and visits of the program in between. What it computes is compared with what
 * plain loops do.
 */
class RandomProgram {
  public:
    explicit RandomProgram(Random *random);

    /** Memory for a part of its data, or all of it. */
    int64_t some_memory() const;

    struct Told {
        int64_t n_launched;
        int64_t n_refused; /* that do not fit */
        int64_t peak_device_bytes;
        int64_t h2d_bytes;
        int64_t least_upload_bytes; /* of launches one by one, Twin::least_upload_bytes() */
    };

    /** Run it on a device of some memory. */
    Told run(const std::string &device, int64_t memory_bytes, const TwinPlace &place = TwinPlace());

  private:
    int64_t padded_bytes() const;
    int64_t least_bytes() const;
    void launch(Twin *twin, const RandomChain::Launch &which);
    void loop(Twin *twin, bool is_last);
    void visit(Twin *twin);

    Random *random_;
    RandomChain chain_;
    int64_t most_per_pass_; /* of most launches; 0: chosen */
    polytile_link link_;
    bool has_link_; /* everything is to fit the device, but not its cache */
    int64_t n_refused_ = 0;
};

#endif
