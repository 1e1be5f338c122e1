/* What a program does without waiting: it asks, is called, cancels, and discards. */
#include "outside/runner.h"

#include <cmath>
#include <thread>

namespace outside {

namespace {

void is_done(polytile_status status, void *user) {
    Notice &notice = *static_cast<Notice *>(user);
    const std::lock_guard<std::mutex> guard(notice.mutex);
    notice.n_calls++;
    if (status == POLYTILE_OK)
        notice.difference = notice.memory->difference(*notice.array, notice.expected);
}

} // namespace

/** Ask until what uses an array, or everything, is done. */
void Runner::step_test(const Step &step) {
    const polytile_array *array =
        step.arrays.empty() ? nullptr : arrays[static_cast<size_t>(step.arrays[0])];
    const auto start = std::chrono::steady_clock::now();
    polytile_queue_resume(queue);
    while (!polytile_queue_test(queue, array)) {
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(50))
            return fail("test", "polytile_queue_test() stays false");
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    if (!array && polytile_queue_get_progress(queue).fraction != 1)
        fail("progress", "all is done, and the fraction is below 1");
}

void Runner::step_progress() {
    const polytile_progress progress = polytile_queue_get_progress(queue);
    if (!(progress.fraction >= 0 && progress.fraction <= 1) || !(progress.left_s >= 0))
        fail("progress", std::to_string(progress.fraction) + " is done, " +
                             std::to_string(progress.left_s) + " s are left");
}

void Runner::step_notify(const Step &step) {
    const auto k = static_cast<size_t>(step.arrays[0]);
    notices.emplace_back();
    Notice &notice = notices.back();
    notice.array = &program.arrays[k];
    notice.memory = hosts[k].get();
    notice.expected = expected[k];
    succeeds(polytile_queue_notify(queue, arrays[k], is_done, &notice), "polytile_queue_notify");
}

/** Each function was called once, and found what its array held then. */
void Runner::check_notices() {
    for (Notice &notice : notices) {
        const std::lock_guard<std::mutex> guard(notice.mutex);
        if (notice.n_calls != 1)
            fail("notify",
                 notice.array->name + ": called " + std::to_string(notice.n_calls) + " times");
        if (!notice.difference.empty())
            fail("notify", notice.difference);
    }
}

/** What a cancelled queue has left of an array is what its state says. */
void Runner::check_state(size_t k, polytile_array_state state, bool is_cancelled) {
    const std::string name = program.arrays[k].name;
    const bool is_lost = state == POLYTILE_ARRAY_INCOMPLETE;
    if (polytile_array_is_complete(arrays[k]) == is_lost)
        fail("state", name + ": its state and polytile_array_is_complete() differ");
    if (!is_cancelled && state != POLYTILE_ARRAY_COMPLETE && !is_doubtful[k])
        fail("state", name + ": nothing was cancelled, and it is not complete");
    if (state == POLYTILE_ARRAY_COMPLETE)
        compare(k);
    if (state != POLYTILE_ARRAY_UNTOUCHED)
        return;
    for (const Bytes &before : history[k])
        if (hosts[k]->difference(program.arrays[k], before).empty())
            return;
    fail("state", name + ": it is untouched, and as no launch left it");
}

/** Cancel all, look at what is left, and begin anew with other elements. */
void Runner::step_cancel(const Step &step) {
    std::vector<int> held, internal;
    polytile_queue_cancel(queue);
    const polytile_status status = polytile_queue_wait(queue);
    if (status != POLYTILE_OK && status != POLYTILE_CANCELLED)
        return judge_late(status, "polytile_queue_wait");
    for (size_t k = 0; k < arrays.size(); k++)
        if (is_held[k])
            (program.arrays[k].is_internal ? internal : held).push_back(static_cast<int>(k));
    const std::vector<polytile_array *> handles = list(held);
    if (!held.empty())
        succeeds(polytile_queue_detach(queue, static_cast<int>(held.size()), handles.data()),
                 "polytile_queue_detach");
    for (int k : held)
        check_state(static_cast<size_t>(k),
                    polytile_array_get_state(arrays[static_cast<size_t>(k)]),
                    status == POLYTILE_CANCELLED);
    for (const auto act : {Act::destroy, Act::create, Act::change, Act::attach}) {
        Step next;
        next.act = act;
        next.seed = step.seed;
        next.arrays = act == Act::destroy || act == Act::create ? internal : held;
        if (!next.arrays.empty() && !is_over)
            step_arrays(next);
    }
    is_doubtful.assign(arrays.size(), true);
}

} // namespace outside
