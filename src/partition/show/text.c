#include "base/text.h"
#include "base/checked.h"
#include "partition/show/words.h"
#include "partition/window/plan.h"
#include <polytile/size.h>

#include <stdlib.h>
#include <string.h>

/* The text of a plan: its figures, one a line, and the first superblocks as a table. */

enum { N_SHOWN = 6, N_COLUMNS = 5, N_TOLD = 8 };

static void add_bytes(pti_text *text, int64_t bytes) {
    char buffer[32];
    pti_text_add(text, "%s", polytile_size_format(bytes, buffer));
}

static void add_label(pti_text *text, const char *label) {
    pti_text_add(text, "  %-13s", label);
}

static void add_title(pti_text *text, const polytile_plan *plan) {
    pti_text_add(text, "%s over ", plan->summary.kernel);
    pti_box_write(text, &plan->instance->threads);
    pti_text_add(text, ": ");
    pti_words_count(text, pti_box_count(&plan->instance->threads), "thread");
    if (plan->chain != NULL) {
        pti_text_add(text, ", one of %d launch%s", plan->summary.n_launches,
                     plan->summary.n_launches == 1 ? "" : "es");
    }
    pti_text_add(text, "\n");
}

static void add_arrays(pti_text *text, const polytile_plan *plan) {
    for (int k = 0; k < plan->instance->n_operands; k++) {
        const pti_operand *of = &plan->instance->operand[k];
        pti_text_add(text, "  %s", of->name);
        pti_box_write(text, &of->domain);
        pti_text_add(text, " ");
        pti_words_type(text, of->type);
        pti_text_add(text, ", ");
        pti_words_array_roles(text, plan, k);
        pti_text_add(text, ", ");
        add_bytes(text, (int64_t)((double)pti_box_count(&of->domain) * (double)of->element_bytes));
        pti_text_add(text, "\n");
    }
    pti_text_add(text, "\n");
}

static void add_limit(pti_text *text, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    add_label(text, "limit");
    if (s->limit_bytes == 0) {
        pti_text_add(text, "none%s\n",
                     plan->schedule->in_place ? ": the kernel runs in place, nothing moves" : "");
        return;
    }
    add_bytes(text, s->limit_bytes);
    pti_text_add(text, "\n");
    add_label(text, "peak");
    add_bytes(text, s->peak_device_bytes);
    pti_text_add(text, ", %.1f%% of the limit\n",
                 100.0 * (double)s->peak_device_bytes / (double)s->limit_bytes);
}

static void add_overshoot(pti_text *text, const polytile_plan *plan) {
    if (plan->paper_overshoot_bytes <= 0)
        return;
    add_label(text, "overshoot");
    add_bytes(text, plan->paper_overshoot_bytes);
    pti_text_add(text, " over the limit by the paper's own equations; this plan was corrected\n");
}

static void add_strategy(pti_text *text, const polytile_plan_summary *s) {
    add_label(text, "strategy");
    pti_text_add(text, "%s, %d buffer%s\n", s->strategy, s->n_buffers,
                 s->n_buffers == 1 ? "" : "s");
}

/** The threads of the largest superblock along one dimension, which the domain may cut short. */
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

static void add_shape(pti_text *text, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    char count[32];
    int64_t threads[POLYTILE_MAX_DIMS];
    for (int d = 0; d < s->n_dims; d++)
        threads[d] = superblock_threads(plan, d);
    add_label(text, "block");
    pti_words_extents(text, s->n_dims, s->block);
    pti_text_add(text, " threads\n");
    add_label(text, "grid");
    pti_words_blocks(text, s->n_dims, s->grid_blocks);
    pti_text_add(text, "\n");
    add_label(text, "superblock");
    pti_words_blocks(text, s->n_dims, s->superblock_blocks);
    pti_text_add(text, ", ");
    pti_words_extents(text, s->n_dims, threads);
    pti_text_add(text, " threads\n");
    add_label(text, "kernels");
    pti_text_add(text, "%s\n", pti_count_format(s->n_kernels, count));
}

static void add_slabs(pti_text *text, const pti_portion *turns) {
    char count[32];
    add_label(text, "slab");
    pti_words_count(text, turns->shape.slab, "thread");
    pti_text_add(text, " of %s%s", pti_words_slab_index(turns),
                 turns->shape.abreast ? ", two slabs at once" : "");
    if (turns->shape.n_per_lap > 0)
        pti_text_add(text, "; after %s of them what stays is copied on",
                     pti_count_format(turns->shape.n_per_lap, count));
    pti_text_add(text, "\n");
}

static void add_passes(pti_text *text, const polytile_plan_summary *s) {
    char count[32];
    bool is_one = s->n_passes == 1;
    pti_text_add(text, "; %s pass%s over the data, of %s%lld\n",
                 pti_count_format(s->n_passes, count), is_one ? "" : "es",
                 is_one || s->launches_per_pass == 1 ? "" : "up to ",
                 (long long)s->launches_per_pass);
}

