#include "message/team_kernels.h"

const polytile_implementation &near_err = err_kernel;
const polytile_implementation &near_echo = echo_kernel;
const polytile_implementation &near_sum = sum_kernel;
const polytile_implementation &near_twin = twin_kernel;
const polytile_implementation &near_meet = meet_kernel;
const polytile_implementation &near_place = place_kernel;
