#include "partition/show/picture_chain.h"

#include <inttypes.h>
#include <math.h>

/* Which launch works where, one line a launch: slabs lean to the left, since each launch stays
 * behind the one before it. */

static const double total_height = 440, highest = 24, least_label_step = 13, caption_height = 24,
                    pass_gap = 4, thin = 9, axis_height = 56;

static const pti_interleaving_pass *pass_of_line(const pti_chain_picture *picture, int line) {
    return &picture->interleaving->pass[picture->interleaving->pass_of[picture->line[line]]];
}

static bool is_first_of_pass(const pti_chain_picture *picture, int line) {
    return pass_of_line(picture, line)->first == picture->line[line];
}

static bool has_caption(const pti_chain_picture *picture, int line) {
    const pti_interleaving_pass *pass = pass_of_line(picture, line);
    return is_first_of_pass(picture, line) && pass->end - pass->first > 1;
}

static double place_lines(pti_chain_picture *picture, double y) {
    picture->height = fmin(highest, total_height / picture->n_lines);
    picture->label_stride = (int)ceil(least_label_step / picture->height);
    for (int k = 0; k < picture->n_lines; k++) {
        if (k > 0 && is_first_of_pass(picture, k))
            y += pass_gap;
        if (has_caption(picture, k))
            y += caption_height;
        picture->y[k] = y;
        y += picture->height;
    }
    return y;
}

static void caption_pass(const pti_chain_picture *picture, int line) {
    const pti_interleaving_pass *pass = pass_of_line(picture, line);
    pti_svg_label(picture->svg, "body", picture->x, picture->y[line] - 7,
                  "pass %d: launches %d to %d are interleaved in %s",
                  picture->interleaving->pass_of[pass->first], pass->first, pass->end - 1,
                  pti_words_count(pass->n_slabs, "slab").text);
}

static void label_line(const pti_chain_picture *picture, int line) {
    int l = picture->line[line];
    int in_pass = l == 0 ? 0 : line;
    while (in_pass > 0 && !is_first_of_pass(picture, in_pass))
        in_pass--;
    if ((line - in_pass) % picture->label_stride == 0)
        pti_svg_label(picture->svg, "small end", picture->x - 8,
                      picture->y[line] + picture->height / 2 + 4, "%.13s %d",
                      picture->schedule->launch[l].call.instance->kernel_name, l);
}

/** Find the threads of a drawn launch in a slab; false if none of it can be seen. */
static bool place_slab(const pti_chain_picture *picture, int line, int64_t slab, pti_svg_box *at,
                       polytile_domain *threads) {
    int l = picture->line[line];
    at->y = picture->y[line];
    at->height = picture->height;
    return pti_interleaving_threads(picture->schedule, picture->interleaving, l, slab, threads) &&
           pti_chain_place(picture, threads->range[picture->interleaving->axis[l]], at);
}

static void draw_slab(const pti_chain_picture *picture, int line, int64_t slab) {
    pti_svg_box at;
    polytile_domain threads;
    if (!place_slab(picture, line, slab, &at, &threads))
        return;
    const pti_words tooltip = pti_words_of("launch %d, slab %" PRId64 ": threads %s",
                                           picture->line[line], slab, pti_words_box(&threads).text);
    pti_svg_rect(picture->svg, at.width < 4 ? "plain" : "superblock", at,
                 pti_chain_colour(picture, slab).text, tooltip.text);
    if (is_first_of_pass(picture, line) && at.width >= 22 && at.height >= thin)
        pti_svg_label(picture->svg, "number middle", at.x + at.width / 2, at.y + at.height / 2 + 4,
                      "%" PRId64, slab);
}

static void draw_line(const pti_chain_picture *picture, int line) {
    int64_t n_slabs = pass_of_line(picture, line)->n_slabs;
    for (int64_t k = 0; k < n_slabs; k++)
        draw_slab(picture, line, k);
    label_line(picture, line);
    if (has_caption(picture, line))
        caption_pass(picture, line);
}

/** Draw an edge of the chosen slab, downwards along the left or upwards along the right. */
static bool draw_edge(const pti_chain_picture *picture, bool is_left, bool has_begun) {
    for (int n = 0; n < picture->n_lines; n++) {
        int line = is_left ? n : picture->n_lines - 1 - n;
        pti_svg_box at;
        polytile_domain threads;
        if (picture->interleaving->pass_of[picture->line[line]] != 0 ||
            !place_slab(picture, line, picture->slab, &at, &threads))
            continue;
        double x = is_left ? at.x : at.x + at.width;
        double y = is_left ? at.y : at.y + at.height;
        pti_text_add(picture->svg, "%c%.1f %.1fV%.1f", has_begun ? 'L' : 'M', x, y,
                     is_left ? y + at.height : y - at.height);
        has_begun = true;
    }
    return has_begun;
}

static void outline_chosen(const pti_chain_picture *picture) {
    pti_text_add(picture->svg, "<path class=\"chosen\" d=\"");
    draw_edge(picture, false, draw_edge(picture, true, false));
    pti_text_add(picture->svg, "Z\"/>\n");
}

static void draw_time(const pti_chain_picture *picture, double y, double bottom) {
    pti_svg_label(picture->svg, "small", 14, y + 10, "time");
    pti_text_add(picture->svg,
                 "<path class=\"order\" marker-end=\"url(#last)\" d=\"M26 %.1fV%.1f\"/>\n", y + 16,
                 fmax(y + 34, bottom));
}

static void draw_axis(const pti_chain_picture *picture, double y) {
    const pti_schedule_launch *launch = &picture->schedule->launch[0];
    pti_svg_label(picture->svg, "small", picture->x, y + 15, "%s",
                  pti_words_number(picture->rows.lo).text);
    pti_svg_label(picture->svg, "small end", picture->x + picture->width, y + 15, "%s",
                  pti_words_number(picture->rows.hi).text);
    pti_svg_label(picture->svg, "body middle", picture->x + picture->width / 2, y + 15,
                  "threads along %s, and rows of the arrays",
                  launch->call.instance->index_name[picture->interleaving->axis[0]]);
}

/** Say what of the schedule is not drawn. */
static void draw_note(const pti_chain_picture *picture, double y) {
    const struct {
        int64_t n_drawn, n;
        const char *what;
    } all[] = {
        {picture->n_passes, picture->interleaving->n_passes, "passes"},
        {picture->n_lines, picture->line[picture->n_lines - 1] + 1, "launches"},
        {picture->n_slabs, picture->interleaving->pass[0].n_slabs, "slabs"},
    };
    pti_words note = {""};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].n_drawn < all[k].n)
            note = pti_words_of("%s%s%s of %s %s", note.text,
                                note.text[0] != '\0' ? ", " : "a part is drawn: ",
                                pti_words_number(all[k].n_drawn).text,
                                pti_words_number(all[k].n).text, all[k].what);
    if (note.text[0] != '\0')
        pti_svg_label(picture->svg, "small", picture->x, y + 33, "%s", note.text);
}

double pti_chain_draw_interleaving(pti_chain_picture *picture, double y) {
    double bottom = place_lines(picture, y);
    for (int k = 0; k < picture->n_lines; k++)
        draw_line(picture, k);
    outline_chosen(picture);
    draw_time(picture, picture->y[0], bottom);
    draw_axis(picture, bottom);
    draw_note(picture, bottom);
    return bottom + axis_height - y;
}
