#include "slots.h"

#include "common/bench.h"

void rounds_slots_begin(rounds_slots *s, const rounds_launch *launch, const char *device) {
    const polytile_share_options options = {.layout = launch->layout};
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_mpi_queue_create(s->ctx, MPI_COMM_WORLD, device, &options, &s->queue),
                  s->ctx);
    bench_require(
        polytile_kernel_create(s->ctx, launch->declaration, launch->implementation, &s->kernel),
        s->ctx);
    for (int a = 0; a < launch->n_arrays; a++) {
        const rounds_array *of = &launch->arrays[a];
        bench_require(polytile_mpi_array_create(s->queue, of->name, of->type, of->n_dims,
                                                of->extents, NULL, &s->arrays[a]),
                      s->ctx);
    }
}

void rounds_slots_run(const rounds_slots *s, const rounds_launch *launch, rounds_talk *talk,
                      void *user) {
    const polytile_launch_options options = {.n_parameters = launch->n_parameters,
                                             .parameters = &launch->parameter};
    bench_require(polytile_queue_launch(s->queue, s->kernel,
                                        POLYTILE_EXTENTS(launch->arrays[0].extents[0]),
                                        launch->n_arrays, s->arrays, &options),
                  s->ctx);
    if (talk != NULL)
        talk(s->ctx, s->queue, user);
    bench_require(polytile_queue_wait(s->queue), s->ctx);
}

void rounds_slots_end(rounds_slots *s) {
    polytile_context_destroy(s->ctx);
}
