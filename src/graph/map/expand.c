#include "graph/map/net.h"

#include "base/list.h"

#include <stdlib.h>

/** A task that reads a buffer. */
typedef struct reading {
    int buffer;
    pti_buffer_reader reader;
} reading;

/** Tasks and buffers while they are made. */
typedef struct expander {
    const pti_net *net;
    const int *unit;
    pti_expansion *out;
    int *buffer_in; /* of each array and memory: a buffer, -1: none; owned */
    int64_t n_readings, reading_capacity;
    reading *reading; /* owned */
    int64_t task_capacity, note_capacity, buffer_capacity, buffer_note_capacity;
    bool failed;
} expander;

static int add_task(expander *of, pti_task task, pti_task_note note) {
    pti_stream_tasks *tasks = &of->out->tasks;
    if (of->failed || !PTI_GROW(tasks->task, tasks->n_tasks, &of->task_capacity) ||
        !PTI_GROW(of->out->task, tasks->n_tasks, &of->note_capacity)) {
        of->failed = true;
        return 0;
    }
    tasks->task[tasks->n_tasks] = task;
    of->out->task[tasks->n_tasks] = note;
    return tasks->n_tasks++;
}

static int add_made_buffer(expander *of, int producer, int64_t bytes, pti_buffer_note note) {
    pti_stream_tasks *tasks = &of->out->tasks;
    if (of->failed || !PTI_GROW(tasks->buffer, tasks->n_buffers, &of->buffer_capacity) ||
        !PTI_GROW(of->out->buffer, tasks->n_buffers, &of->buffer_note_capacity)) {
        of->failed = true;
        return 0;
    }
    tasks->buffer[tasks->n_buffers] =
        (pti_frame_buffer){.producer = producer, .frame_bytes = bytes};
    of->out->buffer[tasks->n_buffers] = note;
    if (note.array >= 0)
        of->buffer_in[(int64_t)note.array * of->net->n_memories + note.memory] = tasks->n_buffers;
    return tasks->n_buffers++;
}

static void add_reader(expander *of, int buffer, int task, int delay) {
    if (of->failed || !PTI_GROW(of->reading, of->n_readings, &of->reading_capacity)) {
        of->failed = true;
        return;
    }
    of->reading[of->n_readings++] = (reading){buffer, {task, delay}};
}

static int find_buffer(const expander *of, int array, int memory) {
    return of->buffer_in[(int64_t)array * of->net->n_memories + memory];
}

static pti_buffer_note note_array(const pti_net *net, int array, int memory) {
    return (pti_buffer_note){array, -1, memory, -1, net->array[array].offset_bytes};
}

/** Move a frame one link further; returns the buffer there. */
static int move_frame(expander *of, int array, int from, int to) {
    const pti_net *net = of->net;
    const int64_t bytes = net->array[array].n_bytes;
    const int task = add_task(
        of,
        (pti_task){pti_net_link_resource(net, from, to),
                   pti_net_transfer_ticks(net, from, to, bytes), pti_net_turn_of_array(net, array)},
        (pti_task_note){PTI_TASK_MOVE, -1, array, from, to, net->array[array].offset_bytes, bytes});
    add_reader(of, find_buffer(of, array, from), task, 0);
    return add_made_buffer(of, task, bytes, note_array(net, array, to));
}

/** The buffer of an array in a memory; transfers to it are added where there is none. */
static int bring_array(expander *of, int array, int memory) {
    const int origin = pti_net_origin(of->net, array, of->unit);
    int way[4], n = 0;
    while (find_buffer(of, array, memory) < 0 && n < 4) {
        way[n++] = memory;
        memory = pti_net_comes_from(of->net, origin, memory);
    }
    int buffer = find_buffer(of, array, memory);
    while (n-- > 0 && !of->failed) {
        buffer = move_frame(of, array, memory, way[n]);
        memory = way[n];
    }
    return buffer;
}

static void feed_turn(expander *of, int turn) {
    const pti_net *net = of->net;
    int task = -1;
    for (int a = 0; a < net->n_arrays; a++) {
        if (net->array[a].producer >= 0 || pti_net_turn_of_array(net, a) != turn)
            continue;
        if (task < 0)
            task = add_task(of, (pti_task){-1, 0, turn},
                            (pti_task_note){PTI_TASK_FEED, -1, -1, -1, -1, 0, 0});
        add_made_buffer(of, task, net->array[a].n_bytes,
                        note_array(net, a, pti_net_origin(net, a, of->unit)));
    }
}

static void add_feeding(expander *of) {
    for (int turn = 0; turn < pti_net_n_turns(of->net); turn++)
        feed_turn(of, turn);
}

