#include "partition/show/picture_chain.h"

#include "base/checked.h"

#include <stdlib.h>

enum { MOST_PASS_LINES = 20, MOST_SLABS = 12, SLABS_AFTER_LEAN = 8, MOST_LEAN = 40 };

static const pti_interleaving_pass *first_pass(const pti_chain_picture *picture) {
    return &picture->interleaving->pass[0];
}

/** Draw a pass: all of its launches, or some at even distances with the first and the last. */
static void add_pass(pti_chain_picture *picture, const pti_interleaving_pass *pass) {
    int n = pass->end - pass->first, n_drawn = (int)pti_min(n, MOST_PASS_LINES);
    for (int k = 0; k < n_drawn; k++) {
        int64_t at = n_drawn == 1 ? 0 : (int64_t)k * (n - 1) / (n_drawn - 1);
        picture->line[picture->n_lines++] = pass->first + (int)at;
    }
    picture->n_passes++;
}

static void choose_pass_lines(pti_chain_picture *picture) {
    for (int p = 0; p < picture->interleaving->n_passes; p++) {
        const pti_interleaving_pass *pass = &picture->interleaving->pass[p];
        int64_t n = pti_min(pass->end - pass->first, MOST_PASS_LINES);
        if (picture->n_lines + n > PTI_CHAIN_MOST_LINES)
            return;
        add_pass(picture, pass);
    }
}

/** So many slabs that the last launch of the first pass has had some. */
static void choose_slabs(pti_chain_picture *picture) {
    const pti_interleaving_pass *pass = first_pass(picture);
    const pti_schedule_launch *last = &picture->schedule->launch[pass->end - 1];
    int64_t lean =
        last->n_superblocks > 0 ? picture->interleaving->slab_of[last->first_superblock] : 0;
    int64_t most = pti_max(MOST_SLABS, pti_min(lean, MOST_LEAN) + SLABS_AFTER_LEAN);
    picture->n_slabs = 0;
    for (int p = 0; p < picture->n_passes; p++)
        picture->n_slabs = pti_max(picture->n_slabs, picture->interleaving->pass[p].n_slabs);
    picture->n_slabs = pti_min(picture->n_slabs, most);
}

static void extend_rows(polytile_range *rows, polytile_range added) {
    bool is_empty = rows->lo > rows->hi;
    rows->lo = is_empty ? added.lo : pti_min(rows->lo, added.lo);
    rows->hi = is_empty ? added.hi : pti_max(rows->hi, added.hi);
}

/** Return whether the first pass has more slabs than are drawn. */
static bool is_drawn_in_part(const pti_chain_picture *picture) {
    return first_pass(picture)->n_slabs > picture->n_slabs;
}

/** Choose the threads that are drawn: slabs of the first pass if it is not drawn whole, else
 * all. */
static void choose_drawn_threads(pti_chain_picture *picture) {
    picture->rows = (polytile_range){0, -1, 1};
    for (int k = 0; k < picture->n_lines; k++) {
        int l = picture->line[k];
        const pti_schedule_launch *launch = &picture->schedule->launch[l];
        int64_t end = launch->first_superblock + launch->n_superblocks;
        for (int64_t s = launch->first_superblock; s < end; s++) {
            if (!is_drawn_in_part(picture) ||
                (picture->interleaving->pass_of[l] == 0 &&
                 picture->interleaving->slab_of[s] < picture->n_slabs))
                extend_rows(&picture->rows,
                            picture->schedule->superblock[s].range[picture->interleaving->axis[l]]);
        }
    }
}

int pti_chain_array_axis(const pti_chain_picture *picture, int array) {
    int axis = -1;
    for (int k = 0; k < picture->n_lines && axis < 0; k++)
        axis = pti_interleaving_array_axis(picture->schedule, picture->interleaving,
                                           picture->line[k], array);
    return axis;
}

