#include "base/checked.h"
#include "partition/show/picture.h"
#include "partition/show/words.h"
#include <polytile/size.h>

#include <math.h>

static const double caption_height = 54, array_gap = 10, column_gap = 46, tallest = 250;
enum { MOST_ARRAYS = 6, MOST_IN_ONE_COLUMN = 2 };

static int count_shown(const pti_picture *picture) {
    return (int)pti_min(picture->plan->instance->n_operands, MOST_ARRAYS);
}

static int count_columns(const pti_picture *picture) {
    return count_shown(picture) > MOST_IN_ONE_COLUMN ? 2 : 1;
}

static int count_rows(const pti_picture *picture) {
    int n_columns = count_columns(picture);
    return (count_shown(picture) + n_columns - 1) / n_columns;
}

static const pti_placement *placement_of(const pti_picture *picture, int operand) {
    return pti_schedule_placement(picture->schedule, picture->chosen, operand);
}

static pti_panel panel_of(const pti_picture *picture, int operand) {
    const polytile_domain *space = &picture->plan->instance->operand[operand].domain;
    const pti_placement *placement = placement_of(picture, operand);
    return pti_panel_of(space, placement == NULL ? space : &placement->layout.hull);
}

/** Draw what operations of one kind move of an operand for the chosen superblock; the bytes. */
static int64_t draw_moved(const pti_picture *picture, const pti_panel *panel, int operand,
                          pti_op_kind kind, const char *style) {
    const pti_schedule *schedule = picture->schedule;
    int64_t bytes = 0;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != kind || op->superblock != picture->chosen ||
            schedule->placement[op->placement].operand != operand)
            continue;
        pti_panel_draw_box(picture->svg, panel, style, &op->box, NULL, NULL);
        bytes += op->bytes;
    }
    return bytes;
}

static void draw_name(const pti_picture *picture, const pti_panel *panel, int operand) {
    pti_text words = {0};
    pti_words_operand(&words, picture->plan->instance, operand);
    if (panel->space.n_dims > 2)
        pti_text_add(&words, " (dimensions %d, %d)", panel->row_dim, panel->col_dim);
    if (!words.failed)
        pti_svg_label(picture->svg, "head", panel->at.x, panel->at.y - 36, "%s", words.data);
    picture->svg->failed |= words.failed;
    pti_text_free(&words);
}

static void draw_bytes(const pti_picture *picture, const pti_panel *panel, int64_t uploaded,
                       int64_t downloaded) {
    char up[32], down[32];
    double y = panel->at.y - 20;
    polytile_size_format(uploaded, up);
    polytile_size_format(downloaded, down);
    if (picture->schedule->in_place)
        pti_svg_label(picture->svg, "body", panel->at.x, y, "used in place");
    else if (uploaded > 0 && downloaded > 0)
        pti_svg_label(picture->svg, "body", panel->at.x, y, "%s up, %s down", up, down);
    else if (uploaded > 0)
        pti_svg_label(picture->svg, "body", panel->at.x, y, "%s up", up);
    else if (downloaded > 0)
        pti_svg_label(picture->svg, "body", panel->at.x, y, "%s down", down);
    else
        pti_svg_label(picture->svg, "body", panel->at.x, y, "nothing moved");
}

static void draw_array(const pti_picture *picture, int operand, pti_svg_box area) {
    const pti_placement *placement = placement_of(picture, operand);
    pti_panel panel = panel_of(picture, operand);
    pti_panel_fit(&panel, area);
    pti_panel_draw_space(picture->svg, &panel, NULL);
    if (placement != NULL)
        pti_panel_draw_box(picture->svg, &panel, "held", &placement->layout.hull, NULL, NULL);
    int64_t uploaded = draw_moved(picture, &panel, operand, PTI_UPLOAD, "upload");
    int64_t downloaded =
        draw_moved(picture, &panel, operand, PTI_DOWNLOAD, uploaded > 0 ? "back" : "download");
    draw_name(picture, &panel, operand);
    draw_bytes(picture, &panel, uploaded, downloaded);
}

static void draw_rest(const pti_picture *picture, pti_svg_box area) {
    int n_hidden = picture->plan->instance->n_operands - count_shown(picture);
    if (n_hidden > 0)
        pti_svg_label(picture->svg, "small", area.x, area.y + area.height + 15,
                      "and %d more array%s", n_hidden, n_hidden == 1 ? "" : "s");
}

void pti_picture_arrays(const pti_picture *picture, pti_svg_box area) {
    int n_columns = count_columns(picture);
    double width = (area.width - (n_columns - 1) * column_gap) / n_columns;
    double height = area.height / count_rows(picture);
    for (int k = 0; k < count_shown(picture); k++)
        draw_array(picture, k,
                   (pti_svg_box){area.x + k % n_columns * (width + column_gap),
                                 area.y + k / n_columns * height + caption_height, width,
                                 fmin(height - caption_height - array_gap, tallest)});
    draw_rest(picture, area);
}

double pti_picture_arrays_height(const pti_picture *picture) {
    return count_rows(picture) * (caption_height + 140 + array_gap);
}
