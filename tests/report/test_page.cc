#include "report/reports.h"

/* The page of a report. */

namespace {

using namespace reports;

std::string data_of(const std::string &page) {
    const std::string before = "const data = ", behind = ";\nconst digits";
    const size_t begin = page.find(before) + before.size();
    return page.substr(begin, page.find(behind) - begin);
}

TEST_F(Report, IsAPageThatLoadsNothing) {
    TraceFile of;
    of.device(1, "cuda:0").slice(1, 1, "launch", "</script><script>alert(1)//", 0, 5);
    const std::string page = write(of.text(), POLYTILE_HTML);
    for (const char *link : {"http:", "https:", "src=", "<link", "@import", "url(", "fetch("})
        EXPECT_EQ(page.find(link), std::string::npos) << link;
    EXPECT_EQ(page.find("alert(1)", 0), page.rfind("alert(1)"))
        << "the name stands in the data alone";
    EXPECT_EQ(page.find("</script><script>"), std::string::npos);
    const Json data(json_loads(data_of(page).c_str(), 0, nullptr), json_decref);
    ASSERT_TRUE(data);
    const json_t *kind =
        json_array_get(json_object_get(json_object_get(data.get(), "trace"), "kinds"), 0);
    EXPECT_STREQ(json_string_value(json_object_get(kind, "name")), "</script><script>alert(1)//");
    const json_t *track = first_of(this, data.get(), "tracks");
    const json_t *slice = json_array_get(json_object_get(track, "slices"), 0);
    EXPECT_EQ(json_integer_value(json_array_get(slice, 1)), 5000);
}

TEST_F(Report, StaysSmallWhateverTheNumberOfOperations) {
    TraceFile of;
    const int n = 60000;
    std::string text = "[";
    for (int k = 0; k < n; k++)
        text += std::string(k == 0 ? "" : ",") + "{\"ph\":\"X\",\"cat\":\"" +
                (k % 2 == 0 ? "launch" : "upload") +
                "\",\"name\":\"x\",\"ts\":" + std::to_string(k) +
                ",\"dur\":" + (k < n / 2 ? "1" : "2") +
                ",\"pid\":1,\"tid\":" + std::to_string(k % 2) + "}";
    const std::string page = write(text + "]", POLYTILE_HTML);
    EXPECT_LT(page.size(), 200000u);
    const Json data(json_loads(data_of(page).c_str(), 0, nullptr), json_decref);
    ASSERT_TRUE(data);
    const json_t *track = first_of(this, data.get(), "tracks");
    const std::string busy = json_string_value(json_object_get(track, "busy"));
    EXPECT_EQ(busy.size(), 16384u);
    EXPECT_EQ(busy[busy.size() - 100], '-') << "always busy";
    EXPECT_NE(busy[100], '-') << "half busy";
    EXPECT_NE(busy[100], 'A');
}

} // namespace
