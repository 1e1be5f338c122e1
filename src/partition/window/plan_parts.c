#include "partition/window/plan_chain.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/bound/bound.h"
#include "partition/prove/check.h"
#include "partition/schedule/schedule_copy.h"

#include <stdlib.h>

/* The parts of a plan of several launches, found as a queue finds them: window after window,
 * portion after portion, each from what is resident after those before. */

/** The host memory to know what came before. */
enum { PLANS_BYTES = 512 << 20 };

/** Launches that are being planned. */
typedef struct maker {
    const pti_chain_request *request;
    pti_plan_chain *of;
    bool is_cut; /* launches know their superblocks, which those that take turns do not need */
    int end;     /* of the window at hand */
} maker;

static polytile_status fail_memory(const maker *m) {
    return pti_plan_explain(m->request, &m->of->launches, POLYTILE_NO_MEMORY);
}

/** What comes behind a window, by array. */
static const pti_step *const *behind(const pti_plan_chain *of, int window) {
    return of->behind + (size_t)window * (size_t)of->launches.arrays->n_operands;
}

static pti_portion_request portion_request(const maker *m) {
    return (pti_portion_request){.n_steps = m->end,
                                 .step = m->of->step,
                                 .asked = m->of->asked,
                                 .behind = behind(m->of, m->of->n_windows - 1),
                                 .arrays = m->of->launches.arrays,
                                 .residency = m->of->residency,
                                 .memory_bytes = m->request->options->limit_bytes,
                                 .link = m->request->options->link,
                                 .n_launches = m->of->launches.n_launches};
}

/** Zero elements of all arrays; that number never grows. */
static int64_t count_unwritten(const maker *m) {
    int64_t sum = 0;
    for (int a = 0; a < m->of->launches.arrays->n_operands; a++)
        sum = pti_bound_sum(sum, pti_boxes_count(pti_residency_unwritten(m->of->residency, a)));
    return sum;
}

/* Portions. */

static bool is_same_step(const pti_step *one, const pti_step *other) {
    return one->kind == other->kind &&
           (one->kind == PTI_STEP_LAUNCH ? one->serial == other->serial
                                         : one->position == other->position);
}

/** Whether the same comes behind the window at hand as behind another. */
static bool ends_alike(const maker *m, int window) {
    const pti_step *const *one = behind(m->of, window);
    const pti_step *const *other = behind(m->of, m->of->n_windows - 1);
    bool is_alike = true;
    for (int a = 0; is_alike && a < m->of->launches.arrays->n_operands; a++)
        is_alike = one[a] == other[a] ||
                   (one[a] != NULL && other[a] != NULL && is_same_step(one[a], other[a]));
    return is_alike;
}

/** Whether a portion that begins at a step is like one that is known. */
static bool is_known(const maker *m, const pti_plan_portion *known, int at, int64_t n_unwritten) {
    bool is_same = known->end - known->first == m->end - at && known->n_unwritten == n_unwritten &&
                   ends_alike(m, known->window);
    for (int k = 0; is_same && k < m->end - at; k++)
        is_same = is_same_step(&m->of->step[known->first + k], &m->of->step[at + k]);
    return is_same;
}

static polytile_status add_portion(const maker *m, int at, int64_t n_unwritten) {
    pti_plan_chain *of = m->of;
    pti_portion_request request = portion_request(m);
    pti_plan_portion *grown =
        realloc(of->portion, ((size_t)of->n_portions + 1) * sizeof *of->portion);
    if (grown == NULL)
        return fail_memory(m);
    of->portion = grown;
    pti_plan_portion *added = &of->portion[of->n_portions++];
    *added = (pti_plan_portion){
        .first = at, .end = m->end, .window = m->of->n_windows - 1, .n_unwritten = n_unwritten};
    polytile_status status = pti_portion_find(&request, at, &added->portion);
    pti_portion_tell(&request, at, &added->portion, &added->told);
    return status == POLYTILE_OK && !added->told.failed ? status : fail_memory(m);
}

/** Find the portion that begins with a step; *found is which it is. */
static polytile_status find_portion(const maker *m, int at, int *found) {
    polytile_status status = POLYTILE_OK;
    int64_t n_unwritten = count_unwritten(m);
    *found = 0;
    while (*found < m->of->n_portions && !is_known(m, &m->of->portion[*found], at, n_unwritten))
        ++*found;
    if (*found == m->of->n_portions)
        PTI_TRY(add_portion(m, at, n_unwritten));
    m->of->portion[*found].n_times++;
done:
    return status;
}

