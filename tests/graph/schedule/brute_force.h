#ifndef POLYTILE_TESTS_GRAPH_SCHEDULE_BRUTE_FORCE_H
#define POLYTILE_TESTS_GRAPH_SCHEDULE_BRUTE_FORCE_H

extern "C" {
#include "graph/schedule/periodic.h"
}

#include <algorithm>
#include <vector>

/* The fewest bytes of buffers, by trying all starts. */

inline int64_t bytes_of(const pti_stream_tasks &of, const pti_periodic &schedule) {
    int64_t bytes = 0;
    for (int b = 0; b < of.n_buffers; b++)
        bytes += of.buffer[b].frame_bytes * schedule.capacity[b];
    return bytes;
}

/** All starts at whole ticks, task by task: with whole numbers the best ones are among them. */
class BruteForce {
  public:
    BruteForce(const pti_stream_tasks &of, int64_t period, int64_t bound)
        : of_(of), period_(period), best_(bound), start_(static_cast<size_t>(of.n_tasks)) {
        for (int t = 0; t < of.n_tasks; t++)
            horizon_ += of.task[t].ticks;
        horizon_ += period * 2;
        place(0);
    }

    /** The fewest bytes below the bound; the bound: there are none. */
    int64_t best() const { return best_; }

  private:
    void place(int task) {
        if (task == of_.n_tasks) {
            best_ = std::min(best_, bytes(of_.n_tasks));
            return;
        }
        const int64_t first = task == 0 ? horizon_ : 0, last = task == 0 ? horizon_ : 2 * horizon_;
        for (int64_t at = first; at <= last; at++) {
            start_[static_cast<size_t>(task)] = at;
            if (is_right(task) && bytes(task + 1) < best_)
                place(task + 1);
        }
    }

    /** Whether a task stands as those before it allow. */
    bool is_right(int task) const {
        for (int b = 0; b < of_.n_buffers; b++)
            for (int r = of_.buffer[b].first_reader;
                 r < of_.buffer[b].first_reader + of_.buffer[b].n_readers; r++) {
                const int from = of_.buffer[b].producer, to = of_.reader[r].task;
                if (std::max(from, to) == task &&
                    at(to) + of_.reader[r].delay * period_ < at(from) + of_.task[from].ticks)
                    return false;
            }
        for (int other = 0; other < task; other++)
            if (of_.task[task].resource >= 0 &&
                of_.task[other].resource == of_.task[task].resource && overlap(other, task))
                return false;
        return of_.task[task].resource < 0 || of_.task[task].ticks <= period_;
    }

    bool overlap(int a, int b) const {
        const int64_t apart = ((at(b) - at(a)) % period_ + period_) % period_;
        const bool follows = apart >= of_.task[a].ticks && apart + of_.task[b].ticks <= period_;
        const bool meets = apart == 0 && (of_.task[a].ticks == 0 || of_.task[b].ticks == 0);
        return !follows && !meets;
    }

    int64_t at(int task) const { return start_[static_cast<size_t>(task)]; }

    /** Of the buffers whose producer is placed: by the readers that are. */
    int64_t bytes(int n_placed) const {
        int64_t sum = 0;
        for (int b = 0; b < of_.n_buffers; b++) {
            const pti_frame_buffer &held = of_.buffer[b];
            int64_t length = of_.task[held.producer].ticks;
            for (int r = held.first_reader; r < held.first_reader + held.n_readers; r++)
                if (held.producer < n_placed && of_.reader[r].task < n_placed)
                    length = std::max(length, at(of_.reader[r].task) - at(held.producer) +
                                                  of_.task[of_.reader[r].task].ticks +
                                                  of_.reader[r].delay * period_);
            sum += held.frame_bytes * std::max<int64_t>(1, (length + period_ - 1) / period_);
        }
        return sum;
    }

    const pti_stream_tasks &of_;
    int64_t period_, best_, horizon_ = 0;
    std::vector<int64_t> start_;
};

#endif
