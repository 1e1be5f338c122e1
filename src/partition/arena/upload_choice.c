#include "partition/arena/upload_choice.h"

#include "access/pieces/shear.h"
#include "partition/cost/predict.h"

#include <math.h>

/** Take a little off a lower bound of seconds, so that rounding never lifts it above the truth. */
static const double rounded_down = 1 - 1e-9;

void pti_upload_split_combined(pti_boxes *written, const pti_boxes *combined, pti_boxes *again) {
    pti_boxes_copy(again, written);
    pti_boxes_subtract_all(written, combined);
    pti_boxes_subtract_all(again, written);
}

static double operand_box_bytes(const pti_operand *operand, const polytile_domain *box) {
    return (double)(pti_box_count(box) * operand->element_bytes);
}

static double set_bytes(const pti_operand *operand, const pti_boxes *boxes) {
    double bytes = 0;
    for (int k = 0; k < boxes->n_boxes; k++)
        bytes += operand_box_bytes(operand, &boxes->box[k]);
    return bytes;
}

static double upload_seconds(const polytile_link *link, const pti_operand *operand,
                             const polytile_domain *box) {
    pti_runs runs = pti_operand_runs(operand, box);
    return link->transfer_latency_s +
           operand_box_bytes(operand, box) * pti_run_cost(link, runs) / link->duplex_bytes_per_s;
}

static double copy_seconds(const polytile_link *link, const pti_operand *operand,
                           const pti_boxes *shared) {
    double seconds = 0;
    for (int k = 0; k < shared->n_boxes; k++)
        seconds += pti_copy_seconds(link, operand_box_bytes(operand, &shared->box[k]));
    return seconds;
}

/** Return the seconds of copying what is shared and of uploading the rest. */
static double exact_seconds(const polytile_link *link, const pti_operand *operand,
                            const pti_boxes *needed, const pti_boxes *shared, pti_boxes *rest) {
    double seconds = 0;
    pti_boxes_copy(rest, needed);
    pti_boxes_subtract_all(rest, shared);
    for (int k = 0; k < rest->n_boxes; k++)
        seconds += upload_seconds(link, operand, &rest->box[k]);
    return seconds + copy_seconds(link, operand, shared);
}

/** Return a lower bound of the same, without taking boxes apart. */
static double least_seconds(const polytile_link *link, const pti_operand *operand,
                            const pti_boxes *needed, const pti_boxes *shared) {
    double rest_bytes = fmax(set_bytes(operand, needed) - set_bytes(operand, shared), 0);
    return rounded_down *
           (copy_seconds(link, operand, shared) + rest_bytes / link->duplex_bytes_per_s);
}

bool pti_upload_around_is_faster(const polytile_link *link, const pti_operand *operand,
                                 const pti_boxes *needed, const pti_boxes *shared,
                                 pti_boxes *rest) {
    if (link == NULL || needed->n_boxes == 0 || needed->n_boxes + shared->n_boxes == 1)
        return false;
    polytile_domain hull = pti_boxes_hull(needed);
    double seconds = upload_seconds(link, operand, &hull);
    return seconds < least_seconds(link, operand, needed, shared) ||
           seconds < exact_seconds(link, operand, needed, shared, rest);
}

/** At best what is needed is as little as one section in two uploads, or all that the device holds
 * is copied at once. */
static double best_seconds(const polytile_link *link, const pti_operand *operand,
                           double least_bytes, const polytile_domain *hull,
                           const polytile_domain *held) {
    double rate = link->duplex_bytes_per_s;
    double uploads_s = 2 * link->transfer_latency_s + least_bytes / rate;
    polytile_domain common;
    if (held == NULL || !pti_box_intersect(hull, held, &common))
        return uploads_s;
    double rest_bytes = fmax(least_bytes - operand_box_bytes(operand, &common), 0);
    return fmin(uploads_s, pti_copy_seconds(link, 0) + rest_bytes / rate);
}

bool pti_upload_hull_is_surely_faster(const polytile_link *link, const pti_instance *instance,
                                      int operand, const polytile_domain *threads,
                                      const polytile_domain *hull, const polytile_domain *held) {
    const pti_operand *is = &instance->operand[operand];
    if (link == NULL || is->n_sections < 2)
        return false;
    int64_t least = pti_footprint_least(instance, operand, threads, hull);
    if (least == 0)
        return false;
    double least_bytes = (double)(least * is->element_bytes);
    double seconds = upload_seconds(link, is, hull);
    return seconds < rounded_down * best_seconds(link, is, least_bytes, hull, held);
}
