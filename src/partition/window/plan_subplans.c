#include "partition/window/plan_chain.h"

#include "access/kernel.h"
#include "base/checked.h"
#include "base/list.h"
#include "partition/prove/check.h"
#include "partition/schedule/schedule.h"
#include "partition/window/engine.h"
#include "partition/window/lone.h"

#include <stdlib.h>

/* The subplans of a plan of several launches: what the engine hands on, window after window, as it
 * does for a queue. What comes again from where it came before is counted. */

/** The host memory to know what came before. */
enum { PLANS_BYTES = 512 << 20 };

/** Launches that are being planned. */
typedef struct recorder {
    const pti_chain_request *request;
    pti_plan_chain *of;
    bool is_cut; /* launches know their superblocks, which those that are interleaved do not need */
    int found;   /* the group that was found last */
} recorder;

static polytile_status explain_batch(void *of, const pti_batch *batch, polytile_status status) {
    const recorder *r = of;
    (void)batch;
    return pti_plan_explain(r->request, &r->of->launches, status);
}

/** What comes after a window, by array. */
static const pti_step *const *later_uses(const pti_plan_chain *chain, int window) {
    return chain->later_use + (size_t)window * (size_t)chain->launches.arrays->n_operands;
}

/** Zero elements of all arrays; that number never grows. */
static int64_t count_unwritten(const pti_plan_chain *chain) {
    int64_t sum = 0;
    for (int a = 0; a < chain->launches.arrays->n_operands; a++)
        sum = pti_add_saturated(sum, pti_boxes_count(pti_residency_unwritten(chain->residency, a)));
    return sum;
}

/* Fusion groups. */

/** Return whether the same comes after the newest window as after another. */
static bool ends_alike(const pti_plan_chain *chain, int window) {
    const pti_step *const *one = later_uses(chain, window);
    const pti_step *const *other = later_uses(chain, chain->n_windows - 1);
    bool is_alike = true;
    for (int a = 0; is_alike && a < chain->launches.arrays->n_operands; a++)
        is_alike = one[a] == other[a] ||
                   (one[a] != NULL && other[a] != NULL && pti_plan_is_same_step(one[a], other[a]));
    return is_alike;
}

/** Return whether the group that begins with a step is like one that is known. */
static bool is_group_known(const pti_plan_chain *chain, const pti_plan_fusion_group *known,
                           const pti_step_window *window, int first, int64_t n_unwritten) {
    int n_steps = window->n_steps - first;
    bool is_same = known->end - known->first == n_steps && known->n_unwritten == n_unwritten &&
                   ends_alike(chain, known->window);
    for (int k = 0; is_same && k < n_steps; k++)
        is_same = pti_plan_is_same_step(&chain->step[known->first + k], &chain->step[first + k]);
    return is_same;
}

static polytile_status add_fusion_group(const recorder *r, const pti_step_window *window, int first,
                                        int64_t n_unwritten) {
    pti_plan_chain *chain = r->of;
    if (!PTI_RESIZE(chain->group, chain->n_groups + 1))
        return pti_plan_fail_memory(r->request, r->of);
    pti_plan_fusion_group *added = &chain->group[chain->n_groups++];
    *added = (pti_plan_fusion_group){.first = first,
                                     .end = window->n_steps,
                                     .window = chain->n_windows - 1,
                                     .n_unwritten = n_unwritten};
    polytile_status status = pti_fusion_group_find(window, first, &added->group);
    pti_fusion_group_describe(window, first, &added->group, &added->reason);
    return status == POLYTILE_OK && !added->reason.failed ? status
                                                          : pti_plan_fail_memory(r->request, r->of);
}

static polytile_status find_known_group(void *of, const pti_step_window *window, int first,
                                        pti_fusion_group **group) {
    recorder *r = of;
    polytile_status status = POLYTILE_OK;
    int64_t n_unwritten = count_unwritten(r->of);
    r->found = 0;
    while (r->found < r->of->n_groups &&
           !is_group_known(r->of, &r->of->group[r->found], window, first, n_unwritten))
        r->found++;
    if (r->found == r->of->n_groups)
        PTI_TRY(add_fusion_group(r, window, first, n_unwritten));
    r->of->group[r->found].n_times++;
    *group = &r->of->group[r->found].group;
done:
    return status;
}

/* Subplans. */

