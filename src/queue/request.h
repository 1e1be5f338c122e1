#ifndef POLYTILE_QUEUE_REQUEST_H
#define POLYTILE_QUEUE_REQUEST_H

#include "access/declare/kernel.h"
#include "access/footprint/instance.h"
#include <polytile/queue.h>

/** A call of polytile_queue_launch() whose arrays are found, or a box of one for a member's queue.
 * It lives as long as the call. */
typedef struct pti_request {
    const polytile_kernel *kernel;
    const polytile_domain *domain;
    polytile_array *const *arrays;          /* one an operand, of the queue; NULL: scratch */
    polytile_array *const *given;           /* the same, or views of them; NULL: the same */
    const polytile_launch_options *options; /* not NULL; of a box: for planning alone */
    const int64_t *parameter;  /* values that its sections need, as pti_instance has them */
    const pti_value *values;   /* that its body gets */
    const pti_instance *whole; /* the proved launch of which the domain is a box, which is then not
                                  checked; NULL: it is the program's launch */
    struct pti_server_part *part; /* slots of a team kernel that a box is; NULL: all of them are one
                                     part, which is made */
} pti_request;

/** Return the array that was given for an operand, which may be a view of the queue's. */
static inline polytile_array *pti_request_given(const pti_request *request, int operand) {
    return (request->given == NULL ? request->arrays : request->given)[operand];
}

#endif
