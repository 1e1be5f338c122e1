#ifndef POLYTILE_LAUNCH_CUDA_LOOP_CODE_H
#define POLYTILE_LAUNCH_CUDA_LOOP_CODE_H

/* The only kernel of the library itself: it tells a WHILE node whether there is another round. */

/** Its name; its arguments are the handle of the condition, the address of the number that is 0
 * after the last round, and that of the number that is not 0 once the loop is to stop. */
#define PTI_LOOP_KERNEL "pti_set_condition"

/** PTX, which the driver compiles: nvcc is not needed to build the library. */
extern const char pti_loop_code[];

#endif
