#include "graph/machine/machine.h"

#include "graph/read/value.h"
#include <polytile/device.h>
#include <polytile/text.h>

#include <stdlib.h>
#include <string.h>

static const char unit_words[] = "device rank";
static const char link_words[] = "bandwidth latency";

enum { MAX_RANK = 1 << 20, MAX_UNITS = 256 };

static polytile_status read_unit(polytile_machine *machine, const pti_dot *dot,
                                 const pti_dot_node *node) {
    const pti_dot_attribute *device = pti_dot_find(&node->attributes, "device");
    const pti_dot_attribute *rank = pti_dot_find(&node->attributes, "rank");
    int64_t number = 0;
    polytile_status status;
    PTI_TRY(pti_dot_check_names(dot, &node->attributes, "a unit", unit_words));
    if (device == NULL)
        return pti_dot_fail(dot, node->at,
                            "unit %s has no device=, such as \"cuda:0(memory=8GiB)\" or \"host\"",
                            node->name);
    if (rank != NULL && !pti_value_integer(rank->value, 0, MAX_RANK, &number))
        return pti_dot_fail(dot, rank->value_at, "unit %s: '%s' is no rank; give 0 or more",
                            node->name, rank->value);
    for (int u = 0; u < machine->n_units; u++)
        if (machine->unit[u].rank == number && strcmp(machine->unit[u].device, device->value) == 0)
            return pti_dot_fail(dot, device->value_at,
                                "units %s and %s are the same device of one rank",
                                machine->unit[u].name, node->name);
    status = pti_machine_add_unit(machine, node->name, device->value, (int)number);
    if (status != POLYTILE_INVALID)
        return status;
    char why[PTI_ERROR_BYTES / 4];
    polytile_text_show(polytile_last_error(machine->object.context), why, sizeof why);
    status = pti_dot_fail(dot, device->value_at, "unit %s: %s", node->name, why);
done:
    return status;
}

static polytile_status read_link(polytile_machine *machine, const pti_dot *dot,
                                 const pti_dot_edge *edge) {
    const pti_dot_attribute *bandwidth = pti_dot_find(&edge->attributes, "bandwidth");
    const pti_dot_attribute *latency = pti_dot_find(&edge->attributes, "latency");
    const char *from = dot->node[edge->from].name, *to = dot->node[edge->to].name;
    pti_machine_link link = {.from = machine->unit[edge->from].memory,
                             .to = machine->unit[edge->to].memory};
    polytile_status status;
    PTI_TRY(pti_dot_check_names(dot, &edge->attributes, "a link", link_words));
    if (bandwidth == NULL)
        return pti_dot_fail(dot, edge->at, "link %s -> %s has no bandwidth=, such as \"50GB/s\"",
                            from, to);
    if (!pti_value_rate(bandwidth->value, &link.bytes_per_s))
        return pti_dot_fail(dot, bandwidth->value_at,
                            "link %s -> %s: '%s' is no rate; write 50GB/s or 50GiB/s", from, to,
                            bandwidth->value);
    if (latency != NULL && !pti_value_seconds(latency->value, &link.latency_s))
        return pti_dot_fail(dot, latency->value_at, "link %s -> %s: '%s' is no time; write 5us",
                            from, to, latency->value);
    if (link.from == link.to)
        return pti_dot_fail(dot, edge->at, "link %s -> %s joins a memory with itself", from, to);
    for (int64_t k = 0; k < machine->n_links; k++)
        if (machine->link[k].from == link.from && machine->link[k].to == link.to)
            return pti_dot_fail(dot, edge->at, "link %s -> %s is given twice", from, to);
    PTI_TRY(pti_machine_add_link(machine, &link));
done:
    return status;
}

static polytile_status read_machine(polytile_machine *machine, const pti_dot *dot) {
    polytile_status status;
    for (int64_t n = 0; n < dot->n_nodes; n++)
        PTI_TRY(read_unit(machine, dot, &dot->node[n]));
    for (int64_t e = 0; e < dot->n_edges; e++)
        PTI_TRY(read_link(machine, dot, &dot->edge[e]));
    PTI_TRY(pti_machine_add_hosts(machine));
done:
    return status;
}

static void destroy_machine(pti_object *object) {
    pti_machine_free((polytile_machine *)object);
}

/** Let the context own a machine that is whole; end it otherwise. */
static polytile_status adopt_machine(polytile_context *ctx, polytile_status status,
                                     polytile_machine *made, polytile_machine **machine) {
    if (status != POLYTILE_OK) {
        pti_machine_free(made);
        return status;
    }
    pti_object_adopt(ctx, &made->object, destroy_machine);
    *machine = made;
    return POLYTILE_OK;
}

