#include "queue/queue_test.h"
#include "support/environment.h"

#include <polytile/kernel.h>

#include <algorithm>
#include <cstdlib>

/* POLYTILE_CHECK=wide of kernels that do not tell what they reach for, and whose data say what they
 * do: right ones end as ever, and nothing is said of what they read. */

namespace {

POLYTILE_KERNEL(product, (i), (const int32_t, rows, 1), (const int32_t, columns, 1),
                (const float, values, 1), (const float, x, 1), (float, y, 1)) {
    float sum = 0;
    for (int32_t k = PT_AT(rows, i); k < PT_AT(rows, i + 1); k++)
        sum += PT_AT(values, k) * PT_AT(x, PT_AT(columns, k));
    PT_AT(y, i) = sum;
}
POLYTILE_KERNEL(gather, (i), (const int32_t, columns, 1), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(x, PT_AT(columns, i));
}
/** Divided by the length of a row. */
POLYTILE_KERNEL(mean, (i), (const int32_t, rows, 1), (const int32_t, columns, 1), (float, y, 1)) {
    int32_t sum = 0;
    for (int32_t k = PT_AT(rows, i); k < PT_AT(rows, i + 1); k++)
        sum += PT_AT(columns, k);
    PT_AT(y, i) = static_cast<float>(sum / (PT_AT(rows, i + 1) - PT_AT(rows, i)));
}
/** The steps to the root of a tree, which has no cycle. */
POLYTILE_KERNEL(climb, (i), (const int32_t, parents, 1), (float, y, 1)) {
    float n_steps = 0;
    for (int64_t at = i; PT_AT(parents, at) != at; at = PT_AT(parents, at))
        n_steps++;
    PT_AT(y, i) = n_steps;
}
/** Writes where its rows say. */
POLYTILE_KERNEL(spread, (i), (const int32_t, rows, 1), (float, values, 1)) {
    for (int32_t k = PT_AT(rows, i); k < PT_AT(rows, i + 1); k++)
        PT_AT(values, k) = static_cast<float>(i);
}
/** Ends where its rows overlap, which no value of the program makes them do. */
POLYTILE_KERNEL(insist, (i), (const int32_t, rows, 1), (float, y, 1)) {
    if (PT_AT(rows, i) + 5 != PT_AT(rows, i + 1))
        abort();
    PT_AT(y, i) = static_cast<float>(PT_AT(rows, i));
}
POLYTILE_KERNEL(choose, (i), (const int32_t, flags, 1), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(flags, i) != 0 ? PT_AT(x, i) : -1.0f;
}
POLYTILE_KERNEL(copy, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i);
}

class Sampling : public QueueTest {
  protected:
    static constexpr int32_t n = 600, row = 5;

    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "wide");
        QueueTest::SetUp();
        for (int32_t i = 0; i <= n; i++)
            rows.push_back(i * row);
        for (int32_t k = 0; k < n * row; k++)
            columns.push_back(k * 7 % n), values.push_back(static_cast<float>(k % 9 + 1));
        for (int32_t i = 0; i < n; i++)
            parents.push_back(i / 3), flags.push_back(i % 2), x[i] = static_cast<float>(i % 7 + 1);
    }

    template <class T> polytile_array *wrap(const char *name, polytile_type type, T &of) {
        polytile_array *array = nullptr;
        const auto length = static_cast<int64_t>(of.size());
        EXPECT_EQ(polytile_array_wrap(ctx, name, type, 1, &length, of.data(), &array), POLYTILE_OK);
        return array;
    }

    /** What is said of a launch on some devices, of which each has its part of the arrays. */
    std::string said(const char *devices, const char *declaration,
                     const polytile_implementation &of) {
        const std::pair<const char *, polytile_array *> all[] = {
            {"rows", wrap("rows", POLYTILE_I32, rows)},
            {"columns", wrap("columns", POLYTILE_I32, columns)},
            {"values", wrap("values", POLYTILE_F32, values)},
            {"parents", wrap("parents", POLYTILE_I32, parents)},
            {"flags", wrap("flags", POLYTILE_I32, flags)},
            {"x", wrap("x", POLYTILE_F32, x)},
            {"y", wrap("y", POLYTILE_F32, y)}};
        Arrays arrays;
        for (const auto &[name, array] : all)
            if (std::string(declaration).find(std::string(" ") + name + "[") != std::string::npos)
                arrays.push_back(array);
        polytile_queue *queue = open(devices);
        polytile_kernel *kernel = create(declaration, &of);
        testing::internal::CaptureStderr();
        EXPECT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, kernel, line(n), arrays), POLYTILE_OK) << error();
        EXPECT_EQ(detach(queue, arrays), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
        return testing::internal::GetCapturedStderr();
    }

    std::vector<int32_t> rows, columns, parents, flags;
    std::vector<float> values, x = std::vector<float>(n), y = std::vector<float>(n);
    Environment environment_;
};

