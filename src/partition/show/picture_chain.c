#include "partition/show/picture_chain.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "base/plural.h"
#include "partition/cost/predict.h"
#include "partition/show/page.h"

#include <inttypes.h>
#include <string.h>

/* The page: heading, slabs, moves, legend. */

static const double left = 138, body_top = 108, legend_height = 46;

/** Write the kernels in the order in which they first come, "..." from the fourth on. */
static void name_kernels(pti_text *words, const pti_schedule *schedule) {
    enum { MOST_NAMES = 3 };
    const char *known[MOST_NAMES];
    int n_known = 0;
    for (int l = 0; l < schedule->n_launches; l++) {
        const char *name = schedule->launch[l].call.instance->kernel_name;
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

static void write_title(pti_text *words, const pti_schedule *schedule, int n_passes) {
    name_kernels(words, schedule);
    pti_text_add(words, ": %s launch%s in %d pass%s", pti_words_number(schedule->n_launches).text,
                 pti_plural(schedule->n_launches, "", "es"), n_passes,
                 pti_plural(n_passes, "", "es"));
    if (schedule->in_place)
        pti_text_add(words, " in place");
    else if (schedule->limit_bytes > 0)
        pti_text_add(words, " within %s", pti_words_size(schedule->limit_bytes).text);
}

/** Return the most threads of a slab along its axis. */
static int64_t largest_slab_threads(const pti_schedule *schedule,
                                    const pti_interleaving *interleaving) {
    int64_t most = 0;
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_schedule_launch *launch = &schedule->launch[l];
        for (int64_t k = 0; k < launch->n_superblocks; k++) {
            const polytile_domain *threads = &schedule->superblock[launch->first_superblock + k];
            const polytile_range *range = &threads->range[interleaving->axis[l]];
            most = pti_max(most, range->hi - range->lo + 1);
        }
    }
    return most;
}

static int64_t most_launches_per_pass(const pti_interleaving *interleaving) {
    int64_t most = 0;
    for (int p = 0; p < interleaving->n_passes; p++)
        most = pti_max(most, interleaving->pass[p].end - interleaving->pass[p].first);
    return most;
}

static pti_words describe_chain_shape(const pti_chain_picture *picture) {
    const pti_schedule *schedule = picture->schedule;
    int64_t n_per_pass = most_launches_per_pass(picture->interleaving);
    const pti_words pass =
        n_per_pass > 1 ? pti_words_of("%s launches a pass", pti_words_number(n_per_pass).text)
                       : pti_words_of("one launch after another");
    const pti_period *period = &schedule->period;
    const pti_words repeats =
        period->times > 0 ? pti_words_of("; %s from %" PRId64 " on come %s times, listed once",
                                         pti_words_number(period->n_kernels).text,
                                         period->first_kernel, pti_words_number(period->times).text)
                          : (pti_words){""};
    return pti_words_of(
        "%s, %s a slab along %s, %s%s", pass.text,
        pti_words_count(largest_slab_threads(schedule, picture->interleaving), "thread").text,
        schedule->launch[0].call.instance->index_name[picture->interleaving->axis[0]],
        pti_words_count(pti_schedule_n_kernels(schedule), "sub-kernel").text, repeats.text);
}

/** Return the bytes of all that a launch touches of an operand in some way; 0 if it does not. */
static int64_t touched_bytes_of_operand(const pti_instance *instance, int operand,
                                        pti_touch touch) {
    polytile_domain hull;
    return pti_footprint_find_hull(instance, operand, touch, &instance->threads, &hull)
               ? pti_box_count(&hull) * instance->operand[operand].element_bytes
               : 0;
}

/** Return what would move if each launch went through its arrays by itself, once. */
static pti_traffic traffic_by_itself(const pti_schedule *schedule) {
    pti_traffic sum = {0};
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_instance *instance = schedule->launch[l].call.instance;
        for (int o = 0; o < instance->n_operands; o++) {
            const pti_operand *is = &instance->operand[o];
            sum.h2d_bytes += is->reads ? touched_bytes_of_operand(instance, o, PTI_READS) : 0;
            sum.d2h_bytes += is->writes ? touched_bytes_of_operand(instance, o, PTI_WRITES) : 0;
        }
    }
    return sum;
}

static pti_words describe_chain_traffic(const pti_chain_picture *picture) {
    const pti_schedule *schedule = picture->schedule;
    pti_traffic moved = pti_schedule_traffic(schedule), alone = traffic_by_itself(schedule);
    if (schedule->in_place)
        return pti_words_of("in place: nothing moves");
    const pti_words words =
        pti_words_of("%s to the device, %s back", pti_words_size(moved.h2d_bytes).text,
                     pti_words_size(moved.d2h_bytes).text);
    if (most_launches_per_pass(picture->interleaving) <= 1)
        return words;
    return pti_words_of("%s; with a pass for each launch %s and %s", words.text,
                        pti_words_size(alone.h2d_bytes).text, pti_words_size(alone.d2h_bytes).text);
}

/** Whether the chosen slab begins a lap. */
static pti_words describe_lap(const pti_chain_picture *picture) {
    const pti_schedule *schedule = picture->schedule;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++)
        if (op->kind == PTI_COPY && pti_chain_is_chosen(picture, op))
            return pti_words_of("slab %" PRId64 " begins a lap: what is still needed slides to the "
                                "beginning of the arrays' memory",
                                picture->slab);
    return (pti_words){""};
}

static void fill_chain_heading(pti_page *page, const pti_chain_picture *picture) {
    write_title(&page->title, picture->schedule, picture->interleaving->n_passes);
    page->line[0] = describe_chain_shape(picture);
    page->line[1] = describe_chain_traffic(picture);
    page->line[2] = describe_lap(picture);
    page->peak_bytes = pti_schedule_peak_bytes(picture->schedule);
    page->limit_bytes = picture->schedule->limit_bytes;
}

static void draw_chain_legend(const pti_chain_picture *picture, double y) {
    const pti_words chosen = pti_words_of("slab %" PRId64 " of pass 0", picture->slab);
    const pti_swatch swatches[] = {
        {"chosen", chosen.text, 150}, {"upload", "brought", 92},
        {"zeroed", "filled", 76},     {"carried", "copied on the device", 164},
        {"download", "taken", 78},    {"held", "in the device's memory", 180},
        {"band", "touched", 92},
    };
    enum { N_SWATCHES = sizeof swatches / sizeof *swatches };
    pti_page_draw_legend(picture->svg, PTI_PAGE_MARGIN, y,
                         picture->schedule->in_place ? 1 : N_SWATCHES, swatches);
}

static void draw_page(pti_text *svg, pti_chain_picture *picture) {
    pti_page page = {0};
    double y = body_top;
    picture->svg = &page.body;
    y += pti_chain_draw_interleaving(picture, y);
    y += pti_chain_draw_moves(picture, y);
    draw_chain_legend(picture, y + legend_height / 2);
    fill_chain_heading(&page, picture);
    pti_page_write(svg, &page, y + legend_height);
}

void pti_chain_draw(pti_text *svg, const pti_schedule *schedule) {
    pti_interleaving interleaving;
    pti_chain_picture picture = {.schedule = schedule,
                                 .interleaving = &interleaving,
                                 .x = left,
                                 .width = PTI_PAGE_WIDTH - PTI_PAGE_MARGIN - left};
    if (pti_interleaving_find(schedule, &interleaving)) {
        pti_chain_picture_choose(&picture);
        draw_page(svg, &picture);
    } else {
        svg->failed = true;
    }
    pti_interleaving_free(&interleaving);
}
