#ifndef POLYTILE_MESSAGE_H
#define POLYTILE_MESSAGE_H

/**
 * Kernels whose threads send messages to one another while they run.
 *
 *     POLYTILE_TEAM_KERNEL(ring, (s), (float, A, 2)) {
 *         const int right = (pt_rank() + 1) % pt_ranks();
 *         const int left = (pt_rank() + pt_ranks() - 1) % pt_ranks();
 *         if (pt_sendrecv_replace(&PT_AT(A, s, 0), 64 * sizeof(float), right, left, 0, NULL))
 *             return;
 *         for (int k = PT_LANE; k < 64; k += PT_LANES)
 *             PT_AT(A, s, k) *= 2;
 *     }
 *
 * defines `static const polytile_implementation ring_kernel` as POLYTILE_KERNEL() does, with the
 * same views and parameters. One thread of the declaration is a slot: on the host one thread of the
 * system, whatever threads= of the device's text says; on a GPU a whole thread block, the team, of
 * which each thread is a lane. Its rank is its number in the launch domain, in C order. All slots
 * of a launch run at once, in one superblock that is never cut, fused with other launches, or run
 * again; a launch whose slots cannot all run at once is refused with POLYTILE_NO_FIT.
 *
 * On a queue over several devices of a process the queue's layout, of the launch's first index,
 * says which device runs which slots. docs/messages.md says what differs there.
 *
 * In the body
 *         PT_LANE, PT_LANES   the lane, from 0, and how many the team has; 0 and 1 on the host; on
 *                             a GPU a multiple of 32, as many as let all slots run at once
 *         PT_TEAM_SYNC;       the team's own barrier: all lanes see what was stored before it
 *         PT_AT(A, i, j)      and the like as polytile/kernel.h has them
 *         pt_rank()           the slot's rank
 *         pt_ranks()          how many slots the launch has
 * and the calls below. All lanes call them, with the same arguments, and none inside a branch that
 * some lanes do not take. Each call returns 0, or another number when the launch is being ended,
 * by an error, a deadlock or a timeout: then the body returns. A function that a body calls, and
 * that calls these, takes and passes PT_TEAM as its first argument:
 *
 *     PT_FUNCTION int tell(pt_slot *PT_TEAM, float *x) { return pt_send(x, 4, 0, 1); }
 *
 * Buffers lie in the launch's arrays as they are resident; receives and puts go to arrays that the
 * launch writes. The declaration says which elements a slot touches, those that come in messages
 * included.
 *
 * Messages, as in MPI
 *         pt_send(data, n_bytes, to, tag)
 *         pt_recv(data, n_bytes, from, tag, status)
 *         pt_isend(data, n_bytes, to, tag, &request)
 *         pt_irecv(data, n_bytes, from, tag, &request)
 *         pt_test(&request, &is_done, status)
 *         pt_wait(&request, status)
 *         pt_sendrecv_replace(data, n_bytes, to, from, tag, status)
 * A receive may have PT_ANY for the rank and for the tag. PT_PROGRAM is the rank of the program,
 * which takes part by polytile_message_send() and polytile_message_recv(): of several ranks of MPI
 * the program of rank 0. Tags are 0 or more.
 * Messages of one sender to one receiver that match a receive are received in the order in which
 * they were sent. n_bytes of a receive is the most that it takes; a longer message ends the
 * launch, and is not cut. status may be NULL. A send returns when its data may be written again.
 * Up to PT_EAGER_BYTES it waits for no receive; a longer one waits until it is received, except by
 * pt_sendrecv_replace(), which never waits for its own data to be received. At most PT_MAX_REQUESTS
 * of a slot are under way.
 *
 * One-sided
 *         pt_put(to, A, (i, j), data, n_bytes)    write to A[i, j] and after it, in the section of
 *                                                 slot `to`; then data may be written
 *                                                 again
 *         pt_signal(to, signal)                   add 1 to a signal of a slot, of which each has
 *                                                 PT_MAX_SIGNALS, from 0
 *         pt_wait_signal(signal, n_times)         wait until the slot's own signal has been given
 *                                                 so often since the launch began
 * What is put, as what is sent, may have been stored by any lane just before the call.
 * Who has waited for a signal sees what the slot that gave it had put, and stored, before. A put
 * reaches slots of the same device, and of GPUs of one process that are linked with it, where
 * elements of the array are as far from one another.
 *
 * Collective, by all slots in the same order
 *         pt_barrier()
 *         pt_bcast(data, n_bytes, root)
 *         pt_reduce(from, to, n, role, root)      n elements, of which from says the type; role is
 *                                                 POLYTILE_SUM, _PROD, _MIN or _MAX; to: root's
 *         pt_gather(from, n_bytes, to, root)      n_bytes of each slot, in the order of their ranks
 *         pt_scatter(from, n_bytes, to, root)
 *         pt_alltoall(from, n_bytes, to)          n_bytes of each slot to each
 * The order of a reduction is that of a binomial tree: results are the same bits on every run.
 *
 * Ordering: what a slot stores before it sends, signals or arrives at a barrier is seen by who
 * receives that, has waited for the signal, or has passed the barrier.
 *
 * Errors, which end the launch and come from polytile_run() or the queue's next wait, with slot,
 * peer, tag and sizes in the text: INVALID (a rank or a tag out of range, a negative size, a buffer
 * outside the launch's arrays, a put to a slot out of reach, a receive that is too small, too many
 * requests), DEADLOCK (no slot can go on: known at once, where the program cannot send
 * either), TIMEOUT (message_timeout_s of the launch's options passed without any progress),
 * NO_MEMORY; on a list of devices UNSUPPORTED (slots lie apart on one with memory of its own, a GPU
 * is twice in the list, several devices reduce into the same elements of an array, or the layout
 * does not say of each slot which device runs it). Arrays that the launch writes are then
 * incomplete. A body that never calls cannot be ended. On a queue over several ranks of MPI all get
 * the same error, with the rank in front; messages between ranks advance while the programs wait.
 *
 * Source  Stuart and Owens, "Message passing on data-parallel architectures", 2009, section 3.
 */
