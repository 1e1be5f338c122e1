#include "graph/machine/machine.h"

#include "base/list.h"
#include "launch/host/host.h"
#include "launch/open/open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

polytile_machine *pti_machine_new(polytile_context *ctx, int n_units) {
    polytile_machine *machine = calloc(1, sizeof *machine);
    if (machine == NULL)
        return NULL;
    machine->object.context = ctx;
    machine->unit = calloc((size_t)n_units + 1, sizeof *machine->unit);
    machine->memory = calloc(2 * (size_t)n_units + 2, sizeof *machine->memory);
    machine->host = calloc(2 * (size_t)n_units + 2, sizeof *machine->host);
    if (machine->unit != NULL && machine->memory != NULL && machine->host != NULL)
        return machine;
    pti_machine_free(machine);
    return NULL;
}

void pti_machine_free(polytile_machine *machine) {
    for (int u = 0; machine->unit != NULL && u < machine->n_units; u++) {
        free(machine->unit[u].name);
        free(machine->unit[u].device);
    }
    for (int m = 0; machine->memory != NULL && m < machine->n_memories; m++)
        free(machine->memory[m].name);
    free(machine->unit);
    free(machine->memory);
    free(machine->host);
    free(machine->link);
    free(machine);
}

int pti_machine_find_unit(const polytile_machine *machine, const char *name) {
    for (int u = 0; u < machine->n_units; u++)
        if (strcmp(machine->unit[u].name, name) == 0)
            return u;
    return -1;
}

static polytile_status add_memory(polytile_machine *machine, const char *name, int rank,
                                  bool is_host, int64_t limit_bytes, int *memory) {
    char *copy = strdup(name);
    if (copy == NULL)
        return pti_fail_memory(machine->object.context, "a machine", PTI_UNKNOWN_BYTES);
    *memory = machine->n_memories;
    machine->memory[machine->n_memories++] =
        (pti_machine_memory){copy, rank, is_host, is_host ? 0 : limit_bytes};
    return POLYTILE_OK;
}

/** The memory of the host of a rank; -1: there is none yet. */
static int find_host(const polytile_machine *machine, int rank) {
    for (int m = 0; m < machine->n_memories; m++)
        if (machine->memory[m].is_host && machine->memory[m].rank == rank)
            return m;
    return -1;
}

/** Without a limit the host computes in its memory; with one it stands in for a device with a
 * memory of its own. */
static bool computes_in_host_memory(const pti_device_text *parsed) {
    return parsed->driver == &pti_host_driver && parsed->value[PTI_OPTION_MEMORY] == 0;
}

polytile_status pti_machine_add_unit(polytile_machine *machine, const char *name,
                                     const char *device, int rank) {
    polytile_status status;
    pti_device_text parsed;
    pti_machine_unit *unit = &machine->unit[machine->n_units];
    PTI_TRY(pti_device_text_parse(machine->object.context, device, &parsed));
    *unit = (pti_machine_unit){.name = strdup(name),
                               .device = strdup(device),
                               .rank = rank,
                               .is_on_host = parsed.driver == &pti_host_driver,
                               .figures = polytile_link_default};
    machine->n_units++;
    if (unit->name == NULL || unit->device == NULL)
        PTI_TRY(pti_fail_memory(machine->object.context, "a machine", PTI_UNKNOWN_BYTES));
    PTI_TRY(add_memory(machine, name, rank, computes_in_host_memory(&parsed),
                       parsed.value[PTI_OPTION_MEMORY], &unit->memory));
done:
    return status;
}

static polytile_status add_host_memory(polytile_machine *machine, int rank, int *host) {
    char name[32] = "host";
    if (rank > 0)
        snprintf(name, sizeof name, "host%d", rank);
    while (pti_machine_find_unit(machine, name) >= 0 && strlen(name) + 1 < sizeof name)
        strcat(name, "_");
    return add_memory(machine, name, rank, true, 0, host);
}

polytile_status pti_machine_add_hosts(polytile_machine *machine) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < machine->n_memories; m++) {
        machine->host[m] = find_host(machine, machine->memory[m].rank);
        if (machine->host[m] < 0)
            PTI_TRY(add_host_memory(machine, machine->memory[m].rank, &machine->host[m]));
    }
done:
    return status;
}

polytile_status pti_machine_add_link(polytile_machine *machine, const pti_machine_link *link) {
    if (!PTI_GROW(machine->link, machine->n_links, &machine->link_capacity))
        return pti_fail_memory(machine->object.context, "a machine", PTI_UNKNOWN_BYTES);
    machine->link[machine->n_links++] = *link;
    return POLYTILE_OK;
}

/** The link of a direction that is given; NULL: none is. */
static const pti_machine_link *find_given(const polytile_machine *machine, int from, int to) {
    for (int64_t k = 0; k < machine->n_links; k++)
        if (machine->link[k].from == from && machine->link[k].to == to)
            return &machine->link[k];
    return NULL;
}

bool pti_machine_find_link(const polytile_machine *machine, int from, int to,
                           pti_machine_link *link, bool *is_assumed) {
    const pti_machine_link *given = find_given(machine, from, to);
    const bool is_natural = machine->host[from] == to || machine->host[to] == from ||
                            (machine->memory[from].is_host && machine->memory[to].is_host);
    if (given == NULL)
        given = find_given(machine, to, from);
    *is_assumed = given == NULL;
    *link = given == NULL ? (pti_machine_link){.bytes_per_s = PTI_ASSUMED_BYTES_PER_S} : *given;
    link->from = from;
    link->to = to;
    return from != to && (given != NULL || is_natural);
}

/** -1: there is none. */
static int find_memory_named(const polytile_machine *machine, const char *name) {
    for (int m = 0; m < machine->n_memories; m++)
        if (name != NULL && strcmp(machine->memory[m].name, name) == 0)
            return m;
    return -1;
}

polytile_status polytile_machine_set_rate(polytile_machine *machine, const char *from,
                                          const char *to, double bytes_per_s) {
    PTI_ENTER(machine, machine->object.context, "machine");
    polytile_context *ctx = machine->object.context;
    const pti_machine_link link = {.from = find_memory_named(machine, from),
                                   .to = find_memory_named(machine, to),
                                   .bytes_per_s = bytes_per_s};
    if (link.from < 0 || link.to < 0 || link.from == link.to)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "there is no link %s -> %s: name two memories of the machine",
                        from == NULL ? "NULL" : from, to == NULL ? "NULL" : to);
    if (!(bytes_per_s > 0 && bytes_per_s < INFINITY))
        return pti_fail(ctx, POLYTILE_INVALID, "link %s -> %s cannot move %g bytes a second", from,
                        to, bytes_per_s);
    for (int64_t k = 0; k < machine->n_links; k++)
        if (machine->link[k].from == link.from && machine->link[k].to == link.to) {
            machine->link[k] = link;
            return POLYTILE_OK;
        }
    return pti_machine_add_link(machine, &link);
}