/** Take in the few rows of arrays around the threads that none of these is at. */
static void choose_rows(pti_chain_picture *picture) {
    enum { SHARE = 16 };
    choose_drawn_threads(picture);
    polytile_range all = picture->rows;
    int64_t around = (all.hi - all.lo) / SHARE + 1;
    for (int a = 0; a < picture->schedule->instance->n_operands; a++) {
        int axis = pti_chain_array_axis(picture, a);
        if (axis < 0)
            continue;
        polytile_range rows = picture->schedule->instance->operand[a].domain.range[axis];
        rows.lo = pti_max(rows.lo, all.lo - around);
        rows.hi = pti_min(rows.hi, is_drawn_in_part(picture) ? all.hi : all.hi + around);
        if (rows.lo <= rows.hi)
            extend_rows(&picture->rows, rows);
    }
}

/** Return whether an operation belongs to the first pass; some at the end belong to no launch. */
static bool is_in_first_pass(const pti_chain_picture *picture, const pti_op *op) {
    return op->launch < picture->schedule->n_launches &&
           op->superblock < picture->schedule->n_superblocks &&
           picture->interleaving->pass_of[op->launch] == 0;
}

bool pti_chain_is_chosen(const pti_chain_picture *picture, const pti_op *op) {
    return is_in_first_pass(picture, op) &&
           picture->interleaving->slab_of[op->superblock] == picture->slab;
}

/** What operations for one drawn slab there are. */
typedef struct tally {
    bool has_kind[PTI_DOWNLOAD + 1];
    int64_t n_superblocks;
} tally;

/** Return how much a slab shows: kinds of moves above all, then superblocks of launches, then a
 * place in the middle. */
static int64_t merit_of(const pti_chain_picture *picture, int64_t slab, const tally *of) {
    int64_t n_kinds = 0, n_launches = picture->schedule->n_launches;
    for (int kind = PTI_UPLOAD; kind <= PTI_DOWNLOAD; kind++)
        n_kinds += kind != PTI_LAUNCH && of->has_kind[kind];
    return (n_kinds * (n_launches + 1) + pti_min(of->n_superblocks, n_launches)) * 2 *
               picture->n_slabs -
           llabs(2 * slab - picture->n_slabs + 1);
}

/** Choose the slab whose moves are drawn. */
static void choose_slab(pti_chain_picture *picture) {
    const pti_schedule *schedule = picture->schedule;
    tally of[MOST_LEAN + SLABS_AFTER_LEAN] = {0};
    int64_t best = INT64_MIN, n_slabs = pti_min(picture->n_slabs, first_pass(picture)->n_slabs);
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (!is_in_first_pass(picture, op) ||
            picture->interleaving->slab_of[op->superblock] >= n_slabs)
            continue;
        int64_t slab = picture->interleaving->slab_of[op->superblock];
        of[slab].has_kind[op->kind] = true;
        of[slab].n_superblocks += op->kind == PTI_LAUNCH;
    }
    for (int64_t k = 0; k < n_slabs; k++) {
        int64_t merit = merit_of(picture, k, &of[k]);
        if (merit > best) {
            best = merit;
            picture->slab = k;
        }
    }
}

void pti_chain_picture_choose(pti_chain_picture *picture) {
    choose_pass_lines(picture);
    choose_slabs(picture);
    choose_rows(picture);
    choose_slab(picture);
}

bool pti_chain_place(const pti_chain_picture *picture, polytile_range rows, pti_svg_box *at) {
    polytile_range all = picture->rows;
    double scale = picture->width / ((double)all.hi - (double)all.lo + 1);
    int64_t lo = pti_max(rows.lo, all.lo), hi = pti_min(rows.hi, all.hi);
    at->x = picture->x + ((double)lo - (double)all.lo) * scale;
    at->width = ((double)hi - (double)lo + 1) * scale;
    if (at->width < 1)
        at->width = 1;
    return lo <= hi;
}

pti_words pti_chain_colour(const pti_chain_picture *picture, int64_t slab) {
    enum { PERIOD = 8 };
    int64_t n = picture->n_slabs <= MOST_SLABS ? pti_max(picture->n_slabs, 2) : PERIOD;
    return pti_svg_order_colour((double)(slab % n), n);
}
