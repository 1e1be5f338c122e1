#include "distribute/show/ranks_plan.h"

#include "access/set/boxes.h"

#include <inttypes.h>
#include <string.h>

/* The text of a plan of ranks or devices: who owns and exchanges what as a table, and the plan of
 * the busiest rank. */

enum { MOST_ROWS = 32, MOST_NEIGHBOURS = 8 };

static void add_title(pti_text *text, const polytile_ranks_plan *plan) {
    const pti_members_plan *members = &plan->members;
    pti_write_kernels(text, &plan->launches);
    pti_text_add(text, " over %s, %s, %s\n", pti_words_members(plan).text,
                 pti_words_grid(&members->grid).text, plan->layout);
    for (int a = 0; a < members->n_arrays; a++) {
        const pti_operand *array = &plan->launches.arrays->operand[a];
        pti_text_add(text, "  %s%s %s, ", array->name, pti_words_box(&array->domain).text,
                     pti_words_type(array->type).text);
        if (array->is_scratch)
            pti_text_add(text, "scratch\n");
        else
            pti_text_add(text, "cut %s\n", pti_words_grid(&members->ownerships[a].grid).text);
    }
}

/** Write the devices of each rank, or of the process. */
static void add_devices(pti_text *text, const polytile_ranks_plan *plan) {
    if (plan->of.device == NULL)
        return;
    pti_text_add(text, PTI_ROW "%s", "devices", plan->of.device[0]);
    for (int m = 1; m < plan->of.n_local; m++)
        pti_text_add(text, ", %s", plan->of.device[m]);
    pti_text_add(text, "\n");
}

/** Write how elements get from device to device inside a process. */
static void add_way_within(pti_text *text, const polytile_ranks_plan *plan) {
    const int64_t within_bytes = plan->members.exchanged_bytes - plan->members.message_bytes;
    if (within_bytes == 0)
        return;
    if (plan->members.pulled_bytes > 0)
        pti_text_add(text, PTI_ROW "%s pulled from the memory of linked devices%s\n", "",
                     pti_words_size(plan->members.pulled_bytes).text,
                     plan->members.pulled_bytes < within_bytes ? ", the rest" : "");
    if (plan->members.pulled_bytes == within_bytes)
        return;
    pti_text_add(text, PTI_ROW "%s\n", "",
                 plan->of.are_attached
                     ? "inside a process by the host's memory, which all its devices have in common"
                     : "inside a rank they are copied, between ranks they are sent");
}

static void add_exchanges(pti_text *text, const polytile_ranks_plan *plan) {
    const pti_members_plan *members = &plan->members;
    pti_text_add(text, "\n");
    add_devices(text, plan);
    pti_text_add(text, PTI_ROW "%s\n", "exchanges", pti_words_exchanges(plan).text);
    add_way_within(text, plan);
    if (members->combined_bytes > 0)
        pti_text_add(text, PTI_ROW "%s across all %ss\n", "combined",
                     pti_words_size(members->combined_bytes).text, pti_ranks_word(plan));
    pti_text_add(text, "\n");
}

/** Return the threads of the first launch: their box, or how many boxes they are. */
static pti_words describe_threads(const pti_boxes *threads, int n_indices) {
    polytile_domain box = pti_boxes_bounding(threads, n_indices);
    bool is_empty = threads->n_boxes == 0 || pti_box_is_empty(&box);
    const pti_words words = is_empty ? pti_words_of("none") : pti_words_box(&box);
    return threads->n_boxes > 1 ? pti_words_of("%s in %d boxes", words.text, threads->n_boxes)
                                : words;
}

static void add_figures(pti_text *text, const pti_rank_figures *figures) {
    if (!figures->is_known)
        pti_text_add(text, " %8s %11s %11s", "-", "-", "-");
    else
        pti_text_add(text, " %8" PRId64 "%12s%12s", figures->n_kernels,
                     pti_words_size(figures->h2d_bytes).text,
                     pti_words_size(figures->d2h_bytes).text);
}

/** Write what comes from each neighbour. */
static void add_senders(pti_text *text, const polytile_ranks_plan *plan, int rank) {
    const pti_members_plan *members = &plan->members;
    int n_senders = 0;
    pti_ranks_way way;
    for (int f = 0; f < members->n_flows; f += way.n_flows) {
        way = pti_ranks_way_at(members, f);
        if (way.flow->to == rank && ++n_senders <= MOST_NEIGHBOURS)
            pti_text_add(text, "%s%s: %s", n_senders == 1 ? "" : ", ",
                         pti_words_member(plan, way.flow->from).text,
                         pti_words_size(way.n_bytes).text);
    }
    if (n_senders > MOST_NEIGHBOURS)
        pti_text_add(text, ", ... %d more", n_senders - MOST_NEIGHBOURS);
    if (n_senders == 0)
        pti_text_add(text, "-");
}

