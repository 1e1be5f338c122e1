#include "base/checked.h"
#include "partition/show/picture_chain.h"
#include "partition/show/words.h"

#include <inttypes.h>
#include <math.h>

/* Which launch works where, one line a launch: slabs lean to the left, since each launch stays
 * behind the one before it. */

static const double total_height = 440, highest = 24, least_label_step = 13, caption_height = 24,
                    pass_gap = 4, thin = 9, axis_height = 56;

typedef struct turns_view {
    const pti_chain_picture *picture;
    double height; /* of one line */
    int label_stride;
    double y[PTI_CHAIN_MOST_LINES];
} turns_view;

static const pti_interleaving_pass *pass_of_line(const pti_chain_picture *picture, int line) {
    return &picture->turns->pass[picture->turns->pass_of[picture->line[line]]];
}

static bool is_first_of_pass(const pti_chain_picture *picture, int line) {
    return pass_of_line(picture, line)->first == picture->line[line];
}

static bool has_caption(const pti_chain_picture *picture, int line) {
    const pti_interleaving_pass *pass = pass_of_line(picture, line);
    return is_first_of_pass(picture, line) && pass->end - pass->first > 1;
}

static double place_lines(turns_view *view, double y) {
    const pti_chain_picture *picture = view->picture;
    view->height = fmin(highest, total_height / picture->n_lines);
    view->label_stride = (int)ceil(least_label_step / view->height);
    for (int k = 0; k < picture->n_lines; k++) {
        if (k > 0 && is_first_of_pass(picture, k))
            y += pass_gap;
        if (has_caption(picture, k))
            y += caption_height;
        view->y[k] = y;
        y += view->height;
    }
    return y;
}

static void caption_pass(const turns_view *view, int line) {
    const pti_chain_picture *picture = view->picture;
    const pti_interleaving_pass *pass = pass_of_line(picture, line);
    char slabs[32];
    pti_svg_label(picture->svg, "body", picture->x, view->y[line] - 7,
                  "pass %d: launches %d to %d take turns in %s slab%s",
                  picture->turns->pass_of[pass->first], pass->first, pass->end - 1,
                  pti_count_format(pass->n_slabs, slabs), pass->n_slabs == 1 ? "" : "s");
}

static void label_line(const turns_view *view, int line) {
    const pti_chain_picture *picture = view->picture;
    int l = picture->line[line];
    int in_pass = l == 0 ? 0 : line;
    while (in_pass > 0 && !is_first_of_pass(picture, in_pass))
        in_pass--;
    if ((line - in_pass) % view->label_stride == 0)
        pti_svg_label(picture->svg, "small end", picture->x - 8,
                      view->y[line] + view->height / 2 + 4, "%.13s %d",
                      picture->schedule->launch[l].instance->kernel_name, l);
}

/** The threads of a drawn launch in a slab; false if it has no turn in it that can be seen. */
static bool place_turn(const turns_view *view, int line, int64_t slab, pti_svg_box *at,
                       polytile_domain *threads) {
    const pti_chain_picture *picture = view->picture;
    int l = picture->line[line];
    at->y = view->y[line];
    at->height = view->height;
    return pti_interleaving_threads(picture->schedule, picture->turns, l, slab, threads) &&
           pti_chain_place(picture, threads->range[picture->turns->axis[l]], at);
}

static void draw_turn(const turns_view *view, int line, int64_t slab) {
    const pti_chain_picture *picture = view->picture;
    pti_text tooltip = {0};
    pti_svg_box at;
    polytile_domain threads;
    char colour[8];
    if (!place_turn(view, line, slab, &at, &threads))
        return;
    pti_text_add(&tooltip, "launch %d, slab %" PRId64 ": threads ", picture->line[line], slab);
    pti_box_write(&tooltip, &threads);
    pti_svg_rect(picture->svg, at.width < 4 ? "plain" : "superblock", at,
                 pti_chain_colour(picture, slab, colour), tooltip.failed ? NULL : tooltip.data);
    if (is_first_of_pass(picture, line) && at.width >= 22 && at.height >= thin)
        pti_svg_label(picture->svg, "number middle", at.x + at.width / 2, at.y + at.height / 2 + 4,
                      "%" PRId64, slab);
    picture->svg->failed |= tooltip.failed;
    pti_text_free(&tooltip);
}

