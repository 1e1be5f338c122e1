#ifndef POLYTILE_GRAPH_MACHINE_MACHINE_H
#define POLYTILE_GRAPH_MACHINE_MACHINE_H

#include "graph/dot/dot.h"
#include <polytile/graph.h>

/* graph/machine: units, memories and the links between them, from DOT or as found. Nothing is
 * opened to read a machine. */

/** A memory of one or several units. */
typedef struct pti_machine_memory {
    char *name; /* of its unit; owned */
    int rank;
    bool is_host;        /* the host's of its rank, where ports lie */
    int64_t limit_bytes; /* 0: none */
} pti_machine_memory;

/** What actors run on. */
typedef struct pti_machine_unit {
    char *name;   /* owned */
    char *device; /* its text; owned */
    int rank;
    int memory;
    bool is_on_host;       /* its device is the host, with a memory of its own or without */
    polytile_link figures; /* of which predictions take what kernels do */
} pti_machine_unit;

/** One direction between two memories. */
typedef struct pti_machine_link {
    int from;
    int to;
    double bytes_per_s;
    double latency_s;
} pti_machine_link;

/** A machine with its units, memories and links. */
struct polytile_machine {
    pti_object object;
    bool is_measured; /* its figures are this machine's */
    int n_units;
    pti_machine_unit *unit; /* owned */
    int n_memories;
    pti_machine_memory *memory; /* owned; a host memory of each rank is among them */
    int *host;                  /* of each memory: the host memory of its rank; owned */
    int64_t n_links, link_capacity;
    pti_machine_link *link; /* owned; as given */
};

/** The rate of a link that is not given. */
#define PTI_ASSUMED_BYTES_PER_S 25e9

/** Find a direction between two memories: as given, or as the other direction is given; or assumed,
 * between a memory and its rank's host, and between hosts. False: there is none. */
bool pti_machine_find_link(const polytile_machine *machine, int from, int to,
                           pti_machine_link *link, bool *is_assumed);

/** Return the unit of a name; -1: there is none. */
int pti_machine_find_unit(const polytile_machine *machine, const char *name);

/** Make an empty machine with room for n units; NULL: no memory. pti_machine_free() ends it. */
polytile_machine *pti_machine_new(polytile_context *ctx, int n_units);
void pti_machine_free(polytile_machine *machine);

/** Add a unit with its memory, and the host memory of a rank that has none yet, called "host", or
 * "hostR" of rank R > 0. Errors: INVALID (the device's text), NO_MEMORY. */
polytile_status pti_machine_add_unit(polytile_machine *machine, const char *name,
                                     const char *device, int rank);
/** Call it after the last unit. */
polytile_status pti_machine_add_hosts(polytile_machine *machine);
polytile_status pti_machine_add_link(polytile_machine *machine, const pti_machine_link *link);

#endif
