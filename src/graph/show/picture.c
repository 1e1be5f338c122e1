#include "graph/show/show.h"

#include "partition/show/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A picture: the graph from left to right, in several bands where it is long, actors coloured by
 * their unit, and below it a period as a Gantt chart, a lane a unit and a direction of a link. What
 * goes on into the next period comes back at the left. */

enum {
    TOP = 112,
    BOX_HEIGHT = 26,
    ROW_HEIGHT = 48,
    BAND_GAP = 18,
    LABEL_WIDTH = 150,
    LANE_HEIGHT = 22,
    CHARACTER_WIDTH = 7,
    LEAST_BOX = 48,
    MOST_BOX = 130
};

/** The share of a column that is box; arrows have the rest. */
static const double box_share = .72;

/** The picture of a graph, and where actors and arrays stand in it. */
typedef struct drawing {
    const polytile_graph_plan *plan;
    pti_text *svg;
    double *actor_y;  /* middles; owned */
    double *array_y;  /* owned */
    int *array_level; /* twice the level: actors stand at even ones, arrays at odd ones; owned */
    int *n_rows;      /* of each column; owned */
    double *band_top; /* of each band of columns, and the last one's end; owned */
    int n_columns;
    int n_in_band; /* columns */
    double column_width;
} drawing;

static double column_x(const drawing *of, int column) {
    return PTI_PAGE_MARGIN + of->column_width * (column % of->n_in_band);
}

static int band_of(const drawing *of, int column) {
    return column / of->n_in_band;
}

static double box_width(const drawing *of) {
    return fmin(MOST_BOX, of->column_width * box_share);
}

static pti_words colour_of(const drawing *of, int unit) {
    return pti_svg_order_colour(unit, of->plan->n_units > 1 ? of->plan->n_units : 2);
}

/** Return the width of the longest name, up to the widest box. */
static double width_of_names(const polytile_graph_plan *plan) {
    size_t n = 0;
    for (int a = 0; a < plan->n_arrays; a++)
        n = strlen(plan->array[a]) > n ? strlen(plan->array[a]) : n;
    for (int a = 0; a < plan->n_actors; a++)
        n = strlen(plan->actor[a].name) > n ? strlen(plan->actor[a].name) : n;
    return fmax(LEAST_BOX, fmin(MOST_BOX, (double)n * CHARACTER_WIDTH + 4));
}

/** Put as many columns side by side as their names leave room for, spread evenly over bands. */
static void cut_bands(drawing *of) {
    const double width = PTI_PAGE_WIDTH - 2 * PTI_PAGE_MARGIN;
    const int most = (int)fmax(1, floor(width * box_share / width_of_names(of->plan)));
    const int n_bands = (of->n_columns + most - 1) / most;
    of->n_in_band = (of->n_columns + n_bands - 1) / n_bands;
    of->column_width = width / of->n_in_band;
}

/** Arrays stand between their producer and their first reader. */
static void find_columns(drawing *of) {
    const polytile_graph_plan *plan = of->plan;
    for (int a = 0; a < plan->n_arrays; a++)
        of->array_level[a] = 0;
    for (int e = 0; e < plan->n_edges; e++)
        if (plan->edge[e].goes_out)
            of->array_level[plan->edge[e].array] = 2 * plan->level[plan->edge[e].actor] + 2;
    of->n_columns = 1;
    for (int a = 0; a < plan->n_arrays; a++)
        of->n_columns =
            of->array_level[a] >= of->n_columns ? of->array_level[a] + 1 : of->n_columns;
    for (int a = 0; a < plan->n_actors; a++)
        of->n_columns =
            2 * plan->level[a] + 1 >= of->n_columns ? 2 * plan->level[a] + 2 : of->n_columns;
    cut_bands(of);
}

/** Give a box the next row of its column; rows count from the band's top. */
static double next_row_of_column(drawing *of, int column) {
    return ROW_HEIGHT * (of->n_rows[column]++ + .5);
}

/** Place the bands below each other. Returns where the last one ends. */
static double place_bands(drawing *of) {
    double top = TOP;
    for (int band = 0; band * of->n_in_band < of->n_columns; band++) {
        int most = 0;
        for (int c = band * of->n_in_band; c < of->n_columns && band_of(of, c) == band; c++)
            most = of->n_rows[c] > most ? of->n_rows[c] : most;
        of->band_top[band] = top;
        top += ROW_HEIGHT * most + BAND_GAP;
    }
    return top - BAND_GAP;
}

static double place_rows(drawing *of) {
    const polytile_graph_plan *plan = of->plan;
    for (int a = 0; a < plan->n_arrays; a++)
        of->array_y[a] = next_row_of_column(of, of->array_level[a]);
    for (int a = 0; a < plan->n_actors; a++)
        of->actor_y[a] = next_row_of_column(of, 2 * plan->level[a] + 1);
    const double end = place_bands(of);
    for (int a = 0; a < plan->n_arrays; a++)
        of->array_y[a] += of->band_top[band_of(of, of->array_level[a])];
    for (int a = 0; a < plan->n_actors; a++)
        of->actor_y[a] += of->band_top[band_of(of, 2 * plan->level[a] + 1)];
    return end;
}

