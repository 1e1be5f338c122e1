#include "partition/prove/shape/shape.h"

#include "access/set/bounding_box.h"
#include "partition/prove/needs/needs.h"
#include "partition/prove/needs/section_reach.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const way_words[] = {[PTI_ONLY_READ] = "read", [PTI_WRITTEN] = "written"};

/** Around what was done to one array so far. */
typedef struct order_trail {
    pti_bounding_box own[PTI_N_USAGES];   /* by one launch */
    pti_bounding_box later[PTI_N_USAGES]; /* by all that come later */
} order_trail;

/** Launches in the order of the list, each against what later ones did before it. */
typedef struct order_check {
    const pti_schedule *schedule;
    pti_text *why;
    order_trail *trail; /* [launch * n_operands + operand of the schedule's instance] */
    int64_t *n_done;    /* superblocks of each launch */
    pti_section_reaches reaches;
    pti_boxes touched[PTI_N_USAGES]; /* by the current superblock and operand */
    pti_boxes before[PTI_N_USAGES];  /* by one that was done before */
} order_check;

/** One operand of a superblock's launch. */
typedef struct order_operand {
    int64_t op; /* of the current launch, else -1 */
    int launch;
    int64_t superblock;
    const polytile_domain *threads;
    const pti_instance *instance;
    int number;
    int array;
} order_operand;

static order_trail *trail_of(const order_check *check, int launch, int array) {
    return &check->trail[(int64_t)launch * check->schedule->instance->n_operands + array];
}

static bool is_in_order(const pti_schedule *schedule) {
    int launch = 0;
    for (int64_t i = 0; i < schedule->n_ops; i++) {
        if (schedule->op[i].kind != PTI_LAUNCH)
            continue;
        if (schedule->op[i].launch < launch)
            return false;
        launch = schedule->op[i].launch;
    }
    return true;
}

static void find_touched(const order_operand *of, pti_boxes *touched) {
    for (int way = 0; way < PTI_N_USAGES; way++)
        pti_boxes_clear(&touched[way]);
    pti_needs_list_operand(of->instance, of->number, of->threads, touched);
}

static bool reject_order(const order_check *check, const order_operand *of, pti_usage way,
                         int later, pti_usage done, const polytile_domain *box) {
    pti_text_add(
        check->why, "operation %" PRId64 " (launch for superblock %" PRId64 " of launch %d), %s",
        of->op, of->superblock, of->launch, check->schedule->instance->operand[of->array].name);
    pti_box_write(check->why, box);
    return PTI_REJECT(check->why, ": is %s although launch %d, which comes later, has %s it before",
                      way_words[way], later, way_words[done]);
}

/** A superblock of a later launch must not have done anything to what this one still waits to do
 * there; what this one does is in touched. */
static bool check_against(order_check *check, const order_operand *of, pti_usage way,
                          const order_operand *other, pti_usage done) {
    polytile_domain common;
    const pti_boxes *mine = &check->touched[way], *its = &check->before[done];
    find_touched(other, check->before);
    for (int n = 0; n < its->n_boxes; n++)
        for (int k = 0; k < mine->n_boxes; k++)
            if (pti_box_intersect(&its->box[n], &mine->box[k], &common))
                return reject_order(check, of, way, other->launch, done, &common);
    return true;
}

/** Against all that a later launch did, by those of its operands that are the array. */
static bool check_against_launch(order_check *check, const order_operand *of, pti_usage way,
                                 int later, pti_usage done) {
    const pti_schedule_launch *launch = &check->schedule->launch[later];
    for (int o = 0; o < launch->call.instance->n_operands; o++)
        for (int64_t n = 0; launch->call.array[o] == of->array && n < check->n_done[later]; n++) {
            int64_t superblock = launch->first_superblock + n;
            order_operand other = {-1,
                                   later,
                                   superblock,
                                   &check->schedule->superblock[superblock],
                                   launch->call.instance,
                                   o,
                                   of->array};
            if (!check_against(check, of, way, &other, done))
                return false;
        }
    return true;
}

/** Where ends do not show that later launches were elsewhere, their superblocks are gone
 * through. */
static bool check_against_later(order_check *check, const order_operand *of, pti_usage way,
                                const pti_bounding_box *ends) {
    const order_trail *trail = trail_of(check, of->launch, of->array);
    int done = way == PTI_WRITTEN ? PTI_ONLY_READ : PTI_WRITTEN;
    for (; done < PTI_N_USAGES; done++) {
        if (pti_bounding_apart(&trail->later[done], ends))
            continue;
        find_touched(of, check->touched);
        for (int later = of->launch + 1; later < check->schedule->n_launches; later++)
            if (!pti_bounding_apart(&trail_of(check, later, of->array)->own[done], ends) &&
                !check_against_launch(check, of, way, later, (pti_usage)done))
                return false;
    }
    return true;
}