static void draw_line(const turns_view *view, int line) {
    int64_t n_slabs = pass_of_line(view->picture, line)->n_slabs;
    for (int64_t k = 0; k < n_slabs; k++)
        draw_turn(view, line, k);
    label_line(view, line);
    if (has_caption(view->picture, line))
        caption_pass(view, line);
}

/** One edge of the chosen slab, downwards along the left or upwards along the right. */
static bool draw_edge(const turns_view *view, bool is_left, bool has_begun) {
    const pti_chain_picture *picture = view->picture;
    for (int n = 0; n < picture->n_lines; n++) {
        int line = is_left ? n : picture->n_lines - 1 - n;
        pti_svg_box at;
        polytile_domain threads;
        if (picture->turns->pass_of[picture->line[line]] != 0 ||
            !place_turn(view, line, picture->slab, &at, &threads))
            continue;
        double x = is_left ? at.x : at.x + at.width;
        double y = is_left ? at.y : at.y + at.height;
        pti_text_add(picture->svg, "%c%.1f %.1fV%.1f", has_begun ? 'L' : 'M', x, y,
                     is_left ? y + at.height : y - at.height);
        has_begun = true;
    }
    return has_begun;
}

static void outline_chosen(const turns_view *view) {
    pti_text *svg = view->picture->svg;
    pti_text_add(svg, "<path class=\"chosen\" d=\"");
    draw_edge(view, false, draw_edge(view, true, false));
    pti_text_add(svg, "%s\"/>\n", "Z");
}

static void draw_time(const pti_chain_picture *picture, double y, double bottom) {
    pti_svg_label(picture->svg, "small", 14, y + 10, "time");
    pti_text_add(picture->svg,
                 "<path class=\"order\" marker-end=\"url(#last)\" d=\"M26 %.1fV%.1f\"/>\n", y + 16,
                 fmax(y + 34, bottom));
}

static void draw_axis(const pti_chain_picture *picture, double y) {
    const pti_schedule_launch *launch = &picture->schedule->launch[0];
    char lo[32], hi[32];
    pti_svg_label(picture->svg, "small", picture->x, y + 15, "%s",
                  pti_count_format(picture->rows.lo, lo));
    pti_svg_label(picture->svg, "small end", picture->x + picture->width, y + 15, "%s",
                  pti_count_format(picture->rows.hi, hi));
    pti_svg_label(picture->svg, "body middle", picture->x + picture->width / 2, y + 15,
                  "threads along %s, and rows of the arrays",
                  launch->instance->index_name[picture->turns->axis[0]]);
}

static void add_part(pti_text *note, int64_t n_drawn, int64_t n, const char *what) {
    char drawn[32], all[32];
    if (n_drawn < n)
        pti_text_add(note, "%s%s of %s %s", note->length > 0 ? ", " : "a part is drawn: ",
                     pti_count_format(n_drawn, drawn), pti_count_format(n, all), what);
}

/** What of the schedule is not drawn. */
static void note_window(const pti_chain_picture *picture, double y) {
    pti_text note = {0};
    add_part(&note, picture->n_passes, picture->turns->n_passes, "passes");
    add_part(&note, picture->n_lines, picture->line[picture->n_lines - 1] + 1, "launches");
    add_part(&note, picture->n_slabs, picture->turns->pass[0].n_slabs, "slabs");
    if (note.length > 0 && !note.failed)
        pti_svg_label(picture->svg, "small", picture->x, y + 33, "%s", note.data);
    picture->svg->failed |= note.failed;
    pti_text_free(&note);
}

double pti_chain_draw_turns(const pti_chain_picture *picture, double y) {
    turns_view view = {.picture = picture};
    double bottom = place_lines(&view, y);
    for (int k = 0; k < picture->n_lines; k++)
        draw_line(&view, k);
    outline_chosen(&view);
    draw_time(picture, view.y[0], bottom);
    draw_axis(picture, bottom);
    note_window(picture, bottom);
    return bottom + axis_height - y;
}
