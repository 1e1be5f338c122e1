#ifndef POLYTILE_PARTITION_SHOW_PICTURE_H
#define POLYTILE_PARTITION_SHOW_PICTURE_H

#include "partition/show/panel.h"

/* The picture of a plan of one launch: the threads in run order, and what one superblock moves of
 * each array. Each file draws into an area that its caller gives. */

/** A picture while it is drawn. */
typedef struct pti_picture {
    pti_text *svg;
    const polytile_plan *plan;
    int64_t chosen; /* the superblock whose transfers are shown */
} pti_picture;

/* slices.c */

enum { PTI_MOST_SLICES = 9 };

/** A launch domain of two or more dimensions as planar slices, in rows and columns. */
typedef struct pti_slices {
    pti_panel panel; /* of all slices, which differ in slice_dim, where slice k is cut at at[k] */
    int slice_dim;   /* -1: one slice */
    int n_slices;
    int n_rows;
    int n_cols;
    int64_t n_cuts[POLYTILE_MAX_DIMS]; /* distinct starts of superblocks a dimension */
    int64_t n_layers;                  /* starts along slice_dim, of which n_slices are drawn */
    polytile_range at[PTI_MOST_SLICES];
} pti_slices;

/** Choose slices that show the picture's chosen superblock. False when memory runs out. */
bool pti_slices_choose(const pti_picture *picture, pti_slices *slices);

/* picture_threads.c */

/** The launch domain cut into superblocks, numbered and coloured in run order. */
void pti_picture_threads(const pti_picture *picture, const pti_slices *slices, pti_svg_box area);

/** The height that the launch domain takes at a width. */
double pti_picture_threads_height(const pti_slices *slices, double width);

/* picture_arrays.c */

/** Every array with what the chosen superblock moves and holds of it. */
void pti_picture_arrays(const pti_picture *picture, pti_svg_box area);
double pti_picture_arrays_height(const pti_picture *picture);

/** Return a panel with those dimensions of an array that differ from superblock to superblock. */
pti_panel pti_picture_array_panel(const pti_picture *picture, int operand);

/** Write which array a panel is of, so far above it. */
void pti_picture_caption_array(const pti_picture *picture, const pti_panel *panel, int operand,
                               double above);

/* picture_lines.c */

/** A launch of one index: a line a superblock, over the threads and over every array; returns its
 * height. */
double pti_picture_lines(const pti_picture *picture, double x, double y, double width);

#endif
