#ifndef POLYTILE_TOOLS_RANKS_H
#define POLYTILE_TOOLS_RANKS_H

#include "request.h"

/** Plan a request over ranks or devices, and print it; reports errors. Returns the exit code. */
int plan_ranks(const arguments *args, const request *made);

#endif
