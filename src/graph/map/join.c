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
    int *next;   /* of each buffer: the one after it with its leader, -1: none; owned */
    int *begins; /* of each leader: the task that makes a place for all of them, -1: none is
                            needed; owned */
    int *latest; /* of each task: the reader that was made last of it, -1: none; owned */
    int *place;  /* of each buffer: the one in which its bytes lie now; owned */
    int n_begins;
    int64_t reader_capacity;
    bool failed;
} joiner;

/** Number arrays as the graph does. */
static void number_arrays(joiner *of) {
    for (int a = 0, n = -1; a < of->net->n_arrays; a++) {
        n += of->net->array[a].n_before == 0;
        of->whole[a] = n;
    }
}

/** Find which buffers lie together and who makes them. last_in: of each array of the graph and
 * memory, the last buffer so far, -1: none. */
static void find_groups(joiner *of, int *last_in) {
    const pti_stream_tasks *tasks = &of->from->tasks;
    for (int64_t k = 0; k < (int64_t)of->net->n_arrays * of->net->n_memories; k++)
        last_in[k] = -1;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const pti_buffer_note *note = &of->from->buffer[b];
        of->made.n_looks++;
        of->leader[b] = b;
        of->next[b] = of->begins[b] = -1;
        if (note->array < 0)
            continue;
        int *last = &last_in[(int64_t)of->whole[note->array] * of->net->n_memories + note->memory];
        if (*last >= 0) {
            of->leader[b] = of->leader[*last];
            of->next[*last] = b;
        }
        *last = b;
        const int leader = of->leader[b];
        if (tasks->buffer[leader].producer != tasks->buffer[b].producer && of->begins[leader] < 0)
            of->begins[leader] = of->n_begins++;
    }
}

/* Readers. */

/** Add a reader of the last buffer, unless it is one. */
static void append_reader(joiner *of, pti_buffer_reader reader) {
    pti_stream_tasks *tasks = &of->made.tasks;
    pti_frame_buffer *buffer = &tasks->buffer[tasks->n_buffers - 1];
    for (int r = of->latest[reader.task]; r >= buffer->first_reader; r--) {
        of->made.n_looks++;
        if (tasks->reader[r].task == reader.task && tasks->reader[r].delay == reader.delay)
            return;
    }
    if (of->failed || !PTI_GROW(tasks->reader, tasks->n_readers, &of->reader_capacity)) {
        of->failed = true;
        return;
    }
    of->latest[reader.task] = tasks->n_readers;
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
        of->made.n_looks++;
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
    const int begins = of->begins[leader];
    pti_frame_buffer whole = tasks->buffer[leader];
    pti_buffer_note note = of->from->buffer[leader];
    int64_t first = INT64_MAX, end = 0;
    for (int b = leader; b >= 0; b = of->next[b]) {
        of->made.n_looks++;
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
    for (int b = begins >= 0 ? leader : -1; b >= 0; b = of->next[b])
        append_reader(of, (pti_buffer_reader){tasks->buffer[b].producer + of->n_begins, 0});
    for (int program = 0; program < 2; program++)
        for (int b = leader; b >= 0; b = of->next[b])
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
    for (int t = 0; t < of->made.tasks.n_tasks; t++)
        of->latest[t] = -1;
    of->made.tasks.n_resources = tasks->n_resources;
    of->made.tasks.n_turns = tasks->n_turns;
}

static bool allocate_lists(joiner *of) {
    const size_t n_buffers = (size_t)of->from->tasks.n_buffers + 1;
    const size_t n_tasks = (size_t)of->from->tasks.n_tasks + n_buffers;
    of->whole = calloc((size_t)of->net->n_arrays + 1, sizeof *of->whole);
    of->leader = calloc(n_buffers, sizeof *of->leader);
    of->next = calloc(n_buffers, sizeof *of->next);
    of->begins = calloc(n_buffers, sizeof *of->begins);
    of->latest = calloc(n_tasks, sizeof *of->latest);
    of->place = calloc(n_buffers, sizeof *of->place);
    of->made.tasks.task = calloc(n_tasks, sizeof *of->made.tasks.task);
    of->made.task = calloc(n_tasks, sizeof *of->made.task);
    of->made.tasks.buffer = calloc(2 * n_buffers, sizeof *of->made.tasks.buffer);
    of->made.buffer = calloc(2 * n_buffers, sizeof *of->made.buffer);
    return of->whole != NULL && of->leader != NULL && of->next != NULL && of->begins != NULL &&
           of->latest != NULL && of->place != NULL && of->made.tasks.task != NULL &&
           of->made.task != NULL && of->made.tasks.buffer != NULL && of->made.buffer != NULL;
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
    int *last_in = malloc(((size_t)net->n_arrays * (size_t)net->n_memories + 1) * sizeof *last_in);
    of.failed = !allocate_lists(&of) || last_in == NULL;
    if (!of.failed) {
        number_arrays(&of);
        find_groups(&of, last_in);
        add_tasks(&of);
        add_buffers(&of);
    }
    free(of.whole);
    free(of.leader);
    free(of.next);
    free(last_in);
    free(of.begins);
    free(of.latest);
    free(of.place);
    if (of.failed) {
        pti_expansion_free(&of.made);
        return false;
    }
    of.made.n_looks += expansion->n_looks;
    pti_expansion_free(expansion);
    *expansion = of.made;
    return true;
}