/** The program takes what nothing reads, after all that brings it to host memory. */
static int take_turn(expander *of, int turn) {
    const int task =
        add_task(of, (pti_task){-1, 0, turn}, (pti_task_note){PTI_TASK_TAKE, -1, -1, -1, -1, 0, 0});
    for (int a = 0; a < of->net->n_arrays; a++) {
        if (of->net->array[a].n_flows > 0 || pti_net_turn_of_array(of->net, a) != turn)
            continue;
        add_reader(of, bring_array(of, a, pti_net_taken_at(of->net, a, of->unit)), task, 0);
    }
    return task;
}

/** The program feeds and takes the frames of a round one after the other, and rounds, too. */
static void keep_turns_in_order(expander *of, pti_task_kind kind) {
    const int n_tasks = of->out->tasks.n_tasks;
    int first = -1, last = -1;
    for (int t = 0; t < n_tasks && !of->failed; t++) {
        if (of->out->task[t].kind != kind)
            continue;
        if (last >= 0)
            add_reader(of, add_made_buffer(of, last, 0, (pti_buffer_note){-1, -1, 0, -1, 0}), t, 0);
        first = first < 0 ? t : first;
        last = t;
    }
    if (first != last)
        add_reader(of, add_made_buffer(of, last, 0, (pti_buffer_note){-1, -1, 0, -1, 0}), first, 1);
}

/** Find of each task the first buffer that it makes if nothing of its frame reads any; -1:
 * something does, or it makes none. */
static void find_unread(const expander *of, int *unread) {
    const pti_stream_tasks *tasks = &of->out->tasks;
    for (int t = 0; t < tasks->n_tasks; t++)
        unread[t] = -1;
    for (int b = tasks->n_buffers - 1; b >= 0; b--)
        if (of->out->buffer[b].array >= 0)
            unread[tasks->buffer[b].producer] = b;
    for (int64_t k = 0; k < of->n_readings; k++) {
        const pti_buffer_reader *reader = &of->reading[k].reader;
        of->out->n_looks++;
        const int producer = tasks->buffer[of->reading[k].buffer].producer;
        if (reader->delay == 0 && tasks->task[reader->task].turn == tasks->task[producer].turn)
            unread[producer] = -1;
    }
}

/** Let the program take frames after all of their tasks, also of those that only later frames need:
 * then a frame is done when it is taken. */
static void take_rest(expander *of, int take) {
    const int turn = of->failed ? 0 : of->out->tasks.task[take].turn;
    int *unread = malloc(((size_t)of->out->tasks.n_tasks + 1) * sizeof *unread);
    of->failed = of->failed || unread == NULL;
    if (!of->failed)
        find_unread(of, unread);
    for (int t = 0; t < take && !of->failed; t++)
        if (of->out->tasks.task[t].turn == turn && unread[t] >= 0)
            add_reader(of, unread[t], take, 0);
    free(unread);
}

/** Add an actor's firing after the transfers that it waits for, and what it makes. */
static void add_firing(expander *of, int actor, int *task_of) {
    const pti_net *net = of->net;
    const int unit = of->unit[actor], memory = net->unit_memory[unit];
    for (int64_t k = net->in_first[actor]; k < net->in_first[actor + 1]; k++)
        if (net->in_delay[k] == 0)
            bring_array(of, net->in_array[k], memory);
    const int task = add_task(of,
                              (pti_task){unit, net->ticks[actor * net->n_units + unit],
                                         pti_net_turn_of_actor(net, actor)},
                              (pti_task_note){PTI_TASK_FIRE, actor, -1, -1, -1, 0, 0});
    task_of[actor] = task;
    if (net->scratch_bytes[actor] > 0)
        add_made_buffer(of, task, net->scratch_bytes[actor],
                        (pti_buffer_note){-1, actor, memory, -1, 0});
    for (int64_t k = net->out_first[actor]; k < net->out_first[actor + 1]; k++) {
        const int array = net->out_array[k];
        add_made_buffer(of, task, net->array[array].n_bytes, note_array(net, array, memory));
        if (net->array[array].n_flows == 0)
            bring_array(of, array, pti_net_taken_at(net, array, of->unit));
    }
}

/* State. */

static bool is_read_later(const pti_net *net, int array) {
    const pti_net_array *of = &net->array[array];
    bool is = false;
    for (int f = of->first_flow; f < of->first_flow + of->n_flows; f++)
        is = is || net->flow[f].delay > 0 ||
             pti_net_turn_of_actor(net, net->flow[f].actor) != pti_net_turn_of_array(net, array);
    return is;
}

/** Return the array of the turn before: the last one of the round before that of the first. */
static int find_turn_before(const pti_net *net, int array) {
    const int n_arrays = net->n_arrays / pti_net_n_turns(net);
    return array >= n_arrays ? array - n_arrays : array + net->n_arrays - n_arrays;
}

