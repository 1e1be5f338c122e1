#include <polytile/record.h>

#include "support/c_test.h"

/* What it is for is tested with polytile_check_use(), see test_check.c. */

TEST_CASE(ApiRecord, ReturnsTheAddress) {
    int element = 0;
    CHECK(polytile_record_access(&element) == &element);
    CHECK(polytile_record_access(NULL) == NULL);
}
