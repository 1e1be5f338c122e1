#ifndef POLYTILE_TESTS_MESSAGE_RANDOM_MESSAGES_H
#define POLYTILE_TESTS_MESSAGE_RANDOM_MESSAGES_H

#include <polytile/implementation.h>
#include <polytile/status.h>

#include <polytile/queue.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

/* Random programs of messages: a list of calls for each slot, which one team kernel carries out,
 * and which an interpreter carries out as MPI has it. */

enum Call {
    NOTHING,
    SEND,
    RECV,
    ISEND, /* into request `partner` */
    IRECV,
    WAIT, /* for request `partner` */
    EXCHANGE,
    SIGNAL,
    WAIT_SIGNAL,
    BARRIER,
    BCAST,
    N_FIELDS = 6,
};

/** One call of a slot. Its buffer is as long as its message, and its own. */
struct Step {
    int32_t call;
    int32_t partner; /* a rank, PT_ANY; a request */
    int32_t tag;
    int32_t n_words;
    int32_t first_word; /* of its buffer, in the slot's row */
    int32_t message;    /* what a send sends, or what a receive is to get; -1: any */
};

struct MessageProgram {
    int n_slots;
    std::vector<std::vector<Step>> steps; /* of each slot */
    std::vector<bool> takes_any;          /* slots whose receives are from anyone */
    int n_messages;
    int row_words; /* that the buffers of one slot take at most */
    int n_steps;   /* of one slot at most */
};

/** A program that comes to its end, whatever the order among slots. */
MessageProgram draw_messages(std::mt19937_64 &random, int n_slots, int n_events);

/** The same without some calls, so that it may come to none. */
MessageProgram spoil_messages(std::mt19937_64 &random, const MessageProgram &right);

/** How a program ends, as MPI has it, where a send up to PT_EAGER_BYTES waits for nobody: OK,
 * DEADLOCK, or INVALID, since a receive is too small. Receives name their senders. */
polytile_status interpret_messages(const MessageProgram &program);

/** interpret_kernel.h's for the host. */
extern const polytile_implementation &near_interpret;

/** Run a program on a device, or a list of them with a layout, and compare what slots have
 * received; "" or what went wrong. The implementation is that of interpret_kernel.h for the
 * devices. */
std::string run_messages(const MessageProgram &program, const std::string &device_text,
                         polytile_status expected,
                         const polytile_implementation *implementation = &near_interpret,
                         const char *layout = nullptr);

/** The same on a queue, which this opens. */
std::string
run_messages_on(const MessageProgram &program,
                const std::function<polytile_status(polytile_context *, polytile_queue **)> &open,
                polytile_status expected,
                const polytile_implementation *implementation = &near_interpret);

#endif
