#ifndef POLYTILE_PARTITION_SHOW_PICTURE_CHAIN_H
#define POLYTILE_PARTITION_SHOW_PICTURE_CHAIN_H

#include "partition/show/svg.h"

/* The picture of a schedule of several launches: space to the right, time downwards. */

/** Draw a whole page; a failed allocation is left in the text. */
void pti_chain_draw(pti_text *svg, const pti_schedule *schedule);

/* interleaving.c: how launches of a schedule are interleaved, read from its operations alone. */

/** Launches that are interleaved with one another, and with no others. */
typedef struct pti_interleaving_pass {
    int first;
    int end;         /* after the last */
    int64_t n_slabs; /* rounds in which each launch has a slab, or none */
} pti_interleaving_pass;

/** The passes and slabs of a schedule. */
typedef struct pti_interleaving {
    int n_passes;
    pti_interleaving_pass *pass; /* owned, as all below */
    int *pass_of;                /* of each launch */
    int *axis;                   /* of each launch: the index along which its slabs proceed */
    int64_t *slab_of;            /* of each superblock: its round in its pass */
} pti_interleaving;

/**
 * Find passes and slabs of a schedule of several launches.
 *
 * Launches that run one after another are a pass each, with a slab for each range of the index
 * along which they are cut least often; those that are not cut at all and work on the same data in
 * the device's memory are one pass. False when memory runs out. Freed in both cases with
 * pti_interleaving_free().
 */
bool pti_interleaving_find(const pti_schedule *schedule, pti_interleaving *interleaving);
void pti_interleaving_free(pti_interleaving *interleaving);

/** The threads of a launch in a slab, as one box around them; false if there are none. */
bool pti_interleaving_threads(const pti_schedule *schedule, const pti_interleaving *interleaving,
                              int launch, int64_t slab, polytile_domain *threads);

/** All that a superblock of a launch touches of an array; false if nothing. */
bool pti_interleaving_touched(const pti_schedule *schedule, int launch, int64_t superblock,
                              int array, polytile_domain *hull);

/** The dimension of an array that follows a launch's slabs; -1 if none, or it has only one slab. */
int pti_interleaving_array_axis(const pti_schedule *schedule, const pti_interleaving *interleaving,
                                int launch, int array);

/* picture_chain_choice.c: what of the schedule is drawn. */

enum { PTI_CHAIN_MOST_LINES = 32 };

/** A picture while it is drawn, and what of the schedule it has. */
typedef struct pti_chain_picture {
    pti_text *svg;
    const pti_schedule *schedule;
    const pti_interleaving *interleaving;
    int n_passes; /* drawn, from the first on */
    int n_lines;
    int line[PTI_CHAIN_MOST_LINES]; /* the launches that are drawn */
    double y[PTI_CHAIN_MOST_LINES]; /* of each line, as they are drawn */
    double height;                  /* of a line */
    int label_stride;               /* every such line of a pass is named */
    int64_t n_slabs;                /* drawn of each pass, from the first on */
    polytile_range rows;            /* drawn: threads along the launches' axes, and array rows */
    int64_t slab;                   /* of the first pass: whose moves are shown */
    double x;
    double width;
} pti_chain_picture;

/** Choose; svg, schedule, interleaving, x and width are set. */
void pti_chain_picture_choose(pti_chain_picture *picture);

/** Where rows are drawn from left to right, as far as they are in the picture; false if none is. */
bool pti_chain_place(const pti_chain_picture *picture, polytile_range rows, pti_svg_box *at);

/** The dimension of an array that follows the slabs; -1: none, or there is only one slab. */
int pti_chain_array_axis(const pti_chain_picture *picture, int array);

/** The colour of a slab; see pti_svg_order_colour(). */
pti_words pti_chain_colour(const pti_chain_picture *picture, int64_t slab);

/** Return whether an operation is for the chosen slab. */
bool pti_chain_is_chosen(const pti_chain_picture *picture, const pti_op *op);

/* What is drawn: picture_interleaving.c, picture_moves.c. */

/** The launches' slabs, a line a launch; returns the height. */
double pti_chain_draw_interleaving(pti_chain_picture *picture, double y);

/** What the chosen slab moves of each array; returns the height, 0 in place. */
double pti_chain_draw_moves(const pti_chain_picture *picture, double y);

#endif
