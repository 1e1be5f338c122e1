#include "partition/show/picture.h"
#include "base/checked.h"
#include "partition/show/picture_chain.h"
#include "partition/show/words.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The picture of a plan: heading, the threads in run order, the arrays, the legend. */

static const double page_width = 960, margin = 28, left = 72, body_top = 100;
static const double threads_width = 460, arrays_left = 616, legend_height = 54;

char *pti_picture_colour(const pti_picture *picture, int64_t superblock, char *buffer) {
    double last = fmax((double)picture->schedule->n_superblocks - 1, 1);
    return pti_svg_order_colour((double)superblock / last, buffer);
}

const char *pti_picture_tooltip(const pti_picture *picture, int64_t superblock, pti_text *tooltip) {
    tooltip->length = 0;
    pti_text_add(tooltip, "superblock %" PRId64 ": threads ", superblock);
    pti_box_write(tooltip, &picture->schedule->superblock[superblock]);
    return tooltip->failed ? "" : tooltip->data;
}

static void describe_plan(pti_text *words, const polytile_plan_summary *s) {
    char size[32];
    pti_text_add(words, "%s: ", s->kernel);
    pti_words_count(words, s->n_kernels, "superblock");
    if (s->limit_bytes > 0)
        pti_text_add(words, " within %s", polytile_size_format(s->limit_bytes, size));
    else
        pti_text_add(words, " in place");
}

static void describe_shape(pti_text *words, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    pti_text_add(words, "threads ");
    pti_box_write(words, &plan->instance->threads);
    pti_text_add(words, ", blocks of ");
    pti_words_extents(words, s->n_dims, s->block);
    pti_text_add(words, ", superblocks of ");
    pti_words_blocks(words, s->n_dims, s->superblock_blocks);
    pti_text_add(words, "; %s, %d buffer%s", s->strategy, s->n_buffers,
                 s->n_buffers == 1 ? "" : "s");
}

static void describe_traffic(pti_text *words, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    char up[32], down[32];
    if (plan->schedule->in_place) {
        pti_text_add(words, "in place: nothing moves");
        return;
    }
    pti_text_add(words, "%s to the device, %s back", polytile_size_format(s->h2d_bytes, up),
                 polytile_size_format(s->d2h_bytes, down));
    if (s->lower_bound_bytes == 0)
        return;
    pti_text_add(words, ", ");
    pti_words_ratio(words, s);
    pti_text_add(words, " times the lower bound");
}

void pti_picture_gauge(pti_text *svg, double right, int64_t peak_bytes, int64_t limit_bytes) {
    double share = limit_bytes > 0 ? (double)peak_bytes / (double)limit_bytes : 0;
    pti_svg_box whole = {right - 190, 30, 190, 9}, used = whole;
    char peak[32];
    if (limit_bytes == 0)
        return;
    used.width *= fmin(share, 1);
    pti_svg_rect(svg, "held", used, NULL, NULL);
    pti_svg_rect(svg, "frame", whole, NULL, NULL);
    pti_svg_label(svg, "small end", right, 23, "peak %s, %.1f%% of the limit",
                  polytile_size_format(peak_bytes, peak), 100 * share);
}

static void draw_heading(const pti_picture *picture, const char *title) {
    pti_text shape = {0}, traffic = {0};
    describe_shape(&shape, picture->plan);
    describe_traffic(&traffic, picture->plan);
    if (!shape.failed && !traffic.failed) {
        pti_svg_label(picture->svg, "title", margin, 38, "%s", title);
        pti_svg_label(picture->svg, "body", margin, 60, "%s", shape.data);
        pti_svg_label(picture->svg, "body", margin, 78, "%s", traffic.data);
    }
    picture->svg->failed |= shape.failed || traffic.failed;
    pti_text_free(&shape);
    pti_text_free(&traffic);
    pti_picture_gauge(picture->svg, page_width - margin, picture->plan->summary.peak_device_bytes,
                      picture->plan->summary.limit_bytes);
}

double pti_picture_swatch(pti_text *svg, const char *style, double x, double y, const char *words,
                          double width) {
    pti_svg_rect(svg, style, (pti_svg_box){x, y - 10, 16, 12}, NULL, NULL);
    pti_svg_label(svg, "body", x + 22, y, "%s", words);
    return x + width;
}

