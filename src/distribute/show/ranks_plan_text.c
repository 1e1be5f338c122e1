#include "distribute/show/ranks_plan.h"

#include "access/set/boxes.h"
#include "base/text.h"
#include "partition/show/words.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <stdlib.h>

/* The text of a plan of ranks: the outer partition as a table, and the plan of the busiest rank. */

enum { MOST_ROWS = 32, MOST_NEIGHBOURS = 8 };

static void add_size(pti_text *text, int width, int64_t n_bytes) {
    char buffer[32];
    pti_text_add(text, "%*s", width, polytile_size_format(n_bytes, buffer));
}

static void add_grid(pti_text *text, const pti_member_grid *grid) {
    for (int d = 0; d < grid->n_dims; d++)
        pti_text_add(text, "%s%d", d == 0 ? "" : "x", grid->extent[d]);
}

static void add_title(pti_text *text, const polytile_ranks_plan *plan) {
    pti_words_kernels(text, &plan->launches);
    pti_text_add(text, " over ");
    pti_words_count(text, plan->outer.n_members, "rank");
    pti_text_add(text, ", ");
    add_grid(text, &plan->outer.grid);
    pti_text_add(text, ", %s\n", plan->layout);
    for (int a = 0; a < plan->outer.n_arrays; a++) {
        const pti_operand *array = &plan->launches.arrays->operand[a];
        pti_text_add(text, "  %s", array->name);
        pti_box_write(text, &array->domain);
        pti_text_add(text, " ");
        pti_words_type(text, array->type);
        pti_text_add(text, ", cut ");
        add_grid(text, &plan->outer.ownerships[a].grid);
        pti_text_add(text, "\n");
    }
}

static void add_exchanges(pti_text *text, const polytile_ranks_plan *plan) {
    const pti_outer_plan *outer = &plan->outer;
    pti_text_add(text, "\n  exchanges    ");
    add_size(text, 0, outer->exchanged_bytes);
    pti_text_add(text, " from rank to rank");
    if (outer->n_launches > 1) {
        pti_text_add(text, " in ");
        pti_words_count(text, outer->n_groups, "exchange");
        pti_text_add(text, ", before up to %d of %d launches each", outer->n_longest,
                     outer->n_launches);
    }
    if (outer->combined_bytes > 0) {
        pti_text_add(text, "\n  combined     ");
        add_size(text, 0, outer->combined_bytes);
        pti_text_add(text, " across all ranks");
    }
    pti_text_add(text, "\n\n");
}

/* The threads of the first launch: their box, or how many boxes they are. */
static void add_threads(pti_text *text, const pti_boxes *threads, int n_indices) {
    pti_text words = {0};
    polytile_domain box = pti_boxes_enclose(threads, n_indices);
    if (threads->n_boxes == 0 || pti_box_is_empty(&box))
        pti_text_add(&words, "none");
    else
        pti_box_write(&words, &box);
    if (threads->n_boxes > 1)
        pti_text_add(&words, " in %d boxes", threads->n_boxes);
    pti_text_add(text, "  %-30s", words.failed ? "" : words.data);
    text->failed = text->failed || words.failed;
    pti_text_free(&words);
}

static void add_figures(pti_text *text, const pti_rank_figures *figures) {
    if (!figures->is_known) {
        pti_text_add(text, " %8s %11s %11s", "-", "-", "-");
        return;
    }
    pti_text_add(text, " %8" PRId64, figures->n_kernels);
    add_size(text, 12, figures->h2d_bytes);
    add_size(text, 12, figures->d2h_bytes);
}

/* What comes from each neighbour; a sender's flows follow one another. */
static void add_senders(pti_text *text, const pti_outer_plan *outer, int rank) {
    int n_senders = 0;
    for (int f = 0; f < outer->n_flows; f++) {
        const pti_outer_flow *flow = &outer->flow[f];
        int64_t n_bytes = flow->n_bytes;
        if (flow->to != rank)
            continue;
        while (f + 1 < outer->n_flows && outer->flow[f + 1].to == rank &&
               outer->flow[f + 1].from == flow->from)
            n_bytes += outer->flow[++f].n_bytes;
        if (++n_senders > MOST_NEIGHBOURS)
            continue;
        pti_text_add(text, "%s%d: ", n_senders == 1 ? "" : ", ", flow->from);
        add_size(text, 0, n_bytes);
    }
    if (n_senders > MOST_NEIGHBOURS)
        pti_text_add(text, ", ... %d more", n_senders - MOST_NEIGHBOURS);
    if (n_senders == 0)
        pti_text_add(text, "-");
}

