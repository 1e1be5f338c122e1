#include "partition/show/page.h"

#include <math.h>

static void draw_gauge(pti_text *svg, const pti_page *page) {
    const double right = PTI_PAGE_WIDTH - PTI_PAGE_MARGIN;
    double share = (double)page->peak_bytes / (double)page->limit_bytes;
    pti_svg_box whole = {right - 190, 30, 190, 9}, used = whole;
    used.width *= fmin(share, 1);
    pti_svg_rect(svg, "held", used, NULL, NULL);
    pti_svg_rect(svg, "frame", whole, NULL, NULL);
    pti_svg_label(svg, "small end", right, 23, "peak %s, %.1f%% of the limit",
                  pti_words_size(page->peak_bytes).text, 100 * share);
}

static void draw_heading(pti_text *svg, const pti_page *page) {
    pti_svg_label(svg, "title", PTI_PAGE_MARGIN, 38, "%s", page->title.data);
    for (int k = 0; k < PTI_PAGE_LINES; k++)
        if (page->line[k].text[0] != '\0')
            pti_svg_label(svg, "body", PTI_PAGE_MARGIN, 60 + 18 * k, "%s", page->line[k].text);
    if (page->limit_bytes > 0)
        draw_gauge(svg, page);
}

void pti_page_write(pti_text *svg, pti_page *page, double height) {
    svg->failed |= page->title.failed || page->body.failed;
    if (!svg->failed) {
        pti_svg_open(svg, PTI_PAGE_WIDTH, height, page->title.data);
        draw_heading(svg, page);
        pti_text_add(svg, "%s", page->body.data);
        pti_svg_close(svg);
    }
    pti_text_free(&page->title);
    pti_text_free(&page->body);
}

void pti_page_draw_legend(pti_text *svg, double x, double y, int n, const pti_swatch *swatches) {
    for (const pti_swatch *swatch = swatches; swatch < swatches + n; swatch++) {
        if (swatch->style == NULL)
            continue;
        pti_svg_rect(svg, swatch->style, (pti_svg_box){x, y - 10, 16, 12}, NULL, NULL);
        pti_svg_label(svg, "body", x + 22, y, "%s", swatch->words);
        x += swatch->width;
    }
}

double pti_page_draw_colours(pti_text *svg, double x, double y, int n, double step_width,
                             int64_t n_places) {
    for (int k = 0; k < n; k++) {
        int64_t place = n == 1 ? 0 : k * (n_places - 1) / (n - 1);
        pti_svg_rect(svg, "plain", (pti_svg_box){x + step_width * k, y - 10, step_width + .3, 12},
                     pti_svg_order_colour((double)place, n_places).text, NULL);
    }
    return x + step_width * n;
}
