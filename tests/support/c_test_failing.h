#ifndef POLYTILE_TESTS_SUPPORT_C_TEST_FAILING_H
#define POLYTILE_TESTS_SUPPORT_C_TEST_FAILING_H

#include "support/c_test.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A check in C, and what its failure says; NULL where it passes. */
typedef struct c_test_example {
    bool (*check)(polytile_context *ctx);
    const char *says;
} c_test_example;

extern const c_test_example c_test_examples[];
extern const int n_c_test_examples;

#ifdef __cplusplus
}
#endif

#endif
