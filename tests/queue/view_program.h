#ifndef POLYTILE_TESTS_QUEUE_VIEW_PROGRAM_H
#define POLYTILE_TESTS_QUEUE_VIEW_PROGRAM_H

#include "support/random.h"

#include <polytile/polytile.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

/* Random launches over views of arrays that lie in memory with and without gaps, compared with the
 * same bodies run over the same views of plain memory. */

/** What a thread touches along one dimension: factor * index + lo to factor * index + hi in
 * steps. */
struct ViewWindow {
    enum { whole = -1, fixed = -2 };

    int index; /* or one of those */
    int64_t factor, lo, hi, step;
};

/** A kernel that mixes what it reads of one view into what it writes of another. */
class ViewKernel {
  public:
    ViewKernel(std::vector<ViewWindow> read, std::vector<ViewWindow> written, int n_indices,
               bool takes_steps)
        : takes_steps_(takes_steps), read_(std::move(read)), written_(std::move(written)),
          n_indices_(n_indices), shapes_{
                                     {4, static_cast<int>(read_.size()), POLYTILE_UNSIGNED_NUMBER},
                                     {4, static_cast<int>(written_.size()),
                                      POLYTILE_UNSIGNED_NUMBER}} {}

    std::string declaration() const;
    /** It points to this kernel; the symbol of its CUDA kernel is the kernel itself. */
    polytile_implementation implementation() const;
    void run(const polytile_domain &threads, const polytile_view *views) const;

  private:
    std::string text_of(char array, const std::vector<ViewWindow> &windows) const;

    bool takes_steps_; /* or has no CUDA kernel, and gets boxes of steps 1 */
    std::vector<ViewWindow> read_, written_;
    int n_indices_;
    polytile_view_shape shapes_[2];
};

/** An array, or a view of one, over memory of the library's user and over plain memory. */
struct TwinArray {
    polytile_array *used;
    polytile_array *plain;
    int base;   /* the number of the array of which it is a view, directly or not; its own */
    bool joins; /* some view on the way joins dimensions */
};

/** One program. What it checks is told by GoogleTest. */
class ViewProgram {
  public:
    explicit ViewProgram(Random *random);
    ~ViewProgram();
    ViewProgram(const ViewProgram &) = delete;
    ViewProgram &operator=(const ViewProgram &) = delete;

    /** Launch through a queue to which the arrays are attached, or some views of which all others
     * are. add: tells of each kernel before it is created. Returns how many launches ran. */
    template <class Add> int run_in_queue(const std::string &device, Add add) {
        draw_launches(true, device.find("cuda") != std::string::npos);
        for (const Launch &launch : launches_)
            add(*launch.kernel);
        return queue_all(device);
    }
    /** Run each launch by itself. */
    template <class Add> int run_alone(const std::string &device, Add add) {
        draw_launches(false, device.find("cuda") != std::string::npos);
        for (const Launch &launch : launches_)
            add(*launch.kernel);
        return run_all(device);
    }

  private:
    struct Launch {
        const ViewKernel *kernel;
        polytile_domain threads;
        std::array<size_t, 2> views;
    };

    void add_base(Random *random);
    void add_view(Random *random);
    polytile_status make_view(size_t of, const polytile_domain &domain, bool selects);
    void draw_launches(bool in_queue, bool on_gpus);
    void draw_launch(bool in_queue, bool on_gpus);
    size_t draw_view(bool in_queue, int other_base);
    int queue_all(const std::string &device);
    int run_all(const std::string &device);
    void run_plainly(const Launch &launch) const;
    void compare() const;

    Random *random_;
    polytile_context *ctx_ = nullptr;
    std::deque<std::vector<unsigned char>> used_memory_, plain_memory_;
    std::vector<TwinArray> views_;
    std::vector<size_t> attached_;
    std::deque<ViewKernel> kernels_;
    std::vector<Launch> launches_;
};

#endif
