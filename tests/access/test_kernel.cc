#include "support/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <polytile/kernel.h>
#include <polytile/polytile.h>

extern "C" {
#include "access/kernel.h"
}

namespace {

const char *const design_examples[] = {
    "add[i]:        in x[i], y[i]; out z[i]",
    "jacobi[i, j]:  in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
    "matmul[i, j]:  in A[i, :], B[:, j]; out C[i, j]",
    "gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
    "dot[i]:        in x[i], y[i]; out sum s[0]",
    "coarsen[i]:    in fine[2*i:2*i+2]; out coarse[i]",
    "odd[i]:        in x[1:n-1:2]; out y[i]",
    "lower[i]:      in L[i, 0:i], x[0:i]; out y[i]",
    "hankel[i, j]:  in h[i+j]; out H[i, j]",
    "any[i, j]:     in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]",
    "star[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], A[i, j, k-1:k+1]; out B[i, j, k]",
};

class Kernel : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    polytile_status create(const char *text, polytile_kernel **kernel) {
        return polytile_kernel_create(ctx_, text, nullptr, kernel);
    }

    polytile_context *ctx_ = nullptr;
};

TEST_F(Kernel, ArraysAreInTheOrderInWhichTheyFirstAppear) {
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(create("k[i, j]: in b[i], a[j], b[j]; out c[i, j]; in d[i]", &kernel), POLYTILE_OK);
    EXPECT_STREQ(polytile_kernel_get_name(kernel), "k");
    EXPECT_EQ(polytile_kernel_get_n_indices(kernel), 2);
    ASSERT_EQ(polytile_kernel_get_n_arrays(kernel), 4);
    const char *const names[] = {"b", "a", "c", "d"};
    for (int k = 0; k < 4; k++)
        EXPECT_STREQ(polytile_kernel_get_array_name(kernel, k), names[k]);
    EXPECT_EQ(polytile_kernel_get_array_name(kernel, -1), nullptr);
    EXPECT_EQ(polytile_kernel_get_array_name(kernel, 4), nullptr);
    polytile_kernel_destroy(kernel);
}

TEST_F(Kernel, OneThatIsRetainedOutlivesItsDestruction) {
    polytile_kernel *kernel = nullptr, *kept = nullptr;
    ASSERT_EQ(create("k[i]: in x[i]; out y[i]", &kernel), POLYTILE_OK);
    ASSERT_EQ(create("kept[i]: in x[i]; out y[i]", &kept), POLYTILE_OK);
    pti_kernel_retain(kernel);
    pti_kernel_retain(kernel);
    polytile_kernel_destroy(kernel);
    pti_kernel_release(kernel);
    EXPECT_STREQ(polytile_kernel_get_array_name(kernel, 1), "y");
    EXPECT_TRUE(kernel->is_destroyed);
    pti_kernel_release(kernel);
    pti_kernel_retain(kept);
    pti_kernel_release(kept);
    EXPECT_STREQ(polytile_kernel_get_name(kept), "kept");
    pti_kernel_release(nullptr);
}

TEST_F(Kernel, TheTextIsCopied) {
    std::string text = "k[i]: in x[i]; out y[i]";
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(create(text.c_str(), &kernel), POLYTILE_OK);
    std::fill(text.begin(), text.end(), '?');
    EXPECT_STREQ(polytile_kernel_get_name(kernel), "k");
    EXPECT_STREQ(polytile_kernel_get_array_name(kernel, 1), "y");
}

TEST_F(Kernel, NullsAreRefusedWithAText) {
    polytile_kernel *kernel = nullptr;
    EXPECT_EQ(polytile_kernel_create(nullptr, "k[i]: in x[i]", nullptr, &kernel), POLYTILE_INVALID);
    EXPECT_EQ(create(nullptr, &kernel), POLYTILE_INVALID);
    EXPECT_STREQ(polytile_last_error(ctx_), "kernel: the declaration is NULL");
    EXPECT_EQ(create("k[i]: in x[i]", nullptr), POLYTILE_INVALID);
    EXPECT_STREQ(polytile_last_error(ctx_), "kernel: the place for the result is NULL");
    EXPECT_EQ(polytile_kernel_create_from(nullptr, nullptr, &kernel), POLYTILE_INVALID);
    polytile_kernel_destroy(nullptr);
    polytile_declaration_destroy(nullptr);
}

TEST_F(Kernel, AnErrorLeavesNoKernelAndTheContextUsable) {
    polytile_kernel *kernel = reinterpret_cast<polytile_kernel *>(ctx_);
    EXPECT_EQ(create("k[i]: in x[i*i]", &kernel), POLYTILE_DECLARATION);
    EXPECT_EQ(kernel, nullptr);
    EXPECT_EQ(create("k[i]: in x[i]", &kernel), POLYTILE_OK);
    EXPECT_STREQ(polytile_last_error(ctx_), "");
}

POLYTILE_KERNEL(pair, (i, j), (const float, x, 1), (double, Y, 2)) {
    PT_AT(Y, i, j) = static_cast<double>(PT_AT(x, i));
}

