#ifndef POLYTILE_PARTITION_SHOW_SVG_H
#define POLYTILE_PARTITION_SHOW_SVG_H

#include "partition/show/words.h"

/* SVG elements as text. Lengths are in pixels, y grows downwards, and every string is escaped. */

/** A rectangle of a picture. */
typedef struct pti_svg_box {
    double x;
    double y;
    double width;
    double height;
} pti_svg_box;

/** Begin a picture on a light ground; title is for readers and tooltips. */
void pti_svg_open(pti_text *svg, double width, double height, const char *title);
void pti_svg_close(pti_text *svg);

/** A rectangle of a style class of the picture, with an optional fill and tooltip (NULL: none). */
void pti_svg_rect(pti_text *svg, const char *style, pti_svg_box rect, const char *fill,
                  const char *tooltip);

void pti_svg_label(pti_text *svg, const char *style, double x, double y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** A number written downwards. */
void pti_svg_label_down(pti_text *svg, const char *style, double x, double y, int64_t number);

/** The colour of place 0 .. n - 1 of n in an order, as "#rrggbb"; all are light enough for dark
 * text. */
pti_words pti_svg_order_colour(double place, int64_t n);

#endif
