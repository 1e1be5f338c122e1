#include "partition/show/picture.h"

#include "base/plural.h"
#include "partition/show/page.h"
#include "partition/show/picture_chain.h"
#include "partition/show/print.h"

#include <inttypes.h>
#include <math.h>

/* The page of a launch: heading, the threads in run order, the arrays, the legend. */

static const double left = 72, body_top = 100, threads_width = 460, arrays_left = 616;
static const double legend_height = 54;

static pti_words describe_shape(const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    const int n_lanes = plan->schedule->n_lanes;
    const pti_words lanes = n_lanes > 1 ? pti_words_of(", %d lanes", n_lanes) : (pti_words){""};
    const pti_period *period = &plan->schedule->period;
    const pti_words repeats =
        period->times > 0 ? pti_words_of("; %s from %" PRId64 " on come %s times, drawn once",
                                         pti_words_number(period->n_kernels).text,
                                         period->first_kernel, pti_words_number(period->times).text)
                          : (pti_words){""};
    const polytile_domain threads =
        pti_instance_asked_box(plan->instance, &plan->instance->threads);
    return pti_words_of("threads %s, blocks of %s, superblocks of %s; %s, %d buffer%s%s%s",
                        pti_words_box(&threads).text, pti_words_extents(s->n_dims, s->block).text,
                        pti_words_blocks(s->n_dims, s->superblock_blocks).text, s->strategy,
                        s->n_buffers, pti_plural(s->n_buffers, "", "s"), lanes.text, repeats.text);
}

static pti_words describe_traffic(const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    bool is_bounded = s->lower_bound_bytes > 0;
    if (plan->schedule->in_place)
        return pti_words_of("in place: nothing moves");
    return pti_words_of("%s to the device, %s back%s%s%s", pti_words_size(s->h2d_bytes).text,
                        pti_words_size(s->d2h_bytes).text, is_bounded ? ", " : "",
                        is_bounded ? pti_words_ratio(s).text : "",
                        is_bounded ? " times the lower bound" : "");
}

static void fill_heading(pti_page *page, const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    pti_text_add(&page->title, "%s: %s%s%s", s->kernel,
                 pti_words_count(s->n_kernels, "superblock").text,
                 s->limit_bytes > 0 ? " within " : " in place",
                 s->limit_bytes > 0 ? pti_words_size(s->limit_bytes).text : "");
    page->line[0] = describe_shape(plan);
    page->line[1] = describe_traffic(plan);
    page->peak_bytes = s->peak_device_bytes;
    page->limit_bytes = s->limit_bytes;
}

static void draw_legend(const pti_picture *picture, double y) {
    enum { N_STEPS = 12 };
    bool shows_one = picture->plan->instance->n_indices > 1;
    const pti_words chosen = pti_words_of("superblock %" PRId64, picture->chosen);
    const pti_swatch swatches[] = {
        {"upload", "uploaded", 100},
        {"held", "on the device already, or scratch", 246},
        {"download", "downloaded", 110},
        {shows_one ? "chosen" : NULL, chosen.text, 0},
    };
    pti_svg_label(picture->svg, "body", PTI_PAGE_MARGIN, y, "first");
    double x =
        6 + pti_page_draw_colours(picture->svg, PTI_PAGE_MARGIN + 32, y, N_STEPS, 8, N_STEPS);
    pti_svg_label(picture->svg, "body", x, y, "last superblock");
    pti_page_draw_legend(picture->svg, x + 120, y, sizeof swatches / sizeof *swatches, swatches);
}

/** Two or more indices: the threads on the left, the arrays on the right; the height. */
static double draw_grid(const pti_picture *picture) {
    const double arrays_width = PTI_PAGE_WIDTH - PTI_PAGE_MARGIN - arrays_left;
    pti_slices slices;
    if (!pti_slices_choose(picture, &slices)) {
        picture->svg->failed = true;
        return 0;
    }
    double height = fmax(pti_picture_threads_height(&slices, threads_width),
                         pti_picture_arrays_height(picture));
    const pti_words moves = pti_words_of("what superblock %" PRId64 " moves", picture->chosen);
    pti_svg_label(picture->svg, "head", left, body_top + 14, "threads, in run order");
    pti_svg_label(picture->svg, "head", arrays_left, body_top + 14, "%s",
                  picture->plan->schedule->in_place ? "arrays" : moves.text);
    pti_picture_threads(picture, &slices,
                        (pti_svg_box){left, body_top + 14, threads_width, height});
    pti_picture_arrays(picture,
                       (pti_svg_box){arrays_left, body_top + 26, arrays_width, height - 12});
    return height + 40;
}

static double draw_body(const pti_picture *picture) {
    if (picture->plan->instance->n_indices > 1)
        return draw_grid(picture);
    return 16 + pti_picture_lines(picture, left, body_top, PTI_PAGE_WIDTH - PTI_PAGE_MARGIN - left);
}

/** Return the superblock of which the picture shows what it moves: one in the middle, or of the
 * period. */
static int64_t choose_superblock(const pti_schedule *schedule) {
    return schedule->period.times > 0 ? schedule->period.launch[0].first_superblock
                                      : schedule->n_superblocks / 2;
}

void pti_plan_draw(pti_text *svg, const pti_object *object) {
    const polytile_plan *plan = (const polytile_plan *)object;
    pti_page page = {0};
    const pti_picture picture = {&page.body, plan, choose_superblock(plan->schedule)};
    if (!pti_schedule_is_of_one_launch(plan->schedule)) {
        pti_chain_draw(svg, plan->schedule);
        return;
    }
    double bottom = body_top + draw_body(&picture);
    draw_legend(&picture, bottom + legend_height / 2);
    fill_heading(&page, plan);
    pti_page_write(svg, &page, bottom + legend_height);
}
