#include "partition/show/hand_plan.h"
#include "support/xml.h"

#include <cmath>
#include <gtest/gtest.h>
#include <jansson.h>
#include <limits>
#include <memory>

namespace {

using Json = std::unique_ptr<json_t, decltype(&json_decref)>;

Json parse(const std::string &text) {
    json_error_t error;
    Json root(json_loads(text.c_str(), JSON_REJECT_DUPLICATES, &error), json_decref);
    EXPECT_TRUE(root) << error.text << "\n" << text;
    return root;
}

std::string print(const polytile_plan *plan, polytile_format format) {
    char *text = nullptr;
    if (polytile_plan_to_string(plan, format, &text) != POLYTILE_OK)
        return "failed";
    const std::string copy = text;
    free(text);
    return copy;
}

int64_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    EXPECT_TRUE(json_is_integer(value)) << key;
    return json_integer_value(value);
}

std::vector<int64_t> numbers(const json_t *object, const char *key) {
    const json_t *list = json_object_get(object, key);
    std::vector<int64_t> values;
    EXPECT_TRUE(json_is_array(list)) << key;
    for (size_t k = 0; k < json_array_size(list); k++)
        values.push_back(json_integer_value(json_array_get(list, k)));
    return values;
}

using List = std::vector<int64_t>;

TEST(PlanPrint, JsonHasTheFiguresOfThePlan) {
    HandPlan plan("add", {96, 40}, {3, 2});
    Json root = parse(plan.print(POLYTILE_JSON));
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "kernel")), "add");
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "strategy")), "min-kernels");
    EXPECT_EQ(number(root.get(), "buffers"), 1);
    EXPECT_EQ(number(root.get(), "limit_bytes"), 3 * 32 * 20 * 4);
    EXPECT_EQ(number(root.get(), "peak_device_bytes"), 2 * 32 * 20 * 4);
    EXPECT_EQ(numbers(root.get(), "block"), (List{1, 1}));
    EXPECT_EQ(numbers(root.get(), "grid_blocks"), (List{96, 40}));
    EXPECT_EQ(numbers(root.get(), "superblock_blocks"), (List{32, 20}));
    EXPECT_EQ(number(root.get(), "kernels"), 6);
    EXPECT_EQ(number(root.get(), "h2d_bytes"), 96 * 40 * 4);
    EXPECT_EQ(number(root.get(), "d2h_bytes"), 96 * 40 * 4);
    EXPECT_EQ(number(root.get(), "lower_bound_bytes"), 2 * 96 * 40 * 4);
    EXPECT_EQ(json_real_value(json_object_get(root.get(), "predicted_seconds")), 0.25);
    EXPECT_EQ(json_real_value(json_object_get(root.get(), "plan_seconds")), 0.0001);
}

TEST(PlanPrint, JsonListsSuperblocksInRunOrderWithTheirTransfers) {
    HandPlan plan("add", {96, 40}, {3, 2});
    Json root = parse(plan.print(POLYTILE_JSON));
    json_t *superblocks = json_object_get(root.get(), "superblocks");
    ASSERT_EQ(json_array_size(superblocks), 6u);
    json_t *third = json_array_get(superblocks, 3);
    EXPECT_EQ(numbers(third, "lo"), (List{32, 20}));
    EXPECT_EQ(numbers(third, "hi"), (List{63, 39}));
    EXPECT_EQ(number(third, "device_bytes"), 2 * 32 * 20 * 4);
    ASSERT_EQ(json_array_size(json_object_get(third, "uploads")), 1u);
    ASSERT_EQ(json_array_size(json_object_get(third, "downloads")), 1u);
    json_t *upload = json_array_get(json_object_get(third, "uploads"), 0);
    EXPECT_STREQ(json_string_value(json_object_get(upload, "array")), "x");
    EXPECT_EQ(numbers(upload, "lo"), (List{32, 20}));
    EXPECT_EQ(numbers(upload, "hi"), (List{63, 39}));
    EXPECT_EQ(numbers(upload, "step"), (List{1, 1}));
    EXPECT_EQ(number(upload, "bytes"), 32 * 20 * 4);
    json_t *download = json_array_get(json_object_get(third, "downloads"), 0);
    EXPECT_STREQ(json_string_value(json_object_get(download, "array")), "y");
}

TEST(PlanPrint, JsonKeepsNumbersOf64Bits) {
    HandPlan plan("huge", {int64_t{1} << 40}, {2});
    Json root = parse(plan.print(POLYTILE_JSON));
    EXPECT_EQ(number(root.get(), "h2d_bytes"), int64_t{1} << 42);
    json_t *last = json_array_get(json_object_get(root.get(), "superblocks"), 1);
    EXPECT_EQ(numbers(last, "hi"), (List{(int64_t{1} << 40) - 1}));
}