/** POLYTILE_CHECK=plan. */
static polytile_status check_subplan(const pti_chain_request *request, const pti_plan_chain *chain,
                                     const pti_schedule *schedule) {
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    if (pti_get_settings(request->ctx)->check_plan && !pti_schedule_check(schedule, &why))
        status =
            why.failed
                ? pti_fail_memory(request->ctx, chain->launches.arrays->kernel_name,
                                  (double)sizeof *schedule)
                : pti_fail(request->ctx, POLYTILE_INTERNAL,
                           "%s: the plan of %d launches failed its own check: %s; please report it",
                           chain->launches.arrays->kernel_name, request->n_launches, why.data);
    pti_text_free(&why);
    return status;
}

static int64_t *find_run_order(const pti_schedule *schedule) {
    int64_t *order, n_run = 0;
    const bool has_memory = PTI_BEGIN(order, schedule->n_superblocks + 1);
    for (int64_t k = 0; has_memory && k < schedule->n_ops; k++)
        if (schedule->op[k].kind == PTI_LAUNCH)
            order[n_run++] = schedule->op[k].superblock;
    return order;
}

/** Let a subplan come once more, after all others. */
static polytile_status add_subplan_run(const pti_chain_request *request, pti_plan_chain *chain,
                                       int subplan) {
    bool is_full = (chain->n_runs & (chain->n_runs - 1)) == 0;
    if (is_full && !PTI_RESIZE(chain->run, 2 * chain->n_runs + 1))
        return pti_plan_explain(request, &chain->launches, POLYTILE_NO_MEMORY);
    chain->run[chain->n_runs++] = subplan;
    chain->subplan[subplan].n_times++;
    return POLYTILE_OK;
}

polytile_status pti_plan_add_subplan(const pti_chain_request *request, pti_plan_chain *chain,
                                     const pti_subplan *subplan) {
    polytile_status status = POLYTILE_NO_MEMORY;
    const bool is_added = PTI_RESIZE(chain->subplan, chain->n_subplans + 1);
    if (!is_added) {
        pti_text tiles = subplan->tiles;
        pti_text_free(&tiles);
        pti_schedule_free(subplan->schedule);
    } else {
        chain->subplan[chain->n_subplans++] = *subplan;
    }
    if (is_added && subplan->schedule != NULL) {
        chain->n_planned += subplan->schedule->n_superblocks;
        chain->n_single += subplan->group < 0 ? subplan->schedule->n_superblocks : 0;
        chain->subplan[chain->n_subplans - 1].run_order = find_run_order(subplan->schedule);
        status = chain->subplan[chain->n_subplans - 1].run_order == NULL || subplan->seconds < 0
                     ? POLYTILE_NO_MEMORY
                     : check_subplan(request, chain, subplan->schedule);
    }
    if (status == POLYTILE_NO_MEMORY)
        return pti_plan_explain(request, &chain->launches, status);
    return status == POLYTILE_OK ? add_subplan_run(request, chain, chain->n_subplans - 1) : status;
}

static const polytile_link *link_of(const recorder *r) {
    const polytile_link *link = r->request->options->link;
    return link == NULL ? &polytile_link_default : link;
}

/** The seconds of a subplan: over resident arrays what comes in, and then the slabs. */
static double predict_seconds(const recorder *r, const pti_batch *batch, pti_traffic traffic) {
    if (batch->built == NULL || batch->group == NULL)
        return pti_schedule_predict(batch->schedule, link_of(r), r->request->options->fill_threads);
    double upload_s = (double)traffic.h2d_bytes / link_of(r)->upload_bytes_per_s;
    return batch->group->shape.seconds + (batch->group->is_resident ? upload_s : 0);
}

/** Add what a batch became; source: the residency's schedule that it began as, NULL: none. */
static polytile_status add_planned(const recorder *r, pti_batch *batch, const pti_schedule *source,
                                   int64_t n_unwritten) {
    bool is_built = batch->built != NULL;
    pti_subplan subplan = {.first = batch->first,
                           .n_launches = batch->n_launches,
                           .group = is_built && batch->group != NULL ? r->found : -1,
                           .n_unwritten = n_unwritten,
                           .schedule = is_built ? batch->built : pti_schedule_copy(batch->schedule),
                           .source = source,
                           .traffic = pti_schedule_traffic(source == NULL ? batch->built : source)};
    subplan.seconds = predict_seconds(r, batch, subplan.traffic);
    batch->built = NULL;
    polytile_status status = subplan.schedule == NULL
                                 ? POLYTILE_OK
                                 : pti_plan_describe_tiles(batch, subplan.schedule, &subplan.tiles);
    if (status == POLYTILE_OK)
        return pti_plan_add_subplan(r->request, r->of, &subplan);
    pti_text_free(&subplan.tiles);
    pti_schedule_free(subplan.schedule);
    return pti_plan_fail_memory(r->request, r->of);
}

