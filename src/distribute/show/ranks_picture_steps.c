#include "distribute/show/ranks_picture.h"

#include "base/checked.h"

/* What travels around each superstep, a line each. */

/** So many ways fit a line. */
enum { MOST_WAYS = 4 };

static const double heading_height = 28, line_height = 18, gap = 12;

bool pti_ranks_has_steps(const polytile_ranks_plan *plan) {
    return plan->members.n_supersteps > 1 && pti_ranks_has_table(plan);
}

static void draw_step(pti_text *svg, const polytile_ranks_plan *plan, int number, double x,
                      double y) {
    pti_text words = {0};
    pti_ranks_write_step(&words, plan, number, MOST_WAYS);
    svg->failed |= words.failed;
    pti_svg_label(svg, "body", x, y, "%s", words.failed ? "" : words.data);
    pti_text_free(&words);
}

double pti_ranks_steps_draw(pti_text *svg, const polytile_ranks_plan *plan, double x, double y) {
    const pti_members_plan *members = &plan->members;
    const int n_steps = (int)pti_min(members->n_supersteps, PTI_RANKS_MOST_STEPS);
    const int n_more = members->n_supersteps - n_steps;
    pti_svg_label(svg, "head", x, y + 16, "from %s to %s, superstep by superstep",
                  pti_ranks_word(plan), pti_ranks_word(plan));
    for (int s = 0; s < n_steps; s++)
        draw_step(svg, plan, s, x, y + heading_height + line_height * (s + 1) - 4);
    if (n_more > 0)
        pti_svg_label(svg, "body", x, y + heading_height + line_height * (n_steps + 1) - 4,
                      "... and %s", pti_words_count(n_more, "more superstep").text);
    return heading_height + line_height * (n_steps + (n_more > 0)) + gap;
}
