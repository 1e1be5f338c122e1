#include <polytile/status.h>

#include "support/c_test.h"

#include <string.h>

static const polytile_status statuses[] = {
#define CODE(name, text) POLYTILE_##name,
    POLYTILE_STATUSES(CODE)
#undef CODE
};

TEST_TABLE(ApiStatus, HasAMeaningInAFewWords, statuses) {
    CHECK(strlen(polytile_status_text(*row)) > 0);
}

TEST_CASE(ApiStatus, SuccessIsZero) {
    CHECK_EQUAL(POLYTILE_OK, 0);
    CHECK_TEXT(polytile_status_text(POLYTILE_OK), "success");
    CHECK_TEXT(polytile_status_text(POLYTILE_NO_FIT), "nothing fits the memory limit");
}

TEST_CASE(ApiStatus, HasATextEvenIfItIsNone) {
    CHECK(polytile_status_text((polytile_status)1000) != NULL);
    CHECK(polytile_status_text((polytile_status)-1) != NULL);
}
