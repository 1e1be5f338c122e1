#ifndef POLYTILE_DISTRIBUTE_SHOW_RANKS_PICTURE_H
#define POLYTILE_DISTRIBUTE_SHOW_RANKS_PICTURE_H

#include "distribute/show/ranks_plan.h"
#include "partition/show/panel.h"

/* What a picture of ranks consists of. Lengths are in pixels. */

/** More ranks than this are drawn without arrows and without a table. */
enum { PTI_RANKS_MOST_ARROWS = 16 };

/* ranks_picture_panel.c */

/** An index space cut into ranks: the threads of the first launch, or an array. */
typedef struct pti_ranks_panel {
    const polytile_ranks_plan *plan;
    int array; /* -1: the threads */
    pti_panel panel;
} pti_ranks_panel;

/** The threads' panel (array -1), or an array's; those dimensions are drawn that are cut. */
pti_ranks_panel pti_ranks_panel_of(const polytile_ranks_plan *plan, int array);

/** Draw what every rank has, and of threads the busiest rank's superblocks. */
void pti_ranks_panel_draw(pti_text *svg, const pti_ranks_panel *panel);

/** Write its number into every rank's box that is large enough for it. */
void pti_ranks_panel_number(pti_text *svg, const pti_ranks_panel *panel);

/** Return whether the threads' panel shows the superblocks of the busiest rank: if they are of one
 * launch, and not too many. */
bool pti_ranks_shows_inner(const polytile_ranks_plan *plan);

/* ranks_picture_bands.c */

/** What travels of the panel's array before the first superstep: where it is from, and arrows. */
void pti_ranks_draw_bands(pti_text *svg, const pti_ranks_panel *panel);

/** The bytes that travel before the first superstep, of one array. */
int64_t pti_ranks_band_bytes(const polytile_ranks_plan *plan, int array);

/* ranks_picture_table.c */

/** Return whether there is something for a table of the bytes from rank to rank, and few enough
 * ranks. */
bool pti_ranks_has_table(const polytile_ranks_plan *plan);

/** Draw it, from the top left corner of its heading on; returns its height. */
double pti_ranks_table_draw(pti_text *svg, const polytile_ranks_plan *plan, double x, double y,
                            double width);

/* ranks_picture_steps.c */

/** Return whether there are several supersteps, and few enough ranks. */
bool pti_ranks_has_steps(const polytile_ranks_plan *plan);

/** List what travels around each, from the top left corner of the heading on; returns the
 * height. */
double pti_ranks_steps_draw(pti_text *svg, const polytile_ranks_plan *plan, double x, double y);

#endif
