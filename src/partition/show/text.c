#include "access/pieces/shear.h"
#include "access/set/box_text.h"
#include "base/checked.h"
#include "base/plural.h"
#include "partition/show/print.h"

#include <stdlib.h>

/* The text of a plan: its figures, one a line, and the first superblocks as a table. */

enum { N_SHOWN = 6, N_COLUMNS = 5, N_DESCRIBED = 8 };

static void add_title(pti_text *text, const polytile_plan *plan) {
    const polytile_domain threads =
        pti_instance_asked_box(plan->instance, &plan->instance->threads);
    pti_text_add(text, "%s over %s: %s", plan->summary.kernel, pti_words_box(&threads).text,
                 pti_words_count(pti_box_count(&threads), "thread").text);
    if (plan->chain != NULL)
        pti_text_add(text, ", one of %d launch%s", plan->chain_summary.n_launches,
                     pti_plural(plan->chain_summary.n_launches, "", "es"));
    pti_text_add(text, "\n");
}

/** Add what is held of an array in pieces: "2 pieces, 1 MiB; their hull 20 MiB". */
static void add_held_pieces(pti_text *text, const polytile_plan *plan, int array) {
    const pti_pieces_held held = pti_pieces_held_of(plan, array);
    if (held.n_pieces > 1)
        pti_text_add(text, ", in %d pieces, %s; their hull %s", held.n_pieces,
                     pti_words_size(held.held_bytes).text, pti_words_size(held.hull_bytes).text);
    else if (pti_operand_is_sheared(&plan->instance->operand[array]))
        pti_text_add(text, ", along a diagonal, %s; its hull %s",
                     pti_words_size(held.held_bytes).text, pti_words_size(held.hull_bytes).text);
}

static void add_arrays(pti_text *text, const polytile_plan *plan) {
    for (int k = 0; k < pti_instance_n_arrays(plan->instance); k++) {
        const pti_operand *operand = &plan->instance->operand[k];
        const polytile_domain *domain = pti_operand_array_domain(operand);
        double n_bytes = (double)pti_box_count(domain) * (double)operand->element_bytes;
        pti_text_add(text, "  %s%s %s, %s, %s", operand->name, pti_words_box(domain).text,
                     pti_words_type(operand->type).text, pti_words_array_roles(plan, k).text,
                     pti_words_size((int64_t)n_bytes).text);
        add_held_pieces(text, plan, k);
        pti_text_add(text, "\n");
    }
    pti_text_add(text, "\n");
}

static void add_limit(pti_text *text, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    if (s->limit_bytes == 0) {
        pti_text_add(text, PTI_ROW "none%s\n", "limit",
                     plan->schedule->in_place ? ": the kernel runs in place, nothing moves" : "");
        return;
    }
    pti_text_add(text, PTI_ROW "%s\n", "limit", pti_words_size(s->limit_bytes).text);
    pti_text_add(text, PTI_ROW "%s, %.1f%% of the limit\n", "peak",
                 pti_words_size(s->peak_device_bytes).text,
                 100.0 * (double)s->peak_device_bytes / (double)s->limit_bytes);
}

static void add_strategy(pti_text *text, const polytile_plan *plan) {
    pti_plan_write_equations(text, plan);
    if (plan->paper_overshoot_bytes > 0)
        pti_text_add(text,
                     PTI_ROW "%s over the limit by the paper's own equations; this plan was "
                             "corrected\n",
                     "overshoot", pti_words_size(plan->paper_overshoot_bytes).text);
    pti_text_add(text, PTI_ROW "%s, %d buffer%s\n", "strategy", plan->summary.strategy,
                 plan->summary.n_buffers, pti_plural(plan->summary.n_buffers, "", "s"));
}

/** Return the threads of the largest superblock along one dimension, which the domain may cut
 * short. */
static int64_t superblock_threads(const polytile_plan *plan, int dim) {
    int64_t threads, domain = 0;
    polytile_range range = plan->instance->threads.range[dim];
    const polytile_plan_summary *s = &plan->summary;
    if (pti_sub_overflows(range.hi, range.lo - 1, &domain))
        domain = INT64_MAX;
    if (pti_mul_overflows(s->superblock_blocks[dim], s->block[dim], &threads))
        return domain;
    return pti_min(threads, domain);
}

