#include "distribute/show/ranks_plan.h"

#include "access/set/boxes.h"

#include <stdlib.h>

/* The inner plan of one rank: the launches of a superstep over the boxes of its threads, with
 * arrays over what it owns and what it needs. */

/** The plan of one rank while it is made. */
typedef struct inner {
    const polytile_ranks_request *request;
    const polytile_ranks_plan *plan;
    polytile_context *ctx;
    int rank;
    polytile_plan_options options; /* of its device */
    pti_work work;                 /* owned, as all below */
    polytile_array **array;        /* of each of the plan's; the arrays, too */
    polytile_array **operand;      /* of all launches, one after the other */
    polytile_chain_launch *launch; /* as many as there are boxes */
    polytile_array **scratch;
    int n_launches;
    int n_scratch;
} inner;

static void free_inner(inner *of) {
    for (int a = 0; of->array != NULL && a < of->plan->members.n_arrays; a++)
        polytile_array_destroy(of->array[a]);
    pti_work_free(&of->work);
    free(of->array);
    free(of->operand);
    free(of->launch);
    free(of->scratch);
}

/* Return a box around all that a rank has of an array; the whole array where it has nothing of
 * it. */
static polytile_domain find_box(const inner *of, int a) {
    const pti_ownership *ownership = &of->plan->members.ownerships[a];
    int n_dims = ownership->domain.n_dims;
    polytile_domain box = pti_ownership_hull(ownership, of->rank);
    polytile_domain reads = pti_boxes_bounding(&of->work.reads[a], n_dims);
    polytile_domain writes = pti_boxes_bounding(&of->work.writes[a], n_dims);
    box = pti_box_bounding(&box, &reads);
    box = pti_box_bounding(&box, &writes);
    return pti_box_is_empty(&box) ? ownership->domain : box;
}

static polytile_status describe_inner_arrays(inner *of) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < of->plan->members.n_arrays; a++) {
        const pti_operand *operand = &of->plan->launches.arrays->operand[a];
        polytile_domain box = find_box(of, a);
        PTI_TRY(
            polytile_array_describe(of->ctx, operand->name, operand->type, &box, &of->array[a]));
    }
done:
    return status;
}

/* Return whether launches after the superstep read what it leaves in an array. */
static bool is_wanted(const inner *of, int a) {
    const pti_members_plan_request *all = &of->plan->asked_of;
    for (int l = of->work.n_launches; l < all->n_launches; l++) {
        const pti_shared_launch *launch = &all->launch[l];
        bool is_written = false;
        for (int p = 0; p < launch->call.instance->n_operands; p++) {
            if (launch->call.array[p] == a && launch->call.instance->operand[p].reads)
                return true;
            is_written = is_written || launch->call.array[p] == a;
        }
        if (is_written)
            return false;
    }
    return false;
}

static void list_scratch(inner *of) {
    for (int a = 0; a < of->plan->members.n_arrays; a++)
        if (of->plan->launches.is_scratch[a] && !of->plan->launches.arrays->operand[a].is_scratch &&
            !is_wanted(of, a))
            of->scratch[of->n_scratch++] = of->array[a];
}

/* Return a launch over a box of its threads, on what the rank has of the arrays. */
static polytile_chain_launch narrow_launch(const inner *of, int l, const polytile_domain *threads,
                                           polytile_array **arrays) {
    polytile_chain_launch launch = of->request->launches[l];
    launch.domain = *threads;
    launch.arrays = arrays;
    return launch;
}

/* Those that a launch is given; it has its scratch itself. Of what it looks up the elements are
 * needed: all ranks have the program's whole array. */
static int list_given_arrays(const inner *of, const pti_shared_launch *launch,
                             polytile_array **arrays) {
    polytile_array *const *index_array = of->plan->launches.index_array;
    int n_arrays = 0;
    for (int p = 0; p < launch->call.instance->n_operands; p++) {
        const int a = launch->call.array[p];
        if (!launch->call.instance->operand[p].is_scratch)
            arrays[n_arrays++] = index_array[a] != NULL ? index_array[a] : of->array[a];
    }
    return n_arrays;
}

