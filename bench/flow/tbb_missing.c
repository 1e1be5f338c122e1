#include "flow.h"

const bool flow_has_tbb = false;

double flow_by_tbb(const flow_case *of, double *sum) {
    (void)of;
    (void)sum;
    return 0;
}
