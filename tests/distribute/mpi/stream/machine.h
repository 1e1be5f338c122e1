#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_STREAM_MACHINE_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_STREAM_MACHINE_H

#include "distribute/mpi/world.h"

#include <string>

/* Machines whose units a, b and c are on as many ranks as there are. */

inline int rank_of_unit(int unit) {
    return unit < world_size() ? unit : world_size() - 1;
}

/** Memories of their own where on_devices says so. */
inline std::string machine_on_ranks(bool on_devices = false) {
    const char *const devices[] = {"host(threads=1)", "host(memory=1MiB,threads=1)",
                                   "host(memory=2MiB,threads=1)"};
    std::string text = "digraph {";
    for (int u = 0; u < 3; u++) {
        const bool is_alone = rank_of_unit(u) != rank_of_unit(0) || u == 0;
        const bool is_second = u == 2 && rank_of_unit(2) == rank_of_unit(1);
        text += std::string(" ") + static_cast<char>('a' + u) + " [device=\"" +
                devices[on_devices || !is_alone || is_second ? u : 0] +
                "\", rank=" + std::to_string(rank_of_unit(u)) + "];";
    }
    return text + " }";
}

#endif
