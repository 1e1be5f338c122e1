#ifndef POLYTILE_POLYTILE_H
#define POLYTILE_POLYTILE_H

/* The whole library but for the opt-in headers isl.h and, in kernel code, kernel.h. */
#include <polytile/array.h>
#include <polytile/check.h>
#include <polytile/context.h>
#include <polytile/declaration.h>
#include <polytile/device.h>
#include <polytile/domain.h>
#include <polytile/implementation.h>
#include <polytile/npy.h>
#include <polytile/plan.h>
#include <polytile/queue.h>
#include <polytile/run.h>
#include <polytile/size.h>
#include <polytile/status.h>
#include <polytile/tuning.h>
#include <polytile/witness.h>

#endif