/* Parts. */

/** POLYTILE_CHECK=plan. */
static polytile_status check(const pti_chain_request *request, const pti_plan_chain *of,
                             const pti_schedule *schedule) {
    pti_text why = {0};
    polytile_status status = POLYTILE_OK;
    if (pti_get_settings(request->ctx)->check_plan && !pti_schedule_check(schedule, &why))
        status =
            why.failed
                ? pti_fail_memory(request->ctx, of->launches.arrays->kernel_name,
                                  (double)sizeof *schedule)
                : pti_fail(request->ctx, POLYTILE_INTERNAL,
                           "%s: the plan of %d launches failed its own check: %s; please report it",
                           of->launches.arrays->kernel_name, request->n_launches, why.data);
    pti_text_free(&why);
    return status;
}

static int64_t *find_run_order(const pti_schedule *schedule) {
    int64_t *order = calloc((size_t)schedule->n_superblocks + 1, sizeof *order), n_run = 0;
    for (int64_t k = 0; order != NULL && k < schedule->n_ops; k++)
        if (schedule->op[k].kind == PTI_LAUNCH)
            order[n_run++] = schedule->op[k].superblock;
    return order;
}

/** Let a part come once more, behind all others. */
static polytile_status add_run(const pti_chain_request *request, pti_plan_chain *of, int part) {
    bool is_full = (of->n_runs & (of->n_runs - 1)) == 0;
    int *grown = is_full ? realloc(of->run, (size_t)(2 * of->n_runs + 1) * sizeof *grown) : of->run;
    if (grown == NULL)
        return pti_plan_explain(request, &of->launches, POLYTILE_NO_MEMORY);
    of->run = grown;
    of->run[of->n_runs++] = part;
    of->part[part].n_times++;
    return POLYTILE_OK;
}

polytile_status pti_plan_add_part(const pti_chain_request *request, pti_plan_chain *of,
                                  const pti_plan_part *part) {
    pti_plan_part *grown = realloc(of->part, ((size_t)of->n_parts + 1) * sizeof *grown);
    polytile_status status = POLYTILE_NO_MEMORY;
    of->part = grown == NULL ? of->part : grown;
    if (grown == NULL)
        pti_schedule_free(part->schedule);
    else
        of->part[of->n_parts++] = *part;
    if (grown != NULL && part->schedule != NULL) {
        of->n_planned += part->schedule->n_superblocks;
        of->n_single += part->portion < 0 ? part->schedule->n_superblocks : 0;
        of->part[of->n_parts - 1].run_order = find_run_order(part->schedule);
        status = of->part[of->n_parts - 1].run_order == NULL || part->seconds < 0
                     ? POLYTILE_NO_MEMORY
                     : check(request, of, part->schedule);
    }
    if (status == POLYTILE_NO_MEMORY)
        return pti_plan_explain(request, &of->launches, status);
    return status == POLYTILE_OK ? add_run(request, of, of->n_parts - 1) : status;
}

static const polytile_link *link_of(const maker *m) {
    const polytile_link *link = m->request->options->link;
    return link == NULL ? &polytile_link_default : link;
}

static int find_source(const maker *m, const pti_schedule *source) {
    int k = m->of->n_parts - 1;
    while (k >= 0 && m->of->part[k].source != source)
        k--;
    return k;
}

/** The seconds of launches over resident arrays: what comes in, and then the slabs. */
static double resident_seconds(const maker *m, const pti_portion *portion, pti_traffic traffic) {
    return portion->shape.seconds + (double)traffic.h2d_bytes / link_of(m)->upload_bytes_per_s;
}

/** Add a copy of the residency's schedule, or what it becomes where its launches take turns. */
static polytile_status add_planned(const maker *m, int first, int end, int found,
                                   const pti_schedule *source) {
    const pti_portion *portion = found < 0 ? NULL : &m->of->portion[found].portion;
    pti_schedule *slabs = found < 0 ? NULL : pti_portion_build_resident(portion, source);
    pti_plan_part part = {.first = first,
                          .n_launches = pti_plan_count_launches(m->of, first, end),
                          .portion = slabs == NULL ? -1 : found,
                          .schedule = slabs == NULL ? pti_schedule_copy(source) : slabs,
                          .source = source,
                          .traffic = pti_schedule_traffic(source)};
    part.seconds = slabs == NULL ? pti_schedule_predict(source, link_of(m))
                                 : resident_seconds(m, portion, part.traffic);
    return pti_plan_add_part(m->request, m->of, &part);
}

