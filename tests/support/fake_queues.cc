#include "support/fake_queues.h"

#include <thread>
#include <vector>

FakeQueues::FakeQueues(uint64_t seed) : random_(seed) {
    diligence_percent_ = static_cast<int>(random_.one_of({0, 20, 50, 90}));
    loyalty_percent_ = static_cast<int>(random_.one_of({0, 50, 90, 98}));
}

FakeQueues::Queue *FakeQueues::create() {
    queues_.emplace_back();
    return &queues_.back();
}

void FakeQueues::destroy(Queue *queue) {
    queue->is_destroyed = true;
}

void FakeQueues::enqueue(Queue *queue, Work work) {
    queue->pending.push_back({std::move(work), nullptr, nullptr, nullptr});
}

void FakeQueues::enqueue_running(Queue *queue, Work begin, std::function<bool()> is_over) {
    queue->pending.push_back({std::move(begin), nullptr, nullptr, std::move(is_over)});
}

FakeQueues::MarkPointer FakeQueues::enqueue_mark(Queue *queue) {
    auto mark = std::make_shared<Mark>();
    mark->queue = queue;
    queue->pending.push_back({nullptr, nullptr, mark, nullptr});
    return mark;
}

void FakeQueues::enqueue_wait(Queue *queue, MarkPointer mark) {
    if (mark != nullptr)
        queue->pending.push_back({nullptr, std::move(mark), nullptr, nullptr});
}

/** What runs goes on when it is asked whether it is over, and a fault in it drops all. */
bool FakeQueues::can_step(const Queue &queue) const {
    if (queue.pending.empty())
        return false;
    const Action &next = queue.pending.front();
    if (!next.is_begun)
        return next.waits == nullptr || next.waits->is_reached;
    const std::function<bool()> is_over = next.is_over;
    return is_over() && !queue.pending.empty();
}

/** Nothing is left where a fault dropped all since the queue was picked. */
void FakeQueues::step(Queue *queue) {
    if (queue->pending.empty())
        return;
    Action &next = queue->pending.front();
    if (next.is_over && !next.is_begun) {
        const Work begin = next.work;
        next.is_begun = true;
        begin();
        return;
    }
    const Action action = next;
    queue->pending.pop_front();
    clock_s_ += 1e-6 * static_cast<double>(random_.number(1, 10));
    if (action.marks != nullptr) {
        action.marks->is_reached = true;
        action.marks->reached_s = clock_s_;
    }
    if (action.work && !action.is_begun)
        action.work();
}

FakeQueues::Queue *FakeQueues::pick() {
    if (favourite_ != nullptr && can_step(*favourite_) && random_.chance(loyalty_percent_))
        return favourite_;
    std::vector<Queue *> ready;
    for (Queue &queue : queues_) {
        if (can_step(queue))
            ready.push_back(&queue);
    }
    favourite_ =
        ready.empty()
            ? nullptr
            : ready[static_cast<size_t>(random_.number(0, static_cast<int64_t>(ready.size()) - 1))];
    return favourite_;
}

void FakeQueues::step_some() {
    Queue *queue = pick();
    if (queue != nullptr)
        step(queue);
}

/** A mark is enqueued before the waits for it, so following them ends at a queue that can go on. */
void FakeQueues::step_towards(Queue *queue) {
    bool can = can_step(*queue);
    while (!can && !queue->pending.empty() && !queue->pending.front().is_begun) {
        queue = queue->pending.front().waits->queue;
        can = can_step(*queue);
    }
    if (can)
        step(queue);
    else
        std::this_thread::yield();
}

void FakeQueues::finish(Queue *queue) {
    while (!queue->pending.empty()) {
        if (random_.chance(diligence_percent_))
            step_some();
        else
            step_towards(queue);
    }
}

void FakeQueues::reach(const Mark &mark) {
    while (!mark.is_reached) {
        if (random_.chance(diligence_percent_))
            step_some();
        else
            step_towards(mark.queue);
    }
}

void FakeQueues::finish_all() {
    while (pick() != nullptr)
        step_some();
    favourite_ = nullptr;
    queues_.remove_if([](const Queue &queue) { return queue.is_destroyed; });
}

void FakeQueues::make_progress() {
    for (int64_t n_steps = random_.number(0, 3); n_steps > 0; n_steps--)
        step_some();
}

void FakeQueues::drop_all() {
    for (Queue &queue : queues_) {
        for (Action &action : queue.pending) {
            if (action.marks != nullptr)
                action.marks->is_reached = true;
        }
        queue.pending.clear();
    }
}

int64_t FakeQueues::n_pending() const {
    int64_t n = 0;
    for (const Queue &queue : queues_)
        n += static_cast<int64_t>(queue.pending.size());
    return n;
}