/** A frame that fails leaves what the frame before left. Where that has a buffer of its own, the
 * frame's producer reads it. */
static void keep_state(expander *of) {
    const pti_net *net = of->net;
    for (int b = 0; b < of->out->tasks.n_buffers && !of->failed; b++) {
        pti_buffer_note *note = &of->out->buffer[b];
        if (note->array < 0 || !is_read_later(net, note->array))
            continue;
        const int producer = of->out->tasks.buffer[b].producer;
        note->before = find_buffer(of, find_turn_before(net, note->array), note->memory);
        if (note->before >= 0 && note->before != b && of->out->task[producer].kind != PTI_TASK_FEED)
            add_reader(of, note->before, producer, pti_net_turn_of_array(net, note->array) == 0);
    }
}

/** Bring all that is read, in the arrays' order: that of the turns. */
static void bring_turns(expander *of) {
    const pti_net *net = of->net;
    for (int a = 0; a < net->n_arrays && pti_net_n_turns(net) > 1; a++)
        for (int f = net->array[a].first_flow;
             f < net->array[a].first_flow + net->array[a].n_flows && !of->failed; f++)
            bring_array(of, a, net->unit_memory[of->unit[net->flow[f].actor]]);
}

static void add_readers(expander *of, const int *task_of) {
    const pti_net *net = of->net;
    bring_turns(of);
    for (int a = 0; a < net->n_actors && !of->failed; a++)
        for (int64_t k = net->in_first[a]; k < net->in_first[a + 1]; k++)
            add_reader(of, bring_array(of, net->in_array[k], net->unit_memory[of->unit[a]]),
                       task_of[a], net->in_delay[k]);
    for (int turn = 0; turn < pti_net_n_turns(net); turn++)
        take_rest(of, take_turn(of, turn));
    keep_turns_in_order(of, PTI_TASK_FEED);
    keep_turns_in_order(of, PTI_TASK_TAKE);
    keep_state(of);
}

/** List readers, once all buffers are there: those of one buffer after each other, in the order in
 * which they were added, the program as the last one. */
static void list_readers(expander *of) {
    pti_stream_tasks *tasks = &of->out->tasks;
    tasks->reader = calloc((size_t)of->n_readings + 1, sizeof *tasks->reader);
    of->failed = of->failed || tasks->reader == NULL;
    for (int64_t k = 0; !of->failed && k < of->n_readings; k++)
        tasks->buffer[of->reading[k].buffer].n_readers++;
    for (int b = 0; !of->failed && b < tasks->n_buffers; b++) {
        tasks->buffer[b].first_reader = tasks->n_readers;
        tasks->n_readers += tasks->buffer[b].n_readers;
        tasks->buffer[b].n_readers = 0;
    }
    for (int64_t k = 0; !of->failed && k < of->n_readings; k++) {
        pti_frame_buffer *held = &tasks->buffer[of->reading[k].buffer];
        of->out->n_looks++;
        tasks->reader[held->first_reader + held->n_readers++] = of->reading[k].reader;
    }
}

/** A depth that is given is that of an array where it is made. */
static void set_depths(expander *of) {
    pti_stream_tasks *tasks = &of->out->tasks;
    for (int b = 0; !of->failed && b < tasks->n_buffers; b++) {
        const pti_buffer_note *note = &of->out->buffer[b];
        if (note->array >= 0 && pti_net_origin(of->net, note->array, of->unit) == note->memory)
            tasks->buffer[b].depth = of->net->array[note->array].depth;
    }
}

bool pti_expand(const pti_net *net, const int *unit, pti_expansion *expansion) {
    const size_t n_places = (size_t)net->n_arrays * (size_t)net->n_memories + 1;
    expander of = {.net = net,
                   .unit = unit,
                   .out = expansion,
                   .buffer_in = malloc(n_places * sizeof *of.buffer_in)};
    int *task_of = calloc((size_t)net->n_actors + 1, sizeof *task_of);
    *expansion = (pti_expansion){0};
    expansion->tasks.n_resources = net->n_units + net->n_memories * net->n_memories;
    expansion->tasks.n_turns = net->n_turns;
    of.failed = of.buffer_in == NULL || task_of == NULL;
    for (size_t k = 0; !of.failed && k < n_places; k++)
        of.buffer_in[k] = -1;
    if (!of.failed)
        add_feeding(&of);
    for (int k = 0; k < net->n_actors && !of.failed; k++)
        add_firing(&of, net->order[k], task_of);
    if (!of.failed)
        add_readers(&of, task_of);
    if (!of.failed)
        list_readers(&of);
    set_depths(&of);
    of.failed = of.failed || !pti_expansion_join_pieces(net, expansion);
    free(of.buffer_in);
    free(of.reading);
    free(task_of);
    if (of.failed)
        pti_expansion_free(expansion);
    return !of.failed;
}
