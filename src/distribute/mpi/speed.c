#include "distribute/mpi/speed.h"

#include "base/checked.h"
#include "launch/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIAL_BYTES = 16 << 20, MOST_SUPERBLOCKS = 64, N_TRIALS = 3 };

bool pti_mpi_is_by_speed(const char *layout) {
    return layout != NULL && strcmp(layout, pti_distribution_weighted.name) == 0;
}

static void increment(const polytile_domain *threads, const polytile_view *views, void *user) {
    (void)user;
    unsigned char *element = views[0].origin;
    for (int64_t k = threads->range[0].lo; k <= threads->range[0].hi; k++)
        element[k]++;
}

/** The first trial finds nothing prepared; the best counts. */
static polytile_status time_launches(polytile_queue *member, const polytile_kernel *kernel,
                                     polytile_array *array, double *best_s) {
    polytile_status status = POLYTILE_OK;
    *best_s = INFINITY;
    for (int k = 0; k < N_TRIALS; k++) {
        const double begin_s = pti_now_s();
        PTI_TRY(polytile_queue_attach(member, 1, &array));
        PTI_TRY(polytile_queue_launch(member, kernel, &array->domain, 1, &array, NULL));
        PTI_TRY(polytile_queue_detach(member, 1, &array));
        *best_s = fmin(*best_s, pti_now_s() - begin_s);
    }
done:
    return status;
}

static int64_t trial_bytes(int64_t limit_bytes) {
    if (limit_bytes == 0 || limit_bytes > TRIAL_BYTES)
        return TRIAL_BYTES;
    return pti_min(TRIAL_BYTES, limit_bytes * MOST_SUPERBLOCKS);
}

/** Bytes a second of a kernel on the host that goes through an array once, moves included. */
static polytile_status measure_host(polytile_queue *member, double *speed) {
    static const polytile_implementation implementation = {.host = increment};
    polytile_context *ctx = member->object.context;
    const int64_t n_bytes = trial_bytes(polytile_device_get_limit(member->device));
    polytile_status status = POLYTILE_OK;
    polytile_kernel *kernel = NULL;
    polytile_array *array = NULL;
    double best_s = 0;
    void *bytes = calloc(1, (size_t)n_bytes);
    if (bytes == NULL)
        PTI_TRY(pti_fail_memory(ctx, "measuring a rank's speed", (double)n_bytes));
    PTI_TRY(polytile_kernel_create(ctx, "speed[i]: inout x[i]", &implementation, &kernel));
    PTI_TRY(polytile_array_wrap(ctx, "x", POLYTILE_U8, 1, &n_bytes, bytes, &array));
    PTI_TRY(time_launches(member, kernel, array, &best_s));
    *speed = (double)n_bytes / best_s;
done:
    polytile_array_destroy(array);
    polytile_kernel_destroy(kernel);
    free(bytes);
    return status;
}

/** What other devices do was measured when they were opened. */
static polytile_status measure(polytile_queue *member, double *speed) {
    const char *text = polytile_device_get_text(member->device);
    *speed = polytile_device_get_link(member->device)->kernel_bytes_per_s;
    return strncmp(text, "host", strlen("host")) == 0 ? measure_host(member, speed) : POLYTILE_OK;
}

/** Of this rank, along the first dimension of the grid that is cut. */
static int find_part(const pti_member_grid *grid, int rank, int *n_parts) {
    int coordinate[POLYTILE_MAX_DIMS], dim = 0;
    if (grid == NULL)
        return rank;
    pti_member_grid_locate(grid, rank, coordinate);
    while (dim < grid->n_dims - 1 && grid->extent[dim] == 1)
        dim++;
    *n_parts = grid->extent[dim];
    return coordinate[dim];
}

/** Of each part the least of its ranks' speeds. */
static polytile_status share_speeds(pti_mpi_transport *mpi, int part, double speed, int n_parts,
                                    double *speeds) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    double own[PTI_MAX_WEIGHTS];
    for (int p = 0; p < n_parts; p++)
        own[p] = p == part ? speed : INFINITY;
    PTI_MPI_TRY(ctx,
                MPI_Iallreduce(own, speeds, n_parts, MPI_DOUBLE, MPI_MIN, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

static void set_weights(const double *speeds, int n_parts, pti_distribution *distribution) {
    double fastest = 0;
    for (int p = 0; p < n_parts; p++)
        fastest = fmax(fastest, speeds[p]);
    *distribution = (pti_distribution){
        .kind = &pti_distribution_weighted, .only_dim = -1, .n_weights = n_parts};
    for (int p = 0; p < n_parts; p++)
        distribution->weight[p] = fmax(1, round(16 * speeds[p] / fastest));
}

polytile_status pti_mpi_weigh(pti_transport *transport, polytile_queue *member,
                              const pti_member_grid *grid, pti_distribution *distribution) {
    polytile_status status;
    double speed = 0, speeds[PTI_MAX_WEIGHTS];
    int n_parts = transport->n_members;
    const int part = find_part(grid, transport->first, &n_parts);
    if (n_parts > PTI_MAX_WEIGHTS)
        return pti_fail(transport->ctx, POLYTILE_INVALID,
                        "weighted: %d parts, at most %d can be weighed; give a grid with fewer in "
                        "the first dimension that it cuts",
                        n_parts, PTI_MAX_WEIGHTS);
    PTI_TRY(transport->functions->agree(transport, POLYTILE_OK));
    status = measure(member, &speed);
    PTI_TRY(transport->functions->agree(transport, status));
    PTI_TRY(share_speeds(pti_mpi_of(transport), part, speed, n_parts, speeds));
    set_weights(speeds, n_parts, distribution);
done:
    return status;
}
