#ifndef EXAMPLES_THREADS_H
#define EXAMPLES_THREADS_H

/** Take no more of OpenMP's threads than polytile does: some of its runtimes crash with very many.
 * One line on stderr says so, if it is told by whom. */
void threads_limit(const char *program);

#endif