static double draw_ramp(pti_text *svg, double x, double y) {
    enum { N_STEPS = 12 };
    char colour[8];
    pti_svg_label(svg, "body", x, y, "first");
    for (int k = 0; k < N_STEPS; k++)
        pti_svg_rect(svg, "plain", (pti_svg_box){x + 32 + 8 * k, y - 10, 8.3, 12},
                     pti_svg_order_colour((double)k / (N_STEPS - 1), colour), NULL);
    pti_svg_label(svg, "body", x + 38 + 8 * N_STEPS, y, "last superblock");
    return x + 38 + 8 * N_STEPS + 120;
}

static void draw_legend(const pti_picture *picture, double y) {
    static const struct {
        const char *style, *words;
        double width;
    } swatches[] = {
        {"upload", "uploaded", 100},
        {"held", "on the device already, or scratch", 246},
        {"download", "downloaded", 110},
    };
    double x = draw_ramp(picture->svg, margin, y);
    for (size_t k = 0; k < sizeof swatches / sizeof *swatches; k++)
        x = pti_picture_swatch(picture->svg, swatches[k].style, x, y, swatches[k].words,
                               swatches[k].width);
    if (picture->plan->instance->n_indices > 1) {
        char words[64];
        snprintf(words, sizeof words, "superblock %" PRId64, picture->chosen);
        pti_picture_swatch(picture->svg, "chosen", x, y, words, 0);
    }
}

/** Two or more indices: the threads on the left, the arrays on the right; the height. */
static double draw_grid(const pti_picture *picture) {
    double height = fmax(pti_picture_threads_height(picture, threads_width),
                         pti_picture_arrays_height(picture));
    pti_svg_label(picture->svg, "head", left, body_top + 14, "threads, in run order");
    if (picture->schedule->in_place)
        pti_svg_label(picture->svg, "head", arrays_left, body_top + 14, "arrays");
    else
        pti_svg_label(picture->svg, "head", arrays_left, body_top + 14,
                      "what superblock %" PRId64 " moves", picture->chosen);
    pti_picture_threads(picture, (pti_svg_box){left, body_top + 14, threads_width, height});
    pti_picture_arrays(picture, (pti_svg_box){arrays_left, body_top + 26,
                                              page_width - margin - arrays_left, height - 12});
    return height + 40;
}

static double draw_body(const pti_picture *picture) {
    if (picture->plan->instance->n_indices > 1)
        return draw_grid(picture);
    return pti_picture_lines(picture, left, body_top, page_width - margin - left) + 16;
}

/** The page's height is known only once its body is drawn, so the body is drawn first. */
static void draw_page(pti_text *svg, pti_text *body, const polytile_plan *plan, const char *title) {
    pti_picture picture = {body, plan, plan->schedule, plan->schedule->n_superblocks / 2};
    double bottom = body_top + draw_body(&picture);
    pti_svg_open(svg, page_width, bottom + legend_height, title);
    picture.svg = svg;
    draw_heading(&picture, title);
    if (body->failed || body->data == NULL)
        svg->failed = true;
    else
        pti_text_add(svg, "%s", body->data);
    draw_legend(&picture, bottom + legend_height / 2);
    pti_svg_close(svg);
}

static void draw_plan(pti_text *svg, const polytile_plan *plan) {
    pti_text body = {0}, title = {0};
    describe_plan(&title, &plan->summary);
    if (title.failed)
        svg->failed = true;
    else
        draw_page(svg, &body, plan, title.data);
    pti_text_free(&body);
    pti_text_free(&title);
}

polytile_status pti_plan_to_svg(const polytile_plan *plan, char **text) {
    pti_text svg = {0};
    if (plan->schedule->n_launches > 0)
        pti_chain_draw(&svg, plan->schedule);
    else
        draw_plan(&svg, plan);
    if (!svg.failed) {
        *text = svg.data;
        return POLYTILE_OK;
    }
    pti_text_free(&svg);
    return pti_fail_memory(plan->object.context, "the picture of a plan", PTI_UNKNOWN_BYTES);
}
