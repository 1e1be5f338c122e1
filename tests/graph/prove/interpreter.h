#ifndef POLYTILE_TESTS_GRAPH_PROVE_INTERPRETER_H
#define POLYTILE_TESTS_GRAPH_PROVE_INTERPRETER_H

#include "support/random.h"

extern "C" {
#include "graph/prove/prove.h"
}

#include <cstdint>
#include <vector>

/** A stream whose bytes hold which frame of which buffer they are of. Tasks begin and end by
 * chance, in any order that their waits allow; it knows neither distances nor lives. */
class StreamInterpreter {
  public:
    /** What is held back, so that a counterexample comes to pass. */
    struct Event {
        int task = -1;
        int64_t frame = 0;
    };
    struct Hold {
        Event begin, until_begun;     /* no begin before another task has begun */
        Event end, until_other_begun; /* no end, likewise */
    };

    StreamInterpreter(const pti_stream_claim &claim, Random *random, int64_t n_frames);

    /** Run all frames; returns whether all went well. What is held is let go when nothing else goes
     * on. */
    bool run(const Hold &hold);
    bool run() { return run(Hold()); }

  private:
    struct Byte {
        int buffer = -1;
        int64_t frame = 0;
        bool is_whole = true;
    };

    bool has_begun(const Event &event) const;
    bool is_held(int task, bool begins, const Hold &hold) const;
    bool may_begin(int task) const;
    bool reads_right(int task) const;
    bool writes_right(int task) const;
    void write(int task, bool is_whole);
    bool each_byte(int buffer, int64_t frame, bool (*is_right)(const Byte &, const Byte &),
                   const Byte &expected) const;
    bool step(int task);

    pti_stream_claim claim_;
    Random *random_;
    int64_t n_frames_;
    std::vector<std::vector<Byte>> memory_;
    std::vector<int64_t> done_;
    std::vector<bool> is_running_;
};

#endif
