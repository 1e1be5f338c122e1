#ifndef POLYTILE_TESTS_GRAPH_SCHEDULE_SELF_TIMED_H
#define POLYTILE_TESTS_GRAPH_SCHEDULE_SELF_TIMED_H

extern "C" {
#include "graph/schedule/periodic.h"
}

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

/* Whether any order of the tasks of each resource, with so many frames in each buffer, sustains a
 * period when every task starts as soon as it can. Periods are no schedules here: nothing of the
 * planner's is used. All tasks have a resource. */
class SelfTimed {
  public:
    SelfTimed(const pti_stream_tasks &of, int64_t period, const std::vector<int64_t> &capacity)
        : of_(of), period_(period), n_(static_cast<size_t>(of.n_tasks)) {
        add_buffers(capacity);
    }

    /** Whether one of all orders does. */
    bool sustains() { return choose(0); }

  private:
    /** Frame f of a task waits for frame f - tokens of another one. */
    struct Edge {
        size_t from, to;
        int64_t tokens;
    };
    static constexpr int64_t far = 1 << 20;

    void add_buffers(const std::vector<int64_t> &capacity) {
        for (int b = 0; b < of_.n_buffers; b++) {
            const pti_frame_buffer &held = of_.buffer[b];
            const auto producer = static_cast<size_t>(held.producer);
            for (int r = held.first_reader; r < held.first_reader + held.n_readers; r++) {
                const auto reader = static_cast<size_t>(of_.reader[r].task);
                const int64_t delay = of_.reader[r].delay;
                edges_.push_back({producer, reader, delay});
                edges_.push_back({reader, producer, capacity[static_cast<size_t>(b)] - delay});
            }
        }
    }

    /** By how many frames a task is at most ahead of what it waits for: the fewest tokens of all
     * ways. */
    std::vector<int64_t> find_distances() const {
        std::vector<int64_t> distance(n_ * n_, far);
        for (size_t t = 0; t < n_; t++)
            distance[t * n_ + t] = 0;
        for (const Edge &e : edges_)
            distance[e.from * n_ + e.to] = std::min(distance[e.from * n_ + e.to], e.tokens);
        for (size_t k = 0; k < n_; k++)
            for (size_t a = 0; a < n_; a++)
                for (size_t b = 0; b < n_; b++)
                    if (distance[a * n_ + k] < far && distance[k * n_ + b] < far)
                        distance[a * n_ + b] = std::min(
                            distance[a * n_ + b], distance[a * n_ + k] + distance[k * n_ + b]);
        return distance;
    }

    /** Try all orders of a resource, then those of the next one: a period has each of its tasks
     * once, the first one with frame f, each other one with a frame near f. With fewer waits
     * nothing is later, so what is late by now need not be tried. */
    bool choose(int resource) {
        if (!runs_in_time())
            return false;
        if (resource == of_.n_resources)
            return true;
        std::vector<size_t> row;
        for (size_t t = 0; t < n_; t++)
            if (of_.task[t].resource == resource)
                row.push_back(t);
        if (row.size() < 2)
            return choose(resource + 1);
        const std::vector<int64_t> distance = find_distances();
        do {
            std::vector<int64_t> frame(row.size());
            if (choose_frames(resource, row, 1, distance, &frame))
                return true;
        } while (std::next_permutation(row.begin() + 1, row.end()));
        return false;
    }

    /** Frames of tasks that do not depend on each other are numbered so that they are 0 apart. */
    bool choose_frames(int resource, const std::vector<size_t> &row, size_t at,
                       const std::vector<int64_t> &distance, std::vector<int64_t> *frame) {
        if (at == row.size())
            return choose_row(resource, row, *frame);
        int64_t first = -far, last = far;
        for (size_t k = 0; k < at; k++) {
            const int64_t ahead = distance[row[k] * n_ + row[at]],
                          behind = distance[row[at] * n_ + row[k]];
            if (ahead < far)
                last = std::min(last, (*frame)[k] + ahead);
            if (behind < far)
                first = std::max(first, (*frame)[k] + 1 - behind);
        }
        if (first == -far || last == far)
            first = last = 0;
        for (int64_t f = first; f <= last; f++) {
            (*frame)[at] = f;
            if (choose_frames(resource, row, at + 1, distance, frame))
                return true;
        }
        return false;
    }

