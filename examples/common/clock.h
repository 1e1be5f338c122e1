#ifndef EXAMPLES_CLOCK_H
#define EXAMPLES_CLOCK_H

/** Return the seconds of a clock that never goes back. */
double clock_now_s(void);

#endif