/** Return whether superblocks of a launch are dealt to lanes; slabs of a chain may be in two. */
static bool has_lanes(const polytile_plan *plan) {
    return plan->chain == NULL && plan->schedule->n_lanes > 1;
}

static void add_period(pti_text *text, const pti_period *period) {
    if (period->times > 0)
        pti_text_add(text, PTI_ROW "%s from number %s on, %s times\n", "period",
                     pti_words_count(period->n_kernels, "superblock").text,
                     pti_words_number(period->first_kernel).text,
                     pti_words_number(period->times).text);
}

static void add_shape(pti_text *text, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    int64_t threads[POLYTILE_MAX_DIMS];
    for (int d = 0; d < s->n_dims; d++)
        threads[d] = superblock_threads(plan, d);
    pti_text_add(text, PTI_ROW "%s threads\n", "block",
                 pti_words_extents(s->n_dims, s->block).text);
    pti_text_add(text, PTI_ROW "%s\n", "grid", pti_words_blocks(s->n_dims, s->grid_blocks).text);
    pti_text_add(text, PTI_ROW "%s, %s threads\n", "superblock",
                 pti_words_blocks(s->n_dims, s->superblock_blocks).text,
                 pti_words_extents(s->n_dims, threads).text);
    pti_text_add(text, PTI_ROW "%s\n", "kernels", pti_words_number(s->n_kernels).text);
    add_period(text, &plan->schedule->period);
    if (has_lanes(plan))
        pti_text_add(text, PTI_ROW "%d, which run side by side\n", "lanes",
                     plan->schedule->n_lanes);
}

static void add_slabs(pti_text *text, const pti_fusion_group *interleaved) {
    const pti_skew_shape *shape = &interleaved->shape;
    pti_text_add(text, PTI_ROW "%s of %s%s", "slab", pti_words_count(shape->slab, "thread").text,
                 pti_slab_index(interleaved), shape->concurrent ? ", two slabs at once" : "");
    if (shape->n_per_lap > 0)
        pti_text_add(text, "; after %s of them what stays is copied on",
                     pti_words_number(shape->n_per_lap).text);
    pti_text_add(text, "\n");
}

/** Write a fusion group: whether its launches are interleaved, and what ends or keeps them. */
static void add_fusion_group(pti_text *text, const pti_plan_chain *chain,
                             const pti_plan_fusion_group *group) {
    pti_text_add(text, PTI_ROW, group->group.n_launches > 0 ? "chain" : "not fused");
    if (group->reason.length > 0)
        pti_text_add(text, "%s", group->reason.data);
    else
        pti_text_add(text, "launches %d to %d of %d are interleaved", group->first + 1,
                     group->first + group->group.n_launches, chain->launches.n_launches);
    if (group->n_times > 1)
        pti_text_add(text, "; %s more like that", pti_words_number(group->n_times - 1).text);
    pti_text_add(text, "\n");
}

static bool is_worth_describing(const pti_plan_chain *chain, const pti_plan_fusion_group *group) {
    return group->reason.length > 0 || (chain->n_groups > 1 && group->group.n_launches > 0);
}

/** Write the first fusion groups that there is something to say of. */
static void add_fusion_groups(pti_text *text, const pti_plan_chain *chain) {
    int n_described = 0;
    for (int p = 0; p < chain->n_groups; p++)
        if (is_worth_describing(chain, &chain->group[p]) && ++n_described <= N_DESCRIBED)
            add_fusion_group(text, chain, &chain->group[p]);
    if (n_described > N_DESCRIBED)
        pti_text_add(text, PTI_ROW "... and %s\n", "",
                     pti_words_count(n_described - N_DESCRIBED, "more fusion group").text);
}

/** Write what the subplans say of tiles, those that differ. */
static void add_tiles(pti_text *text, const pti_plan_chain *chain) {
    int n_described = 0;
    for (int k = 0; k < chain->n_subplans; k++) {
        const pti_text *tiles = &chain->subplan[k].tiles;
        if (tiles->length > 0 && ++n_described <= N_DESCRIBED)
            pti_text_add(text, PTI_ROW "%s\n", "tiles", tiles->data);
    }
    if (n_described > N_DESCRIBED)
        pti_text_add(text, PTI_ROW "... and of %s\n", "",
                     pti_words_count(n_described - N_DESCRIBED, "more group").text);
}

