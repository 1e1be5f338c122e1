#include "partition/check_order.h"

#include "access/footprint.h"
#include "base/checked.h"
#include "partition/check_needs.h"
#include "partition/check_shape.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a launch does to elements; those that it reads and writes count as written. */
typedef enum order_access { ORDER_READ, ORDER_WRITTEN, ORDER_N_ACCESSES } order_access;

static const char *const access_words[] = {[ORDER_READ] = "read", [ORDER_WRITTEN] = "written"};

/** What the superblocks of one launch did to one array so far: boxes, of which some may overlap. */
typedef struct order_trail {
    pti_boxes done[ORDER_N_ACCESSES];
} order_trail;

enum { RANK = 3 };

/** The ends, in the first dimensions, of all that some launches did to an array. */
typedef struct order_ends {
    int64_t lo[RANK], hi[RANK];
} order_ends;

typedef struct order_check {
    const pti_schedule *schedule;
    pti_text *why;
    order_trail *trail; /* [launch * n_operands + operand of the schedule's instance] */
    int n_leaves;       /* a power of two, of as many launches or more */
    order_ends *ends;   /* a binary tree over the launches for each array and access, from 1: node n
                           of n_leaves and more is launch n - n_leaves, others are 2 n and 2 n + 1 */
    pti_boxes touched;  /* by the superblock and operand at hand; some may overlap */
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
            pti_boxes_append(&check->touched, &hull);
        return;
    }
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &of->instance->section[operand->first_section + s];
        if (access_of(section->role) == access)
            pti_needs_list(of->instance, section, of->threads, &check->touched);
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

/** A box that a later launch did something to must not be what this one still waits to do there. */
static bool check_against(const order_check *check, const order_operand *of, order_access access,
                          int later, order_access done, const polytile_domain *box) {
    const pti_boxes *trail = &trail_of(check, later, of->array)->done[done];
    polytile_domain common;
    for (int n = 0; n < trail->n_boxes; n++)
        if (pti_box_intersect(&trail->box[n], box, &common))
            return reject(check, of, access, later, done, &common);
    return true;
}

static order_ends *tree_of(const order_check *check, int array, order_access done) {
    int64_t tree = (int64_t)array * ORDER_N_ACCESSES + (int64_t)done;
    return &check->ends[tree * 2 * check->n_leaves];
}

static bool is_apart(const order_ends *ends, const polytile_domain *box) {
    for (int d = 0; d < box->n_dims && d < RANK; d++)
        if (ends->lo[d] > box->range[d].hi || ends->hi[d] < box->range[d].lo)
            return true;
    return false;
}

/** The launches of one box's check. */
typedef struct order_search {
    const order_operand *of;
    order_access access;
    order_access done;
    const order_ends *tree;
    const polytile_domain *box;
} order_search;

/** Check a box against those of a node's launches, n_launches from `first` on, that come later. */
static bool check_node(const order_check *check, const order_search *by, int node, int first,
                       int n_launches) {
    if (first + n_launches - 1 <= by->of->launch || is_apart(&by->tree[node], by->box))
        return true;
    if (n_launches == 1)
        return check_against(check, by->of, by->access, first, by->done, by->box);
    int half = n_launches / 2;
    return check_node(check, by, 2 * node, first, half) &&
           check_node(check, by, 2 * node + 1, first + half, half);
}

static bool check_against_later(const order_check *check, const order_operand *of,
                                order_access access) {
    for (int done = access == ORDER_WRITTEN ? ORDER_READ : ORDER_WRITTEN; done < ORDER_N_ACCESSES;
         done++)
        for (int k = 0; k < check->touched.n_boxes; k++) {
            order_search by = {of, access, (order_access)done,
                               tree_of(check, of->array, (order_access)done),
                               &check->touched.box[k]};
            if (!check_node(check, &by, 1, 0, check->n_leaves))
                return false;
        }
    return true;
}

static void extend_ends(order_check *check, const order_operand *of, order_access access,
                        const polytile_domain *box) {
    order_ends *tree = tree_of(check, of->array, access);
    for (int node = check->n_leaves + of->launch; node > 0; node /= 2)
        for (int d = 0; d < box->n_dims && d < RANK; d++) {
            tree[node].lo[d] = pti_min(tree[node].lo[d], box->range[d].lo);
            tree[node].hi[d] = pti_max(tree[node].hi[d], box->range[d].hi);
        }
}

/** Slabs that follow one another are kept as one box; sets that stay long are joined rarely. */
static void add_to_trail(pti_boxes *trail, const polytile_domain *box) {
    enum { FEW = 16 };
    for (int k = 0; k < trail->n_boxes; k++)
        if (pti_check_absorb(&trail->box[k], box))
            return;
    pti_boxes_append(trail, box);
    if (trail->n_boxes < FEW || (trail->n_boxes & (trail->n_boxes - 1)) != 0)
        return;
    pti_boxes joined = {0};
    for (int k = 0; k < trail->n_boxes; k++)
        pti_check_gather(&joined, &trail->box[k]);
    pti_boxes_copy(trail, &joined);
    pti_boxes_free(&joined);
}

static void extend_trail(order_check *check, const order_operand *of, order_access access) {
    pti_boxes *trail = &trail_of(check, of->launch, of->array)->done[access];
    for (int k = 0; k < check->touched.n_boxes; k++) {
        add_to_trail(trail, &check->touched.box[k]);
        extend_ends(check, of, access, &check->touched.box[k]);
    }
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

/** No launch did anything yet; false when memory runs out. */
static bool begin(order_check *check) {
    size_t n_arrays = (size_t)check->schedule->instance->n_operands;
    size_t n_launches = (size_t)check->schedule->n_launches;
    for (check->n_leaves = 1; (size_t)check->n_leaves < n_launches;)
        check->n_leaves *= 2;
    size_t n_ends = n_arrays * ORDER_N_ACCESSES * 2 * (size_t)check->n_leaves;
    check->trail = calloc(n_launches * n_arrays + 1, sizeof *check->trail);
    check->ends = malloc((n_ends + 1) * sizeof *check->ends);
    for (size_t n = 0; n < n_ends && check->ends != NULL; n++)
        for (int d = 0; d < RANK; d++) {
            check->ends[n].lo[d] = INT64_MAX;
            check->ends[n].hi[d] = INT64_MIN;
        }
    return check->trail != NULL && check->ends != NULL;
}

static void end(order_check *check) {
    int64_t n_trails = (int64_t)check->schedule->n_launches * check->schedule->instance->n_operands;
    for (int64_t t = 0; check->trail != NULL && t < n_trails; t++)
        for (int access = ORDER_READ; access < ORDER_N_ACCESSES; access++)
            pti_boxes_free(&check->trail[t].done[access]);
    free(check->trail);
    free(check->ends);
    pti_boxes_free(&check->touched);
}

bool pti_check_order(const pti_schedule *schedule, pti_text *why) {
    if (is_in_order(schedule))
        return true;
    order_check check = {.schedule = schedule, .why = why};
    bool has_begun = begin(&check);
    bool holds = has_begun && replay_launches(&check);
    end(&check);
    if (!has_begun || (check.failed && holds))
        return PTI_REJECT(why, "out of host memory to check the order of %d launches",
                          schedule->n_launches);
    return holds;
}