/** A name that is cut where the box ends. */
static pti_words cut_name(const char *name, double width) {
    const int most = (int)fmax(1, floor(width / CHARACTER_WIDTH));
    return pti_words_of("%.*s", most, name);
}

static void draw_box(const drawing *of, int column, double y, const char *style, const char *fill,
                     const char *name, const char *tooltip) {
    const double width = box_width(of);
    const pti_svg_box box = {column_x(of, column), y - BOX_HEIGHT / 2.0, width, BOX_HEIGHT};
    pti_svg_rect(of->svg, style, box, fill, tooltip);
    pti_svg_label(of->svg, "body middle", box.x + width / 2, y + 4, "%s",
                  cut_name(name, width - 4).text);
}

/** An arrow to another band goes through the gaps between columns, and above the lower band. */
static void draw_edge_between_bands(const drawing *of, int from, int to, double y1, double y2,
                                    const char *dashes) {
    const int lower = band_of(of, from > to ? from : to);
    const double x1 = column_x(of, from) + box_width(of), x2 = column_x(of, to);
    pti_text_add(of->svg,
                 "<path class=\"travel\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fV%.1fH%.1f\"%s "
                 "marker-end=\"url(#last)\"/>\n",
                 x1, y1, x1 + 7, of->band_top[lower] - BAND_GAP / 2.0, x2 - 13, y2, x2 - 3, dashes);
}

static void draw_edge(const drawing *of, const pti_drawn_edge *edge) {
    const double width = box_width(of);
    const char *dashes = edge->delay > 0 ? " stroke-dasharray=\"5 4\"" : "";
    const int actor = 2 * of->plan->level[edge->actor] + 1, array = of->array_level[edge->array];
    const int from = edge->goes_out ? actor : array, to = edge->goes_out ? array : actor;
    const double y_actor = of->actor_y[edge->actor], y_array = of->array_y[edge->array];
    const double x1 = column_x(of, from) + width, x2 = column_x(of, to) - 3;
    const double y1 = edge->goes_out ? y_actor : y_array, y2 = edge->goes_out ? y_array : y_actor;
    const double bend = from < to ? (x2 - x1) / 2 : 40;
    const double drop = from < to ? 0 : ROW_HEIGHT * .8;
    if (band_of(of, from) != band_of(of, to))
        draw_edge_between_bands(of, from, to, y1, y2, dashes);
    else
        pti_text_add(of->svg,
                     "<path class=\"travel\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"%s "
                     "marker-end=\"url(#last)\"/>\n",
                     x1, y1, x1 + bend, y1 + drop, x2 - bend, y2 + drop, x2, y2, dashes);
    if (edge->delay > 0)
        pti_svg_label(of->svg, "small middle", (x1 + x2) / 2, (y1 + y2) / 2 + drop * .75 - 4,
                      "delay %d", edge->delay);
}

/** Below an actor's box is a stripe of each unit that takes frames in turn. */
static void draw_turns(const drawing *of, int actor) {
    const polytile_graph_plan *plan = of->plan;
    const int n = pti_plan_count_turns(plan, actor);
    const double width = box_width(of) / n;
    for (int t = 0; n > 1 && t < n; t++) {
        const int unit = plan->turn[actor * plan->n_turns + t].unit;
        const pti_svg_box box = {column_x(of, 2 * plan->level[actor] + 1) + t * width,
                                 of->actor_y[actor] + BOX_HEIGHT / 2.0 - 6, width, 6};
        pti_svg_rect(of->svg, "superblock", box, colour_of(of, unit).text,
                     pti_words_of("turn %d on %.100s", t, plan->unit[unit].name).text);
    }
}

static void draw_graph(const drawing *of) {
    const polytile_graph_plan *plan = of->plan;
    for (int e = 0; e < plan->n_edges; e++)
        draw_edge(of, &plan->edge[e]);
    for (int a = 0; a < plan->n_arrays; a++)
        draw_box(of, of->array_level[a], of->array_y[a], "space", NULL, plan->array[a],
                 plan->array[a]);
    for (int a = 0; a < plan->n_actors; a++) {
        const pti_planned_actor *actor = &plan->actor[a];
        const pti_words tooltip =
            pti_words_of("%.200s on %.100s, %s%s", actor->name, plan->unit[actor->unit].name,
                         pti_words_seconds(actor->seconds).text,
                         pti_plan_count_turns(plan, a) > 1 ? ", in turn with other units" : "");
        draw_box(of, 2 * plan->level[a] + 1, of->actor_y[a], "superblock",
                 colour_of(of, actor->unit).text, actor->name, tooltip.text);
        draw_turns(of, a);
    }
}

/* The Gantt chart. */

/** Where times and lanes stand in the chart of tasks. */
typedef struct task_chart {
    double left;
    double per_second;
    double top;
} task_chart;