TEST_F(Kernel, ABodyKnowsWhatItWasWrittenFor) {
    EXPECT_EQ(pair_kernel.n_indices, 2);
    ASSERT_EQ(pair_kernel.n_views, 2);
    EXPECT_EQ(pair_kernel.views[0].element_bytes, 4);
    EXPECT_EQ(pair_kernel.views[0].n_dims, 1);
    EXPECT_EQ(pair_kernel.views[0].number, POLYTILE_FLOAT_NUMBER);
    EXPECT_EQ(pair_kernel.views[1].element_bytes, 8);
    EXPECT_EQ(pair_kernel.views[1].n_dims, 2);
}

TEST_F(Kernel, ABodyForAnotherDeclarationIsRefused) {
    const struct {
        const char *declaration;
        const char *error; /* NULL: accepted */
    } cases[] = {
        {"k[i, j]: in x[i]; out Y[i, j]", nullptr},
        {"k[i]: in x[i]; out Y[i, 0]", "k: the number of indices is 1 in the declaration and 2 in "
                                       "the kernel body; declare what "},
        {"k[i, j, l]: in x[i]; out Y[i, j]", "k: the number of indices is 3 in the declaration and "
                                             "2 in the kernel body; declare what "},
        {"k[i, j]: inout Y[i, j]",
         "k: the number of arrays is 1 in the declaration and 2 in the kernel body; declare what "},
        {"k[i, j]: in x[i], z[j]; out Y[i, j]",
         "k: the number of arrays is 3 in the declaration and 2 in the kernel body; declare what "},
    };
    for (const auto &[declaration, error] : cases) {
        polytile_kernel *kernel = nullptr;
        const polytile_status status =
            polytile_kernel_create(ctx_, declaration, &pair_kernel, &kernel);
        EXPECT_EQ(status, error == nullptr ? POLYTILE_OK : POLYTILE_DECLARATION) << declaration;
        EXPECT_EQ(kernel == nullptr, error != nullptr) << declaration;
        if (error != nullptr) {
            EXPECT_EQ(std::string(polytile_last_error(ctx_)).find(error), 0u)
                << polytile_last_error(ctx_);
        }
    }
}

TEST_F(Kernel, AFunctionWrittenByHandSuitsAnyDeclaration) {
    polytile_implementation by_hand = {};
    by_hand.host = pair_kernel.host;
    for (const char *text : design_examples) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, text, &by_hand, &kernel), POLYTILE_OK) << text;
    }
}

/** Table rows of the page begin with a declaration between backquotes. */
TEST_F(Kernel, TheExamplesOfTheManualAreAccepted) {
    std::ifstream page(in_source("docs/declarations.md"));
    int n_examples = 0;
    for (std::string line; std::getline(page, line);) {
        const size_t end = line.find('`', 3);
        if (line.rfind("| `", 0) != 0 || line.find("]:") > end || end == std::string::npos)
            continue;
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(create(line.substr(3, end - 3).c_str(), &kernel), POLYTILE_OK)
            << polytile_last_error(ctx_);
        n_examples++;
    }
    EXPECT_EQ(n_examples, 15);
}

/** Best of a few rounds; the bound leaves room for slow machines and sanitizers. */
TEST_F(Kernel, RegistrationTakesMilliseconds) {
    using clock = std::chrono::steady_clock;
    for (const char *text : design_examples) {
        double best_ms = 1e9;
        for (int round = 0; round < 5; round++) {
            polytile_kernel *kernel = nullptr;
            const clock::time_point start = clock::now();
            ASSERT_EQ(create(text, &kernel), POLYTILE_OK) << polytile_last_error(ctx_);
            const std::chrono::duration<double, std::milli> took = clock::now() - start;
            best_ms = std::min(best_ms, took.count());
            polytile_kernel_destroy(kernel);
        }
        std::printf("%7.3f ms  %s\n", best_ms, text);
        EXPECT_LT(best_ms, 100);
    }
}

TEST_F(Kernel, IsCharacterised) {
    polytile_kernel *kernel;
    ASSERT_EQ(create("add[i]: in x[i]; out y[i]", &kernel), POLYTILE_OK);
    const polytile_character character = {POLYTILE_COALESCING_MEDIUM,
                                          POLYTILE_LEVEL_HIGH,
                                          POLYTILE_LEVEL_DEF,
                                          POLYTILE_LEVEL_NONE,
                                          {}};
    ASSERT_EQ(polytile_kernel_characterise(kernel, &character), POLYTILE_OK);
    EXPECT_EQ(kernel->character.coalescing, POLYTILE_COALESCING_MEDIUM);
    EXPECT_EQ(kernel->character.reuse, POLYTILE_LEVEL_NONE);

    const int none = 9; /* of no enumeration */
    polytile_character wrong = character;
    std::memcpy(&wrong.reuse, &none, sizeof none);
    EXPECT_EQ(polytile_kernel_characterise(kernel, &wrong), POLYTILE_INVALID);
    EXPECT_EQ(std::string(polytile_last_error(ctx_)),
              "add: the character's reuse is 9, which is none of its enumeration");
    wrong = character;
    std::memcpy(&wrong.coalescing, &none, sizeof none);
    EXPECT_EQ(polytile_kernel_characterise(kernel, &wrong), POLYTILE_INVALID);
    EXPECT_NE(std::string(polytile_last_error(ctx_)).find("coalescing is 9"), std::string::npos);
    EXPECT_EQ(polytile_kernel_characterise(kernel, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_kernel_characterise(nullptr, &character), POLYTILE_INVALID);
    EXPECT_EQ(kernel->character.arithmetic, POLYTILE_LEVEL_HIGH) << "is as before";
}

} // namespace
