#include "partition/check_order.h"

#include "access/footprint.h"
#include "partition/check_needs.h"
#include "partition/check_shape.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a launch does to elements; those that it reads and writes count as written. */
typedef enum order_access { ORDER_READ, ORDER_WRITTEN, ORDER_N_ACCESSES } order_access;

static const char *const access_words[] = {[ORDER_READ] = "read", [ORDER_WRITTEN] = "written"};

/** What the superblocks of one launch did to one array so far. */
typedef struct order_trail {
    pti_boxes done[ORDER_N_ACCESSES];
} order_trail;

typedef struct order_check {
    const pti_schedule *schedule;
    pti_text *why;
    int last_begun;     /* no launch after it ran anything yet */
    order_trail *trail; /* [launch * n_operands + operand of the schedule's instance] */
    pti_boxes touched;  /* by the superblock and operand at hand */
    bool failed;        /* an allocation */
} order_check;

/** One operand of the superblock at hand. */
typedef struct order_operand {
    int64_t op;
    int launch;
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

static order_access access_of(polytile_role role) {
    return role == POLYTILE_IN ? ORDER_READ : ORDER_WRITTEN;
}

/** Of a partial operand only the hull is known: all of it counts as written. */
static void find_touched(order_check *check, const order_operand *of, order_access access) {
    const pti_operand *operand = &of->instance->operand[of->number];
    pti_boxes_clear(&check->touched);
    if (operand->partial) {
        polytile_domain hull =
            pti_footprint_hull(of->instance, of->number, PTI_TOUCHES, of->threads);
        if (access == ORDER_WRITTEN)
            pti_boxes_add(&check->touched, &hull);
        return;
    }
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &of->instance->section[operand->first_section + s];
        if (access_of(section->role) == access)
            pti_needs_add(of->instance, section, of->threads, &check->touched);
    }
}

static bool reject(const order_check *check, const order_operand *of, order_access access,
                   int later, order_access done, const polytile_domain *box) {
    const pti_op *op = &check->schedule->op[of->op];
    pti_text_add(
        check->why, "operation %" PRId64 " (launch for superblock %" PRId64 " of launch %d), %s",
        of->op, op->superblock, of->launch, check->schedule->instance->operand[of->array].name);
    pti_check_write_box(check->why, box);
    return PTI_REJECT(check->why, ": is %s although launch %d, which comes later, has %s it before",
                      access_words[access], later, access_words[done]);
}

/** What a later launch did to an array must not be what this one still waits to do there. */
static bool check_against(const order_check *check, const order_operand *of, order_access access,
                          int later, order_access done) {
    const pti_boxes *trail = &trail_of(check, later, of->array)->done[done];
    polytile_domain common;
    for (int n = 0; n < trail->n_boxes; n++)
        for (int k = 0; k < check->touched.n_boxes; k++)
            if (pti_box_intersect(&trail->box[n], &check->touched.box[k], &common))
                return reject(check, of, access, later, done, &common);
    return true;
}

static bool check_against_later(const order_check *check, const order_operand *of,
                                order_access access) {
    for (int later = of->launch + 1; later <= check->last_begun; later++)
        if (!check_against(check, of, access, later, ORDER_WRITTEN) ||
            (access == ORDER_WRITTEN && !check_against(check, of, access, later, ORDER_READ)))
            return false;
    return true;
}

/** Slabs that follow one another are kept as one box; sets that stay long are joined rarely. */
static void extend_trail(order_check *check, const order_operand *of, order_access access) {
    enum { FEW = 16 };
    pti_boxes *trail = &trail_of(check, of->launch, of->array)->done[access];
    for (int k = 0; k < check->touched.n_boxes; k++)
        pti_boxes_gather(trail, &check->touched.box[k]);
    if (trail->n_boxes < FEW)
        pti_boxes_merge(trail);
    check->failed |= trail->failed || check->touched.failed;
}

static bool replay_operand(order_check *check, const order_operand *of) {
    for (int access = ORDER_READ; access < ORDER_N_ACCESSES; access++) {
        find_touched(check, of, (order_access)access);
        if (!check_against_later(check, of, (order_access)access))
            return false;
        extend_trail(check, of, (order_access)access);
    }
    return true;
}

static bool replay_launch(order_check *check, int64_t i) {
    const pti_op *op = &check->schedule->op[i];
    pti_schedule_launch launch = pti_schedule_launch_of(check->schedule, op);
    if (op->launch > check->last_begun)
        check->last_begun = op->launch;
    for (int o = 0; o < launch.instance->n_operands; o++) {
        order_operand of = {
            i, op->launch, &op->box, launch.instance, o, pti_schedule_array(&launch, o)};
        if (!replay_operand(check, &of))
            return false;
    }
    return true;
}

static bool replay_launches(order_check *check) {
    for (int64_t i = 0; i < check->schedule->n_ops; i++)
        if (check->schedule->op[i].kind == PTI_LAUNCH && !replay_launch(check, i))
            return false;
    return true;
}

static void free_trails(order_check *check, size_t n_trails) {
    for (size_t t = 0; check->trail != NULL && t < n_trails; t++)
        for (int access = ORDER_READ; access < ORDER_N_ACCESSES; access++)
            pti_boxes_free(&check->trail[t].done[access]);
    free(check->trail);
    pti_boxes_free(&check->touched);
}

bool pti_check_order(const pti_schedule *schedule, pti_text *why) {
    if (is_in_order(schedule))
        return true;
    size_t n_trails = (size_t)schedule->n_launches * (size_t)schedule->instance->n_operands;
    order_check check = {
        .schedule = schedule, .why = why, .trail = calloc(n_trails + 1, sizeof *check.trail)};
    bool holds = check.trail != NULL && replay_launches(&check);
    bool failed = check.trail == NULL || check.failed;
    free_trails(&check, n_trails);
    if (failed && (holds || check.trail == NULL))
        return PTI_REJECT(why, "out of host memory to check the order of %d launches",
                          schedule->n_launches);
    return holds;
}
