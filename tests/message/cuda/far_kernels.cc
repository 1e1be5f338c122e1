#define POLYTILE_MESSAGE_DEVICE "support/fake_message.h"

#include "message/cuda/far_kernels.h"

#include "message/interpret_kernel.h"
#include "message/team_kernels.h"

FarKernel::FarKernel(const polytile_implementation &far, const polytile_implementation &near)
    : team(*near.team), implementation(near), on_gpu(far) {
    team.cuda = reinterpret_cast<const void *>(far.team->host);
    implementation.team = &team;
}

const FarKernel far_interpret(interpret_kernel, near_interpret);
const FarKernel far_err(err_kernel, near_err);
const FarKernel far_echo(echo_kernel, near_echo);
const FarKernel far_sum(sum_kernel, near_sum);
const FarKernel far_twin(twin_kernel, near_twin);
const FarKernel far_meet(meet_kernel, near_meet);
const FarKernel far_place(place_kernel, near_place);

static FakeCuda::Options options_of(int n_devices, bool are_linked, int upload_us) {
    FakeCuda::Options options;
    options.n_devices = n_devices;
    options.are_linked = are_linked;
    options.upload_us = upload_us;
    return options;
}

FarWorld::FarWorld(uint64_t seed, int n_devices, bool are_linked, int upload_us)
    : cuda(seed, options_of(n_devices, are_linked, upload_us)) {
    for (const FarKernel *kernel :
         {&far_interpret, &far_err, &far_echo, &far_sum, &far_twin, &far_meet, &far_place})
        cuda.add_kernel(kernel->team.cuda, kernel->on_gpu);
}
