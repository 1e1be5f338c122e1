#include "graph/map/net.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* Pieces of arrays that lie in one memory. */

/** An expansion whose pieces are put together, buffer after buffer. */
typedef struct joiner {
    const pti_net *net;
    pti_expansion *from; /* notes have the net's arrays */
    pti_expansion made;  /* owned until it replaces the other one */
    int *whole;          /* of each array of the net: its number in the graph; owned */
    int *leader; /* of each buffer: the first one of its array's pieces in its memory; owned */
    int *begins; /* of each leader: the task that makes a place for all of them, -1: none is
                            needed; owned */
    int *place;  /* of each buffer: the one in which its bytes lie now; owned */
    int n_begins;
    int64_t reader_capacity;
    bool failed;
} joiner;

static int first_piece(const pti_net *net, int array) {
    return array - net->array[array].n_before;
}

static bool lie_together(const joiner *of, int a, int b) {
    const pti_buffer_note *x = &of->from->buffer[a], *y = &of->from->buffer[b];
    return x->array >= 0 && y->array >= 0 && x->memory == y->memory &&
           first_piece(of->net, x->array) == first_piece(of->net, y->array);
}

/** Number arrays as the graph does, and find which buffers lie together and who makes them. */
static void find_groups(joiner *of) {
    const pti_stream_tasks *tasks = &of->from->tasks;
    for (int a = 0, n = -1; a < of->net->n_arrays; a++) {
        n += of->net->array[a].n_before == 0;
        of->whole[a] = n;
    }
    for (int b = 0; b < tasks->n_buffers; b++) {
        int leader = 0;
        while (leader < b && !lie_together(of, leader, b))
            leader++;
        of->leader[b] = leader;
        of->begins[b] = -1;
        if (tasks->buffer[leader].producer != tasks->buffer[b].producer && of->begins[leader] < 0)
            of->begins[leader] = of->n_begins++;
    }
}

/* Readers. */

static void append_reader(joiner *of, pti_buffer_reader reader) {
    pti_stream_tasks *tasks = &of->made.tasks;
    pti_frame_buffer *buffer = &tasks->buffer[tasks->n_buffers - 1];
    for (int r = buffer->first_reader; r < tasks->n_readers; r++)
        if (tasks->reader[r].task == reader.task && tasks->reader[r].delay == reader.delay)
            return;
    if (of->failed || !PTI_GROW(tasks->reader, tasks->n_readers, &of->reader_capacity)) {
        of->failed = true;
        return;
    }
    tasks->reader[tasks->n_readers++] = reader;
    buffer->n_readers++;
}

static bool is_taken(const joiner *of, int task) {
    return of->from->task[task].kind == PTI_TASK_TAKE;
}

/** Let the readers of a buffer read the one that was added last: the program, or all others. */
static void copy_readers(joiner *of, int b, bool is_program) {
    const pti_stream_tasks *tasks = &of->from->tasks;
    const pti_frame_buffer *held = &tasks->buffer[b];
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &tasks->reader[r];
        if (is_taken(of, reader->task) == is_program)
            append_reader(of, (pti_buffer_reader){reader->task + of->n_begins, reader->delay});
    }
}

/* Buffers. */

static void add_buffer(joiner *of, pti_frame_buffer buffer, pti_buffer_note note) {
    pti_stream_tasks *tasks = &of->made.tasks;
    buffer.first_reader = tasks->n_readers;
    buffer.n_readers = 0;
    tasks->buffer[tasks->n_buffers] = buffer;
    of->made.buffer[tasks->n_buffers++] = note;
}

/** Add the buffer in which all pieces lie of a leader, with the readers of all, and who writes
 * them. */
static void add_whole(joiner *of, int leader) {
    const pti_stream_tasks *tasks = &of->from->tasks;
    const int n = tasks->n_buffers, begins = of->begins[leader];
    pti_frame_buffer whole = tasks->buffer[leader];
    pti_buffer_note note = of->from->buffer[leader];
    int64_t first = INT64_MAX, end = 0;
    for (int b = leader; b < n; b++) {
        if (of->leader[b] != leader)
            continue;
        const int64_t offset = of->from->buffer[b].offset_bytes;
        first = pti_min(first, offset);
        end = pti_max(end, offset + tasks->buffer[b].frame_bytes);
        whole.depth = pti_max(whole.depth, tasks->buffer[b].depth);
        of->place[b] = of->made.tasks.n_buffers;
    }
    whole.frame_bytes = end - first;
    whole.producer = begins >= 0 ? begins : whole.producer + of->n_begins;
    note.offset_bytes = first;
    note.array = note.array >= 0 ? of->whole[note.array] : -1;
    add_buffer(of, whole, note);
    for (int b = leader; b < n && begins >= 0; b++)
        if (of->leader[b] == leader)
            append_reader(of, (pti_buffer_reader){tasks->buffer[b].producer + of->n_begins, 0});
    for (int program = 0; program < 2; program++)
        for (int b = leader; b < n; b++)
            if (of->leader[b] == leader)
                copy_readers(of, b, program == 1);
}

