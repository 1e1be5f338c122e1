#ifndef POLYTILE_PARTITION_SHOW_PANEL_H
#define POLYTILE_PARTITION_SHOW_PANEL_H

#include "partition/show/svg.h"

/* Panels of pictures: an index space, in which boxes are drawn. */

/** More boxes than this in one panel are not drawn one by one. */
enum { PTI_PANEL_MOST_BOXES = 4096 };

/**
 * An index space drawn as a rectangle: two of its dimensions, or one.
 *
 * Space   rows (downwards) are indices of row_dim, columns those of col_dim; row_dim -1: one row.
 *         The other dimensions are cut at the first index of a range, which captions name.
 */
typedef struct pti_panel {
    pti_svg_box at;
    int row_dim;
    int col_dim;
    polytile_domain space;
    polytile_range cut[POLYTILE_MAX_DIMS];
} pti_panel;

/** The two dimensions of a space, in order, that differ first from a box; the first two if fewer
 * do. */
pti_panel pti_panel_of(const polytile_domain *space, const polytile_domain *box);

/** The height in pixels that the panel of a space of this aspect takes at a width. */
double pti_panel_height(const pti_panel *panel, double width);

/** Put a panel into an area in the proportions of its space, as far as those can be drawn. */
void pti_panel_fit(pti_panel *panel, pti_svg_box area);

/** Return whether a box has something in the plane that is drawn. */
bool pti_panel_shows(const pti_panel *panel, const polytile_domain *box);

/** Where a box of the panel's space is drawn; at least a pixel wide and high. */
pti_svg_box pti_panel_place(const pti_panel *panel, const polytile_domain *box);

/** Draw the panel's ground with its first and last indices; names of the dimensions may be NULL. */
void pti_panel_draw_space(pti_text *svg, const pti_panel *panel, char *const *names);

/** Draw a box; gaps of a strided one are left open where they can be seen. */
void pti_panel_draw_box(pti_text *svg, const pti_panel *panel, const char *style,
                        const polytile_domain *box, const char *fill, const char *tooltip);

#endif