constexpr const char *all_devices[] = {"host", "host,host", "host,host,host"};

/** An index that is changed leads to another member's part, which nobody has copied. */
TEST_F(Sampling, OfIndicesSurvivesWhateverTheyLeadTo) {
    for (const char *devices : all_devices) {
        EXPECT_EQ(said(devices,
                       "product[i]: in rows[i:i+1], columns[5*i:5*i+4], values[5*i:5*i+4], x[:]; "
                       "out y[i]",
                       product_kernel),
                  "");
        EXPECT_EQ(y[0], 1 * x[0] + 2 * x[7] + 3 * x[14] + 4 * x[21] + 5 * x[28]);
    }
}

TEST_F(Sampling, OfIndicesWritesNothingButCopies) {
    for (const char *devices : all_devices) {
        std::fill(values.begin(), values.end(), -1.0f);
        EXPECT_EQ(said(devices, "spread[i]: in rows[i:i+1]; out values[5*i:5*i+4]", spread_kernel),
                  "");
        for (int32_t k = 0; k < n * row; k++)
            ASSERT_EQ(values[k], static_cast<float>(k / row));
    }
}

TEST_F(Sampling, SurvivesDivisionsByWhatTheProgramNeverHad) {
    for (const char *devices : all_devices)
        EXPECT_EQ(
            said(devices, "mean[i]: in rows[i:i+1], columns[5*i:5*i+4]; out y[i]", mean_kernel),
            "");
    EXPECT_EQ(y[0], 14);
}

TEST_F(Sampling, SurvivesWhatDoesNotEnd) {
    EXPECT_EQ(said("host", "climb[i]: in parents[:]; out y[i]", climb_kernel), "");
    EXPECT_EQ(y[n - 1], 6);
}

TEST_F(Sampling, SurvivesWhoEndsTheProgram) {
    EXPECT_EQ(said("host,host", "insist[i]: in rows[i:i+1]; out y[i]", insist_kernel), "");
    EXPECT_EQ(y[n - 1], static_cast<float>(row * (n - 1)));
}

/** By chance: where an index leads to equal values, or all of what it leads to is zero. */
TEST_F(Sampling, DoesNotTakeEqualResultsForElementsThatAreNotRead) {
    for (const float value : {1.0f, 0.0f}) {
        for (const char *devices : all_devices)
            EXPECT_EQ(said(devices, "gather[i]: in columns[i], x[:]; out y[i]", gather_kernel), "");
        EXPECT_EQ(said("host,host,host",
                       "product[i]: in rows[i:i+1], columns[:], values[:], x[:]; out y[i]",
                       product_kernel),
                  "");
        std::fill(x.begin(), x.end(), value);
    }
}

TEST_F(Sampling, SeesThatIntegersSayWhatIsRead) {
    EXPECT_EQ(said("host", "choose[i]: in flags[i], x[i]; out y[i]", choose_kernel), "");
}

TEST_F(Sampling, SaysOneLineOfAnArrayAndNotOneAMember) {
    const std::string text = said("host,host,host", "copy[i]: in x[:]; out y[i]", copy_kernel);
    EXPECT_EQ(text.find("polytile: copy: perhaps declared too wide: x: of 256 elements"), 0U)
        << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

} // namespace
