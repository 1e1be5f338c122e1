#include "launch/execute/run_place.h"

#include "access/array/array.h"

/** Return the first array that lies, or does not lie, on a GPU; NULL: there is none. */
static const polytile_array *find_array_by_place(int n_arrays, polytile_array *const *arrays,
                                                 bool on_gpu) {
    for (int a = 0; a < n_arrays; a++)
        if (arrays[a] != NULL && pti_array_is_on_gpu(arrays[a]) == on_gpu)
            return arrays[a];
    return NULL;
}

polytile_status pti_arrays_refuse_gpu(int n_arrays, polytile_array *const *arrays,
                                      const char *who) {
    const polytile_array *there = find_array_by_place(n_arrays, arrays, true);
    if (there == NULL)
        return POLYTILE_OK;
    return pti_fail(
        there->object.context, POLYTILE_INVALID,
        "%s: array %s lies in the memory of a GPU, which only polytile_run() on that GPU "
        "uses; copy it to host memory",
        who, there->name);
}

/** Refuse kernels that need memory beside their arrays. */
static polytile_status check_kernel_on_gpu(const polytile_kernel *kernel,
                                           const polytile_array *there) {
    const char *lacking = kernel->declaration->n_scratch > 0    ? "scratch"
                          : kernel->implementation.team != NULL ? "slots that talk"
                                                                : NULL;
    if (lacking == NULL)
        return POLYTILE_OK;
    return pti_fail(
        kernel->object.context, POLYTILE_UNSUPPORTED,
        "%s: the kernel has %s, for which a run in the memory of a GPU has no place; give "
        "%s in host memory",
        polytile_kernel_get_name(kernel), lacking, there->name);
}

polytile_status pti_run_find_place(const polytile_device *device, const polytile_kernel *kernel,
                                   int n_arrays, polytile_array *const *arrays, bool *on_gpu) {
    polytile_context *ctx = device->object.context;
    const char *name = polytile_kernel_get_name(kernel);
    const polytile_array *there = find_array_by_place(n_arrays, arrays, true);
    const polytile_array *here = find_array_by_place(n_arrays, arrays, false);
    *on_gpu = there != NULL;
    if (there == NULL)
        return POLYTILE_OK;
    if (device->cuda_capability == 0)
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: array %s lies in the memory of a GPU, which %s does not reach; run on that "
            "GPU, or give host memory",
            name, there->name, device->text);
    if (here != NULL)
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: array %s lies in the memory of a GPU and array %s on the host; give all "
            "arrays of a run in one of them",
            name, there->name, here->name);
    return check_kernel_on_gpu(kernel, there);
}
