#ifndef POLYTILE_PARTITION_SHOW_PAGE_H
#define POLYTILE_PARTITION_SHOW_PAGE_H

#include "partition/show/svg.h"

/* A picture on a page: a heading, what is drawn below it, and a legend. */

enum { PTI_PAGE_WIDTH = 960, PTI_PAGE_MARGIN = 28, PTI_PAGE_LINES = 3 };

/** Zero-initialise, fill in the heading in any order, draw to the body. */
typedef struct pti_page {
    pti_text title;                 /* owned */
    pti_words line[PTI_PAGE_LINES]; /* below the title; "": none */
    int64_t peak_bytes;             /* how much of the limit is in use at most, as a bar */
    int64_t limit_bytes;            /* 0: none, and no bar */
    pti_text body;                  /* owned */
} pti_page;

/** Write the picture, whose height is known only now, and free the page; where memory ran out for
 * it, the text has failed. */
void pti_page_write(pti_text *svg, pti_page *page, double height);

/** An entry of a legend. */
typedef struct pti_swatch {
    const char *style; /* NULL: the entry is left out */
    const char *words;
    double width; /* up to where the next begins */
} pti_swatch;

/** Draw entries of a legend from left to right. */
void pti_page_draw_legend(pti_text *svg, double x, double y, int n, const pti_swatch *swatches);

/** Draw n steps through the colours of the places of an order; returns where they end. */
double pti_page_draw_colours(pti_text *svg, double x, double y, int n, double step_width,
                             int64_t n_places);

#endif
