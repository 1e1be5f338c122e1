#include "distribute/exchange/work.h"

#include "access/set/boxes.h"

#include <stdlib.h>

/** Boxes of what is read of an array. More are merged, or become one: reading elements that nobody
 * needs is never wrong. */
enum { MOST_BOXES = 64 };

/* A section with more boxes than that is taken as larger boxes. */
enum { MOST_SECTION_BOXES = 16 };

bool pti_threads_gather(const pti_instance *instance, int operand, pti_touch touch,
                        const pti_boxes *threads, pti_boxes *touched) {
    pti_boxes part = {0};
    bool exact = !threads->failed;
    for (int b = 0; b < threads->n_boxes; b++) {
        exact = pti_footprint_boxes(instance, operand, touch, &threads->box[b], MOST_SECTION_BOXES,
                                    &part) &&
                exact;
        pti_boxes_unite(touched, &part, pti_boxes_gather);
    }
    touched->failed = touched->failed || threads->failed;
    pti_boxes_free(&part);
    return exact && !touched->failed;
}

void pti_work_free(pti_work *work) {
    free(work->home);
    pti_boxes_free_list(work->threads, work->n_launches);
    pti_boxes_free_list(work->reads, work->n_arrays);
    pti_boxes_free_list(work->writes, work->n_arrays);
    *work = (pti_work){0};
}

static bool allocate_work(const pti_superstep *superstep, pti_work *work) {
    size_t n_launches = (size_t)superstep->n_launches + 1,
           n_arrays = (size_t)superstep->n_arrays + 1;
    *work = (pti_work){.n_launches = superstep->n_launches, .n_arrays = superstep->n_arrays};
    work->home = calloc(n_launches, sizeof *work->home);
    work->threads = calloc(n_launches, sizeof *work->threads);
    work->reads = calloc(n_arrays, sizeof *work->reads);
    work->writes = calloc(n_arrays, sizeof *work->writes);
    return work->home != NULL && work->threads != NULL && work->reads != NULL &&
           work->writes != NULL;
}

/* Return the threads that write what a member owns and what later launches read there. */
static polytile_domain writers_of_needed(const pti_superstep *superstep, int l, int member,
                                         const pti_boxes *reads) {
    const pti_shared_launch *launch = &superstep->launch[l];
    polytile_domain threads = pti_box_empty(launch->call.instance->n_indices);
    for (int p = 0; p < launch->call.instance->n_operands; p++) {
        if (!launch->call.instance->operand[p].writes)
            continue;
        int array = launch->call.array[p];
        polytile_domain owned = pti_ownership_hull(&superstep->ownerships[array], member);
        polytile_domain read = pti_boxes_bounding(&reads[array], owned.n_dims);
        polytile_domain needed = pti_box_bounding(&owned, &read);
        polytile_domain writers = pti_home_writers(launch, p, &needed);
        threads = pti_box_bounding(&threads, &writers);
    }
    return threads;
}

static void choose_member_threads(const pti_superstep *superstep, int l, int member,
                                  pti_work *work) {
    const pti_home *home = &work->home[l];
    pti_boxes *threads = &work->threads[l];
    pti_home_threads(home, &superstep->launch[l], superstep->ownerships, member, threads);
    int64_t n_alone = pti_boxes_count(threads);
    if (superstep->n_launches > 1 && !home->splits && home->operand >= 0) {
        polytile_domain box = writers_of_needed(superstep, l, member, work->reads);
        pti_boxes_assign(threads, &box);
    }
    work->n_threads += pti_boxes_count(threads);
    work->n_extra_threads += pti_boxes_count(threads) - n_alone;
}

/* Gather what a member's threads touch; returns whether it is exact. What is combined is combined
 * by every member, onto its former values, and is one box. */
static bool gather_touched(const pti_superstep *superstep, int l, const pti_work *work, int operand,
                           pti_touch touch, pti_boxes *touched) {
    const pti_shared_launch *launch = &superstep->launch[l];
    const pti_instance *instance = launch->call.instance;
    if (!pti_home_combines(&work->home[l], launch, superstep->ownerships, operand))
        return pti_threads_gather(instance, operand, touch, &work->threads[l], touched);
    polytile_domain hull = pti_footprint_hull(instance, operand, touch, &instance->threads);
    polytile_domain box = pti_box_without_steps(&hull);
    pti_boxes_gather(touched, &box);
    return false;
}

