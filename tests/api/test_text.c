#include <polytile/text.h>

#include "support/c_test.h"

#include <string.h>

static const struct {
    const char *text, *shown;
} texts[] = {
    {"", ""},
    {"k[i]: in x[i]\n\tout y[i]", "k[i]: in x[i]\n\tout y[i]"},
    {"\x1b[2J", "\\x1b[2J"},
    {"a\rb\x07", "a\\x0db\\x07"},
    {"\xc3\xa4 \xe2\x82\xac", "\xc3\xa4 \xe2\x82\xac"},
    {"\xff", "\\xff"},
    {NULL, ""},
};

TEST_TABLE(ApiText, ShowsByteByByteWhatATerminalObeysAndWhatIsNoUtf8, texts) {
    char buffer[64];
    CHECK(polytile_text_show(row->text, buffer, sizeof buffer) == buffer);
    CHECK_TEXT(buffer, row->shown);
}

TEST_CASE(ApiText, LeavesOutTheMiddleOfWhatDoesNotFit) {
    char text[1000], buffer[200];
    memset(text, 'm', sizeof text);
    memcpy(text, "begin", 5);
    memcpy(text + sizeof text - 4, "end", 4);
    polytile_text_show(text, buffer, sizeof buffer);
    CHECK_EQUAL(strlen(buffer), 199);
    CHECK_CONTAINS(buffer, "beginm", "m ... m", "mend");
}

static const struct {
    size_t n_bytes;
    const char *shown;
} short_buffers[] = {{1, ""},
                     {2, "a"},
                     {4, "a"},
                     {5, "a\xe2\x82\xac"},
                     {6, "a\xe2\x82\xac"
                         "b"}};

TEST_TABLE(ApiText, LeavesOutTheEndInAShortBufferWholeCharactersAtATime, short_buffers) {
    char buffer[] = "########";
    polytile_text_show("a\xe2\x82\xac"
                       "b",
                       buffer, row->n_bytes);
    CHECK_TEXT(buffer, row->shown);
    CHECK_EQUAL(buffer[row->n_bytes], '#');
}

TEST_CASE(ApiText, NeedsABuffer) {
    CHECK(polytile_text_show("text", NULL, 8) == NULL);
}