#include <polytile/kernel.h>
#include <polytile/message_ring.h>
#include <polytile/queue.h>

/** Any rank, any tag. */
#define PT_ANY (-1)

/** The rank of the program. */
#define PT_PROGRAM (-2)

/** The longest message that is kept until it is received. */
enum { PT_EAGER_BYTES = 4096 };

/** What a receive got, or a send sent. */
typedef struct pt_status {
    int32_t source;
    int32_t tag;
    int64_t n_bytes;
} pt_status;

/** A send or a receive under way; PT_NO_REQUEST once it is done, for which nobody waits, and whose
 * status has PT_ANY and no bytes. */
typedef int32_t pt_request;
#define PT_NO_REQUEST (-1)

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Send from the program to a slot of the team kernel that was launched last on a queue.
 *
 * The launch may still be queued: the message waits for it. A pause of the queue does not hold it
 * back. As long as the program neither waits for the queue nor for a message it counts as able to
 * send, so that slots that wait for it are in no deadlock.
 *
 * Errors  INVALID (a slot or a tag out of range, a negative size, data is NULL, no team kernel was
 *         launched, or it is over; this is another rank of MPI than 0), NO_MEMORY, and what ends
 *         the launch while the message waits to be received, if it is longer than PT_EAGER_BYTES.
 */
polytile_status polytile_message_send(polytile_queue *queue, const void *data, int64_t n_bytes,
                                      int to, int tag);

/**
 * Receive in the program a message of a slot of the team kernel that was launched last on a queue.
 *
 * Shapes  n_bytes: of data, the most that the message may have; from, tag: or PT_ANY; status: may
 *         be NULL. Messages that the program has not received when the launch ends can be received
 *         until the next one is queued.
 * Errors  INVALID (as polytile_message_send(); the message is longer, and stays to be received; the
 *         launch is over and sent none), and what has ended the launch.
 */