static void list_launches_of_rank(inner *of) {
    polytile_array **operand = of->operand;
    for (int l = 0; l < of->work.n_launches; l++) {
        const int n_arrays = list_given_arrays(of, &of->plan->shared[l], operand);
        for (int b = 0; b < of->work.threads[l].n_boxes; b++)
            if (!pti_box_is_empty(&of->work.threads[l].box[b]))
                of->launch[of->n_launches++] =
                    narrow_launch(of, l, &of->work.threads[l].box[b], operand);
        operand += n_arrays;
    }
}

static polytile_status make_lists(inner *of) {
    size_t n_arrays = (size_t)of->plan->members.n_arrays + 1, n_boxes = 1, n_operands = 1;
    for (int l = 0; l < of->work.n_launches; l++) {
        n_boxes += (size_t)of->work.threads[l].n_boxes;
        n_operands += (size_t)of->plan->shared[l].call.instance->n_operands;
    }
    of->array = calloc(n_arrays, sizeof(polytile_array *));
    of->scratch = calloc(n_arrays, sizeof(polytile_array *));
    of->operand = calloc(n_operands, sizeof(polytile_array *));
    of->launch = calloc(n_boxes, sizeof *of->launch);
    if (of->array == NULL || of->scratch == NULL || of->operand == NULL || of->launch == NULL)
        return pti_fail_memory(of->ctx, "its launches", (double)(n_boxes * sizeof *of->launch));
    return POLYTILE_OK;
}

static polytile_status make_single_plan(const inner *of, polytile_plan **made) {
    const polytile_chain_launch *launch = of->launch;
    polytile_launch_options options = {.n_parameters = launch->n_parameters,
                                       .parameters = launch->parameters};
    options.plan = of->options;
    return polytile_plan_create(launch->kernel, &launch->domain, launch->n_arrays, launch->arrays,
                                &options, made);
}

static polytile_status plan_launches(const inner *of, polytile_plan **made) {
    const polytile_chain_launch *launch = of->launch;
    if (of->n_launches == 0)
        return POLYTILE_OK;
    if (of->n_launches == 1 && of->request->n_launches == 1)
        return make_single_plan(of, made);
    return polytile_plan_create_chain(of->n_launches, launch, of->n_scratch, of->scratch,
                                      &of->options, made);
}

polytile_status pti_ranks_plan_inner(const polytile_ranks_request *request,
                                     const polytile_ranks_plan *plan, int rank,
                                     polytile_plan **made) {
    inner of = {.request = request,
                .plan = plan,
                .ctx = request->launches[0].kernel->object.context,
                .rank = rank};
    if (request->options != NULL)
        of.options = *request->options;
    of.options.limit_bytes = plan->of.limit_bytes[rank % plan->of.n_local];
    if (of.options.n_streams == 0)
        of.options.n_streams = plan->of.n_streams[rank % plan->of.n_local];
    const pti_superstep superstep = pti_members_plan_first_superstep(&plan->members);
    polytile_status status;
    *made = NULL;
    if (!pti_work_create(&superstep, rank, &of.work))
        PTI_TRY(pti_fail_memory(of.ctx, "its threads", sizeof(pti_boxes)));
    PTI_TRY(make_lists(&of));
    PTI_TRY(describe_inner_arrays(&of));
    list_scratch(&of);
    list_launches_of_rank(&of);
    PTI_TRY(plan_launches(&of, made));
done:
    if (status != POLYTILE_OK)
        pti_error_prefix(of.ctx, status, "%s %s: ", pti_ranks_word(plan),
                         pti_words_member(plan, rank).text);
    free_inner(&of);
    return status;
}
