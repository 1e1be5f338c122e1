#include "partition/prove/programs/column_program.h"

#include "base/checked.h"
#include "partition/schedule/builder.h"

#include <inttypes.h>
#include <stdlib.h>

/** Coordinates stay below, as indices do, and columns are half as wide together, so that sums of a
 * few do not overflow. */
#define LIMIT (INT64_C(1) << 61)

static bool is_below_limit(int64_t number) {
    return number <= LIMIT && number >= -LIMIT;
}

/** Return whether there are columns, and no more than a schedule may have tiles. */
static bool are_columns(const pti_columns *columns) {
    int64_t length;
    return columns->n >= 1 && columns->n <= PTI_MAX_OPS && columns->width >= 1 &&
           !pti_mul_overflows(columns->n, columns->width, &length) && length <= LIMIT / 2 &&
           is_below_limit(columns->begin);
}

bool pti_check_columns(const pti_schedule *schedule, pti_text *why) {
    const pti_columns *columns = &schedule->columns;
    bool holds = schedule->in_place && are_columns(columns);
    if (!holds)
        pti_text_add(why, "%" PRId64 " columns of %" PRId64 " threads", columns->n, columns->width);
    for (int l = 0; l < schedule->n_launches && holds; l++) {
        const int n_indices = schedule->launch[l].call.instance->n_indices;
        holds = columns->index[l] >= 0 && columns->index[l] < n_indices;
        if (!holds)
            pti_text_add(why, "launch %d has no index %d for columns", l, columns->index[l]);
        const bool is_near = is_below_limit(columns->offset[l]);
        if (holds && !is_near)
            pti_text_add(why, "launch %d is %" PRId64 " threads off in columns", l,
                         columns->offset[l]);
        holds = holds && is_near;
    }
    for (int64_t k = 0; k < schedule->n_ops && holds; k++) {
        holds = schedule->op[k].kind == PTI_LAUNCH;
        if (!holds)
            pti_text_add(why, "operation %" PRId64 " is no launch, and has no columns", k);
    }
    return holds;
}

/** Run an operation's threads of a column. */
typedef void visit_tile(const pti_schedule *schedule, const pti_op *op,
                        const polytile_domain *threads, void *user);

static void visit_tiles(const pti_schedule *schedule, visit_tile *visit, void *user) {
    for (int64_t c = 0; c < schedule->columns.n; c++)
        for (int64_t k = 0; k < schedule->n_ops; k++) {
            const pti_op *op = &schedule->op[k];
            polytile_domain threads;
            if (pti_columns_threads(&schedule->columns, op->launch, c, &op->box, &threads))
                visit(schedule, op, &threads, user);
        }
}

static void count_tile(const pti_schedule *schedule, const pti_op *op,
                       const polytile_domain *threads, void *user) {
    pti_schedule_launch *launch = user;
    (void)schedule;
    (void)threads;
    launch[op->launch].n_superblocks++;
}

/** The program under construction. */
typedef struct column_maker {
    pti_builder builder;
    int64_t *next; /* superblock of each launch */
} column_maker;

static void add_tile(const pti_schedule *schedule, const pti_op *op, const polytile_domain *threads,
                     void *user) {
    column_maker *maker = user;
    pti_schedule *made = maker->builder.schedule;
    const pti_last nothing = pti_last_none();
    pti_op tile = *op;
    tile.box = *threads;
    tile.superblock = maker->next[op->launch]++;
    made->superblock[tile.superblock] = *threads;
    const int64_t *from = pti_schedule_placements(schedule, op->launch, op->superblock);
    int64_t *to = pti_schedule_placements(made, op->launch, tile.superblock);
    for (int o = 0; o < schedule->launch[op->launch].call.instance->n_operands; o++)
        to[o] = from[o];
    pti_builder_add(&maker->builder, &tile, &nothing);
}

static void add_tiles(const pti_schedule *schedule, column_maker *maker) {
    pti_schedule *made = maker->builder.schedule;
    made->in_place = true;
    for (int64_t p = 0; p < schedule->n_placements; p++)
        pti_builder_place(&maker->builder, &schedule->placement[p]);
    for (int l = 0; l < schedule->n_launches; l++)
        maker->next[l] = made->launch[l].first_superblock;
    visit_tiles(schedule, add_tile, maker);
}

pti_schedule *pti_column_program_make(const pti_schedule *schedule) {
    const size_t n = (size_t)schedule->n_launches + 1;
    pti_schedule_launch *launch = calloc(n, sizeof *launch);
    column_maker maker = {.next = calloc(n, sizeof *maker.next)};
    for (int l = 0; launch != NULL && l < schedule->n_launches; l++)
        launch[l].call = schedule->launch[l].call;
    if (launch != NULL && maker.next != NULL) {
        visit_tiles(schedule, count_tile, launch);
        pti_builder_begin(&maker.builder, schedule->instance, schedule->n_launches, launch);
    }
    if (maker.builder.schedule != NULL)
        add_tiles(schedule, &maker);
    free(launch);
    free(maker.next);
    if (!maker.builder.failed)
        return maker.builder.schedule;
    pti_schedule_free(maker.builder.schedule);
    return NULL;
}