polytile_status polytile_message_recv(polytile_queue *queue, void *data, int64_t n_bytes, int from,
                                      int tag, pt_status *status);

#ifdef __cplusplus
}
#endif

/* Functions for the host and for devices: nvcc compiles them for each, with what each needs. Tests
 * bring a device of their own. */
#ifdef __CUDACC__
#define PT_MESSAGE_FUNCTION PT_UNUSED static __host__ __device__
#else
#define PT_MESSAGE_FUNCTION PT_UNUSED static
#endif

#if defined(__CUDA_ARCH__)
#include <polytile/message_cuda.h>

#include <polytile/message_spin.h>
#elif defined(POLYTILE_MESSAGE_DEVICE)
#include POLYTILE_MESSAGE_DEVICE
#include <polytile/message_spin.h>
#else
#include <polytile/message_host.h>
#endif

#include <polytile/message_call.h>
#include <polytile/message_collective.h>

#define PT_TEAM pt_team

#define pt_rank()  (PT_TEAM->rank)
#define pt_ranks() (PT_TEAM->ring->n_ranks)

#define pt_send(data, n_bytes, to, tag) pt_send_now(PT_TEAM, data, n_bytes, to, tag, 0)
#define pt_recv(data, n_bytes, from, tag, status)                                                  \
    pt_recv_now(PT_TEAM, data, n_bytes, from, tag, 0, status)
#define pt_isend(data, n_bytes, to, tag, request)                                                  \
    pt_begin_send(PT_TEAM, data, n_bytes, to, tag, 0, request)
#define pt_irecv(data, n_bytes, from, tag, request)                                                \
    pt_begin_recv(PT_TEAM, data, n_bytes, from, tag, 0, request)
#define pt_test(request, is_done, status) pt_look(PT_TEAM, request, is_done, status)
#define pt_wait(request, status)          pt_finish(PT_TEAM, request, status)
#define pt_sendrecv_replace(data, n_bytes, to, from, tag, status)                                  \
    pt_exchange(PT_TEAM, data, n_bytes, to, from, tag, status)

#define pt_put(to, A, index, data, n_bytes)                                                        \
    pt_put_bytes(PT_TEAM, to, PT_BEGIN(A), &PT_APPLY(PT_AT, (A, PT_UNPACK index)), data, n_bytes)
#define PT_BEGIN(A)                                                                                \
    pt_find_begin((A).at, (int)(sizeof(A).first / sizeof *(A).first), (A).first, (A).stride)
#define pt_signal(to, signal)           pt_signal_slot(PT_TEAM, to, signal)
#define pt_wait_signal(signal, n_times) pt_await_signal(PT_TEAM, signal, n_times)

#define pt_barrier()                        pt_meet(PT_TEAM)
#define pt_bcast(data, n_bytes, root)       pt_broadcast(PT_TEAM, data, n_bytes, root)
#define pt_gather(from, n_bytes, to, root)  pt_gather_parts(PT_TEAM, from, n_bytes, to, root)
#define pt_scatter(from, n_bytes, to, root) pt_scatter_parts(PT_TEAM, from, n_bytes, to, root)
#define pt_alltoall(from, n_bytes, to)      pt_exchange_parts(PT_TEAM, from, n_bytes, to)
#define pt_reduce(from, to, n, role, root)                                                         \
    pt_reduce_elements(PT_TEAM, from, to, root,                                                    \
                       pt_combined_of(n, PT_ELEMENT_BYTES(from), PT_ELEMENT_NUMBER(from), role))

/* A reduction's elements are integers or floating-point numbers that C knows. */
#define PT_ELEMENT_NUMBER(from) PT_NUMBER_OF(__typeof__(*(from)))
#define PT_ELEMENT_BYTES(from)                                                                     \
    (int32_t)(sizeof(*(from)) *                                                                    \
              sizeof(char[PT_ELEMENT_NUMBER(from) == POLYTILE_ANY_NUMBER ||                        \
                                  PT_ELEMENT_NUMBER(from) > POLYTILE_FLOAT_NUMBER                  \
                              ? -1                                                                 \
                              : 1]))

