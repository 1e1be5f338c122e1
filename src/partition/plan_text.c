#include "base/checked.h"
#include "base/text.h"
#include "partition/plan.h"
#include "partition/plan_words.h"
#include <polytile/size.h>

#include <stdlib.h>
#include <string.h>

/* The text of a plan: its figures, one a line, and the first superblocks as a table. */

enum { N_SHOWN = 6, N_COLUMNS = 5 };

static void add_bytes(pti_text *text, int64_t bytes) {
    char buffer[32];
    pti_text_add(text, "%s", polytile_size_format(bytes, buffer));
}

static void add_label(pti_text *text, const char *label) {
    pti_text_add(text, "  %-13s", label);
}

static void add_title(pti_text *text, const polytile_plan *plan) {
    double threads = pti_box_volume(&plan->instance->threads);
    pti_text_add(text, "%s over ", plan->summary.kernel);
    pti_words_box(text, &plan->instance->threads);
    pti_text_add(text, ": ");
    pti_words_count(text, threads < 9e18 ? (int64_t)threads : INT64_MAX, "thread");
    pti_text_add(text, "\n");
}

static void add_arrays(pti_text *text, const pti_instance *instance) {
    for (int k = 0; k < instance->n_operands; k++) {
        const pti_operand *of = &instance->operand[k];
        pti_text_add(text, "  %s", of->name);
        pti_words_box(text, &of->domain);
        pti_text_add(text, " ");
        pti_words_type(text, of->type);
        pti_text_add(text, ", ");
        pti_words_roles(text, instance, k);
        pti_text_add(text, ", ");
        add_bytes(text, (int64_t)(pti_box_volume(&of->domain) * (double)of->element_bytes));
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

static void add_moved(pti_text *text, const polytile_plan_summary *s) {
    add_label(text, "to device");
    add_bytes(text, s->h2d_bytes);
    pti_text_add(text, "\n");
    add_label(text, "from device");
    add_bytes(text, s->d2h_bytes);
    pti_text_add(text, "\n");
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

/** The bytes that operations of one kind move for the first superblocks: [superblock * n_operands +
 * operand]. */
static void sum_bytes(const pti_schedule *schedule, pti_op_kind kind, int64_t n_shown,
                      int64_t *bytes) {
    int n_operands = schedule->instance->n_operands;
    memset(bytes, 0, (size_t)(n_shown * n_operands) * sizeof *bytes);
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++)
        if (op->kind == kind && op->superblock < n_shown)
            bytes[op->superblock * n_operands + schedule->placement[op->placement].operand] +=
                op->bytes;
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

static void fill_row(table *t, const pti_schedule *schedule, int64_t superblock,
                     const int64_t *uploads, const int64_t *downloads) {
    pti_text *row = t->cell[t->n_rows++];
    pti_text_add(&row[0], "%lld", (long long)superblock);
    pti_words_box(&row[1], &schedule->superblock[superblock]);
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

static void add_superblocks(pti_text *text, const pti_schedule *schedule) {
    int n_operands = schedule->instance->n_operands;
    int64_t n_shown = pti_min(schedule->n_superblocks, N_SHOWN);
    size_t n = (size_t)(n_shown * n_operands);
    int64_t *bytes = calloc(2 * n + 1, sizeof *bytes);
    table t = {0};
    if (bytes == NULL) {
        text->failed = true;
        return;
    }
    sum_bytes(schedule, PTI_UPLOAD, n_shown, bytes);
    sum_bytes(schedule, PTI_DOWNLOAD, n_shown, bytes + n);
    fill_head(&t);
    for (int64_t k = 0; k < n_shown; k++)
        fill_row(&t, schedule, k, bytes + k * n_operands, bytes + n + (size_t)(k * n_operands));
    add_table(text, &t);
    if (n_shown < schedule->n_superblocks) {
        pti_text_add(text, "  ... and ");
        pti_words_count(text, schedule->n_superblocks - n_shown, "more superblock");
        pti_text_add(text, "\n");
    }
    free_table(&t);
    free(bytes);
}

polytile_status pti_plan_to_text(const polytile_plan *plan, char **text) {
    pti_text out = {0};
    add_title(&out, plan);
    add_arrays(&out, plan->instance);
    add_limit(&out, plan);
    add_overshoot(&out, plan);
    add_strategy(&out, &plan->summary);
    add_shape(&out, plan);
    if (!plan->schedule->in_place) {
        add_moved(&out, &plan->summary);
        add_time(&out, "predicted", plan->summary.predicted_seconds);
    }
    add_time(&out, "planned in", plan->summary.plan_seconds);
    pti_text_add(&out, "\n");
    add_superblocks(&out, plan->schedule);
    if (!out.failed) {
        *text = out.data;
        return POLYTILE_OK;
    }
    pti_text_free(&out);
    return pti_fail_memory(plan->object.context, "the text of a plan", 4096);
}
