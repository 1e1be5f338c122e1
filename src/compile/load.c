#include "compile/load.h"

polytile_status pti_load(polytile_context *ctx, const pti_build *build, const pti_code *code,
                         pti_loaded *loaded) {
    *loaded = (pti_loaded){.file = -1};
    const polytile_status status = pti_target_is_host(build->target)
                                       ? pti_load_host(ctx, build, code, loaded)
                                       : pti_load_cuda(ctx, build, code, loaded);
    if (status != POLYTILE_OK)
        pti_unload(loaded);
    return status;
}

void pti_unload(pti_loaded *loaded) {
    pti_unload_host(loaded);
    pti_unload_cuda(loaded);
    *loaded = (pti_loaded){.file = -1};
}
