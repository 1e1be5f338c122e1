#include <gtest/gtest.h>

#include "support/declared.h"

extern "C" {
#include "access/conflict.h"
}

namespace {

TEST(ConflictClosed, ProvesWhatNeedsNoIsl) {
    struct Case {
        const char *accesses; /* the first two of the declaration are looked at */
        bool never_meet;
    };
    const Case cases[] = {
        {"k[i]: in A[i]; out A[i]", true},
        {"k[i]: in A[-3*i + n]; out A[n - 3*i]", true},
        {"k[i, j]: in A[i, j]; out A[i, j]", true},
        {"k[i, j]: in A[j, i]; out A[j, i]", true},
        {"k[i, j]: in A[i + j, j]; out A[i + j, j]", true},
        {"k[i, j, k]: in A[i + j, j + k, k]; out A[i + j, j + k, k]", true},
        {"k[i, j]: in A[i, 0]; out A[i, 1]", true},
        {"k[i]: in A[2*i]; out A[2*i + 1]", true},
        {"k[i, j]: in A[4*i + 2*j]; out A[4*i + 2*j - 7]", true},
        {"k[i]: in A[n]; out A[n + 1]", true},
        {"k[i]: in A[i, :]; out A[i, 0:3]", true},
        {"k[i]: in A[i]; out A[i + 1]", false},
        {"k[i]: in A[i]; out A[2*i]", false},
        {"k[i]: in A[i]; out A[i + n]", false},
        {"k[i, j]: in A[i]; out A[i]", false},
        {"k[i, j]: in A[i + j]; out A[i + j]", false},
        {"k[i, j]: in A[i + j, i - j]; out A[i + j, i - j]", false},
        {"k[i]: in A[i-1:i+1]; out A[i]", false},
        {"k[i]: in A[:]; out A[i]", false},
        {"k[i]: in A[0]; out A[0]", false},
        {"k[i]: in A[2*i]; out A[2*i + 4]", false},
    };
    for (const Case &c : cases) {
        Parsed parsed(c.accesses);
        ASSERT_EQ(parsed.status(), POLYTILE_OK) << parsed.error();
        pti_access *access = parsed.get()->access;
        EXPECT_EQ(pti_accesses_never_meet(parsed.get(), &access[0], &access[1]), c.never_meet)
            << c.accesses;
        EXPECT_EQ(pti_accesses_never_meet(parsed.get(), &access[1], &access[0]), c.never_meet)
            << c.accesses;
    }
}

} // namespace
