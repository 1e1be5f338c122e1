#include "distribute/mpi/random_messages.h"

#include <csignal>

/* Ranks exchange, combine and agree until one of them is killed at a random point. */

namespace {

void work(const Joined &joined, RandomMessages &messages) {
    float value = 1, sum = 0;
    void *partial[] = {&value};
    const pti_combination combination = {POLYTILE_SUM, POLYTILE_F32, 1, partial, &sum};
    messages.run();
    joined.functions().combine(joined.transport, &combination, false);
    joined.functions().agree(joined.transport, POLYTILE_OK);
}

/** The victim dies between two calls or, by a timer, within one. */
void arrange_death(Random &random) {
    const int victim = static_cast<int>(random.number(0, world_size() - 1));
    const auto delay_us = static_cast<useconds_t>(random.number(1, 500000));
    if (world_rank() != victim)
        return;
    std::printf("rank %d is killed after %u us\n", victim, static_cast<unsigned>(delay_us));
    std::fflush(stdout);
    std::signal(SIGALRM, [](int) { std::raise(SIGKILL); });
    ualarm(delay_us, 0);
}

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    Random random(world_seed("MpiKilled"));
    const Joined joined;
    RandomMessages messages(joined, random);
    arrange_death(random);
    for (;;)
        work(joined, messages);
}
