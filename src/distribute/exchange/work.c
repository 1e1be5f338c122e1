#include "distribute/exchange/work.h"

#include "access/set/boxes.h"
#include "distribute/share/footprints.h"

#include <stdlib.h>

/* What must be there, if it takes more boxes than that, is taken as one. */
enum { MOST_BOXES = 64 };

void pti_work_free(pti_work *work) {
    free(work->share);
    pti_boxes_free_list(work->threads, work->n_launches);
    pti_boxes_free_list(work->reads, work->n_arrays);
    pti_boxes_free_list(work->writes, work->n_arrays);
    *work = (pti_work){0};
}

static bool allocate(const pti_group *group, pti_work *work) {
    size_t n_launches = (size_t)group->n_launches + 1, n_arrays = (size_t)group->n_arrays + 1;
    *work = (pti_work){.n_launches = group->n_launches, .n_arrays = group->n_arrays};
    work->share = calloc(n_launches, sizeof *work->share);
    work->threads = calloc(n_launches, sizeof *work->threads);
    work->reads = calloc(n_arrays, sizeof *work->reads);
    work->writes = calloc(n_arrays, sizeof *work->writes);
    return work->share != NULL && work->threads != NULL && work->reads != NULL &&
           work->writes != NULL;
}

/* The threads that write what a member owns and what later launches read there. */
static polytile_domain writers_of_needed(const pti_group *group, int l, int member,
                                         const pti_boxes *reads) {
    const pti_shared_launch *launch = &group->launch[l];
    polytile_domain threads = pti_box_empty(launch->instance->n_indices);
    for (int p = 0; p < launch->instance->n_operands; p++) {
        if (!launch->instance->operand[p].writes)
            continue;
        int array = launch->array[p];
        polytile_domain owned = pti_ownership_hull(&group->ownerships[array], member);
        polytile_domain read = pti_boxes_enclose(&reads[array], owned.n_dims);
        polytile_domain needed = pti_box_enclose(&owned, &read);
        polytile_domain writers = pti_share_writers(launch, p, &needed);
        threads = pti_box_enclose(&threads, &writers);
    }
    return threads;
}

static void choose_threads(const pti_group *group, int l, int member, pti_work *work) {
    const pti_share *share = &work->share[l];
    pti_boxes *threads = &work->threads[l];
    pti_share_threads(share, &group->launch[l], group->ownerships, member, threads);
    int64_t n_alone = pti_boxes_count(threads);
    if (group->n_launches > 1 && !share->splits && share->operand >= 0) {
        polytile_domain box = writers_of_needed(group, l, member, work->reads);
        pti_boxes_assign(threads, &box);
    }
    work->n_threads += pti_boxes_count(threads);
    work->n_extra_threads += pti_boxes_count(threads) - n_alone;
}

/* What is combined is combined everywhere, onto what it held, and as one box. */
static bool gather(const pti_group *group, int l, const pti_work *work, int operand,
                   pti_touch touch, pti_boxes *touched) {
    const pti_shared_launch *launch = &group->launch[l];
    const pti_instance *instance = launch->instance;
    if (!pti_share_combines(&work->share[l], launch, group->ownerships, operand))
        return pti_footprint_gather(instance, operand, touch, &work->threads[l], touched);
    polytile_domain hull = pti_footprint_hull(instance, operand, touch, &instance->threads);
    polytile_domain box = pti_box_without_steps(&hull);
    pti_boxes_gather(touched, &box);
    return false;
}

/* What the threads write is not needed from before; written is scratch. */
static void add_writes(const pti_group *group, int l, pti_work *work, pti_boxes *written) {
    const pti_shared_launch *launch = &group->launch[l];
    for (int p = 0; p < launch->instance->n_operands; p++) {
        int array = launch->array[p];
        if (!launch->instance->operand[p].writes)
            continue;
        pti_boxes_clear(written);
        if (gather(group, l, work, p, PTI_WRITES, written))
            pti_boxes_subtract_all(&work->reads[array], written);
        pti_boxes_unite(&work->writes[array], written, pti_boxes_gather);
    }
}

static void add_reads(const pti_group *group, int l, pti_work *work) {
    const pti_shared_launch *launch = &group->launch[l];
    for (int p = 0; p < launch->instance->n_operands; p++)
        if (launch->instance->operand[p].reads)
            gather(group, l, work, p, PTI_READS, &work->reads[launch->array[p]]);
}

/* More elements may be read than must be: what is there is never wrong. */
static void simplify_reads(pti_boxes *reads) {
    if (reads->n_boxes <= MOST_BOXES)
        return;
    pti_boxes_merge(reads);
    if (reads->n_boxes <= MOST_BOXES)
        return;
    polytile_domain hull = pti_boxes_enclose(reads, reads->box[0].n_dims);
    pti_boxes_assign(reads, &hull);
}

static bool has_failed(const pti_work *work) {
    bool failed = false;
    for (int l = 0; l < work->n_launches; l++)
        failed = failed || work->threads[l].failed;
    for (int a = 0; a < work->n_arrays; a++)
        failed = failed || work->reads[a].failed || work->writes[a].failed;
    return failed;
}

/* written is scratch. */
static void fill(const pti_group *group, int member, pti_work *work, pti_boxes *written) {
    for (int l = group->n_launches - 1; l >= 0; l--) {
        const pti_shared_launch *launch = &group->launch[l];
        work->share[l] = pti_share_of(launch, group->ownerships);
        choose_threads(group, l, member, work);
        add_writes(group, l, work, written);
        add_reads(group, l, work);
        for (int p = 0; p < launch->instance->n_operands && group->n_launches > 1; p++)
            simplify_reads(&work->reads[launch->array[p]]);
    }
}

bool pti_work_create(const pti_group *group, int member, pti_work *work) {
    pti_boxes written = {0};
    bool made = allocate(group, work);
    if (made)
        fill(group, member, work, &written);
    made = made && !has_failed(work) && !written.failed;
    pti_boxes_free(&written);
    if (!made)
        pti_work_free(work);
    return made;
}

/* Whether a launch whose threads are dealt out can be run on more of them. */
static bool is_deep(const pti_group *group, const pti_shared_launch *launch) {
    const pti_instance *instance = launch->instance;
    for (int p = 0; p < instance->n_operands; p++)
        if (instance->operand[p].writes &&
            !pti_ownership_is_whole(&group->ownerships[launch->array[p]]))
            return false;
    return true;
}

/* Whether owners are told what others write of a launch that is combined: after it alone. */
static bool combines_all(const pti_group *group, const pti_shared_launch *launch,
                         const pti_share *share) {
    bool all = true;
    for (int p = 0; p < launch->instance->n_operands; p++)
        all = all && (!launch->instance->operand[p].writes ||
                      pti_share_combines(share, launch, group->ownerships, p));
    return all;
}

int pti_group_longest(const pti_group *group) {
    int n = 0;
    for (; n < group->n_launches; n++) {
        pti_share share = pti_share_of(&group->launch[n], group->ownerships);
        if (share.splits)
            return n == 0 || combines_all(group, &group->launch[n], &share) ? n + 1 : n;
        if (share.operand >= 0 && !is_deep(group, &group->launch[n]))
            break;
    }
    return n == 0 ? group->n_launches > 0 : n;
}
