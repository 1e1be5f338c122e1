#ifndef POLYTILE_LAUNCH_TUNING_SPEEDS_H
#define POLYTILE_LAUNCH_TUNING_SPEEDS_H

#include "base/context.h"

/* How fast units ran the rows of kernels, and whole launches in a number of lanes, kept by the
 * context for later launches; with POLYTILE_SPEEDS=1 in a file of the cache for later processes,
 * too, see speeds_file.c. */

/** The speed of one unit and kind of rows, or launches. */
typedef struct pti_kept_speed {
    uint64_t key;
    double rows_per_s;
} pti_kept_speed;

/** The most speeds that are kept. */
enum { PTI_MOST_SPEEDS = 1024 };

/** An object of the context. */
typedef struct pti_kept_speeds {
    pti_object object;
    int n_kept;      /* so far; the k-th is at k modulo PTI_MOST_SPEEDS */
    bool is_changed; /* since the file was read */
    pti_kept_speed at[PTI_MOST_SPEEDS];
} pti_kept_speeds;

/** The speed of a unit and a kind of rows, rows a second; 0: none is kept. */
double pti_speeds_find(polytile_context *ctx, uint64_t key);

/** Keep a speed, in place of an older one, or of that which was kept first if there are many. A
 * speed that memory runs out for is not kept. */
void pti_speeds_keep(polytile_context *ctx, uint64_t key, double rows_per_s);

/* speeds_list.c */

/** What a list has of a key; NULL: nothing. */
pti_kept_speed *pti_speeds_look_up(pti_kept_speeds *speeds, uint64_t key);

/** Put a speed into a list, in place of an older one, or of the first. */
void pti_speeds_put(pti_kept_speeds *speeds, uint64_t key, double rows_per_s);

/* speeds_file.c */

/** Put what this machine's file has into an empty list. One that is damaged is ignored, with a
 * warning. */
void pti_speeds_read(polytile_context *ctx, pti_kept_speeds *speeds);

/** Replace the file by what it has and a list, which goes before. What cannot be kept is a warning;
 * of two processes that write at once one may lose its speeds. */
void pti_speeds_write(polytile_context *ctx, const pti_kept_speeds *speeds);

#endif