/** Write how the launches of a chain follow one another. */
static void add_chain_rows(pti_text *text, const polytile_plan *plan) {
    const pti_plan_chain *chain = plan->chain;
    const polytile_chain_summary *s = &plan->chain_summary;
    bool is_one = s->n_passes == 1;
    const pti_fusion_group *interleaved = pti_plan_interleaved(chain, pti_plan_shown(chain));
    pti_text_add(text, PTI_ROW "%d of ", "launches", s->n_launches);
    pti_write_kernels(text, &chain->launches);
    pti_text_add(text, "; %s pass%s over the data, of %s%lld\n", pti_words_number(s->n_passes).text,
                 is_one ? "" : "es", is_one || s->launches_per_pass == 1 ? "" : "up to ",
                 (long long)s->launches_per_pass);
    add_fusion_groups(text, chain);
    if (interleaved != NULL)
        add_slabs(text, interleaved);
    if (chain->apart.length > 0)
        pti_text_add(text, PTI_ROW "%s\n", "not fused", chain->apart.data);
    add_tiles(text, chain);
}

static void add_bounds(pti_text *text, const polytile_plan_summary *s) {
    if (s->lower_bound_bytes == 0)
        return;
    pti_text_add(text, PTI_ROW "%s both ways; this plan moves %s times that\n", "lower bound",
                 pti_words_size(s->lower_bound_bytes).text, pti_words_ratio(s).text);
    if (s->bound_bytes > 0)
        pti_text_add(text, PTI_ROW "%.3f times %s, %s\n", "uploads",
                     (double)s->h2d_bytes / (double)s->bound_bytes,
                     pti_words_size(s->bound_bytes).text, s->bound);
}

static void add_moved(pti_text *text, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    int64_t alone_bytes = plan->chain == NULL ? 0 : plan->chain->alone_bytes;
    pti_text_add(text, PTI_ROW "%s\n", "to device", pti_words_size(s->h2d_bytes).text);
    pti_text_add(text, PTI_ROW "%s\n", "from device", pti_words_size(s->d2h_bytes).text);
    if (alone_bytes > 0)
        pti_text_add(
            text, PTI_ROW "%s at least, each launch by itself; this plan moves %.4f times that\n",
            "one by one", pti_words_size(alone_bytes).text,
            ((double)s->h2d_bytes + (double)s->d2h_bytes) / (double)alone_bytes);
    add_bounds(text, s);
    pti_text_add(text, PTI_ROW "%s\n", "predicted", pti_words_seconds(s->predicted_seconds).text);
}

/** List the launches of the superblocks that the table shows, the first in run order. Returns how
 * many. */
static int list_shown_launches(const pti_schedule *schedule, const pti_op *shown[N_SHOWN]) {
    int n = 0;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops && n < N_SHOWN; op++)
        if (op->kind == PTI_LAUNCH)
            shown[n++] = op;
    return n;
}

/** A row of the table; the first has the heads. */
typedef pti_text table[N_SHOWN + 1][N_COLUMNS];

/** Which superblock it is, in which lane, and of a chain for which launch: "3 (launch 2, jacobi)".
 */
static void fill_number(pti_text *cell, const polytile_plan *plan, int64_t number,
                        const pti_op *op) {
    pti_text_add(cell, "%s", pti_words_number(number).text);
    if (has_lanes(plan))
        pti_text_add(cell, " (lane %d)", op->lane);
    if (plan->chain != NULL)
        pti_text_add(cell, " (launch %d, %s)", pti_plan_shown(plan->chain)->first + op->launch,
                     plan->schedule->launch[op->launch].call.instance->kernel_name);
}

