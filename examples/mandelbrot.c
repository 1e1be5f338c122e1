/* An image of which rows take very different times, by slots that ask for the next one. */
#include "common/fields.h"
#include "common/team.h"
#include "mandelbrot_kernels.h"

#include <polytile/message.h>

static const example_spec spec = {
    .name = "mandelbrot",
    .summary =
        "Computes the Mandelbrot set: one thread of a kernel hands out the rows of the image,\n"
        "all others ask it for the next one; on several devices the program hands them out.",
    .default_n = 512,
    .least_n = 1,
    .n_outputs = 1,
    .files = "files: --output the iterations of each point (i32, two dimensions)",
};

enum { ROW, WORK, N_ASK_ARRAYS, IMAGE = N_ASK_ARRAYS, N_ARRAYS };

static void fill(polytile_array *const *arrays) {
    int32_t *work = polytile_array_get_data(arrays[WORK]);
    const int64_t n_slots = polytile_array_get_domain(arrays[WORK])->range[0].hi + 1;
    for (int64_t slot = 0; slot < n_slots; ++slot)
        work[slot] = -1;
}

/** Hand out rows to slots on whatever device and rank, and collect them: the program of rank 0
 * does. */
static polytile_status hand_out_rows(session *s, polytile_array *const *arrays) {
    int32_t *image = polytile_array_get_data(arrays[IMAGE]);
    const int64_t n = polytile_array_get_domain(arrays[IMAGE])->range[0].hi + 1;
    const int64_t n_slots = polytile_array_get_domain(arrays[WORK])->range[0].hi + 1;
    int32_t done, next = 0;
    pt_status who;
    for (int64_t left = n + n_slots; left > 0; --left) {
        TRY(polytile_message_recv(s->queue, &done, 4, PT_ANY, ASK_TAG, &who));
        if (done != NO_ROW)
            TRY(polytile_message_recv(s->queue, &image[done * n], 4 * n, who.source, ROW_TAG,
                                      NULL));
        const int32_t answer = next < n ? next++ : NO_ROW;
        TRY(polytile_message_send(s->queue, &answer, 4, who.source, ANSWER_TAG));
    }
    return POLYTILE_OK;
}

static double count_different(const int32_t *image, int64_t n) {
    int64_t n_different = 0;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            n_different += image[i * n + j] != mandelbrot_point(n, i, j);
    return (double)n_different;
}

static polytile_status mandelbrot(session *s, result *r) {
    polytile_array *arrays[N_ARRAYS];
    const int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    const int64_t n_slots = team_count_slots(s);
    const field_shape image = {POLYTILE_I32, 2, {n, n}};
    TRY(field_create_output(s, 0, "image", &image, &arrays[IMAGE]));
    TRY(field_create(s, "row", &(field_shape){POLYTILE_I32, 2, {n_slots, n}}, &arrays[ROW]));
    TRY(field_create(s, "work", &(field_shape){POLYTILE_I32, 1, {n_slots}}, &arrays[WORK]));
    r->type = image.type;
    r->n_dims = 2;
    r->shape[0] = r->shape[1] = n;
    const team_launch alone = {
        MANDELBROT_DECLARATION, mandelbrot_implementation(), n_slots, N_ARRAYS, arrays, fill, NULL};
    const team_launch several = {MANDELBROT_ASK_DECLARATION,
                                 mandelbrot_ask_implementation(),
                                 n_slots,
                                 N_ASK_ARRAYS,
                                 arrays,
                                 fill,
                                 hand_out_rows};
    TRY(team_run(s, s->queue == NULL ? &alone : &several, r));
    if (r->checked && s->ranks.rank == 0)
        r->max_error = count_different(polytile_array_get_data(arrays[IMAGE]), n);
    return POLYTILE_OK;
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, mandelbrot);
}
