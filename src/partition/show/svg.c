#include "partition/show/svg.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char style_sheet[] =
    "<style>"
    "text{font-family:'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif;fill:#1b2733}"
    ".title{font-size:21px;font-weight:bold}"
    ".head{font-size:14px;font-weight:bold}"
    ".body{font-size:12px}"
    ".small{font-size:11px;fill:#52606d}"
    ".number{font-size:10px;fill:#3e4c59}"
    ".middle{text-anchor:middle}.end{text-anchor:end}"
    ".ground{fill:#ffffff}"
    ".space{fill:#f1f4f7;stroke:#9aa5b1;stroke-width:1}"
    ".superblock{stroke:#ffffff;stroke-width:1}"
    ".chosen{fill:none;stroke:#c2410c;stroke-width:2.5}"
    ".frame{fill:none;stroke:#9aa5b1;stroke-width:1}"
    ".order{fill:none;stroke:#1b2733;stroke-width:1.3;stroke-opacity:.55}"
    ".held{fill:#bfe3c6;stroke:#5f9f6e;stroke-width:.8}"
    ".upload{fill:#f28c38;fill-opacity:.85;stroke:#c2410c;stroke-width:.8}"
    ".download{fill:#3b78c9;fill-opacity:.55;stroke:#1d4f91;stroke-width:.8}"
    ".back{fill:none;stroke:#1d4f91;stroke-width:3}"
    ".carried{fill:#8e5bb5;fill-opacity:.75;stroke:#5b2a86;stroke-width:.8}"
    ".zeroed{fill:#f7e1a1;stroke:#b7903c;stroke-width:.8}"
    ".band{fill:none;stroke:#1b2733;stroke-width:1.2;stroke-dasharray:4 3}"
    ".halo{paint-order:stroke;stroke:#ffffff;stroke-width:3px;stroke-opacity:.85}"
    ".halo-band{fill:#f28c38;fill-opacity:.6;stroke:#c2410c;stroke-width:.6}"
    ".inner{fill:none;stroke:#3e4c59;stroke-width:.8}"
    ".travel{fill:none;stroke:#1b2733;stroke-width:1.4}"
    ".plain{stroke:none;shape-rendering:crispEdges}"
    "</style>\n";

static const char arrow_heads[] =
    "<defs>"
    "<marker id=\"first\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"6\" "
    "markerHeight=\"6\"><circle cx=\"4\" cy=\"4\" r=\"3\" fill=\"#1b2733\"/></marker>"
    "<marker id=\"last\" viewBox=\"0 0 10 10\" refX=\"8\" refY=\"5\" markerWidth=\"9\" "
    "markerHeight=\"9\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"#1b2733\"/></marker>"
    "</defs>\n";

static const char *entity_of(char c) {
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/** Add characters as XML text, with what XML reserves or forbids replaced. */
static void add_escaped(pti_text *svg, const char *string) {
    for (const char *c = string; *c != '\0'; c++) {
        bool is_ascii = *c >= ' ' && *c <= '~';
        if (entity_of(*c) != NULL)
            pti_text_add(svg, "%s", entity_of(*c));
        else
            pti_text_add(svg, "%c", is_ascii ? *c : '?');
    }
}

void pti_svg_open(pti_text *svg, double width, double height, const char *title) {
    pti_text_add(svg,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                 "viewBox=\"0 0 %.0f %.0f\">\n<title>",
                 width, height, width, height);
    add_escaped(svg, title);
    pti_text_add(svg, "</title>\n%s%s", style_sheet, arrow_heads);
    pti_svg_rect(svg, "ground", (pti_svg_box){0, 0, width, height}, NULL, NULL);
}

void pti_svg_close(pti_text *svg) {
    pti_text_add(svg, "</svg>\n");
}

void pti_svg_rect(pti_text *svg, const char *style, pti_svg_box rect, const char *fill,
                  const char *tooltip) {
    pti_text_add(svg, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"",
                 style, rect.x, rect.y, rect.width, rect.height);
    if (fill != NULL)
        pti_text_add(svg, " fill=\"%s\"", fill);
    if (tooltip == NULL) {
        pti_text_add(svg, "/>\n");
        return;
    }
    pti_text_add(svg, "><title>");
    add_escaped(svg, tooltip);
    pti_text_add(svg, "</title></rect>\n");
}

void pti_svg_label(pti_text *svg, const char *style, double x, double y, const char *format, ...) {
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    pti_text_add(svg, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\">", style, x, y);
    add_escaped(svg, words);
    pti_text_add(svg, "</text>\n");
}

void pti_svg_label_down(pti_text *svg, const char *style, double x, double y, int64_t number) {
    pti_text_add(svg,
                 "<text class=\"%s\" transform=\"translate(%.2f %.2f) rotate(90)\">%" PRId64
                 "</text>\n",
                 style, x, y, number);
}

pti_words pti_svg_order_colour(double place, int64_t n) {
    static const double stops[][3] = {
        {253, 232, 160}, {186, 226, 168}, {130, 207, 192}, {122, 180, 228}, {171, 153, 228},
    };
    enum { N_SPANS = sizeof stops / sizeof *stops - 1 };
    double share = n > 1 ? place / (double)(n - 1) : 0;
    double at = (share < 0 ? 0 : share > 1 ? 1 : share) * N_SPANS;
    int span = at >= N_SPANS ? N_SPANS - 1 : (int)at;
    int rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)(stops[span][c] + (at - span) * (stops[span + 1][c] - stops[span][c]) + .5);
    return pti_words_of("#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
}
