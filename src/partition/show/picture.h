#ifndef POLYTILE_PARTITION_SHOW_PICTURE_H
#define POLYTILE_PARTITION_SHOW_PICTURE_H

#include "partition/show/svg.h"
#include "partition/window/plan.h"

/* The parts of a plan's picture. Each draws into an area and is told where it starts. */

/** More superblocks than this in one panel are drawn as cells that stand for several each. */
enum { PTI_PICTURE_MOST_RECTS = 4096 };

typedef struct pti_picture {
    pti_text *svg;
    const polytile_plan *plan;
    const pti_schedule *schedule;
    int64_t chosen; /* the superblock whose transfers are shown */
} pti_picture;

/**
 * An index space drawn as a rectangle: two of its dimensions, or one.
 *
 * Space   rows (downwards) are indices of row_dim, columns those of col_dim; row_dim -1: one row.
 */
typedef struct pti_panel {
    pti_svg_box at;
    int row_dim;
    int col_dim;
    polytile_domain space;
} pti_panel;

/** The two dimensions of a space, in order, that differ first from a box; the first two if fewer
 * do. */
pti_panel pti_panel_of(const polytile_domain *space, const polytile_domain *box);

/** Put a panel into an area in the proportions of its space, as far as those can be drawn. */
void pti_panel_fit(pti_panel *panel, pti_svg_box area);

/** Where a box of the panel's space is drawn; at least a pixel wide and high. */
pti_svg_box pti_panel_place(const pti_panel *panel, const polytile_domain *box);

/** Draw the panel's ground with its first and last indices; names of the dimensions may be NULL. */
void pti_panel_draw_space(pti_text *svg, const pti_panel *panel, char *const *names);

/** Draw a box; gaps of a strided one are left open where they can be seen. */
void pti_panel_draw_box(pti_text *svg, const pti_panel *panel, const char *style,
                        const polytile_domain *box, const char *fill, const char *tooltip);

/** The height in pixels that the panel of a space of this aspect takes at a width. */
double pti_panel_height(const pti_panel *panel, double width);

/** The launch domain cut into superblocks, numbered and coloured in run order. */
void pti_picture_threads(const pti_picture *picture, pti_svg_box area);

/** The height that the launch domain takes at a width. */
double pti_picture_threads_height(const pti_picture *picture, double width);

/** Every array with what the chosen superblock moves and holds of it. */
void pti_picture_arrays(const pti_picture *picture, pti_svg_box area);
double pti_picture_arrays_height(const pti_picture *picture);

/** A launch of one index: a line a superblock, over the threads and over every array; returns its
 * height. */
double pti_picture_lines(const pti_picture *picture, double x, double y, double width);

/** The place 0 .. 1 of a superblock in the run order as a colour; see pti_svg_order_colour(). */
char *pti_picture_colour(const pti_picture *picture, int64_t superblock, char *buffer);

/** "superblock 3: threads [0:63]" in *tooltip, replacing what was there; its text. */
const char *pti_picture_tooltip(const pti_picture *picture, int64_t superblock, pti_text *tooltip);

/** How much of a limit (0: none, nothing is drawn) is in use at the peak, as a bar that ends at
 * right in a page's heading. */
void pti_picture_gauge(pti_text *svg, double right, int64_t peak_bytes, int64_t limit_bytes);

/** An entry of a legend; where the next begins if this one takes a width. */
double pti_picture_swatch(pti_text *svg, const char *style, double x, double y, const char *words,
                          double width);

#endif
