/* Crauser's algorithm, launched from a loop: relax, minimum and update until nothing changes.
 *
 * Source  Ortega-Arranz et al., "TuCCompi: a multi-layer model for distributed heterogeneous
 *         computing with tuning capabilities", 2015, algorithm 1. */
#include "apsp.h"

#include "apsp_kernels.h"
#include "common/clock.h"
#include "common/report.h"

#include <string.h>

/** The arrays beside those of the graph. Those in front of LIMIT are on the device alone. */
typedef enum own_array { REACHED, NEXT, UNSETTLED, FRONTIER, LIMIT, N_OWN } own_array;

typedef enum kind { BEGIN, RELAX, MINIMUM, UPDATE, STORE, N_KINDS } kind;

enum { MOST_ARRAYS = 6 };

/** A kind of launch. */
typedef struct step {
    polytile_kernel *kernel;
    int n_arrays;
    polytile_array *array[MOST_ARRAYS];
    bool takes_source;
} step;

typedef struct crauser {
    session *s;
    const apsp_problem *of;
    polytile_domain vertices;
    polytile_array *own[N_OWN];
    int32_t limit; /* the memory of LIMIT */
    step step[N_KINDS];
    int64_t n_rounds;
} crauser;

static const struct {
    const char *declaration;
    const polytile_implementation *(*body)(void);
    bool takes_source;
} kernels[N_KINDS] = {
    [BEGIN] = {APSP_BEGIN_DECLARATION, apsp_begin_implementation, true},
    [RELAX] = {APSP_RELAX_DECLARATION, apsp_relax_implementation, false},
    [MINIMUM] = {APSP_MINIMUM_DECLARATION, apsp_minimum_implementation, false},
    [UPDATE] = {APSP_UPDATE_DECLARATION, apsp_update_implementation, false},
    [STORE] = {APSP_STORE_DECLARATION, apsp_store_implementation, true},
};

static const struct {
    const char *name;
    polytile_type type;
} own_arrays[] = {[REACHED] = {"d", POLYTILE_I32},
                  [NEXT] = {"next", POLYTILE_I32},
                  [UNSETTLED] = {"unsettled", POLYTILE_U8},
                  [FRONTIER] = {"frontier", POLYTILE_U8}};

static polytile_status create_own(crauser *c, own_array a) {
    const int64_t n_vertices = c->of->graph.n_vertices;
    if (a == LIMIT)
        return polytile_array_wrap(c->s->ctx, "limit", POLYTILE_I32, 1, (const int64_t[]){1},
                                   &c->limit, &c->own[a]);
    if (c->s->options.plan_only)
        return polytile_array_describe(c->s->ctx, own_arrays[a].name, own_arrays[a].type,
                                       &c->vertices, &c->own[a]);
    return polytile_queue_create_array(c->s->queue, own_arrays[a].name, own_arrays[a].type, 1,
                                       &n_vertices, &c->own[a]);
}

static void list_arrays(crauser *c) {
    const graph *g = &c->of->graph;
    polytile_array *const *own = c->own;
    polytile_array *const lists[N_KINDS][MOST_ARRAYS] = {
        [BEGIN] = {own[REACHED], own[NEXT], own[UNSETTLED], own[FRONTIER]},
        [RELAX] = {g->first, g->target, g->weight, own[REACHED], own[FRONTIER], own[NEXT]},
        [MINIMUM] = {own[NEXT], own[UNSETTLED], g->least, own[LIMIT]},
        [UPDATE] = {own[NEXT], own[LIMIT], own[UNSETTLED], own[FRONTIER], own[REACHED]},
        [STORE] = {own[NEXT], c->of->distances},
    };
    for (int k = 0; k < N_KINDS; ++k)
        memcpy(c->step[k].array, lists[k], sizeof lists[k]);
}