static int find_source(const pti_plan_chain *chain, const pti_schedule *source) {
    int k = chain->n_subplans - 1;
    while (k >= 0 && chain->subplan[k].source != source)
        k--;
    return k;
}

/** The subplan of a lone launch with the same steps; -1: there is none. */
static int find_lone_subplan(const pti_plan_chain *chain, const pti_batch *batch) {
    int k = chain->n_subplans - 1;
    for (; k >= 0; k--) {
        const pti_subplan *known = &chain->subplan[k];
        bool is_same =
            known->group < 0 && known->source == NULL && known->n_launches == batch->n_launches;
        for (int s = 0; is_same && s < batch->n_steps; s++)
            is_same = known->first + s < chain->n_steps &&
                      pti_plan_is_same_step(&chain->step[known->first + s], &batch->step[s]);
        if (is_same)
            break;
    }
    return k;
}

/** Record a lone launch, which is planned. */
static polytile_status record_lone(const recorder *r, pti_batch *batch) {
    const int known = find_lone_subplan(r->of, batch);
    return known < 0 ? add_planned(r, batch, NULL, 0) : add_subplan_run(r->request, r->of, known);
}

/** Record steps, planned one after the other from what is resident; they may be interleaved
 * then. */
static polytile_status record_resident(const recorder *r, pti_batch *batch) {
    int64_t n_hits = pti_residency_n_hits(r->of->residency);
    polytile_status status = POLYTILE_OK;
    if (batch->group == NULL)
        PTI_TRY(pti_plan_check_single(r->request, r->of, batch));
    status = pti_batch_plan(batch);
    if (status != POLYTILE_OK)
        return pti_plan_explain(r->request, &r->of->launches, status);
    if (batch->built != NULL)
        return record_lone(r, batch);
    const pti_schedule *source = batch->schedule;
    bool is_hit = pti_residency_n_hits(r->of->residency) > n_hits;
    int known = is_hit ? find_source(r->of, source) : -1;
    if (source->n_ops == 0 || known >= 0)
        return known < 0 ? POLYTILE_OK : add_subplan_run(r->request, r->of, known);
    PTI_TRY(pti_batch_interleave(batch));
    PTI_TRY(add_planned(r, batch, source, 0));
done:
    return status;
}

/** The subplan of the group that was found, from the same state; -1: there is none. */
static int find_built(const recorder *r, int64_t n_unwritten) {
    const pti_subplan *subplan = r->of->subplan;
    int k = r->of->n_subplans - 1;
    while (k >= 0 && (subplan[k].group != r->found || subplan[k].n_unwritten != n_unwritten))
        k--;
    return k;
}

static polytile_status build_batch(const recorder *r, pti_batch *batch, int64_t n_unwritten) {
    polytile_status status;
    PTI_TRY(pti_plan_check_slabs(r->request, r->of, batch));
    if (pti_batch_interleave(batch) != POLYTILE_OK)
        PTI_TRY(pti_plan_fail_memory(r->request, r->of));
    PTI_TRY(add_planned(r, batch, NULL, n_unwritten));
done:
    return status;
}

/** Record a chain that streams. What one that is known brings to the host was noted as written when
 * it came first, and stays so. */
static polytile_status record_streamed(const recorder *r, pti_batch *batch) {
    int64_t n_unwritten = count_unwritten(r->of);
    const int known = find_built(r, n_unwritten);
    batch->schedule = NULL;
    if (known >= 0)
        return add_subplan_run(r->request, r->of, known);
    polytile_status status = build_batch(r, batch, n_unwritten);
    batch->schedule = status == POLYTILE_OK && n_unwritten > 0
                          ? r->of->subplan[r->of->n_subplans - 1].schedule
                          : NULL;
    return status;
}

static polytile_status record_batch(void *of, pti_batch *batch) {
    return pti_batch_streams(batch) ? record_streamed(of, batch) : record_resident(of, batch);
}

/** Return whether a launch is a lone one, whose arrays are in host memory. */
static bool is_lone(const pti_launches *launches, pti_call call, const pti_partition *partition) {
    bool is = pti_launch_is_lone(call, partition);
    for (int o = 0; is && o < call.instance->n_operands; o++)
        is = !launches->is_scratch[call.array[o]];
    return is;
}