static void add_rank(pti_text *text, const polytile_ranks_plan *plan, int rank) {
    const pti_members_plan_member *member = &plan->members.member[rank];
    int n_indices = plan->shared[0].call.instance->n_indices;
    pti_text_add(text, "  %*s  %-30s%11s%12s%12s %8d", (int)strlen(pti_ranks_word(plan)),
                 pti_words_member(plan, rank).text,
                 describe_threads(&member->threads, n_indices).text,
                 pti_words_size(member->owned_bytes).text, pti_words_size(member->sent_bytes).text,
                 pti_words_size(member->received_bytes).text, member->n_messages);
    add_figures(text, &plan->figures[rank]);
    pti_text_add(text, "  ");
    add_senders(text, plan, rank);
    pti_text_add(text, "\n");
}

static void add_table(pti_text *text, const polytile_ranks_plan *plan) {
    int n_ranks = plan->members.n_members;
    pti_text_add(text, "  %s  %-30s%11s%12s%12s %8s %8s%12s%12s  %s\n", pti_ranks_word(plan),
                 "threads", "owned", "sent", "received", "messages", "kernels", "to device",
                 "from device", "from");
    for (int q = 0; q < n_ranks && q < MOST_ROWS; q++)
        add_rank(text, plan, q);
    if (n_ranks > MOST_ROWS)
        pti_text_add(
            text, "  ... and %s\n",
            pti_words_count(n_ranks - MOST_ROWS, pti_words_of("more %s", pti_ranks_word(plan)).text)
                .text);
}

/** Write what travels around each superstep. */
static void add_steps(pti_text *text, const polytile_ranks_plan *plan) {
    const pti_members_plan *members = &plan->members;
    if (members->exchanged_bytes + members->combined_bytes == 0)
        return;
    pti_text_add(text, "\n  from %s to %s, superstep by superstep\n", pti_ranks_word(plan),
                 pti_ranks_word(plan));
    for (int s = 0; s < members->n_supersteps && s < PTI_RANKS_MOST_STEPS; s++) {
        pti_text_add(text, "  ");
        pti_ranks_write_step(text, plan, s, MOST_NEIGHBOURS);
        pti_text_add(text, "\n");
    }
    if (members->n_supersteps > PTI_RANKS_MOST_STEPS)
        pti_text_add(
            text, "  ... and %s\n",
            pti_words_count(members->n_supersteps - PTI_RANKS_MOST_STEPS, "more superstep").text);
}

static void add_notes(pti_text *text, const polytile_ranks_plan *plan) {
    int largest = pti_ranks_with_largest_peak(plan);
    int64_t limit_bytes = plan->of.limit_bytes[largest % plan->of.n_local];
    polytile_ranks_summary summary;
    polytile_ranks_plan_get_summary(plan, &summary);
    if (limit_bytes > 0)
        pti_text_add(text, "  peak %s on %s %s, the most of all; %s is %s\n",
                     pti_words_size(plan->figures[largest].peak_device_bytes).text,
                     pti_ranks_word(plan), pti_words_member(plan, largest).text,
                     plan->of.n_local == 1 ? "the limit of each" : "its limit",
                     pti_words_size(limit_bytes).text);
    if (summary.n_exchanges > 1)
        pti_text_add(text, "  kernels, to device and from device are those until the second "
                           "exchange\n");
    if (summary.n_repeated_threads > 0)
        pti_text_add(text, "  %s in all, %.2f%% of them on a second %s, too\n",
                     pti_words_count(summary.n_threads, "thread").text,
                     100.0 * (double)summary.n_repeated_threads / (double)summary.n_threads,
                     pti_ranks_word(plan));
}

void pti_ranks_write_text(pti_text *text, const pti_object *object) {
    const polytile_ranks_plan *plan = (const polytile_ranks_plan *)object;
    add_title(text, plan);
    add_exchanges(text, plan);
    add_table(text, plan);
    add_notes(text, plan);
    add_steps(text, plan);
    pti_text_add(text, "\n%s %s, which has the most to do%s:\n\n",
                 plan->of.n_ranks > 0 && plan->of.n_local == 1 ? "Rank" : "Device",
                 pti_words_member(plan, plan->members.busiest).text,
                 plan->members.n_supersteps > 1 ? ", until the second exchange" : "");
    pti_plan_write_text(text, &plan->inner->object);
}