#define POLYTILE_TEAM_KERNEL(kernel, indices, ...)                                                 \
    PT_EACH(PT_DECLARE, kernel, __VA_ARGS__)                                                       \
    enum { PT_EACH(PT_VIEW_PLACE, kernel, __VA_ARGS__) kernel##_n_views };                         \
    enum { PT_EACH(PT_PARAMETER_PLACE, kernel, __VA_ARGS__) kernel##_n_parameters };               \
    PT_ASSERT(kernel##_n_views >= 1 && kernel##_n_views <= 8,                                      \
              "a body takes 1 to 8 views, (type, name, number of dimensions)");                    \
    PT_ASSERT(kernel##_n_parameters <= 16, "a body takes at most 16 parameters, (type, name)");    \
    PT_TEAM_BODY(kernel, indices, __VA_ARGS__);                                                    \
    PT_TEAM_HOST_FUNCTION(kernel, indices, __VA_ARGS__)                                            \
    static const polytile_view_shape kernel##_shapes[] = {                                         \
        PT_EACH(PT_VIEW_SHAPE, kernel, __VA_ARGS__)};                                              \
    static const polytile_body_parameter kernel##_parameters[] = {                                 \
        PT_EACH(PT_BODY_PARAMETER, kernel, __VA_ARGS__){0, 0, POLYTILE_ANY_NUMBER}};               \
    PT_TEAM_CUDA_FUNCTION(kernel, indices, __VA_ARGS__)                                            \
    static const polytile_team kernel##_team = {PT_RING_LAYOUT, kernel##_slot,                     \
                                                PT_TEAM_CUDA_ADDRESS(kernel)};                     \
    PT_UNUSED static const polytile_implementation kernel##_kernel = {0,                           \
                                                                      0,                           \
                                                                      PT_COUNT indices,            \
                                                                      kernel##_n_views,            \
                                                                      kernel##_shapes,             \
                                                                      kernel##_n_parameters,       \
                                                                      kernel##_parameters,         \
                                                                      0,                           \
                                                                      0,                           \
                                                                      0,                           \
                                                                      0,                           \
                                                                      false,                       \
                                                                      0,                           \
                                                                      &kernel##_team,              \
                                                                      false,                       \
                                                                      false,                       \
                                                                      0,                           \
                                                                      0,                           \
                                                                      0,                           \
                                                                      0,                           \
                                                                      0,                           \
                                                                      0,                           \
                                                                      0,                           \
                                                                      PT_NONE_RESERVED};           \
    PT_TEAM_BODY(kernel, indices, __VA_ARGS__)

/* The body, a function of one slot. */
#define PT_TEAM_BODY(kernel, indices, ...)                                                         \
    PT_FUNCTION void kernel##_body(                                                                \
        pt_slot *PT_TEAM PT_UNUSED,                                                                \
        PT_INDEX_PARAMETERS indices PT_EACH(PT_BODY_ARGUMENT, kernel, __VA_ARGS__))

/* The body for a box of one thread, whose slot is the user. */
#define PT_TEAM_HOST_FUNCTION(kernel, indices, ...)                                                \
    static void kernel##_slot(const polytile_domain *pt_threads, const polytile_view *pt_views,    \
                              void *pt_user) {                                                     \
        if (1 PT_EACH(PT_AND_IS_CONTIGUOUS, kernel, __VA_ARGS__)) {                                \
            PT_EACH(PT_DEFINE_CONTIGUOUS, kernel, __VA_ARGS__)                                     \
            PT_LOOPS indices kernel##_body(                                                        \
                (pt_slot *)pt_user, PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));      \
        } else {                                                                                   \
            PT_EACH(PT_DEFINE_STRIDED, kernel, __VA_ARGS__)                                        \
            PT_LOOPS indices kernel##_body(                                                        \
                (pt_slot *)pt_user, PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));      \
        }                                                                                          \
        PT_LEAVE((pt_slot *)pt_user);                                                              \
    }

#endif