TEST(PlanPrint, JsonStaysValidWhateverTheNamesAndFigures) {
    HandPlan plan("quote\"back\\slash\xff", {4}, {2});
    plan.get()->summary.predicted_seconds = std::numeric_limits<double>::infinity();
    Json root = parse(plan.print(POLYTILE_JSON));
    EXPECT_STREQ(json_string_value(json_object_get(root.get(), "kernel")), "quote\"back\\slash?");
    EXPECT_TRUE(json_is_null(json_object_get(root.get(), "predicted_seconds")));
}

TEST(PlanPrint, TellsTheLanesOfSuperblocks) {
    HandPlan plan("add", {96, 40}, {3, 2});
    plan.schedule().n_lanes = 2;
    for (int64_t k = 0; k < plan.schedule().n_ops; k++)
        if (plan.schedule().op[k].kind == PTI_LAUNCH)
            plan.schedule().op[k].lane = static_cast<int>(plan.schedule().op[k].superblock % 2);
    Json root = parse(plan.print(POLYTILE_JSON));
    EXPECT_EQ(number(root.get(), "lanes"), 2);
    const json_t *superblocks = json_object_get(root.get(), "superblocks");
    for (size_t k = 0; k < json_array_size(superblocks); k++)
        EXPECT_EQ(number(json_array_get(superblocks, k), "lane"), static_cast<int64_t>(k % 2));
    for (const char *words : {"lanes        2, which run side by side", "1 (lane 1)", "2 (lane 0)"})
        EXPECT_NE(plan.print(POLYTILE_TEXT).find(words), std::string::npos) << words;
    for (const char *words : {", 2 lanes", "superblock 1 in lane 1: threads"})
        EXPECT_NE(plan.print(POLYTILE_SVG).find(words), std::string::npos) << words;
}

int allocations_left;

void *fail_after_a_while(size_t n_bytes) {
    return allocations_left-- > 0 ? malloc(n_bytes) : nullptr;
}

TEST(PlanPrint, JsonReportsEveryFailedAllocation) {
    HandPlan plan("add", {64, 64}, {2, 2});
    polytile_status status = POLYTILE_NO_MEMORY;
    int n_failures = 0;
    for (; status != POLYTILE_OK && n_failures < 10000; n_failures++) {
        char *text = nullptr;
        allocations_left = n_failures;
        json_set_alloc_funcs(fail_after_a_while, free);
        status = polytile_plan_to_string(plan.get(), POLYTILE_JSON, &text);
        json_set_alloc_funcs(malloc, free);
        ASSERT_EQ(text != nullptr, status == POLYTILE_OK);
        ASSERT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_MEMORY);
        free(text);
    }
    EXPECT_EQ(status, POLYTILE_OK);
    EXPECT_GT(n_failures, 100);
}

