#include "stencil_steps.h"

#include "clock.h"
#include "compare.h"
#include "fields.h"
#include "report.h"

#include <limits.h>
#include <string.h>

/** The fields by what they are for. The steps write result and scratch in turn, and the last one
 * writes result. */
typedef enum role {
    INITIAL, /* the user's, or else the result */
    RESULT,
    SCRATCH, /* only on the device */
    N_ROLES
} role;

/** A run's fields, kernels and launches. */
typedef struct steps {
    const stencil *of;
    const stencil_elements *elements;
    field_shape shape;
    bool has_input;
    polytile_array *field[N_ROLES];
    polytile_array *operands[N_ROLES][N_ROLES][2]; /* of a launch from one field to another */
    polytile_kernel *update;
    polytile_kernel *copy;
    polytile_domain whole;
    polytile_domain interior;
    int n_launches;
    polytile_chain_launch *launch;
} steps;

static polytile_status require_an_interior(session *s, const field_shape *shape) {
    for (int d = 0; d < shape->n_dims; ++d)
        if (shape->extent[d] < s->spec->least_n)
            return session_fail(s, POLYTILE_INVALID,
                                "the field is smaller than %lld along a dimension: no element has "
                                "all its neighbours",
                                (long long)s->spec->least_n);
    return POLYTILE_OK;
}

static polytile_status open_fields(session *s, steps *t) {
    int n_dims = t->of->n_dims;
    t->shape = (field_shape){.type = POLYTILE_F32, .n_dims = n_dims};
    for (int d = 0; d < n_dims; ++d)
        t->shape.extent[d] = s->options.n > 0 ? s->options.n : s->spec->default_n;
    TRY(field_open_input(s, 0, "A", n_dims, &t->field[INITIAL]));
    t->has_input = t->field[INITIAL] != NULL;
    if (t->has_input) {
        t->shape = field_get_shape(t->field[INITIAL]);
        TRY(field_require_n(s, t->shape.extent[0]));
    }
    TRY(require_an_interior(s, &t->shape));
    t->elements = t->shape.type == POLYTILE_F64 ? t->of->f64 : t->of->f32;
    t->whole = polytile_domain_from_extents(n_dims, t->shape.extent);
    t->interior = polytile_domain_from_interior(1, n_dims, t->shape.extent);
    TRY(field_create_output(s, 0, "B", &t->shape, &t->field[RESULT]));
    if (!t->has_input)
        t->field[INITIAL] = t->field[RESULT];
    return POLYTILE_OK;
}

static polytile_status create_kernels(session *s, steps *t) {
    TRY(polytile_kernel_create(s->ctx, t->of->update, t->elements->update(), &t->update));
    return polytile_kernel_create(s->ctx, t->of->copy, t->elements->copy(), &t->copy);
}

/** Room for all steps, the border of two fields and a copy of the interior. */
static polytile_status reserve_launches(session *s, steps *t) {
    int64_t most = s->options.steps, n_others = 2 * 2 * t->of->n_dims + 1;
    void *launches;
    if (most > INT_MAX - n_others)
        return session_fail(s, POLYTILE_INVALID, "--steps %lld is too many; at most %lld run",
                            (long long)most, (long long)INT_MAX - n_others);
    TRY(session_allocate(s, "launches", (most + n_others) * (int64_t)sizeof(polytile_chain_launch),
                         false, &launches));
    t->launch = launches;
    return POLYTILE_OK;
}

static void add_launch(steps *t, const polytile_kernel *kernel, const polytile_domain *domain,
                       role from, role to) {
    polytile_array **operands = t->operands[from][to];
    operands[0] = t->field[from];
    operands[1] = t->field[to];
    t->launch[t->n_launches++] = (polytile_chain_launch){
        .kernel = kernel, .domain = *domain, .n_arrays = 2, .arrays = operands};
}

/** Copies of all faces, which no step changes. */
static void add_border(steps *t, role to) {
    for (int d = 0; d < t->of->n_dims; ++d)
        for (int is_last = 0; is_last < 2; ++is_last) {
            polytile_domain face = t->whole;
            int64_t at = is_last ? face.range[d].hi : face.range[d].lo;
            face.range[d] = (polytile_range){at, at, 1};
            add_launch(t, t->copy, &face, INITIAL, to);
        }
}

/** List what a run launches. An odd number of steps from result back to it begins with a copy: no
 * step works in place. */
static void list_launches(steps *t, int64_t n_steps) {
    role from = INITIAL;
    t->n_launches = 0;
    add_border(t, SCRATCH);
    if (t->has_input)
        add_border(t, RESULT);
    if (!t->has_input && n_steps % 2 == 1) {
        add_launch(t, t->copy, &t->interior, INITIAL, SCRATCH);
        from = SCRATCH;
    }
    for (int64_t left = n_steps; left > 0; --left) {
        role to = left % 2 == 1 ? RESULT : SCRATCH;
        add_launch(t, t->update, &t->interior, from, to);
        from = to;
    }
}

