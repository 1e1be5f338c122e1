/* A message that goes there and back between two slots of one launch. */
#include "common/fields.h"
#include "common/generate.h"
#include "common/team.h"
#include "pingpong_kernels.h"

#include <string.h>

static const example_spec spec = {
    .name = "pingpong",
    .summary = "Sends a message from one thread of a kernel to another one and back, many times.",
    .default_n = 8,
    .least_n = 1,
    .extras = EXAMPLE_BYTES | EXAMPLE_ROUNDS,
    .files = "files: none; --bytes is the length of the message, as --n is",
};

/* A: what is sent; B: what has come. A row of each is a slot's, with a byte after the message. */
enum { A, B, N_ARRAYS, N_SLOTS = 2 };

static void fill(polytile_array *const *arrays) {
    const int64_t row_bytes = polytile_array_get_domain(arrays[A])->range[1].hi + 1;
    uint8_t *sent = polytile_array_get_data(arrays[A]);
    for (int64_t k = 0; k < N_SLOTS * row_bytes; ++k)
        sent[k] = (uint8_t)small_integer(k, 1, 127);
    memset(polytile_array_get_data(arrays[B]), 0, (size_t)(N_SLOTS * row_bytes));
}

/** Count the bytes that differ from what slot 0 sent, in both slots. */
static double count_different(polytile_array *const *arrays, int64_t n_bytes) {
    const uint8_t *sent = polytile_array_get_data(arrays[A]);
    const uint8_t *got = polytile_array_get_data(arrays[B]);
    int64_t n_different = 0;
    for (int64_t slot = 0; slot < N_SLOTS; ++slot)
        for (int64_t k = 0; k < n_bytes; ++k)
            n_different += got[slot * (n_bytes + 1) + k] != sent[k];
    return (double)n_different;
}

static polytile_status pingpong(session *s, result *r) {
    polytile_array *arrays[N_ARRAYS];
    const int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    const int64_t n_bytes = s->options.bytes >= 0 ? s->options.bytes : n;
    const field_shape shape = {POLYTILE_U8, 2, {N_SLOTS, n_bytes + 1}};
    const polytile_parameter rounds = POLYTILE_PARAMETER("rounds", s->options.rounds);
    TRY(field_create(s, "A", &shape, &arrays[A]));
    TRY(field_create(s, "B", &shape, &arrays[B]));
    s->launch_options.n_parameters = 1;
    s->launch_options.parameters = &rounds;
    r->type = shape.type;
    r->n_dims = 1;
    r->shape[0] = n_bytes;
    TRY(team_run(s,
                 &(team_launch){PINGPONG_DECLARATION, pingpong_implementation(), N_SLOTS, N_ARRAYS,
                                arrays, fill, NULL},
                 r));
    if (r->checked)
        r->max_error = count_different(arrays, n_bytes);
    return POLYTILE_OK;
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, pingpong);
}
