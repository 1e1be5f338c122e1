#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_SLOTS_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_SLOTS_H

#include "distribute/mpi/world.h"
#include "message/team_launch.h"

#include <polytile/mpi.h>

#include <cstring>

/* Queues over all ranks, for slots that send messages. */

inline polytile_status open_on_ranks(polytile_context *ctx, const char *devices, const char *layout,
                                     polytile_queue **queue) {
    const auto n_devices = 1 + std::count(devices, devices + strlen(devices), ',');
    const std::string rows = std::to_string(world_size() * n_devices) + "x1";
    polytile_share_options share = {};
    share.layout = layout;
    /* Columns in turn would be many boxes. */
    if (layout != nullptr && std::string(layout).rfind("cyclic", 0) == 0)
        share.grid = rows.c_str();
    return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, devices, &share, queue);
}

inline QueueOpener on_ranks(const char *devices = "host") {
    return [devices](polytile_context *ctx, const polytile_share_options *share,
                     polytile_queue **queue) {
        return open_on_ranks(ctx, devices, share->layout, queue);
    };
}

#endif