/** Plan steps, one after the other, from what is resident; found: the portion whose launches they
 * are, if they take turns, else -1. */
static polytile_status plan_steps(const maker *m, int n_steps, const pti_step *step, int first,
                                  int end, int found) {
    const pti_schedule *source;
    pti_residency *residency = m->of->residency;
    int64_t n_hits = pti_residency_n_hits(residency);
    polytile_status status =
        pti_residency_plan(residency, n_steps, step, m->request->options->link, &source);
    if (status != POLYTILE_OK)
        return pti_plan_explain(m->request, &m->of->launches, status);
    if (source->n_ops == 0)
        return POLYTILE_OK;
    int known = pti_residency_n_hits(residency) > n_hits ? find_source(m, source) : -1;
    return known >= 0 ? add_run(m->request, m->of, known)
                      : add_planned(m, first, end, found, source);
}

static polytile_status plan_single(maker *m, int first, int end) {
    polytile_status status = POLYTILE_OK;
    if (first < end && !m->is_cut)
        PTI_TRY(pti_plan_cut_kinds(m->request, &m->of->launches));
    m->is_cut |= first < end;
    for (int next = first; first < end; first = next) {
        next = pti_portion_end_of_plan(m->of->step, first, end);
        PTI_TRY(pti_plan_check_single(m->request, m->of, first, next));
        PTI_TRY(plan_steps(m, next - first, m->of->step + first, first, next, -1));
    }
done:
    return status;
}

/** Bring everything home. */
static polytile_status flush(const maker *m, int at) {
    int n_arrays = m->of->launches.arrays->n_operands;
    pti_step *step = calloc((size_t)n_arrays + 1, sizeof *step);
    for (int a = 0; step != NULL && a < n_arrays; a++)
        step[a] = (pti_step){.kind = PTI_STEP_FLUSH, .position = a};
    polytile_status status =
        step == NULL ? fail_memory(m) : plan_steps(m, n_arrays, step, at, at, -1);
    free(step);
    return status;
}

/** The part of a portion that was built from the same state; -1: there is none. */
static int find_built(const maker *m, int found, int64_t n_unwritten) {
    int k = m->of->n_parts - 1;
    while (k >= 0 && (m->of->part[k].portion != found || m->of->part[k].n_unwritten != n_unwritten))
        k--;
    return k;
}

static polytile_status build(const maker *m, int at, int found, int64_t n_unwritten) {
    pti_portion *portion = &m->of->portion[found].portion;
    pti_portion_request request = portion_request(m);
    polytile_status status = pti_plan_check_slabs(m->request, m->of, at, portion);
    if (status != POLYTILE_OK)
        return status;
    pti_schedule *schedule = pti_portion_build(&request, portion);
    if (schedule == NULL)
        return fail_memory(m);
    pti_plan_part part = {.first = at,
                          .n_launches = portion->n_launches,
                          .portion = found,
                          .n_unwritten = n_unwritten,
                          .schedule = schedule,
                          .traffic = pti_schedule_traffic(schedule),
                          .seconds = portion->shape.seconds};
    return pti_plan_add_part(m->request, m->of, &part);
}

/** Plan launches that take turns; nothing is resident before or after them. */
static polytile_status plan_fused(const maker *m, int at, int found) {
    polytile_status status;
    PTI_TRY(flush(m, at));
    int64_t n_unwritten = count_unwritten(m);
    int known = find_built(m, found, n_unwritten);
    PTI_TRY(known >= 0 ? add_run(m->request, m->of, known) : build(m, at, found, n_unwritten));
    const pti_plan_part *part = &m->of->part[known >= 0 ? known : m->of->n_parts - 1];
    if (n_unwritten > 0 && !pti_portion_note_written(m->of->residency, part->schedule))
        PTI_TRY(fail_memory(m));
done:
    return status;
}

