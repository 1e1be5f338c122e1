#include "partition/show/picture.h"

#include "access/pieces/shear.h"
#include "access/pieces/split.h"
#include "base/checked.h"

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
    return pti_schedule_placement(picture->plan->schedule, 0, picture->chosen, operand);
}

pti_panel pti_picture_array_panel(const pti_picture *picture, int operand) {
    const pti_operand *of = &picture->plan->instance->operand[operand];
    const polytile_domain *space = pti_operand_array_domain(of);
    const pti_placement *placement = placement_of(picture, operand);
    const polytile_domain held =
        placement == NULL ? *space : pti_operand_unsheared(of, &placement->layout.hull);
    return pti_panel_of(space, &held);
}

/** " of 2: 1 MiB together; their hull 20 MiB" of the first piece of an array that has several. */
static pti_words describe_pieces(const pti_picture *picture, int operand) {
    const pti_instance *instance = picture->plan->instance;
    if (operand >= pti_instance_n_arrays(instance) ||
        pti_instance_count_pieces(instance, operand) == 1)
        return pti_words_of("%s", "");
    const pti_pieces_held held = pti_pieces_held_of(picture->plan, operand);
    return pti_words_of(" of %d: %s together; their hull %s", held.n_pieces,
                        pti_words_size(held.held_bytes).text, pti_words_size(held.hull_bytes).text);
}

void pti_picture_caption_array(const pti_picture *picture, const pti_panel *panel, int operand,
                               double above) {
    const pti_words array = pti_words_operand(picture->plan->instance, operand);
    const pti_words pieces = describe_pieces(picture, operand);
    double x = panel->at.x, y = panel->at.y - above;
    if (panel->space.n_dims > 2)
        pti_svg_label(picture->svg, "head", x, y, "%s (dimensions %d, %d)%s", array.text,
                      panel->row_dim, panel->col_dim, pieces.text);
    else
        pti_svg_label(picture->svg, "head", x, y, "%s%s", array.text, pieces.text);
}

/** Draw what operations of one kind move of an operand for the chosen superblock; the bytes. */
static int64_t draw_moved_of_superblock(const pti_picture *picture, const pti_panel *panel,
                                        int operand, pti_op_kind kind, const char *style) {
    const pti_schedule *schedule = picture->plan->schedule;
    int64_t bytes = 0;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != kind || op->superblock != picture->chosen ||
            schedule->placement[op->placement].operand != operand)
            continue;
        const polytile_domain box =
            pti_operand_unsheared(&schedule->instance->operand[operand], &op->box);
        pti_panel_draw_box(picture->svg, panel, style, &box, NULL, NULL);
        bytes += op->bytes;
    }
    return bytes;
}

static pti_words describe_bytes(const pti_picture *picture, int64_t uploaded, int64_t downloaded) {
    const pti_words up = pti_words_size(uploaded), down = pti_words_size(downloaded);
    if (picture->plan->schedule->in_place)
        return pti_words_of("used in place");
    if (uploaded > 0 && downloaded > 0)
        return pti_words_of("%s up, %s down", up.text, down.text);
    if (uploaded > 0)
        return pti_words_of("%s up", up.text);
    return downloaded > 0 ? pti_words_of("%s down", down.text) : pti_words_of("nothing moved");
}

static void draw_array(const pti_picture *picture, int operand, pti_svg_box area) {
    const pti_placement *placement = placement_of(picture, operand);
    pti_panel panel = pti_picture_array_panel(picture, operand);
    pti_panel_fit(&panel, area);
    pti_panel_draw_space(picture->svg, &panel, NULL);
    if (placement != NULL) {
        const polytile_domain held = pti_operand_unsheared(
            &picture->plan->instance->operand[operand], &placement->layout.hull);
        pti_panel_draw_box(picture->svg, &panel, "held", &held, NULL, NULL);
    }
    int64_t uploaded = draw_moved_of_superblock(picture, &panel, operand, PTI_UPLOAD, "upload");
    int64_t downloaded = draw_moved_of_superblock(picture, &panel, operand, PTI_DOWNLOAD,
                                                  uploaded > 0 ? "back" : "download");
    pti_picture_caption_array(picture, &panel, operand, 36);
    pti_svg_label(picture->svg, "body", panel.at.x, panel.at.y - 20, "%s",
                  describe_bytes(picture, uploaded, downloaded).text);
}

void pti_picture_arrays(const pti_picture *picture, pti_svg_box area) {
    int n_columns = count_columns(picture);
    int n_hidden = picture->plan->instance->n_operands - count_shown(picture);
    double width = (area.width - (n_columns - 1) * column_gap) / n_columns;
    double height = area.height / count_rows(picture);
    for (int k = 0; k < count_shown(picture); k++)
        draw_array(picture, k,
                   (pti_svg_box){area.x + k % n_columns * (width + column_gap),
                                 area.y + k / n_columns * height + caption_height, width,
                                 fmin(height - caption_height - array_gap, tallest)});
    if (n_hidden > 0)
        pti_svg_label(picture->svg, "small", area.x, area.y + area.height + 15, "and %s",
                      pti_words_count(n_hidden, "more array").text);
}

double pti_picture_arrays_height(const pti_picture *picture) {
    return count_rows(picture) * (caption_height + 140 + array_gap);
}
