#ifndef POLYTILE_DISTRIBUTE_SHARE_PIECE_TRAFFIC_H
#define POLYTILE_DISTRIBUTE_SHARE_PIECE_TRAFFIC_H

#include "access/footprint/footprint.h"

/* What a piece of a launch's rows brings to a device beside what its own rows need: what each row
 * reads as a whole, such as the second matrix of a product. */

/** What the rows of a launch touch, together and each as a whole. */
typedef struct pti_piece_traffic {
    int64_t n_rows;       /* of the launch */
    double touched_bytes; /* by all of them */
    double fixed_bytes;   /* of these, what each row reads as a whole */
    double written_bytes; /* of them, what they write and do not reduce */
} pti_piece_traffic;

pti_piece_traffic pti_piece_traffic_of(const pti_instance *instance);

/** The bytes that come again with each piece: what each row reads, where half of the device's
 * memory does not hold it. */
double pti_piece_traffic_again(const pti_piece_traffic *of, int64_t usable_bytes);

/** Return how many rows move n_bytes themselves: at least one, and at most a quarter of an equal
 * part. */
int64_t pti_piece_traffic_rows(const pti_piece_traffic *of, double n_bytes, int n_parts);

#endif
