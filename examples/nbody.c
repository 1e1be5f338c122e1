/* Bodies that attract each other: each slot has them all, and moves a part of them. */
#include "common/fields.h"
#include "common/generate.h"
#include "common/team.h"
#include "nbody_kernels.h"

#include <math.h>

static const example_spec spec = {
    .name = "nbody",
    .summary =
        "Moves n bodies that attract each other: each thread of a kernel moves a part of them\n"
        "and sends it to all others, step by step.",
    .default_n = 1024,
    .least_n = 1,
    .extras = EXAMPLE_STEPS,
    .files = "files: none",
};

enum { BODY, VELOCITY, N_ARRAYS };

static float initial(int64_t body, int field) {
    const float place = (float)small_integer(body * NBODY_FIELDS + field, 3, 1000) / 1000;
    return field == NBODY_MASS ? fabsf(place) + 0.001f : place;
}

/** Fill what n bodies are at first. */
static void fill_bodies(float *body, float *velocity, int64_t n) {
    for (int64_t k = 0; k < n * NBODY_FIELDS; ++k) {
        body[k] = initial(k / NBODY_FIELDS, (int)(k % NBODY_FIELDS));
        velocity[k] = 0;
    }
}

/** Each slot has all bodies. */
static void fill(polytile_array *const *arrays) {
    const polytile_domain *domain = polytile_array_get_domain(arrays[BODY]);
    const int64_t n = domain->range[1].hi + 1;
    float *body = polytile_array_get_data(arrays[BODY]);
    float *velocity = polytile_array_get_data(arrays[VELOCITY]);
    for (int64_t slot = 0; slot <= domain->range[0].hi; ++slot)
        fill_bodies(body + slot * n * NBODY_FIELDS, velocity + slot * n * NBODY_FIELDS, n);
}

/** One step of all bodies, in index order. */
static void step(float *body, float *velocity, int64_t n) {
    for (int64_t k = 0; k < n; ++k)
        nbody_accelerate(velocity + k * NBODY_FIELDS, body + k * NBODY_FIELDS, body, n);
    for (int64_t k = 0; k < n; ++k)
        for (int d = NBODY_X; d <= NBODY_Z; ++d)
            body[k * NBODY_FIELDS + d] += NBODY_STEP * velocity[k * NBODY_FIELDS + d];
}

/** The largest difference of any slot's bodies, relative to what is right. */
static double largest_error(const float *got, const float *expected, int64_t n, int64_t n_slots) {
    double largest = 0;
    for (int64_t k = 0; k < n_slots * n * NBODY_FIELDS; ++k) {
        const double right = expected[k % (n * NBODY_FIELDS)];
        largest = fmax(largest, fabs(got[k] - right) / fmax(fabs(right), 1e-3));
    }
    return largest;
}

static polytile_status check(session *s, polytile_array *const *arrays, int64_t n_slots,
                             result *r) {
    const int64_t n = r->shape[0], n_bytes = n * NBODY_FIELDS * (int64_t)sizeof(float);
    void *body, *velocity;
    TRY(session_allocate(s, "body", n_bytes, false, &body));
    TRY(session_allocate(s, "velocity", n_bytes, false, &velocity));
    fill_bodies(body, velocity, n);
    for (int64_t k = 0; k < s->options.steps; ++k)
        step(body, velocity, n);
    r->max_error = largest_error(polytile_array_get_data(arrays[BODY]), body, n, n_slots);
    r->tolerance = 1e-5;
    return POLYTILE_OK;
}

static polytile_status nbody(session *s, result *r) {
    polytile_array *arrays[N_ARRAYS];
    const int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    const int64_t n_slots = team_count_slots(s);
    const field_shape shape = {POLYTILE_F32, 3, {n_slots, n, NBODY_FIELDS}};
    const polytile_parameter steps = POLYTILE_PARAMETER("steps", s->options.steps);
    TRY(field_create(s, "body", &shape, &arrays[BODY]));
    TRY(field_create(s, "velocity", &shape, &arrays[VELOCITY]));
    s->launch_options.n_parameters = 1;
    s->launch_options.parameters = &steps;
    r->type = shape.type;
    r->n_dims = 1;
    r->shape[0] = n;
    r->n_steps = s->options.steps;
    TRY(team_run(s,
                 &(team_launch){NBODY_DECLARATION, nbody_implementation(), n_slots, N_ARRAYS,
                                arrays, fill, NULL},
                 r));
    return r->checked ? check(s, arrays, n_slots, r) : POLYTILE_OK;
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, nbody);
}