static polytile_status prepare(session *s, const apsp_problem *of, crauser *c) {
    *c = (crauser){.s = s, .of = of};
    c->vertices = polytile_domain_from_extents(1, &of->graph.n_vertices);
    for (own_array a = 0; a < N_OWN; ++a)
        TRY(create_own(c, a));
    list_arrays(c);
    for (int k = 0; k < N_KINDS; ++k) {
        step *made = &c->step[k];
        TRY(polytile_kernel_create(s->ctx, kernels[k].declaration, kernels[k].body(),
                                   &made->kernel));
        made->n_arrays = polytile_kernel_get_n_arrays(made->kernel);
        made->takes_source = kernels[k].takes_source;
    }
    return POLYTILE_OK;
}

/** Plan one round of one source: how many it takes is known only when it has run. */
static polytile_status plan_round(crauser *c, result *r) {
    const polytile_parameter first = {.name = "s", .value = 0};
    polytile_chain_launch launches[N_KINDS];
    polytile_plan *plan;
    for (int k = 0; k < N_KINDS; ++k)
        launches[k] = (polytile_chain_launch){.kernel = c->step[k].kernel,
                                              .domain = c->vertices,
                                              .n_arrays = c->step[k].n_arrays,
                                              .arrays = c->step[k].array,
                                              .n_parameters = c->step[k].takes_source,
                                              .parameters = &first};
    TRY(polytile_plan_create_chain(N_KINDS, launches, LIMIT, c->own, &c->s->launch_options.plan,
                                   &plan));
    polytile_plan_get_summary(plan, &r->plan);
    return POLYTILE_OK;
}

static polytile_status launch(const crauser *c, kind which, int64_t source) {
    const step *of = &c->step[which];
    const polytile_parameter s = {.name = "s", .value = source};
    polytile_launch_options options = session_launch_options(c->s);
    options.n_parameters = of->takes_source;
    options.parameters = &s;
    return polytile_queue_launch(c->s->queue, of->kernel, &c->vertices, of->n_arrays, of->array,
                                 &options);
}

/** Bring the limit of a round to the host, and give it back to the device. */
static polytile_status read_limit(crauser *c) {
    TRY(polytile_queue_detach(c->s->queue, 1, &c->own[LIMIT]));
    return polytile_queue_attach(c->s->queue, 1, &c->own[LIMIT]);
}

/** Without a limit nothing that is reached has an arc to more. */
static polytile_status find_paths(crauser *c, int64_t source) {
    TRY(launch(c, BEGIN, source));
    do {
        TRY(launch(c, RELAX, source));
        TRY(launch(c, MINIMUM, source));
        TRY(read_limit(c));
        TRY(launch(c, UPDATE, source));
        c->n_rounds++;
    } while (c->limit != APSP_UNREACHED);
    return launch(c, STORE, source);
}

static polytile_status find_all(crauser *c) {
    c->n_rounds = 0;
    for (int64_t source = 0; source < c->of->n_sources; ++source)
        TRY(find_paths(c, source));
    return POLYTILE_OK;
}

/** Arrays are detached whatever becomes of the launches: ranks meet there. */
static polytile_status run_all(crauser *c) {
    const graph *g = &c->of->graph;
    polytile_array *const held[] = {g->first, g->target,        g->weight,
                                    g->least, c->of->distances, c->own[LIMIT]};
    const int n_held = sizeof held / sizeof *held;
    TRY(polytile_queue_attach(c->s->queue, n_held, held));
    const polytile_status status = find_all(c);
    if (status != POLYTILE_OK)
        session_fail(c->s, status, "%s", polytile_last_error(c->s->ctx));
    const polytile_status detached = polytile_queue_detach(c->s->queue, n_held, held);
    return status != POLYTILE_OK ? status : detached;
}

polytile_status apsp_crauser(session *s, const apsp_problem *of, result *r) {
    crauser c;
    TRY(prepare(s, of, &c));
    TRY(plan_round(&c, r));
    for (int64_t k = 0; !s->options.plan_only && k < s->options.repeat; ++k) {
        TRY(session_agree(s, POLYTILE_OK));
        const double start_s = clock_now_s();
        TRY(run_all(&c));
        const polytile_report report =
            report_of_queue(s, clock_now_s() - start_s, r->plan.lower_bound_bytes);
        report_keep_fastest(r, &report);
    }
    if (!s->options.plan_only)
        r->counts[3] = (result_count){"rounds", c.n_rounds};
    return POLYTILE_OK;
}
