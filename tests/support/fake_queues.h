#ifndef POLYTILE_TESTS_SUPPORT_FAKE_QUEUES_H
#define POLYTILE_TESTS_SUPPORT_FAKE_QUEUES_H

#include "support/random.h"

#include <deque>
#include <functional>
#include <list>
#include <memory>

/* Streams that lag: what is enqueued waits until somebody waits for it, and then runs in an order
 * that chance picks among those that the streams and events allow. */

class FakeQueues {
  public:
    struct Queue;

    /** One recording of an event; it outlives both the event and its stream. */
    struct Mark {
        Queue *queue;
        bool is_reached = false;
        double reached_s = 0; /* by the queues' own clock */
    };
    using MarkPointer = std::shared_ptr<Mark>;
    using Work = std::function<void()>;

    explicit FakeQueues(uint64_t seed);

    Queue *create();
    /** Later, once nothing is pending in it. */
    void destroy(Queue *queue);

    void enqueue(Queue *queue, Work work);
    /** Work that goes on by itself when it is begun: what is after it waits until it is over. */
    void enqueue_running(Queue *queue, Work begin, std::function<bool()> is_over);
    MarkPointer enqueue_mark(Queue *queue);
    /** NULL is no wait. */
    void enqueue_wait(Queue *queue, MarkPointer mark);

    /** Run what a queue holds, and by chance more of the others'. */
    void finish(Queue *queue);
    void reach(const Mark &mark);
    void finish_all();
    /** A little, by chance nothing. */
    void make_progress();
    /** Forget all that is pending, as a GPU does after a fault. */
    void drop_all();

    int64_t n_pending() const;

  private:
    struct Action {
        Work work;         /* empty: none */
        MarkPointer waits; /* until it is reached */
        MarkPointer marks;
        std::function<bool()> is_over; /* of what goes on by itself; empty: it is none */
        bool is_begun = false;
    };

  public:
    struct Queue {
        std::deque<Action> pending;
        bool is_destroyed = false;
    };

  private:
    bool can_step(const Queue &queue) const;
    void step(Queue *queue);
    void step_some();
    void step_towards(Queue *queue);
    Queue *pick();

    Random random_;
    int diligence_percent_; /* how often a wait runs what nobody waits for */
    int loyalty_percent_;   /* how often chance stays with the queue that it picked last */
    double clock_s_ = 0;
    Queue *favourite_ = nullptr;
    std::list<Queue> queues_;
};

#endif
