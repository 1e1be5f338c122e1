#ifndef POLYTILE_DISTRIBUTE_SHOW_SIMULATION_H
#define POLYTILE_DISTRIBUTE_SHOW_SIMULATION_H

#include "partition/show/print.h"

/* The printers of simulated policies, whose objects are polytile_simulation. */

pti_printer pti_simulation_write_text, pti_simulation_write_json, pti_simulation_draw;

#endif
