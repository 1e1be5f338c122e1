#ifndef POLYTILE_PARTITION_SHOW_PICTURE_CHAIN_H
#define POLYTILE_PARTITION_SHOW_PICTURE_CHAIN_H

#include "partition/show/interleaving.h"
#include "partition/show/svg.h"

/* The picture of a schedule of several launches: space to the right, time downwards. */

enum { PTI_CHAIN_MOST_LINES = 32 };

typedef struct pti_chain_picture {
    pti_text *svg;
    const pti_schedule *schedule;
    const pti_interleaving *turns;
    int n_passes; /* drawn, from the first on */
    int n_lines;
    int line[PTI_CHAIN_MOST_LINES]; /* the launches that are drawn */
    int64_t n_slabs;                /* drawn of each pass, from the first on */
    polytile_range rows;            /* drawn: threads along the launches' axes, and array rows */
    int64_t slab;                   /* of the first pass: whose moves are shown */
    double x;
    double width;
} pti_chain_picture;

/** Draw a whole page; a failed allocation is left in the text. */
void pti_chain_draw(pti_text *svg, const pti_schedule *schedule);

/* The parts of the page. */

/** Choose what of a schedule is drawn; svg, schedule, turns, x and width are set. */
void pti_chain_picture_choose(pti_chain_picture *picture);

/** Where rows are drawn from left to right, as far as they are in the picture; false if none is. */
bool pti_chain_place(const pti_chain_picture *picture, polytile_range rows, pti_svg_box *at);

/** The launches' turns; returns the height. */
double pti_chain_draw_turns(const pti_chain_picture *picture, double y);

/** What the chosen slab moves of each array; returns the height, 0 in place. */
double pti_chain_draw_moves(const pti_chain_picture *picture, double y);

/** The dimension of an array that follows the slabs; -1: none, or there is only one slab. */
int pti_chain_array_axis(const pti_chain_picture *picture, int array);

/** The colour of a slab; see pti_svg_order_colour(). */
char *pti_chain_colour(const pti_chain_picture *picture, int64_t slab, char *buffer);

/** Whether an operation is for the chosen slab. */
bool pti_chain_is_chosen(const pti_chain_picture *picture, const pti_op *op);

#endif
