#include "access/array/index_block_pass.h"

pti_index_block pti_index_block_narrow(const int32_t *element, int n, bool asks_order) {
    return pass_narrow(element, n, asks_order);
}

pti_index_block pti_index_block_wide(const int64_t *element, int n, bool asks_order) {
    return pass_wide(element, n, asks_order);
}
