#include "partition/show/picture_chain.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cost/predict.h"
#include "partition/show/picture.h"
#include "partition/show/words.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The page: heading, turns, moves, legend. */

static const double page_width = 960, margin = 28, left = 138, body_top = 108, legend_height = 46;

/** The kernels in the order in which they first come, "..." from the fourth on. */
static void name_kernels(pti_text *words, const pti_schedule *schedule) {
    enum { MOST_NAMES = 3 };
    const char *known[MOST_NAMES];
    int n_known = 0;
    for (int l = 0; l < schedule->n_launches; l++) {
        const char *name = schedule->launch[l].instance->kernel_name;
        bool is_known = false;
        for (int k = 0; k < n_known; k++)
            is_known |= strcmp(known[k], name) == 0;
        if (is_known)
            continue;
        if (n_known == MOST_NAMES) {
            pti_text_add(words, ", ...");
            return;
        }
        pti_text_add(words, "%s%.24s", n_known == 0 ? "" : ", ", name);
        known[n_known++] = name;
    }
}

static void describe_launches(pti_text *words, const pti_schedule *schedule,
                              const pti_interleaving *turns) {
    char count[32], size[32];
    name_kernels(words, schedule);
    pti_text_add(words, ": %s launch%s in %d pass%s", pti_count_format(schedule->n_launches, count),
                 schedule->n_launches == 1 ? "" : "es", turns->n_passes,
                 turns->n_passes == 1 ? "" : "es");
    if (schedule->in_place)
        pti_text_add(words, " in place");
    else if (schedule->limit_bytes > 0)
        pti_text_add(words, " within %s", polytile_size_format(schedule->limit_bytes, size));
}

/** The most threads of a slab along its axis. */
static int64_t largest_slab(const pti_schedule *schedule, const pti_interleaving *turns) {
    int64_t most = 0;
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_schedule_launch *launch = &schedule->launch[l];
        for (int64_t k = 0; k < launch->n_superblocks; k++) {
            const polytile_range *range =
                &schedule->superblock[launch->first_superblock + k].range[turns->axis[l]];
            most = pti_max(most, range->hi - range->lo + 1);
        }
    }
    return most;
}

static int64_t most_launches_per_pass(const pti_interleaving *turns) {
    int64_t most = 0;
    for (int p = 0; p < turns->n_passes; p++)
        most = pti_max(most, turns->pass[p].end - turns->pass[p].first);
    return most;
}

static void describe_shape(pti_text *words, const pti_schedule *schedule,
                           const pti_interleaving *turns) {
    int64_t n_per_pass = most_launches_per_pass(turns);
    char count[32];
    if (n_per_pass > 1)
        pti_text_add(words, "%s launches a pass, ", pti_count_format(n_per_pass, count));
    else
        pti_text_add(words, "one launch after another, ");
    pti_words_count(words, largest_slab(schedule, turns), "thread");
    pti_text_add(words, " a slab along %s, ",
                 schedule->launch[0].instance->index_name[turns->axis[0]]);
    pti_words_count(words, schedule->n_superblocks, "sub-kernel");
}

/** What would move if each launch went through its arrays by itself, once. */
static pti_traffic traffic_by_itself(const pti_schedule *schedule) {
    pti_traffic sum = {0};
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_instance *instance = schedule->launch[l].instance;
        for (int o = 0; o < instance->n_operands; o++) {
            const pti_operand *is = &instance->operand[o];
            polytile_domain hull;
            if (is->reads &&
                pti_footprint_find_hull(instance, o, PTI_READS, &instance->threads, &hull))
                sum.h2d_bytes += pti_box_count(&hull) * is->element_bytes;
            if (is->writes &&
                pti_footprint_find_hull(instance, o, PTI_WRITES, &instance->threads, &hull))
                sum.d2h_bytes += pti_box_count(&hull) * is->element_bytes;
        }
    }
    return sum;
}