/** Write what operations of one kind move for a superblock: "A 4 KiB, B 512 B". */
static void fill_moved(pti_text *cell, const pti_schedule *schedule, pti_op_kind kind,
                       int64_t superblock) {
    int n_operands = schedule->instance->n_operands;
    int64_t *n_bytes = calloc((size_t)n_operands + 1, sizeof *n_bytes);
    cell->failed |= n_bytes == NULL;
    for (int64_t k = 0; k < schedule->n_ops && n_bytes != NULL; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind == kind && op->superblock == superblock)
            n_bytes[schedule->placement[op->placement].operand] += op->bytes;
    }
    for (int k = 0; k < n_operands && n_bytes != NULL; k++)
        if (n_bytes[k] > 0)
            pti_text_add(cell, "%s%s %s", cell->length == 0 ? "" : ", ",
                         schedule->instance->operand[k].name, pti_words_size(n_bytes[k]).text);
    if (cell->length == 0)
        pti_text_add(cell, "-");
    free(n_bytes);
}

static void fill_row(pti_text row[N_COLUMNS], const polytile_plan *plan, int64_t number,
                     const pti_op *launch) {
    const pti_schedule *schedule = plan->schedule;
    int64_t n_bytes = pti_superblock_device_bytes(schedule, launch->superblock);
    fill_number(&row[0], plan, number, launch);
    const polytile_domain threads = pti_schedule_asked_superblock(schedule, launch->superblock);
    pti_box_write(&row[1], &threads);
    pti_text_add(&row[2], "%s", pti_words_size(n_bytes).text);
    fill_moved(&row[3], schedule, PTI_UPLOAD, launch->superblock);
    fill_moved(&row[4], schedule, PTI_DOWNLOAD, launch->superblock);
}

static int column_width(table cells, int n_rows, int column) {
    size_t width = 0;
    for (int r = 0; r < n_rows; r++)
        if (cells[r][column].length > width)
            width = cells[r][column].length;
    return (int)width;
}

/** Write a table, and free its cells. */
static void write_table(pti_text *text, table cells, int n_rows) {
    int widths[N_COLUMNS];
    for (int c = 0; c < N_COLUMNS; c++)
        widths[c] = c + 1 < N_COLUMNS ? column_width(cells, n_rows, c) : 0;
    for (int r = 0; r < n_rows; r++) {
        pti_text_add(text, " ");
        for (int c = 0; c < N_COLUMNS; c++) {
            text->failed |= cells[r][c].failed;
            pti_text_add(text, " %-*s ", widths[c], text->failed ? "" : cells[r][c].data);
            pti_text_free(&cells[r][c]);
        }
        while (!text->failed && text->data[text->length - 1] == ' ')
            text->data[--text->length] = '\0';
        pti_text_add(text, "\n");
    }
}

/** Return the number of a superblock of the list in run order, with all turns of a period before
 * it. */
static int64_t number_in_run(const pti_period *period, int64_t listed) {
    const bool is_after = period->times > 0 && listed >= period->first_kernel + period->n_kernels;
    return listed + (is_after ? (period->times - 1) * period->n_kernels : 0);
}

static void add_superblock_table(pti_text *text, const polytile_plan *plan) {
    static const char *const heads[N_COLUMNS] = {"#", "threads", "on device", "uploads",
                                                 "downloads"};
    const pti_op *shown[N_SHOWN];
    int n_shown = list_shown_launches(plan->schedule, shown);
    table cells = {0};
    for (int c = 0; c < N_COLUMNS; c++)
        pti_text_add(&cells[0][c], "%s", heads[c]);
    for (int r = 0; r < n_shown; r++)
        fill_row(cells[r + 1], plan, number_in_run(&plan->schedule->period, r), shown[r]);
    write_table(text, cells, n_shown + 1);
    if (n_shown < plan->summary.n_kernels)
        pti_text_add(text, "  ... and %s\n",
                     pti_words_count(plan->summary.n_kernels - n_shown, "more superblock").text);
}

void pti_plan_write_text(pti_text *text, const pti_object *object) {
    const polytile_plan *plan = (const polytile_plan *)object;
    add_title(text, plan);
    add_arrays(text, plan);
    add_limit(text, plan);
    add_strategy(text, plan);
    if (plan->chain != NULL)
        add_chain_rows(text, plan);
    add_shape(text, plan);
    if (!plan->schedule->in_place)
        add_moved(text, plan);
    pti_text_add(text, PTI_ROW "%s\n\n", "planned in",
                 pti_words_seconds(plan->summary.plan_seconds).text);
    add_superblock_table(text, plan);
}