/** Keep the readers of a piece behind who writes it. */
static void add_order(joiner *of, int b) {
    const pti_frame_buffer *held = &of->from->tasks.buffer[b];
    add_buffer(of, (pti_frame_buffer){.producer = held->producer + of->n_begins},
               (pti_buffer_note){-1, -1, of->from->buffer[b].memory, -1, 0});
    copy_readers(of, b, false);
    copy_readers(of, b, true);
}

static void add_buffers(joiner *of) {
    for (int b = 0; b < of->from->tasks.n_buffers && !of->failed; b++) {
        if (of->leader[b] == b)
            add_whole(of, b);
        if (of->begins[of->leader[b]] >= 0)
            add_order(of, b);
    }
    for (int b = 0; b < of->made.tasks.n_buffers; b++)
        if (of->made.buffer[b].before >= 0)
            of->made.buffer[b].before = of->place[of->made.buffer[b].before];
}

/* Tasks. */

static void add_tasks(joiner *of) {
    const pti_stream_tasks *tasks = &of->from->tasks;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_buffer_note *note = &of->from->buffer[b];
        if (of->begins[b] < 0)
            continue;
        of->made.tasks.task[of->begins[b]] =
            (pti_task){-1, 0, tasks->task[tasks->buffer[b].producer].turn};
        of->made.task[of->begins[b]] = (pti_task_note){
            PTI_TASK_BEGIN, -1, of->whole[note->array], note->memory, note->memory, 0, 0};
    }
    for (int t = 0; t < tasks->n_tasks; t++) {
        pti_task_note note = of->from->task[t];
        note.array = note.array >= 0 ? of->whole[note.array] : -1;
        of->made.tasks.task[t + of->n_begins] = tasks->task[t];
        of->made.task[t + of->n_begins] = note;
    }
    of->made.tasks.n_tasks = tasks->n_tasks + of->n_begins;
    of->made.tasks.n_resources = tasks->n_resources;
    of->made.tasks.n_turns = tasks->n_turns;
}

static bool allocate_lists(joiner *of) {
    const size_t n_buffers = (size_t)of->from->tasks.n_buffers + 1;
    const size_t n_tasks = (size_t)of->from->tasks.n_tasks + n_buffers;
    of->whole = calloc((size_t)of->net->n_arrays + 1, sizeof *of->whole);
    of->leader = calloc(n_buffers, sizeof *of->leader);
    of->begins = calloc(n_buffers, sizeof *of->begins);
    of->place = calloc(n_buffers, sizeof *of->place);
    of->made.tasks.task = calloc(n_tasks, sizeof *of->made.tasks.task);
    of->made.task = calloc(n_tasks, sizeof *of->made.task);
    of->made.tasks.buffer = calloc(2 * n_buffers, sizeof *of->made.tasks.buffer);
    of->made.buffer = calloc(2 * n_buffers, sizeof *of->made.buffer);
    return of->whole != NULL && of->leader != NULL && of->begins != NULL && of->place != NULL &&
           of->made.tasks.task != NULL && of->made.task != NULL && of->made.tasks.buffer != NULL &&
           of->made.buffer != NULL;
}

static bool has_pieces(const pti_net *net) {
    bool has = false;
    for (int a = 0; a < net->n_arrays; a++)
        has = has || net->array[a].n_before > 0;
    return has;
}

bool pti_expansion_join_pieces(const pti_net *net, pti_expansion *expansion) {
    joiner of = {.net = net, .from = expansion};
    if (!has_pieces(net))
        return true;
    of.failed = !allocate_lists(&of);
    if (!of.failed) {
        find_groups(&of);
        add_tasks(&of);
        add_buffers(&of);
    }
    free(of.whole);
    free(of.leader);
    free(of.begins);
    free(of.place);
    if (of.failed) {
        pti_expansion_free(&of.made);
        return false;
    }
    pti_expansion_free(expansion);
    *expansion = of.made;
    return true;
}