static void describe_traffic(pti_text *words, const pti_schedule *schedule,
                             const pti_interleaving *turns) {
    pti_traffic moved = pti_schedule_traffic(schedule), alone = traffic_by_itself(schedule);
    char up[32], down[32];
    if (schedule->in_place) {
        pti_text_add(words, "in place: nothing moves");
        return;
    }
    pti_text_add(words, "%s to the device, %s back", polytile_size_format(moved.h2d_bytes, up),
                 polytile_size_format(moved.d2h_bytes, down));
    if (most_launches_per_pass(turns) > 1)
        pti_text_add(words, "; with a pass for each launch %s and %s",
                     polytile_size_format(alone.h2d_bytes, up),
                     polytile_size_format(alone.d2h_bytes, down));
}

/** The chosen slab's place in the order of laps, if it begins one. */
static void describe_lap(pti_text *words, const pti_chain_picture *picture) {
    const pti_schedule *schedule = picture->schedule;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind == PTI_COPY && pti_chain_is_chosen(picture, op)) {
            pti_text_add(words,
                         "slab %" PRId64
                         " begins a lap: what is still needed slides to the beginning "
                         "of the arrays' memory",
                         picture->slab);
            return;
        }
    }
}

static void label(pti_text *svg, const char *style, double y, const pti_text *words) {
    svg->failed |= words->failed;
    if (!words->failed && words->length > 0)
        pti_svg_label(svg, style, margin, y, "%s", words->data);
}

static void draw_heading(pti_text *svg, const pti_chain_picture *picture, const pti_text *title) {
    pti_text shape = {0}, traffic = {0}, lap = {0};
    describe_shape(&shape, picture->schedule, picture->turns);
    describe_traffic(&traffic, picture->schedule, picture->turns);
    describe_lap(&lap, picture);
    label(svg, "title", 38, title);
    label(svg, "body", 60, &shape);
    label(svg, "body", 78, &traffic);
    label(svg, "body", 96, &lap);
    pti_text_free(&shape);
    pti_text_free(&traffic);
    pti_text_free(&lap);
    pti_picture_gauge(svg, page_width - margin, pti_schedule_peak_bytes(picture->schedule),
                      picture->schedule->limit_bytes);
}

static void draw_legend(const pti_chain_picture *picture, double y) {
    static const struct {
        const char *style, *words;
        double width;
    } swatches[] = {
        {"upload", "brought", 92},
        {"zeroed", "filled", 76},
        {"carried", "copied on the device", 164},
        {"download", "taken", 78},
        {"held", "in the device's memory", 180},
        {"band", "touched", 92},
    };
    char words[64];
    double x = margin;
    snprintf(words, sizeof words, "slab %" PRId64 " of pass 0", picture->slab);
    x = pti_picture_swatch(picture->svg, "chosen", x, y, words, 150);
    for (size_t k = 0; k < sizeof swatches / sizeof *swatches && !picture->schedule->in_place; k++)
        x = pti_picture_swatch(picture->svg, swatches[k].style, x, y, swatches[k].words,
                               swatches[k].width);
}

static double draw_body(const pti_chain_picture *picture) {
    double y = body_top;
    y += pti_chain_draw_turns(picture, y);
    y += pti_chain_draw_moves(picture, y);
    return y;
}

/** The page's height is known only once its body is drawn, so the body is drawn first. */
static void draw_page(pti_text *svg, pti_chain_picture *picture) {
    pti_text body = {0}, title = {0};
    picture->svg = &body;
    double bottom = draw_body(picture);
    describe_launches(&title, picture->schedule, picture->turns);
    draw_legend(picture, bottom + legend_height / 2);
    if (body.failed || title.failed) {
        svg->failed = true;
    } else {
        pti_svg_open(svg, page_width, bottom + legend_height, title.data);
        draw_heading(svg, picture, &title);
        pti_text_add(svg, "%s", body.data);
        pti_svg_close(svg);
    }
    pti_text_free(&body);
    pti_text_free(&title);
}

void pti_chain_draw(pti_text *svg, const pti_schedule *schedule) {
    pti_interleaving turns;
    pti_chain_picture picture = {.svg = svg,
                                 .schedule = schedule,
                                 .turns = &turns,
                                 .x = left,
                                 .width = page_width - margin - left};
    if (pti_interleaving_find(schedule, &turns)) {
        pti_chain_picture_choose(&picture);
        draw_page(svg, &picture);
    } else {
        svg->failed = true;
    }
    pti_interleaving_free(&turns);
}
