#include "launch/cuda/order.h"
polytile_status pti_cuda_order_create(pti_cuda_device *cuda, pti_cuda_order **order) { (void)cuda; *order = NULL; return POLYTILE_OK; }
void pti_cuda_order_destroy(pti_cuda_order *order) { (void)order; }
polytile_status pti_cuda_order_begin(pti_cuda_order *order, const pti_schedule *schedule) { (void)order; (void)schedule; return POLYTILE_OK; }
polytile_status pti_cuda_order_wait(pti_cuda_order *order, const pti_command *command) { (void)order; (void)command; return POLYTILE_OK; }
polytile_status pti_cuda_order_record(pti_cuda_order *order, const pti_command *command) { (void)order; (void)command; return POLYTILE_OK; }
void pti_cuda_order_end(pti_cuda_order *order) { (void)order; }
