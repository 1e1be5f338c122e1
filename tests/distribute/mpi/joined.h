#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_JOINED_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_JOINED_H

#include "distribute/mpi/world.h"

#include <string>

extern "C" {
#include "distribute/mpi/transport_mpi.h"
}

/** All ranks, joined by a transport, with so many members each. */
class Joined {
  public:
    explicit Joined(int n_local = 1) {
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(pti_transport_mpi_create(ctx, MPI_COMM_WORLD, n_local, &transport), POLYTILE_OK);
    }
    ~Joined() {
        transport->functions->close(transport);
        polytile_context_destroy(ctx);
    }
    Joined(const Joined &) = delete;
    Joined &operator=(const Joined &) = delete;

    const pti_transport_functions &functions() const { return *transport->functions; }
    std::string error() const { return polytile_last_error(ctx); }
    polytile_status fail(polytile_status status, const std::string &text) const {
        return pti_fail(ctx, status, "%s", text.c_str());
    }

    polytile_context *ctx = nullptr;
    pti_transport *transport = nullptr;
};

#endif