/** Let launches be as they were cut from here on: how they hold their arrays, and whether they are
 * lone ones. */
static void take_ways(pti_plan_chain *chain) {
    for (int l = 0; l < chain->launches.n_launches; l++) {
        const pti_launch_kind *kind = &chain->launches.of_kind[chain->launches.kind[l]];
        chain->step[l].call = kind->ways.call[kind->way];
        chain->step[l].is_lone = is_lone(&chain->launches, chain->step[l].call, &kind->partition);
    }
}

static polytile_status cut_kinds(void *of) {
    recorder *r = of;
    polytile_status status = POLYTILE_OK;
    if (r->is_cut)
        return POLYTILE_OK;
    r->is_cut = true;
    PTI_TRY(pti_plan_cut_kinds(r->request, &r->of->launches));
    take_ways(r->of);
done:
    return status;
}

/* Windows. */

/** Note what comes after the next window. */
static polytile_status note_later_uses(const recorder *r, int end) {
    pti_plan_chain *chain = r->of;
    int n_arrays = chain->launches.arrays->n_operands;
    const int64_t n_known = (int64_t)chain->n_windows * n_arrays;
    if (!PTI_RESIZE(chain->later_use, n_known + n_arrays + 1))
        return pti_plan_fail_memory(r->request, r->of);
    chain->n_windows++;
    for (int a = 0; a < n_arrays; a++) {
        int k = end;
        while (k < chain->n_steps && !pti_step_uses(&chain->step[k], a))
            k++;
        chain->later_use[n_known + a] = k < chain->n_steps ? &chain->step[k] : NULL;
    }
    return POLYTILE_OK;
}

/** Record the window of some steps; those before it are counted in texts. */
static polytile_status record_window(recorder *r, int first, int end) {
    pti_consumer consumer = {r, find_known_group, cut_kinds, record_batch, explain_batch};
    polytile_status status;
    PTI_TRY(note_later_uses(r, end));
    pti_step_window window = {.n_steps = end,
                              .step = r->of->step,
                              .asked = r->of->asked,
                              .later_use = later_uses(r->of, r->of->n_windows - 1),
                              .arrays = r->of->launches.arrays,
                              .residency = r->of->residency,
                              .memory_bytes = r->request->options->limit_bytes,
                              .link = r->request->options->link,
                              .n_launches = r->of->launches.n_launches,
                              .may_repeat = true};
    PTI_TRY(pti_engine_run(&window, first, &consumer));
done:
    return status;
}

/** What is known of each launch, those of a kind being alike; NULL when memory runs out. */
static pti_asked *list_asked(const recorder *r) {
    const pti_launches *launches = &r->of->launches;
    pti_asked *asked = calloc((size_t)launches->n_launches + 1, sizeof *asked);
    double *n_bytes = calloc((size_t)launches->n_kinds + 1, sizeof *n_bytes);
    for (int k = 0; n_bytes != NULL && k < launches->n_kinds; k++)
        n_bytes[k] = pti_asked_touched_bytes(launches->of_kind[k].instance);
    for (int l = 0; asked != NULL && n_bytes != NULL && l < launches->n_launches; l++)
        asked[l] = (pti_asked){
            .options = r->request->options,
            .whole = launches->of_kind[launches->kind[l]].ways.call[0],
            .touched_bytes = n_bytes[launches->kind[l]],
            .may_overlap = pti_may_run_concurrently(&r->request->launch[l].kernel->implementation)};
    if (n_bytes == NULL) {
        free(asked);
        return NULL;
    }
    free(n_bytes);
    return asked;
}

polytile_status pti_plan_subplans(const pti_chain_request *request, pti_plan_chain *chain) {
    recorder r = {.request = request, .of = chain};
    polytile_status status = POLYTILE_OK;
    chain->residency = pti_plan_make_residency(&chain->launches, request->options->limit_bytes);
    chain->step = pti_plan_make_steps(&chain->launches, &chain->n_steps);
    chain->asked = list_asked(&r);
    if (chain->residency == NULL || chain->step == NULL || chain->asked == NULL)
        PTI_TRY(pti_plan_fail_memory(r.request, r.of));
    pti_residency_limit_plans(chain->residency, PLANS_BYTES);
    for (int first = 0, end; first < chain->n_steps; first = end) {
        end = (int)pti_min(chain->n_steps, first + PTI_WINDOW_STEPS);
        PTI_TRY(record_window(&r, first, end));
    }
done:
    return status;
}
