/* Boxes that follow each other along one index, a line, while what does not depend on it stays.
 * That has one place, so large boxes fit, and what comes and goes may have three. */
#include "partition/cut/family.h"

#include <math.h>

/** Return whether along an index some pieces stay, and others come and go. */
static bool is_line(const pti_problem *problem, int index) {
    bool stays = false, comes = false;
    for (int a = 0; a < problem->instance->n_operands; a++) {
        stays |= !problem->depends[a][index];
        comes |= problem->depends[a][index];
    }
    return stays && comes;
}

/** Along each index that makes lines, with all numbers of buffers. */
static bool next_line(const pti_problem *problem, const pti_buffer_range *buffers, bool fits,
                      pti_variant *variant) {
    (void)fits;
    if (variant->along >= 0 && variant->n_buffers < buffers->most) {
        variant->n_buffers++;
        return true;
    }
    variant->n_buffers = buffers->last;
    do {
        variant->along++;
    } while (variant->along < problem->instance->n_indices && !is_line(problem, variant->along));
    return variant->along < problem->instance->n_indices && buffers->last > 1;
}

static int count_line_places(const pti_problem *problem, const pti_variant *variant,
                             const int64_t *shape, int operand) {
    (void)shape;
    return !problem->depends[operand][variant->along];
}

/** Return the seconds of bringing one superblock's pieces in, or out: of those that depend on the
 * index of a line, or of those that stay. */
static double line_seconds(const pti_timing *timing, int along, bool out, bool stays) {
    double seconds = 0;
    for (int a = 0; a < timing->all->n_pieces; a++)
        if (timing->problem->depends[a][along] != stays)
            seconds += pti_piece_seconds(timing, a, out);
    return seconds;
}

/** Nothing is computed between two lines: what stays along the next one waits for the last
 * superblock of the line, and its own first superblock waits for that. The rest is the busiest
 * stream, or the cycle of a place: a piece comes back, is used, goes to the host, and the next one
 * comes. */
static double seconds_in_lines(const pti_timing *timing, pti_candidate *candidate) {
    int along = candidate->variant.along;
    double n_lines = (double)candidate->n_kernels / timing->all->quotient[along];
    double stays_in_s = line_seconds(timing, along, false, true);
    double stays_out_s = line_seconds(timing, along, true, true);
    double ends_s =
        line_seconds(timing, along, false, false) + line_seconds(timing, along, true, false);
    double kernel_s = timing->compute_s / (double)candidate->n_kernels;
    double in_s = fmax(0, timing->in_s - n_lines * stays_in_s);
    double back_s = timing->moves->back_cost_bytes / timing->problem->link->duplex_bytes_per_s;
    double turns_s = (back_s + timing->out_s + timing->compute_s) / candidate->variant.n_buffers;
    return fmax(fmax(in_s, timing->out_s), fmax(turns_s, timing->compute_s)) +
           n_lines * (stays_in_s + stays_out_s + kernel_s) + ends_s;
}

/** Cut a launch into lines: what the fastest index leaves where it is has one place. */
static bool cut_into_lines(const pti_problem *problem, const pti_candidate *candidate,
                           pti_partition *made) {
    int fastest = candidate->order[problem->grid.threads.n_dims - 1];
    bool is_made = pti_partition_uniform(problem, candidate, made);
    for (int a = 0; a < problem->instance->n_operands; a++)
        made->n_places[a] = !problem->depends[a][fastest];
    return is_made;
}

/** What comes and goes is thin: kernels that cut it into tiles of a power of two lose least where
 * it has whole ones. */
const pti_family pti_family_lines = {
    .name = "lines",
    .for_time = true,
    .multiple_threads = 128,
    .next = next_line,
    .count_places = count_line_places,
    .seconds = seconds_in_lines,
    .least_seconds = pti_plain_least_seconds,
    .partition = cut_into_lines,
};
