#ifndef POLYTILE_DISTRIBUTE_SHOW_RANKS_PICTURE_H
#define POLYTILE_DISTRIBUTE_SHOW_RANKS_PICTURE_H

#include "distribute/show/ranks_plan.h"
#include "partition/show/picture.h"

/* The parts of a picture of ranks. Lengths are in pixels. */

/** More ranks than this are drawn without arrows and without a table. */
enum { PTI_RANKS_MOST_ARROWS = 16 };

/** An index space cut into ranks: the threads of the first launch, or an array. */
typedef struct pti_ranks_panel {
    const polytile_ranks_plan *plan;
    int array; /* -1: the threads */
    pti_panel panel;
    int64_t index[POLYTILE_MAX_DIMS]; /* where dimensions are cut that are not drawn */
} pti_ranks_panel;

/** The threads' panel (array -1), or an array's; those dimensions are drawn that are cut. */
pti_ranks_panel pti_ranks_panel_of(const polytile_ranks_plan *plan, int array);

/** What a panel takes at a width, with its caption and what stands below. */
double pti_ranks_panel_height(const pti_ranks_panel *of, double width);

/** Draw it, from the top left corner of its caption on. */
void pti_ranks_panel_draw(pti_text *svg, pti_ranks_panel *of, double x, double y, double width);

/** Whether the threads' panel shows the superblocks of the busiest rank: if they are of one launch,
 * and not too many. */
bool pti_ranks_shows_inner(const polytile_ranks_plan *plan);

/** The boxes of the panel's space that one rank has; *boxes is replaced. */
void pti_ranks_panel_boxes(const pti_ranks_panel *of, int rank, pti_boxes *boxes);

/** Whether a box is in the plane that is drawn. */
bool pti_ranks_panel_shows(const pti_ranks_panel *of, const polytile_domain *box);

/** What travels before the first group, of the panel's array: where it comes from, and arrows. */
void pti_ranks_draw_bands(pti_text *svg, const pti_ranks_panel *of);

/** The bytes that travel before the first group, of one array. */
int64_t pti_ranks_band_bytes(const polytile_ranks_plan *plan, int array);

/** Whether there is something for a table of the bytes from rank to rank, and few enough ranks. */
bool pti_ranks_has_table(const polytile_ranks_plan *plan);

/** Draw it, from the top left corner of its heading on; returns its height. */
double pti_ranks_table_draw(pti_text *svg, const polytile_ranks_plan *plan, double x, double y,
                            double width);

/** A rank's colour in a buffer of at least 8 bytes, which it returns. */
char *pti_ranks_colour(const polytile_ranks_plan *plan, int rank, char *buffer);

#endif