/** What all later launches than one did, those later than an earlier one did too. */
static void extend_trails(const order_check *check, const order_operand *of, pti_usage way,
                          const pti_bounding_box *ends) {
    pti_bounding_extend(&trail_of(check, of->launch, of->array)->own[way], ends);
    for (int l = of->launch - 1; l >= 0; l--) {
        pti_bounding_box *later = &trail_of(check, l, of->array)->later[way];
        if (pti_bounding_contain(later, ends))
            return;
        pti_bounding_extend(later, ends);
    }
}

/** The ends of all that a superblock does to an operand in one way; false if it does nothing. */
static bool find_touched_ends(order_check *check, const order_operand *of, pti_usage way,
                              const pti_section_reach *reach, pti_bounding_box *ends) {
    polytile_domain box;
    const pti_section_reach *part =
        &reach[way == PTI_ONLY_READ ? PTI_ACCESS_READ : PTI_ACCESS_WRITTEN];
    if (part->is_known && part->n_sections == 0)
        return false;
    if (pti_section_reach_box(part, &of->instance->operand[of->number].domain, of->threads, &box)) {
        *ends = pti_bounding_of(&box);
        return true;
    }
    find_touched(of, check->touched);
    *ends = pti_bounding_of_nothing();
    for (int k = 0; k < check->touched[way].n_boxes; k++) {
        pti_bounding_box of_box = pti_bounding_of(&check->touched[way].box[k]);
        pti_bounding_extend(ends, &of_box);
    }
    return check->touched[way].n_boxes > 0;
}

static bool replay_operand(order_check *check, const order_operand *of,
                           const pti_section_reach *reach) {
    for (int way = PTI_ONLY_READ; way < PTI_N_USAGES; way++) {
        pti_bounding_box ends;
        if (!find_touched_ends(check, of, (pti_usage)way, reach, &ends))
            continue;
        if (!check_against_later(check, of, (pti_usage)way, &ends))
            return false;
        extend_trails(check, of, (pti_usage)way, &ends);
    }
    return true;
}

static bool replay_launch(order_check *check, int64_t i) {
    const pti_op *op = &check->schedule->op[i];
    const pti_schedule_launch *launch = &check->schedule->launch[op->launch];
    const pti_section_reach *reach = pti_section_reaches_of(&check->reaches, launch->call.instance);
    if (reach == NULL)
        return PTI_REJECT(check->why, "out of host memory to check the order of launches");
    for (int o = 0; o < launch->call.instance->n_operands; o++) {
        order_operand of = {
            i, op->launch,           op->superblock, &op->box, launch->call.instance,
            o, launch->call.array[o]};
        if (!replay_operand(check, &of, &reach[o * PTI_N_ACCESS_KINDS]))
            return false;
    }
    check->n_done[op->launch]++;
    return true;
}

static bool replay_launches(order_check *check) {
    for (int64_t i = 0; i < check->schedule->n_ops; i++)
        if (check->schedule->op[i].kind == PTI_LAUNCH && !replay_launch(check, i))
            return false;
    return true;
}

/** No launch did anything yet; false when memory runs out. */
static bool allocate_trails(order_check *check) {
    size_t n_launches = (size_t)check->schedule->n_launches;
    size_t n_trails = n_launches * (size_t)check->schedule->instance->n_operands;
    pti_bounding_box nothing = pti_bounding_of_nothing();
    check->trail = malloc((n_trails + 1) * sizeof *check->trail);
    check->n_done = calloc(n_launches + 1, sizeof *check->n_done);
    for (size_t t = 0; t < n_trails && check->trail != NULL; t++)
        check->trail[t] = (order_trail){{nothing, nothing}, {nothing, nothing}};
    return check->trail != NULL && check->n_done != NULL;
}

bool pti_check_order(const pti_schedule *schedule, pti_text *why) {
    if (is_in_order(schedule))
        return true;
    order_check check = {.schedule = schedule, .why = why};
    bool has_begun = allocate_trails(&check);
    bool holds = has_begun && replay_launches(&check);
    bool failed = !has_begun;
    for (int way = 0; way < PTI_N_USAGES; way++) {
        failed |= holds && (check.touched[way].failed || check.before[way].failed);
        pti_boxes_free(&check.touched[way]);
        pti_boxes_free(&check.before[way]);
    }
    if (failed)
        holds = PTI_REJECT(why, "out of host memory to check the order of %d launches",
                           schedule->n_launches);
    pti_section_reaches_free(&check.reaches);
    free(check.trail);
    free(check.n_done);
    return holds;
}
