#include "support/c_test_failing.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

/** Runs a check, and collects what fails meanwhile. */
bool run(const c_test_example &example, testing::TestPartResultArray *failures) {
    polytile_context *ctx = nullptr;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    bool passes = false;
    {
        const testing::ScopedFakeTestPartResultReporter reporter(failures);
        passes = example.check(ctx);
    }
    polytile_context_destroy(ctx);
    return passes;
}

TEST(CTest, AFailingCheckTellsItsPlaceWhatItIsAndTheValuesAndGoesOn) {
    int n_failing = 0;
    for (int k = 0; k < n_c_test_examples; k++) {
        const c_test_example &example = c_test_examples[k];
        testing::TestPartResultArray failures;
        EXPECT_EQ(run(example, &failures), example.says == nullptr) << k;
        ASSERT_EQ(failures.size(), example.says == nullptr ? 0 : 1) << k;
        if (example.says == nullptr)
            continue;
        const testing::TestPartResult &failure = failures.GetTestPartResult(0);
        EXPECT_TRUE(failure.nonfatally_failed());
        EXPECT_NE(std::strstr(failure.file_name(), "c_test_failing.c"), nullptr);
        EXPECT_GT(failure.line_number(), 0);
        EXPECT_NE(std::strstr(failure.message(), example.says), nullptr) << failure.message();
        EXPECT_EQ(std::strstr(failure.message(), "last error: \"\""), nullptr);
        n_failing++;
    }
    EXPECT_GT(n_failing, 8);
}

std::vector<std::string> tests_of(const std::string &suite) {
    const testing::UnitTest &all = *testing::UnitTest::GetInstance();
    std::vector<std::string> names;
    for (int s = 0; s < all.total_test_suite_count(); s++)
        for (int t = 0; t < all.GetTestSuite(s)->total_test_count(); t++)
            if (all.GetTestSuite(s)->name() == suite)
                names.push_back(all.GetTestSuite(s)->GetTestInfo(t)->name());
    return names;
}

TEST(CTest, TestsInCAreTestsAsAllOthers) {
    EXPECT_EQ(tests_of("CTestTable"),
              (std::vector<std::string>{"GoesThroughItsRows", "IsOneTest"}));
}

/** A row fails, and the failure names it. */
TEST(CTest, AFailureInATableNamesTheRow) {
    static const int rows[] = {1, 2};
    static const c_test test = {"",
                                "",
                                __FILE__,
                                __LINE__,
                                [](polytile_context *, const void *row) {
                                    const int value = *static_cast<const int *>(row);
                                    c_test_equal({__FILE__, __LINE__, "value"}, value, "1", 1);
                                },
                                "rows",
                                rows,
                                sizeof rows[0],
                                2};
    testing::TestPartResultArray failures;
    {
        const testing::ScopedFakeTestPartResultReporter reporter(&failures);
        c_test_run(&test);
    }
    ASSERT_EQ(failures.size(), 1);
    EXPECT_NE(std::strstr(failures.GetTestPartResult(0).message(), "rows[1]"), nullptr);
}

} // namespace