/** One portion of the launches: whether they take turns, and what ends or keeps them. */
static void add_portion(pti_text *text, const pti_plan_chain *chain, const pti_plan_portion *of) {
    char count[32];
    add_label(text, of->portion.n_launches > 0 ? "chain" : "not fused");
    if (of->told.length > 0)
        pti_text_add(text, "%s", of->told.data);
    else
        pti_text_add(text, "launches %d to %d of %d take turns", of->first + 1,
                     of->first + of->portion.n_launches, chain->launches.n_launches);
    if (of->n_times > 1)
        pti_text_add(text, "; %s more like that", pti_count_format(of->n_times - 1, count));
    pti_text_add(text, "\n");
}

static bool is_worth_telling(const pti_plan_chain *chain, const pti_plan_portion *of) {
    return of->told.length > 0 || (chain->n_portions > 1 && of->portion.n_launches > 0);
}

/** The first portions that there is something to say of. */
static void add_portions(pti_text *text, const pti_plan_chain *chain) {
    int n_told = 0;
    for (int p = 0; p < chain->n_portions; p++) {
        if (!is_worth_telling(chain, &chain->portion[p]))
            continue;
        if (++n_told <= N_TOLD)
            add_portion(text, chain, &chain->portion[p]);
    }
    if (n_told > N_TOLD) {
        add_label(text, "");
        pti_text_add(text, "... and ");
        pti_words_count(text, n_told - N_TOLD, "more portion");
        pti_text_add(text, "\n");
    }
}

/** How the launches of a chain follow one another. */
static void add_chain(pti_text *text, const polytile_plan *plan) {
    const pti_plan_chain *chain = plan->chain;
    if (chain == NULL)
        return;
    const pti_portion *turns = pti_plan_turns(chain, pti_plan_shown(chain));
    add_label(text, "launches");
    pti_text_add(text, "%d of ", plan->summary.n_launches);
    pti_words_kernels(text, &chain->launches);
    add_passes(text, &plan->summary);
    add_portions(text, chain);
    if (turns != NULL)
        add_slabs(text, turns);
    if (chain->apart.length == 0)
        return;
    add_label(text, "not fused");
    pti_text_add(text, "%s\n", chain->apart.data);
}

/** How a chain's bytes compare with those of launches that are planned one by one. */
static void add_singly(pti_text *text, const polytile_plan *plan) {
    if (plan->chain == NULL || plan->chain->alone_bytes == 0)
        return;
    double moved = (double)plan->summary.h2d_bytes + (double)plan->summary.d2h_bytes;
    add_label(text, "one by one");
    add_bytes(text, plan->chain->alone_bytes);
    pti_text_add(text, " at least, each launch by itself; this plan moves %.4f times that\n",
                 moved / (double)plan->chain->alone_bytes);
}

static void add_moved(pti_text *text, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    add_label(text, "to device");
    add_bytes(text, s->h2d_bytes);
    pti_text_add(text, "\n");
    add_label(text, "from device");
    add_bytes(text, s->d2h_bytes);
    pti_text_add(text, "\n");
    add_singly(text, plan);
    if (s->lower_bound_bytes == 0)
        return;
    add_label(text, "lower bound");
    add_bytes(text, s->lower_bound_bytes);
    pti_text_add(text, " both ways; this plan moves ");
    pti_words_ratio(text, s);
    pti_text_add(text, " times that\n");
    if (s->bound_bytes == 0)
        return;
    add_label(text, "uploads");
    pti_words_bound(text, s);
    pti_text_add(text, "\n");
}

static void add_time(pti_text *text, const char *label, double seconds) {
    add_label(text, label);
    pti_words_seconds(text, seconds);
    pti_text_add(text, "\n");
}

/** The superblocks that the table shows: the first in run order, and for which launches they are.
 */
typedef struct shown {
    int n;
    int64_t superblock[N_SHOWN];
    int launch[N_SHOWN];
} shown;

static shown find_shown(const pti_schedule *schedule) {
    shown found = {0};
    for (int64_t k = 0; k < schedule->n_ops && found.n < N_SHOWN; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind != PTI_LAUNCH)
            continue;
        found.superblock[found.n] = op->superblock;
        found.launch[found.n++] = op->launch;
    }
    return found;
}

/** The bytes that operations of one kind move for superblocks that are shown: [row * n_operands +
 * operand]. */
static void sum_bytes(const pti_schedule *schedule, pti_op_kind kind, const shown *rows,
                      int64_t *bytes) {
    int n_operands = schedule->instance->n_operands;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++)
        for (int r = 0; r < rows->n && op->kind == kind; r++)
            if (op->superblock == rows->superblock[r])
                bytes[r * n_operands + schedule->placement[op->placement].operand] += op->bytes;
}

