#include "launch/cuda/loop_code.h"

/* In CUDA C++:
 *
 *   extern "C" __global__ void pti_set_condition(cudaGraphConditionalHandle handle,
 *                                                const volatile int32_t *number,
 *                                                const volatile int32_t *stop) {
 *       const bool looks = (clock() & 0xf0) == 0;
 *       cudaGraphSetConditional(handle, *number != 0 && !(looks && *stop != 0));
 *   }
 *
 * To look at the host's memory takes longer than all else, so it looks there now and then. */
const char pti_loop_code[] = ".version 8.3\n"
                             ".target sm_75\n"
                             ".address_size 64\n"
                             ".extern .func cudaGraphSetConditional(\n"
                             "    .param .b64 handle, .param .b32 value);\n"
                             ".visible .entry " PTI_LOOP_KERNEL "(\n"
                             "    .param .u64 handle, .param .u64 number, .param .u64 stop) {\n"
                             "    .reg .pred %looks, %goes_on;\n"
                             "    .reg .b32 %time, %number, %stop, %value;\n"
                             "    .reg .b64 %handle, %at;\n"
                             "    ld.param.u64 %handle, [handle];\n"
                             "    ld.param.u64 %at, [number];\n"
                             "    ld.volatile.u32 %number, [%at];\n"
                             "    ld.param.u64 %at, [stop];\n"
                             "    mov.u32 %stop, 0;\n"
                             "    mov.u32 %time, %clock;\n"
                             "    and.b32 %time, %time, 240;\n"
                             "    setp.eq.u32 %looks, %time, 0;\n"
                             "    @%looks ld.volatile.u32 %stop, [%at];\n"
                             "    setp.ne.u32 %goes_on, %number, 0;\n"
                             "    setp.eq.and.u32 %goes_on, %stop, 0, %goes_on;\n"
                             "    selp.u32 %value, 1, 0, %goes_on;\n"
                             "    {\n"
                             "        .param .b64 of;\n"
                             "        .param .b32 to;\n"
                             "        st.param.b64 [of], %handle;\n"
                             "        st.param.b32 [to], %value;\n"
                             "        call.uni cudaGraphSetConditional, (of, to);\n"
                             "    }\n"
                             "    ret;\n"
                             "}\n";
