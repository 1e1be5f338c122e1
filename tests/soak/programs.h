#ifndef POLYTILE_TESTS_SOAK_PROGRAMS_H
#define POLYTILE_TESTS_SOAK_PROGRAMS_H

#include "soak/place.h"

#include <map>

/** What became of a program's launches. */
struct Launches {
    int64_t n_run = 0;
    std::map<polytile_status, int64_t> n_refused; /* by the reason */
};

/** A random program that is run in a place and compared with an interpreter's results; differences
 * are failures of GoogleTest. */
using RunProgram = Launches (*)(Place *place, Random *random);

/** Any launch that a declaration can say: 1 to 4 indices and dimensions, all roles. */
Launches run_declared(Place *place, Random *random);
/** Chains of launches that may be interleaved, see queue/random_program.h. */
Launches run_chain(Place *place, Random *random);
/** Everything that a program does with queues, see queue/program.h. */
Launches run_queue(Place *place, Random *random);
/** Small arrays of odd extents, see queue/small_program.h. */
Launches run_small(Place *place, Random *random);

#endif
