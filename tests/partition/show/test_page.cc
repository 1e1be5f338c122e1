#include "support/xml.h"

#include <gtest/gtest.h>

extern "C" {
#include "partition/show/page.h"
}

namespace {

std::string write(pti_page page) {
    pti_text svg = {};
    pti_text_add(&page.title, "a <title>");
    pti_text_add(&page.body, "%s", "");
    pti_page_write(&svg, &page, 200);
    EXPECT_FALSE(svg.failed);
    const std::string text = svg.data == nullptr ? "" : svg.data;
    pti_text_free(&svg);
    EXPECT_EQ(xml_error(text), "");
    return text;
}

bool has(const std::string &text, const std::string &words) {
    return text.find(words) != std::string::npos;
}

TEST(Page, HasItsTitleAndItsLinesButEmptyOnes) {
    pti_page page = {};
    page.line[1] = pti_words_of("the second");
    const std::string text = write(page);
    EXPECT_TRUE(has(text, "<title>a &lt;title&gt;</title>"));
    EXPECT_TRUE(has(text, "y=\"78.00\">the second</text>"));
    EXPECT_FALSE(has(text, "y=\"60.00\""));
}

TEST(Page, ShowsThePeakWhereThereIsALimit) {
    pti_page page = {};
    page.peak_bytes = 512;
    EXPECT_FALSE(has(write(page), "of the limit"));
    page.limit_bytes = 1024;
    EXPECT_TRUE(has(write(page), "peak 512 B, 50.0% of the limit"));
}

TEST(Page, FailsWithItsBodyAndKeepsNothing) {
    pti_page page = {};
    pti_text svg = {};
    pti_text_add(&page.title, "title");
    page.body.failed = true;
    pti_page_write(&svg, &page, 200);
    EXPECT_TRUE(svg.failed);
    EXPECT_EQ(page.title.data, nullptr);
    pti_text_free(&svg);
}

TEST(Page, LegendsLeaveOutWhatIsNotShown) {
    const pti_swatch swatches[] = {
        {"chosen", "first", 100}, {nullptr, "second", 100}, {"held", "third", 100}};
    pti_text svg = {};
    pti_page_draw_legend(&svg, 10, 20, 3, swatches);
    const std::string text = svg.data;
    pti_text_free(&svg);
    EXPECT_FALSE(has(text, "second"));
    EXPECT_TRUE(has(text, "<text class=\"body\" x=\"132.00\" y=\"20.00\">third</text>")) << text;
}

TEST(Page, ColoursGoFromTheFirstPlaceToTheLast) {
    EXPECT_STREQ(pti_svg_order_colour(0, 1).text, pti_svg_order_colour(0, 9).text);
    pti_text svg = {};
    EXPECT_EQ(pti_page_draw_colours(&svg, 10, 20, 4, 14, 9), 10 + 4 * 14);
    const std::string text = svg.data;
    pti_text_free(&svg);
    EXPECT_TRUE(has(text, pti_svg_order_colour(0, 9).text));
    EXPECT_TRUE(has(text, pti_svg_order_colour(8, 9).text));
}

} // namespace