static void add_shares(pti_text *cell, const pti_instance *instance, const int64_t *bytes) {
    for (int k = 0; k < instance->n_operands; k++) {
        if (bytes[k] == 0)
            continue;
        pti_text_add(cell, "%s%s ", cell->length == 0 ? "" : ", ", instance->operand[k].name);
        add_bytes(cell, bytes[k]);
    }
    if (cell->length == 0)
        pti_text_add(cell, "-");
}

typedef struct table {
    int n_rows;
    pti_text cell[N_SHOWN + 1][N_COLUMNS];
} table;

static void fill_head(table *t) {
    static const char *const heads[N_COLUMNS] = {"#", "threads", "on device", "uploads",
                                                 "downloads"};
    for (int c = 0; c < N_COLUMNS; c++)
        pti_text_add(&t->cell[0][c], "%s", heads[c]);
    t->n_rows = 1;
}

/** Which superblock it is, and of a chain for which launch: "3 (launch 2, jacobi)". */
static void add_number(pti_text *cell, const polytile_plan *plan, const shown *rows, int r) {
    pti_text_add(cell, "%d", r);
    if (plan->chain != NULL)
        pti_text_add(cell, " (launch %d, %s)", pti_plan_shown(plan->chain)->first + rows->launch[r],
                     plan->schedule->launch[rows->launch[r]].instance->kernel_name);
}

static void fill_row(table *t, const polytile_plan *plan, const shown *rows, int r,
                     const int64_t *uploads, const int64_t *downloads) {
    const pti_schedule *schedule = plan->schedule;
    int64_t superblock = rows->superblock[r];
    pti_text *row = t->cell[t->n_rows++];
    add_number(&row[0], plan, rows, r);
    pti_box_write(&row[1], &schedule->superblock[superblock]);
    add_bytes(&row[2], pti_superblock_device_bytes(schedule, superblock));
    add_shares(&row[3], schedule->instance, uploads);
    add_shares(&row[4], schedule->instance, downloads);
}

static size_t column_width(const table *t, int column) {
    size_t width = 0;
    for (int r = 0; r < t->n_rows; r++)
        if (t->cell[r][column].length > width)
            width = t->cell[r][column].length;
    return width;
}

static void add_table(pti_text *text, const table *t) {
    for (int r = 0; r < t->n_rows; r++) {
        pti_text_add(text, " ");
        for (int c = 0; c < N_COLUMNS; c++) {
            int width = c + 1 < N_COLUMNS ? (int)column_width(t, c) : 0;
            text->failed |= t->cell[r][c].failed;
            pti_text_add(text, " %-*s ", width, text->failed ? "" : t->cell[r][c].data);
        }
        while (!text->failed && text->data[text->length - 1] == ' ')
            text->data[--text->length] = '\0';
        pti_text_add(text, "\n");
    }
}

static void free_table(table *t) {
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < N_COLUMNS; c++)
            pti_text_free(&t->cell[r][c]);
}

static void add_superblocks(pti_text *text, const polytile_plan *plan) {
    const pti_schedule *schedule = plan->schedule;
    int n_operands = schedule->instance->n_operands;
    shown rows = find_shown(schedule);
    size_t n = (size_t)rows.n * (size_t)n_operands;
    int64_t *bytes = calloc(2 * n + 1, sizeof *bytes);
    table t = {0};
    if (bytes == NULL) {
        text->failed = true;
        return;
    }
    sum_bytes(schedule, PTI_UPLOAD, &rows, bytes);
    sum_bytes(schedule, PTI_DOWNLOAD, &rows, bytes + n);
    fill_head(&t);
    for (int r = 0; r < rows.n; r++)
        fill_row(&t, plan, &rows, r, bytes + r * n_operands, bytes + n + r * n_operands);
    add_table(text, &t);
    if (rows.n < plan->summary.n_kernels) {
        pti_text_add(text, "  ... and ");
        pti_words_count(text, plan->summary.n_kernels - rows.n, "more superblock");
        pti_text_add(text, "\n");
    }
    free_table(&t);
    free(bytes);
}

polytile_status pti_plan_to_text(const polytile_plan *plan, char **text) {
    pti_text out = {0};
    add_title(&out, plan);
    add_arrays(&out, plan);
    add_limit(&out, plan);
    add_overshoot(&out, plan);
    add_strategy(&out, &plan->summary);
    add_chain(&out, plan);
    add_shape(&out, plan);
    if (!plan->schedule->in_place) {
        add_moved(&out, plan);
        add_time(&out, "predicted", plan->summary.predicted_seconds);
    }
    add_time(&out, "planned in", plan->summary.plan_seconds);
    pti_text_add(&out, "\n");
    add_superblocks(&out, plan);
    if (!out.failed) {
        *text = out.data;
        return POLYTILE_OK;
    }
    pti_text_free(&out);
    return pti_fail_memory(plan->object.context, "the text of a plan", PTI_UNKNOWN_BYTES);
}
