#ifndef BENCH_MPI_RATED_LINKS_H
#define BENCH_MPI_RATED_LINKS_H

#include <stdint.h>

/* Links that take their time and no processor. Whole frames alone are moved so: a message of a
 * frame's bytes, and a copy of as many by another thread than the program's, are done no sooner
 * than the bytes over a rate. Where processors are few, links of real hosts and GPUs can be tried
 * that way: these do not need any either. */

/** What rates hold; a rate of 0: as fast as it goes. */
typedef struct rated_links {
    int64_t frame_bytes;
    double rank_bytes_per_s;   /* of messages */
    double device_bytes_per_s; /* of copies */
} rated_links;

/** Let rates hold from now on. The program's thread calls it, while nothing is under way. */
void rated_links_set(const rated_links *rates);

#endif