/** Plan the steps before one that are not planned yet, and the portion that begins with it. */
static polytile_status advance(maker *m, int *first, int *at) {
    int found;
    polytile_status status = POLYTILE_OK;
    if (m->of->step[*at].kind != PTI_STEP_LAUNCH) {
        ++*at;
        return status;
    }
    PTI_TRY(find_portion(m, *at, &found));
    int n_launches = m->of->portion[found].portion.n_launches;
    if (n_launches > 0) {
        const pti_step *step = m->of->step + *at;
        bool is_resident = m->of->portion[found].portion.is_resident;
        PTI_TRY(plan_single(m, *first, *at));
        if (is_resident && !m->is_cut)
            PTI_TRY(pti_plan_cut_kinds(m->request, &m->of->launches));
        m->is_cut |= is_resident;
        PTI_TRY(is_resident ? plan_steps(m, n_launches, step, *at, *at + n_launches, found)
                            : plan_fused(m, *at, found));
        *first = *at + n_launches;
    }
    *at += n_launches > 0 ? n_launches : m->of->portion[found].portion.n_single;
done:
    return status;
}

/** Note what comes behind the window at hand, which is the next. */
static polytile_status begin_window(maker *m) {
    pti_plan_chain *of = m->of;
    int n_arrays = of->launches.arrays->n_operands;
    size_t n_known = (size_t)of->n_windows * (size_t)n_arrays;
    const pti_step **grown = realloc(of->behind, (n_known + (size_t)n_arrays + 1) * sizeof *grown);
    if (grown == NULL)
        return fail_memory(m);
    of->behind = grown;
    of->n_windows++;
    for (int a = 0; a < n_arrays; a++) {
        int k = m->end;
        while (k < of->n_steps && !pti_step_uses(&of->step[k], a))
            k++;
        grown[n_known + (size_t)a] = k < of->n_steps ? &of->step[k] : NULL;
    }
    return POLYTILE_OK;
}

static polytile_status plan_window(maker *m, int begin) {
    polytile_status status = POLYTILE_OK;
    int first = begin, at = begin;
    PTI_TRY(begin_window(m));
    while (at < m->end)
        PTI_TRY(advance(m, &first, &at));
    PTI_TRY(plan_single(m, first, m->end));
done:
    return status;
}

static double touched_bytes(const pti_instance *instance) {
    double n_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++) {
        polytile_domain hull;
        pti_footprint_find_hull(instance, o, PTI_TOUCHES, &instance->threads, &hull);
        n_bytes += (double)pti_box_count(&hull) * (double)instance->operand[o].element_bytes *
                   pti_operand_passes(&instance->operand[o]);
    }
    return n_bytes;
}

/** What is known of each launch, those of a kind being alike; NULL when memory runs out. */
static pti_asked *list_asked(const maker *m) {
    const pti_launches *launches = &m->of->launches;
    pti_asked *asked = calloc((size_t)launches->n_launches + 1, sizeof *asked);
    double *n_bytes = calloc((size_t)launches->n_kinds + 1, sizeof *n_bytes);
    for (int k = 0; n_bytes != NULL && k < launches->n_kinds; k++)
        n_bytes[k] = touched_bytes(launches->of_kind[k].instance);
    for (int l = 0; asked != NULL && n_bytes != NULL && l < launches->n_launches; l++)
        asked[l] = (pti_asked){.options = m->request->options,
                               .touched_bytes = n_bytes[launches->kind[l]]};
    if (n_bytes == NULL) {
        free(asked);
        return NULL;
    }
    free(n_bytes);
    return asked;
}

polytile_status pti_plan_parts(const pti_chain_request *request, pti_plan_chain *of) {
    maker m = {.request = request, .of = of};
    polytile_status status = POLYTILE_OK;
    of->residency = pti_plan_make_residency(&of->launches, request->options->limit_bytes);
    of->step = pti_plan_make_steps(&of->launches, &of->n_steps);
    of->asked = list_asked(&m);
    if (of->residency == NULL || of->step == NULL || of->asked == NULL)
        PTI_TRY(fail_memory(&m));
    pti_residency_limit_plans(of->residency, PLANS_BYTES);
    for (int begin = 0; begin < of->n_steps; begin = m.end) {
        m.end = (int)pti_min(of->n_steps, begin + PTI_WINDOW_STEPS);
        PTI_TRY(plan_window(&m, begin));
    }
done:
    return status;
}