static void add_rank(pti_text *text, const polytile_ranks_plan *plan, int rank) {
    const pti_outer_member *member = &plan->outer.member[rank];
    pti_text_add(text, "  %4d", rank);
    add_threads(text, &member->threads, plan->shared[0].instance->n_indices);
    add_size(text, 11, member->owned_bytes);
    add_size(text, 12, member->sent_bytes);
    add_size(text, 12, member->received_bytes);
    pti_text_add(text, " %8d", member->n_messages);
    add_figures(text, &plan->figures[rank]);
    pti_text_add(text, "  ");
    add_senders(text, &plan->outer, rank);
    pti_text_add(text, "\n");
}

static void add_table(pti_text *text, const polytile_ranks_plan *plan) {
    int n_ranks = plan->outer.n_members;
    pti_text_add(text, "  %4s  %-30s%11s%12s%12s %8s %8s%12s%12s  %s\n", "rank", "threads", "owned",
                 "sent", "received", "messages", "kernels", "to device", "from device", "from");
    for (int q = 0; q < n_ranks && q < MOST_ROWS; q++)
        add_rank(text, plan, q);
    if (n_ranks > MOST_ROWS) {
        pti_text_add(text, "  ... and ");
        pti_words_count(text, n_ranks - MOST_ROWS, "more rank");
        pti_text_add(text, "\n");
    }
}

/* The most that any rank has on its device, beside the limit that each of them has. */
static void add_peak(pti_text *text, const polytile_ranks_plan *plan) {
    int largest = pti_ranks_with_largest_peak(plan);
    polytile_plan_summary inner;
    polytile_plan_get_summary(plan->inner, &inner);
    if (inner.limit_bytes == 0)
        return;
    pti_text_add(text, "  peak ");
    add_size(text, 0, plan->figures[largest].peak_device_bytes);
    pti_text_add(text, " on rank %d, the most of all; the limit of each is ", largest);
    add_size(text, 0, inner.limit_bytes);
    pti_text_add(text, "\n");
}

static void add_notes(pti_text *text, const polytile_ranks_plan *plan) {
    polytile_ranks_summary summary;
    polytile_ranks_plan_get_summary(plan, &summary);
    add_peak(text, plan);
    if (plan->outer.n_groups > 1)
        pti_text_add(text, "  kernels, to device and from device are those until the second "
                           "exchange\n");
    if (summary.n_repeated_threads == 0)
        return;
    pti_text_add(text, "  ");
    pti_words_count(text, summary.n_threads, "thread");
    pti_text_add(text, " in all, %.2f%% of them on a second rank, too\n",
                 100.0 * (double)summary.n_repeated_threads / (double)summary.n_threads);
}

static polytile_status add_inner(pti_text *text, const polytile_ranks_plan *plan) {
    char *inner;
    polytile_status status = pti_plan_to_text(plan->inner, &inner);
    if (status != POLYTILE_OK)
        return status;
    pti_text_add(text, "\nRank %d, which has the most to do", plan->outer.busiest);
    if (plan->outer.n_groups > 1)
        pti_text_add(text, ", until the second exchange");
    pti_text_add(text, ":\n\n%s", inner);
    free(inner);
    return POLYTILE_OK;
}

polytile_status pti_ranks_to_text(const polytile_ranks_plan *plan, char **text) {
    pti_text out = {0};
    add_title(&out, plan);
    add_exchanges(&out, plan);
    add_table(&out, plan);
    add_notes(&out, plan);
    polytile_status status = add_inner(&out, plan);
    if (status == POLYTILE_OK && out.failed)
        status = pti_fail_memory(plan->object.context, "the text of a plan", PTI_UNKNOWN_BYTES);
    if (status != POLYTILE_OK) {
        pti_text_free(&out);
        return status;
    }
    *text = out.data;
    return POLYTILE_OK;
}