static polytile_status create_machine(polytile_context *ctx, pti_dot *dot,
                                      polytile_machine **machine) {
    if (dot->n_nodes == 0 || dot->n_nodes > MAX_UNITS)
        return pti_fail(ctx, POLYTILE_DECLARATION, "%s: a machine has 1 to %d units, not %d",
                        dot->source, MAX_UNITS, (int)dot->n_nodes);
    polytile_machine *made = pti_machine_new(ctx, (int)dot->n_nodes);
    if (made == NULL)
        return pti_fail_memory(ctx, "a machine", PTI_UNKNOWN_BYTES);
    return adopt_machine(ctx, read_machine(made, dot), made, machine);
}

static polytile_status refuse_arguments(polytile_context *ctx) {
    return pti_fail(ctx, POLYTILE_INVALID, "reading a machine needs its text and a place for it");
}

polytile_status polytile_machine_read(polytile_context *ctx, const char *path,
                                      polytile_machine **machine) {
    pti_dot *dot = NULL;
    if (machine != NULL)
        *machine = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (path == NULL || machine == NULL)
        return refuse_arguments(ctx);
    polytile_status status = pti_dot_read(ctx, path, &dot);
    if (status == POLYTILE_OK)
        status = create_machine(ctx, dot, machine);
    pti_dot_free(dot);
    return status;
}

polytile_status polytile_machine_parse(polytile_context *ctx, const char *text,
                                       polytile_machine **machine) {
    pti_dot *dot = NULL;
    if (machine != NULL)
        *machine = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (text == NULL || machine == NULL)
        return refuse_arguments(ctx);
    polytile_status status = pti_dot_parse(ctx, "machine", text, &dot);
    if (status == POLYTILE_OK)
        status = create_machine(ctx, dot, machine);
    pti_dot_free(dot);
    return status;
}

void polytile_machine_destroy(polytile_machine *machine) {
    pti_object_release(machine == NULL ? NULL : &machine->object);
}

/* As found. */

static polytile_status add_found(polytile_machine *machine, const polytile_device_info *info) {
    polytile_status status;
    PTI_TRY(pti_machine_add_unit(machine, info->text, info->text, 0));
    pti_machine_unit *unit = &machine->unit[machine->n_units - 1];
    unit->figures = info->link;
    if (!machine->memory[unit->memory].is_host)
        machine->memory[unit->memory].limit_bytes = info->memory_bytes;
done:
    return status;
}

/** Both directions between each device and the host, as measured. */
static polytile_status add_measured_links(polytile_machine *machine) {
    polytile_status status = POLYTILE_OK;
    for (int u = 0; u < machine->n_units; u++) {
        const pti_machine_unit *unit = &machine->unit[u];
        const int host = machine->host[unit->memory];
        if (host == unit->memory)
            continue;
        const pti_machine_link in = {host, unit->memory, unit->figures.duplex_bytes_per_s,
                                     unit->figures.transfer_latency_s};
        const pti_machine_link out = {unit->memory, host, in.bytes_per_s, in.latency_s};
        PTI_TRY(pti_machine_add_link(machine, &in));
        PTI_TRY(pti_machine_add_link(machine, &out));
    }
done:
    return status;
}

static polytile_status find_units(polytile_machine *machine, const polytile_device_info *infos,
                                  int n) {
    polytile_status status;
    machine->is_measured = true;
    for (int k = 0; k < n; k++)
        if (infos[k].link.kernel_bytes_per_s > 0)
            PTI_TRY(add_found(machine, &infos[k]));
    PTI_TRY(pti_machine_add_hosts(machine));
    PTI_TRY(add_measured_links(machine));
done:
    return status;
}

polytile_status polytile_machine_find(polytile_context *ctx, polytile_machine **machine) {
    int n = 0;
    if (machine != NULL)
        *machine = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (machine == NULL)
        return refuse_arguments(ctx);
    polytile_device_info *infos = calloc(MAX_UNITS, sizeof *infos);
    polytile_machine *made = pti_machine_new(ctx, MAX_UNITS);
    polytile_status status;
    if (infos == NULL || made == NULL)
        status = pti_fail_memory(ctx, "a machine", PTI_UNKNOWN_BYTES);
    else
        status = polytile_devices_list(ctx, MAX_UNITS, infos, &n);
    if (status == POLYTILE_OK)
        status = find_units(made, infos, n < MAX_UNITS ? n : MAX_UNITS);
    free(infos);
    if (made == NULL)
        return status;
    return adopt_machine(ctx, status, made, machine);
}
