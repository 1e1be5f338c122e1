#include "access/declare/declaration.h"

/* What becomes of indices beyond the ends of an array. */

static const char *const edge_words[] = {
    [POLYTILE_EDGE_CLIP] = NULL,
    [POLYTILE_EDGE_WRAP] = "wrap",
    [POLYTILE_EDGE_CLAMP] = "clamp",
};

enum { N_EDGES = sizeof edge_words / sizeof *edge_words };

const char *pti_edge_word(polytile_edge edge) {
    return (int)edge >= 0 && (int)edge < N_EDGES ? edge_words[edge] : NULL;
}