static void draw_bar(const drawing *of, const task_chart *on, const pti_planned_task *task,
                     double begin_s, double seconds, const char *tooltip) {
    const pti_svg_box box = {on->left + begin_s * on->per_second,
                             on->top + task->lane * LANE_HEIGHT + 2,
                             fmax(seconds * on->per_second, .7), LANE_HEIGHT - 4};
    pti_svg_rect(of->svg, task->unit < 0 ? "download" : "superblock", box,
                 task->unit < 0 ? NULL : colour_of(of, task->unit).text, tooltip);
    if (box.width > 3 * CHARACTER_WIDTH)
        pti_svg_label(of->svg, "small", box.x + 4, box.y + 13, "%s",
                      cut_name(task->name, box.width - 6).text);
}

/** The chart has a period, or, with frames in turn, those of a round. */
static double chart_seconds(const polytile_graph_plan *plan) {
    return plan->period_s * plan->n_turns;
}

/** Draw a task, in two parts where it goes on into the next period. */
static void draw_task(const drawing *of, const task_chart *on, const pti_planned_task *task) {
    const double period_s = chart_seconds(of->plan);
    const double stage = floor(task->start_s / period_s);
    const double begin_s = task->start_s - stage * period_s;
    const double first_s = fmin(task->seconds, period_s - begin_s);
    const pti_words tooltip = pti_words_of("%.200s: %s, of the %s begun %.0f %s before", task->name,
                                           pti_words_seconds(task->seconds).text,
                                           of->plan->n_turns > 1 ? "round" : "frame", stage,
                                           of->plan->n_turns > 1 ? "rounds" : "periods");
    draw_bar(of, on, task, begin_s, first_s, tooltip.text);
    if (task->seconds - first_s > period_s * 1e-9)
        draw_bar(of, on, task, 0, task->seconds - first_s, tooltip.text);
}

static double draw_gantt(const drawing *of, double y) {
    const polytile_graph_plan *plan = of->plan;
    const double left = PTI_PAGE_MARGIN + LABEL_WIDTH;
    const double width = PTI_PAGE_WIDTH - PTI_PAGE_MARGIN - left;
    const task_chart on = {left, plan->period_s > 0 ? width / chart_seconds(plan) : 0, y + 12};
    pti_svg_label(of->svg, "head", PTI_PAGE_MARGIN, y, "%s",
                  plan->n_turns > 1
                      ? pti_words_of("A round of %d frames, in turn", plan->n_turns).text
                      : "A period");
    for (int l = 0; l < plan->n_lanes; l++) {
        const double top = on.top + l * LANE_HEIGHT;
        pti_svg_rect(of->svg, "space", (pti_svg_box){left, top, width, LANE_HEIGHT}, NULL, NULL);
        pti_svg_label(of->svg, "small end", left - 8, top + 15, "%s",
                      cut_name(plan->lane[l].name, LABEL_WIDTH - 8).text);
    }
    for (int t = 0; t < plan->n_tasks && plan->period_s > 0; t++)
        draw_task(of, &on, &plan->task[t]);
    const double end = on.top + plan->n_lanes * LANE_HEIGHT;
    pti_svg_label(of->svg, "small", left, end + 14, "0");
    pti_svg_label(of->svg, "small end", left + width, end + 14, "%s",
                  pti_words_seconds(chart_seconds(plan)).text);
    return end + 14;
}

static void write_page(const drawing *of, pti_text *svg, pti_page *page, double bottom) {
    const polytile_graph_plan *plan = of->plan;
    draw_graph(of);
    const double end = draw_gantt(of, bottom + 28);
    pti_text_add(&page->title, "%s: a frame every %s", plan->name,
                 pti_words_seconds(plan->period_s).text);
    page->line[0] = pti_words_of("No schedule of this mapping has a period below %s: %.300s.",
                                 pti_words_seconds(plan->bound_s).text, plan->bound);
    page->line[1] =
        pti_words_of("From input to result %s, %s in flight. Colours are units; dashed: a delay.",
                     pti_words_seconds(plan->latency_s).text,
                     pti_words_count(plan->frames_in_flight, "frame").text);
    pti_page_write(svg, page, end + 24);
}

void pti_graph_plan_draw(pti_text *svg, const pti_object *object) {
    const polytile_graph_plan *plan = (const polytile_graph_plan *)object;
    pti_page page = {0};
    const size_t n = 2 * (size_t)plan->n_actors + 4;
    drawing of = {.plan = plan,
                  .svg = &page.body,
                  .actor_y = calloc((size_t)plan->n_actors + 1, sizeof *of.actor_y),
                  .array_y = calloc((size_t)plan->n_arrays + 1, sizeof *of.array_y),
                  .array_level = calloc((size_t)plan->n_arrays + 1, sizeof *of.array_level),
                  .n_rows = calloc(n, sizeof *of.n_rows),
                  .band_top = calloc(n, sizeof *of.band_top)};
    if (of.actor_y == NULL || of.array_y == NULL || of.array_level == NULL || of.n_rows == NULL ||
        of.band_top == NULL) {
        svg->failed = true;
    } else {
        find_columns(&of);
        write_page(&of, svg, &page, place_rows(&of));
    }
    free(of.actor_y);
    free(of.array_y);
    free(of.array_level);
    free(of.n_rows);
    free(of.band_top);
}