static polytile_status plan(session *s, steps *t, result *r) {
    polytile_plan *together;
    TRY(polytile_array_describe(s->ctx, "scratch", t->shape.type, &t->whole, &t->field[SCRATCH]));
    list_launches(t, s->options.steps);
    TRY(polytile_plan_create_chain(t->n_launches, t->launch, 1, &t->field[SCRATCH],
                                   &s->launch_options.plan, &together));
    polytile_plan_get_summary(together, &r->plan);
    return POLYTILE_OK;
}

static polytile_status queue_launches(session *s, const steps *t) {
    polytile_launch_options options = session_launch_options(s);
    for (int k = 0; k < t->n_launches; ++k)
        TRY(polytile_queue_launch(s->queue, t->launch[k].kernel, &t->launch[k].domain, 2,
                                  t->launch[k].arrays, &options));
    return POLYTILE_OK;
}

/** Queue all steps, which are planned together, and wait for the result. The scratch field ends
 * after them before anything is waited for, so that what it holds then never moves. */
static polytile_status run_steps(session *s, steps *t) {
    polytile_array *held[] = {t->field[RESULT], t->field[INITIAL]};
    int n_held = t->has_input ? 2 : 1;
    TRY(polytile_queue_create_array(s->queue, "scratch", t->shape.type, t->shape.n_dims,
                                    t->shape.extent, &t->field[SCRATCH]));
    list_launches(t, s->options.steps);
    TRY(polytile_queue_attach(s->queue, n_held, held));
    polytile_queue_pause(s->queue);
    TRY(queue_launches(s, t));
    polytile_array_destroy(t->field[SCRATCH]);
    polytile_queue_resume(s->queue);
    return polytile_queue_detach(s->queue, n_held, held);
}

/** The largest difference of two elements of type T. */
#define DEFINE_COMPARE(T, suffix)                                                                  \
    static double compare_##suffix(const T *field, const T *expected, int64_t n) {                 \
        double worst = 0.0;                                                                        \
        _Pragma("omp parallel for reduction(max : worst)") for (int64_t x = 0; x < n; ++x) worst = \
            fmax(worst, difference(field[x], expected[x]));                                        \
        return worst;                                                                              \
    }
DEFINE_COMPARE(float, f32)
DEFINE_COMPARE(double, f64)

/** Run all steps with a plain loop, from one field to the other and back; returns the last. */
static void *run_plain(const steps *t, void *from, void *to, int64_t n_steps) {
    for (int64_t step = 0; step < n_steps; ++step) {
        t->elements->step(from, to, t->shape.extent);
        void *written = to;
        to = from;
        from = written;
    }
    return from;
}

/** Run the same steps with a plain loop and compare. */
static polytile_status check(session *s, const steps *t, result *r) {
    int64_t n_elements = 1;
    for (int d = 0; d < t->shape.n_dims; ++d)
        n_elements *= t->shape.extent[d];
    int64_t n_bytes = n_elements * polytile_type_get_bytes(t->shape.type);
    void *first, *second;
    TRY(session_allocate(s, "expected", n_bytes, false, &first));
    TRY(session_allocate(s, "expected before", n_bytes, false, &second));
    if (t->has_input)
        memcpy(first, polytile_array_get_data(t->field[INITIAL]), (size_t)n_bytes);
    else
        t->elements->fill(first, t->shape.extent);
    memcpy(second, first, (size_t)n_bytes);
    const void *expected = run_plain(t, first, second, s->options.steps);
    const void *field = polytile_array_get_data(t->field[RESULT]);
    r->checked = true;
    r->max_error = t->shape.type == POLYTILE_F64 ? compare_f64(field, expected, n_elements)
                                                 : compare_f32(field, expected, n_elements);
    return POLYTILE_OK;
}

static polytile_status run(session *s, steps *t, result *r) {
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition) {
        if (!t->has_input)
            t->elements->fill(polytile_array_get_data(t->field[RESULT]), t->shape.extent);
        TRY(session_agree(s, POLYTILE_OK));
        double start_s = clock_now_s();
        TRY(run_steps(s, t));
        polytile_report report =
            report_of_queue(s, clock_now_s() - start_s, r->plan.lower_bound_bytes);
        report_keep_fastest(r, &report);
    }
    return s->options.check ? check(s, t, r) : POLYTILE_OK;
}

polytile_status stencil_steps(session *s, const stencil *of, result *r) {
    steps t = {.of = of};
    TRY(session_check_block(s, of->n_dims));
    TRY(open_fields(s, &t));
    TRY(create_kernels(s, &t));
    TRY(reserve_launches(s, &t));
    TRY(plan(s, &t, r));
    r->type = t.shape.type;
    r->n_dims = of->n_dims;
    memcpy(r->shape, t.shape.extent, sizeof(r->shape));
    r->n_steps = s->options.steps;
    return s->options.plan_only ? POLYTILE_OK : run(s, &t, r);
}
