#ifndef EXAMPLES_ARGUMENTS_H
#define EXAMPLES_ARGUMENTS_H

#include "ranks.h"

#include <stdbool.h>

enum { ARGUMENTS_TEXT_SIZE = 512 };

/**
 * Whether all ranks run the same program with the same arguments; all of them get the same answer.
 *
 * Shapes  argv: as main() has it, but for argv[0], in whose place the program's name is compared.
 *         text: where they do not agree, what the lowest rank that differs from rank 0 has in place
 *         of what; of ARGUMENTS_TEXT_SIZE bytes.
 */
bool arguments_agree(const ranks *r, const char *program, char **argv, char *text);

#endif
