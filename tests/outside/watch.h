#ifndef OUTSIDE_WATCH_H
#define OUTSIDE_WATCH_H

/* Programs run in processes of their own, so that one that crashes or hangs is told by its seed. */
#include "outside/run.h"

#include <functional>

namespace outside {

/** What is to be run of seeds first, first + 1, ..., n of them. */
struct Batch {
    std::function<Outcome(uint64_t)> run;
    uint64_t first = 1;
    uint64_t n = 1;
    int seconds = 60; /* that one program may take */
};

/**
 * Run a batch, and tell of each program what became of it, in order. One that ends its process has
 * the failure "signal", one that takes too long "hang".
 */
void watch(const Batch &batch, const std::function<void(uint64_t, const Outcome &)> &tell);

} // namespace outside

#endif
