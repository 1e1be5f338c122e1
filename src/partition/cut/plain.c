/* Equal boxes of blocks, of which each piece has as many places as there are buffers. */
#include "partition/cut/family.h"

#include <math.h>

/** What is left of the time of a superblock at an end when it is tapered, and from where on that is
 * worth its sub-kernels. */
static const double tapered_part = 0.25, worth_tapering = 0.9;

/** Find the next variant: it has one buffer more, as long as some shape fits. */
static bool add_plain_buffer(const pti_problem *problem, const pti_buffer_range *buffers, bool fits,
                             pti_variant *variant) {
    (void)problem;
    variant->n_buffers = variant->n_buffers == 0 ? buffers->first : variant->n_buffers + 1;
    return fits && variant->n_buffers <= buffers->last;
}

/** Return what nothing hides: the uploads of the first superblock and the downloads of the last
 * one, which are whole pieces; part is how much is left, where both are tapered, of pieces that
 * depend on an index (-1: of all). */
static double ends_seconds(const pti_timing *timing, int index, double part) {
    const polytile_link *link = timing->problem->link;
    double seconds = 0;
    for (int a = 0; a < timing->all->n_pieces; a++) {
        const pti_operand_estimate *piece = &timing->all->piece[a];
        double cost = piece->run_cost * (index < 0 || piece->depends[index] ? part : 1);
        seconds += piece->uploads ? cost * piece->first_bytes / link->upload_bytes_per_s : 0;
        seconds += piece->downloads ? cost * piece->bytes / link->download_bytes_per_s : 0;
    }
    return seconds;
}

/** By how much the busiest of three streams is busier than the next. */
static double slack_of(double a, double b, double c) {
    double busiest = fmax(a, fmax(b, c)), least = fmin(a, fmin(b, c));
    return busiest - (a + b + c - busiest - least);
}

/** Small superblocks at the ends help as far as the streams that wait there can catch up with the
 * busiest. */
static double fill_seconds(const pti_timing *timing, pti_candidate *candidate) {
    int fastest = candidate->order[timing->all->n_dims - 1];
    double slack_s = slack_of(timing->in_s, timing->out_s, timing->compute_s);
    double even_s = ends_seconds(timing, fastest, 1);
    double tapered_s = fmax(ends_seconds(timing, fastest, tapered_part), even_s - slack_s);
    bool tapers = tapered_s < worth_tapering * even_s;
    candidate->beside = tapers ? &pti_family_tapered : NULL;
    return tapers ? tapered_s : even_s;
}

/**
 * One buffer: uploads and kernels alternate, downloads run beside them. More: the slowest of three
 * streams, or of the cycles of a buffer (a piece is uploaded and used, or used and downloaded, or
 * all three, before the next one can have its place).
 */
static double steady_seconds(const pti_timing *timing, int n_buffers, bool comes_back) {
    if (n_buffers == 1)
        return fmax(timing->in_s + timing->compute_s, timing->out_s);
    double cycle_s = comes_back ? timing->in_s + timing->out_s : fmax(timing->in_s, timing->out_s);
    return fmax(fmax(timing->in_s, timing->out_s),
                fmax(timing->compute_s, (cycle_s + timing->compute_s) / n_buffers));
}

/** The streams beside each other, plus filling and draining. */
double pti_plain_seconds(const pti_timing *timing, pti_candidate *candidate) {
    double fill_s =
        timing->compute_s / (double)candidate->n_kernels + fill_seconds(timing, candidate);
    return steady_seconds(timing, candidate->variant.n_buffers, timing->moves->comes_back) + fill_s;
}

/** In any order, with everything tapered. */
double pti_plain_least_seconds(const pti_timing *timing, const pti_candidate *candidate) {
    return steady_seconds(timing, candidate->variant.n_buffers, false) +
           timing->compute_s / (double)candidate->n_kernels +
           ends_seconds(timing, -1, tapered_part);
}

const pti_family pti_family_plain = {
    .name = "plain",
    .next = add_plain_buffer,
    .seconds = pti_plain_seconds,
    .least_seconds = pti_plain_least_seconds,
    .partition = pti_partition_uniform,
};
