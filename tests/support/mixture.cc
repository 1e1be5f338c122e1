#include "support/mixture.h"

#include <algorithm>

uint64_t identity_of(polytile_role role, int64_t n_bytes) {
    return role == POLYTILE_PROD ? 1 : role == POLYTILE_MIN ? largest(n_bytes) : 0;
}

uint64_t written_by(polytile_role role, uint64_t before, uint64_t value) {
    switch (role) {
    case POLYTILE_SUM:
        return before + value;
    case POLYTILE_PROD:
        return before * (value | 1);
    case POLYTILE_MIN:
        return std::min(before, value);
    case POLYTILE_MAX:
        return std::max(before, value);
    case POLYTILE_INOUT:
        return 5 * before + value;
    default:
        return value;
    }
}