    /** Row k of a period runs frame f + frame[k]; the first one of the next period comes last. */
    bool choose_row(int resource, const std::vector<size_t> &row,
                    const std::vector<int64_t> &frame) {
        const size_t n_before = edges_.size();
        for (size_t k = 0; k < row.size(); k++) {
            const size_t next = (k + 1) % row.size();
            edges_.push_back({row[k], row[next], frame[next] - frame[k] + (next == 0)});
        }
        const bool does = choose(resource + 1);
        edges_.resize(n_before);
        return does;
    }

    /** Run waves, each of a frame of each task. Those before the first one are done. A cycle that
     * takes too long makes its tasks later each time round, which is after as many waves as it has
     * tokens. So none does once no task was later than ever for as many waves as there are tokens;
     * and one does once a task is later than by all tasks together. */
    bool runs_in_time() {
        std::vector<Edge> edges = edges_;
        std::vector<size_t> order;
        if (!shift_to_waves(&edges) || !find_order(edges, &order))
            return false;
        int64_t most = 0, n_tokens = 1;
        for (size_t t = 0; t < n_; t++)
            most += of_.task[t].ticks;
        for (const Edge &e : edges)
            n_tokens += e.tokens;
        std::vector<int64_t> latest(n_);
        std::vector<std::vector<int64_t>> end;
        for (int64_t wave = 0, n_still = 0; n_still <= n_tokens; wave++) {
            end.emplace_back(n_);
            n_still++;
            for (const size_t t : order) {
                const int64_t late = run(edges, t, wave, &end) - wave * period_;
                if (late > most)
                    return false;
                n_still = late > latest[t] ? 0 : n_still;
                latest[t] = std::max(late, latest[t]);
            }
        }
        return true;
    }

    int64_t run(const std::vector<Edge> &edges, size_t task, int64_t wave,
                std::vector<std::vector<int64_t>> *end) const {
        int64_t at = 0;
        for (const Edge &e : edges)
            if (e.to == task && wave >= e.tokens)
                at = std::max(at, (*end)[static_cast<size_t>(wave - e.tokens)][e.from]);
        return (*end)[static_cast<size_t>(wave)][task] = at + of_.task[task].ticks;
    }

    /** Let each task run another frame in a wave, so that none waits for a later wave; false: some
     * wait for later frames of themselves. */
    bool shift_to_waves(std::vector<Edge> *edges) const {
        std::vector<int64_t> shift(n_);
        bool is_lowered = true;
        for (size_t round = 0; is_lowered && round <= n_; round++) {
            is_lowered = false;
            for (const Edge &e : *edges)
                if (shift[e.from] + e.tokens < shift[e.to]) {
                    shift[e.to] = shift[e.from] + e.tokens;
                    is_lowered = true;
                }
        }
        for (Edge &e : *edges)
            e.tokens += shift[e.from] - shift[e.to];
        return !is_lowered;
    }

    /** Find an order in which tasks stand after those of the same wave that they wait for; false:
     * they wait for each other. */
    bool find_order(const std::vector<Edge> &edges, std::vector<size_t> *order) const {
        std::vector<bool> is_done(n_);
        for (size_t round = 0; round < n_; round++)
            for (size_t t = 0; t < n_; t++)
                if (!is_done[t] && std::none_of(edges.begin(), edges.end(), [&](const Edge &e) {
                        return e.to == t && e.tokens == 0 && !is_done[e.from];
                    })) {
                    is_done[t] = true;
                    order->push_back(t);
                }
        return order->size() == n_;
    }

    const pti_stream_tasks &of_;
    const int64_t period_;
    const size_t n_;
    std::vector<Edge> edges_;
};

#endif
