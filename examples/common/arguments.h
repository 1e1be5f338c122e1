#ifndef EXAMPLES_ARGUMENTS_H
#define EXAMPLES_ARGUMENTS_H

#include "ranks.h"

#include <stdbool.h>

enum { ARGUMENTS_TEXT_SIZE = 512 };

/**
 * Return whether all ranks run the same program with the same arguments; all get the same answer.
 *
 * Shapes  argv: as main() has it; argv[0] is replaced by the program's name. text: of
 *         ARGUMENTS_TEXT_SIZE bytes: how the lowest rank that differs from rank 0 differs.
 */
bool arguments_agree(const ranks *r, const char *program, char **argv, char *text);

#endif
