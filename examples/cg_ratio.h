#ifndef EXAMPLES_CG_RATIO_H
#define EXAMPLES_CG_RATIO_H

/** A step's size: 0 once nothing is left to be done, where both are 0. */
#define CG_RATIO(above, below) ((below) == 0 ? 0 : (above) / (below))

#endif
