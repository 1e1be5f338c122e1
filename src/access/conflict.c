#include "access/conflict.h"

polytile_status pti_conflict_check(const polytile_kernel *kernel, const pti_instance *instance) {
    (void)kernel;
    (void)instance;
    return POLYTILE_OK;
}