TEST(PlanPrint, TextSaysTheFiguresAndTheFirstSuperblocks) {
    HandPlan plan("add", {8192, 8192}, {16, 1});
    std::string text = plan.print(POLYTILE_TEXT);
    for (const char *words :
         {"add over [0:8191, 0:8191]: 67,108,864 threads", "x[0:8191, 0:8191] f32, in, 256 MiB",
          "48 MiB", "32 MiB, 66.7% of the limit", "min-kernels, 1 buffer\n", "512x8192 blocks",
          "kernels      16\n", "moves 1.000 times that", "250 ms", "[512:1023, 0:8191]",
          "... and 10 more superblocks"})
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

/** Rows of 4 KiB by two indices: of A two pieces are held, and what lies between is not. */
TEST(PlanPrint, ArraysInPiecesAreOneWithWhatIsHeldOfThem) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *A = nullptr, *G = nullptr;
    polytile_plan *plan = nullptr;
    const polytile_implementation nothing = {};
    const int64_t extents[] = {1024, 1024};
    polytile_launch_options options = {};
    options.plan.limit_bytes = 1 << 20;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "gram[i, j]: in A[i, :], A[j, :]; out G[i, j]", &nothing,
                                     &kernel),
              POLYTILE_OK);
    const polytile_domain square = polytile_domain_from_extents(2, extents);
    EXPECT_EQ(polytile_array_describe(ctx, "A", POLYTILE_F32, &square, &A), POLYTILE_OK);
    EXPECT_EQ(polytile_array_describe(ctx, "G", POLYTILE_F32, &square, &G), POLYTILE_OK);
    ASSERT_EQ(polytile_plan_create(kernel, &square, POLYTILE_ARRAYS(A, G), &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    const std::string text = print(plan, POLYTILE_TEXT), picture = print(plan, POLYTILE_SVG);
    EXPECT_NE(text.find("A[0:1023, 0:1023] f32, in, 4 MiB, in 2 pieces, "), std::string::npos)
        << text;
    EXPECT_NE(text.find("; their hull "), std::string::npos) << text;
    EXPECT_NE(picture.find("A f32, in, piece 1"), std::string::npos);
    EXPECT_NE(picture.find("A f32, in, piece 2"), std::string::npos);
    Json root = parse(print(plan, POLYTILE_JSON));
    const json_t *arrays = json_object_get(root.get(), "arrays");
    ASSERT_EQ(json_array_size(arrays), 2u);
    const json_t *of_A = json_array_get(arrays, 0), *of_G = json_array_get(arrays, 1);
    EXPECT_EQ(number(of_A, "pieces"), 2);
    EXPECT_LT(number(of_A, "held_bytes"), options.plan.limit_bytes);
    EXPECT_GT(number(of_A, "hull_bytes"), number(of_A, "held_bytes"));
    EXPECT_EQ(number(of_G, "pieces"), 1);
    EXPECT_EQ(number(of_G, "held_bytes"), number(of_G, "hull_bytes"));
    polytile_context_destroy(ctx);
}

TEST(PlanPrint, TextSaysHowLargeRawElementsAre) {
    HandPlan plan("move", {16}, {2});
    plan.operand(0).type = POLYTILE_BYTES(12);
    EXPECT_NE(plan.print(POLYTILE_TEXT).find("x[0:15] 12 B, in"), std::string::npos)
        << plan.print(POLYTILE_TEXT);
}

TEST(PlanPrint, TextSaysHowFarThePapersEquationsOvershoot) {
    HandPlan plan("add", {64}, {2});
    EXPECT_EQ(plan.print(POLYTILE_TEXT).find("overshoot"), std::string::npos);
    plan.get()->paper_overshoot_bytes = 3 << 20;
    EXPECT_NE(plan.print(POLYTILE_TEXT).find("overshoot    3 MiB"), std::string::npos);
}

TEST(PlanPrint, PicturesAreWellFormedInAnyNumberOfDimensions) {
    const struct {
        std::vector<int64_t> extents, parts;
    } cases[] = {
        {{1}, {1}},
        {{1000}, {7}},
        {{100000}, {5000}},
        {{64, 64}, {4, 4}},
        {{1, 4096}, {1, 64}},
        {{200, 200}, {100, 100}},
        {{64, 8, 64}, {4, 1, 4}},
        {{64, 64, 64}, {4, 4, 4}},
        {{64, 64, 64}, {16, 16, 16}},
        {{16, 16, 16, 16}, {2, 2, 2, 2}},
        {{16, 16, 16, 16}, {1, 1, 1, 1}},
        {{int64_t{1} << 40, 2}, {2, 2}},
    };
    for (const auto &c : cases) {
        std::string svg = HandPlan("k", c.extents, c.parts).print(POLYTILE_SVG);
        EXPECT_EQ(xml_error(svg), "") << svg.substr(0, 2000);
        EXPECT_EQ(svg.find("nan"), std::string::npos);
        EXPECT_EQ(svg.find("inf"), std::string::npos);
        EXPECT_EQ(svg.find("<script"), std::string::npos);
    }
}

TEST(PlanPrint, PicturesEscapeNames) {
    HandPlan plan("<&\"'>\x01", {64, 64}, {2, 2});
    char bad[] = "</svg>";
    plan.operand(0).name = bad;
    std::string svg = plan.print(POLYTILE_SVG);
    EXPECT_EQ(xml_error(svg), "");
    EXPECT_NE(svg.find("&lt;&amp;&quot;&#39;&gt;?"), std::string::npos);
    EXPECT_NE(svg.find("&lt;/svg&gt;"), std::string::npos);
}

TEST(PlanPrint, PicturesOfManySuperblocksStaySmallAndSaySo) {
    std::string svg = HandPlan("k", {200, 200}, {100, 100}).print(POLYTILE_SVG);
    EXPECT_LT(svg.size(), 1000000u);
    EXPECT_NE(svg.find("10,000 superblocks, too many to draw"), std::string::npos);
    std::string lines = HandPlan("k", {100000}, {5000}).print(POLYTILE_SVG);
    EXPECT_LT(lines.size(), 100000u);
    EXPECT_NE(lines.find("of the 5,000 superblocks"), std::string::npos);
}

TEST(PlanPrint, RefusesWhatIsNoFormatAndNoPlan) {
    HandPlan plan("add", {64}, {2});
    char *text = nullptr;
    EXPECT_EQ(polytile_plan_to_string(plan.get(), (polytile_format)3, &text), POLYTILE_INVALID);
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(polytile_plan_to_string(plan.get(), POLYTILE_TEXT, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_to_string(nullptr, POLYTILE_TEXT, &text), POLYTILE_INVALID);
}

} // namespace
