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
    ISEND,
    IRECV,
    WAIT,
    LOOK, /* pt_test(), once */
    EXCHANGE,
    SIGNAL,
    WAIT_SIGNAL,
    PUT,
    COPY, /* from one buffer of the slot to another one */
    BARRIER,
    BCAST,
    REDUCE,
    GATHER,
    SCATTER,
    ALLTOALL,
    N_FIELDS = 9,
};

enum StepFlag {
    FILLS = 1,     /* all lanes write the message before it is sent */
    SCRIBBLES = 2, /* and write over it when its send is done */
    HAS_NO_STATUS = 4,
    POLLS = 8,   /* waits by pt_test() */
    RELAYS = 16, /* sends what was received into the same buffer */
};

/** One call of a slot. Buffers are bytes of the slot's row; what is received has one of its own. */
struct Step {
    int32_t call;
    int32_t partner; /* a rank, n_slots for the program; PT_ANY; a root; how often a signal */
    int32_t tag;     /* or a signal, or the number of element_kinds and the role of a reduction */
    int32_t n_bytes; /* of a collective: of each slot's part; of a wait: of a send to write over */
    int32_t first_byte;
    int32_t message; /* what is sent, or to be received, -1: any; of WAIT and LOOK: the step that
                        began, -1: none */
    int32_t other;   /* a request; whom EXCHANGE receives from; a second buffer, of a PUT its own */
    int32_t flags;
    int32_t received = -1; /* of EXCHANGE: the message that it gets; of a collective: a buffer that
                              all lanes copy to its own before, -1: none */
};

struct MessageProgram {
    int n_slots;
    std::vector<std::vector<Step>> steps; /* of each slot, then of the program */
    bool has_program;
    bool has_any; /* receives from anyone, whose messages depend on the order */
    int n_messages;
    int row_words; /* that the buffers of one slot take at most */
    int n_steps;   /* of one slot at most */

    int n_ranks() const { return n_slots + has_program; }
};

/** What is drawn but not everywhere possible. */
struct MessageDraws {
    bool has_program = false; /* the program sends and receives */
    bool has_puts = false;    /* which reach slots of the same device, or of linked GPUs */
    bool has_any = true;
};

/** A program that comes to its end, whatever the order among slots. */
MessageProgram draw_messages(std::mt19937_64 &random, int n_slots, int n_events,
                             const MessageDraws &draws = {});

/** A program without receives from anyone, then some calls are taken out, cut short or sent
 * elsewhere, so that it may come to none; its end is the same in any order. */
MessageProgram draw_spoiled(std::mt19937_64 &random, int n_slots, int n_events,
                            MessageDraws draws = {});

/** How a program ends, as MPI has it, where a send up to PT_EAGER_BYTES waits for nobody: OK,
 * DEADLOCK, or INVALID, since a receive is too small; INTERNAL: that depends on more than is drawn.
 * A collective waits for all slots if it is strict, else only for those whose data it needs. */
polytile_status interpret_messages(const MessageProgram &program, bool is_strict = true);

/** interpret_kernel.h's for the host. */
extern const polytile_implementation &near_interpret;

/** Run a program on a device, or a list of them with a layout, and compare what slots have
 * received, and all other bytes of their rows; "" or what went wrong. The implementation is that of
 * interpret_kernel.h for the devices. */
std::string run_messages(const MessageProgram &program, const std::string &device_text,
                         polytile_status expected,
                         const polytile_implementation *implementation = &near_interpret,
                         const char *layout = nullptr);

/** One that is run in turn with others, and how it is to end. */
struct MessageTurn {
    MessageProgram program;
    polytile_status expected;
};

/** The same, one after the other on one queue. */
std::string run_messages_in_turn(const std::vector<MessageTurn> &turns,
                                 const std::string &device_text,
                                 const polytile_implementation *implementation = &near_interpret,
                                 const char *layout = nullptr);

/** The same on a queue, which this opens, by whose program slots are spoken to, or not. */
std::string
run_messages_on(const MessageProgram &program,
                const std::function<polytile_status(polytile_context *, polytile_queue **)> &open,
                polytile_status expected,
                const polytile_implementation *implementation = &near_interpret,
                bool speaks = true);

#endif