/* Add what a launch writes; that is not needed from before. written is reused. */
static void add_writes(const pti_superstep *superstep, int l, pti_work *work, pti_boxes *written) {
    const pti_shared_launch *launch = &superstep->launch[l];
    for (int p = 0; p < launch->call.instance->n_operands; p++) {
        int array = launch->call.array[p];
        if (!launch->call.instance->operand[p].writes)
            continue;
        pti_boxes_clear(written);
        if (gather_touched(superstep, l, work, p, PTI_WRITES, written))
            pti_boxes_subtract_all(&work->reads[array], written);
        pti_boxes_unite(&work->writes[array], written, pti_boxes_gather);
    }
}

static void add_reads(const pti_superstep *superstep, int l, pti_work *work) {
    const pti_shared_launch *launch = &superstep->launch[l];
    for (int p = 0; p < launch->call.instance->n_operands; p++)
        if (launch->call.instance->operand[p].reads)
            gather_touched(superstep, l, work, p, PTI_READS, &work->reads[launch->call.array[p]]);
}

static bool has_work_failed(const pti_work *work) {
    bool failed = false;
    for (int l = 0; l < work->n_launches; l++)
        failed = failed || work->home[l].failed || work->threads[l].failed;
    for (int a = 0; a < work->n_arrays; a++)
        failed = failed || work->reads[a].failed || work->writes[a].failed;
    return failed;
}

/* Fill in the work from the last launch to the first; written is reused. */
static void fill_work(const pti_superstep *superstep, int member, pti_work *work,
                      pti_boxes *written) {
    for (int l = superstep->n_launches - 1; l >= 0; l--) {
        const pti_shared_launch *launch = &superstep->launch[l];
        work->home[l] = pti_home_of(launch, superstep->ownerships);
        choose_member_threads(superstep, l, member, work);
        add_writes(superstep, l, work, written);
        add_reads(superstep, l, work);
        for (int p = 0; p < launch->call.instance->n_operands && superstep->n_launches > 1; p++)
            pti_boxes_widen(&work->reads[launch->call.array[p]], MOST_BOXES);
    }
}

bool pti_work_create(const pti_superstep *superstep, int member, pti_work *work) {
    pti_boxes written = {0};
    bool made = allocate_work(superstep, work);
    if (made)
        fill_work(superstep, member, work, &written);
    made = made && !has_work_failed(work) && !written.failed;
    pti_boxes_free(&written);
    if (!made)
        pti_work_free(work);
    return made;
}

/* Return whether a launch whose threads are divided can be run on more of them. */
static bool is_deep(const pti_superstep *superstep, const pti_shared_launch *launch) {
    const pti_instance *instance = launch->call.instance;
    for (int p = 0; p < instance->n_operands; p++)
        if (instance->operand[p].writes &&
            !pti_ownership_is_whole(&superstep->ownerships[launch->call.array[p]]))
            return false;
    return true;
}

/* Return whether owners get what others write of a launch that is combined: only after it. */
static bool combines_all(const pti_superstep *superstep, const pti_shared_launch *launch,
                         const pti_home *home) {
    bool all = true;
    for (int p = 0; p < launch->call.instance->n_operands; p++)
        all = all && (!launch->call.instance->operand[p].writes ||
                      pti_home_combines(home, launch, superstep->ownerships, p));
    return all;
}

int pti_superstep_longest(const pti_superstep *superstep) {
    int n = 0;
    for (; n < superstep->n_launches; n++) {
        pti_home home = pti_home_of(&superstep->launch[n], superstep->ownerships);
        if (home.failed)
            return 0;
        if (home.splits)
            return n == 0 || combines_all(superstep, &superstep->launch[n], &home) ? n + 1 : n;
        if (home.operand >= 0 && !is_deep(superstep, &superstep->launch[n]))
            break;
    }
    return n == 0 ? superstep->n_launches > 0 : n;
}
