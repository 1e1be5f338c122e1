#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_FAULTS_PROGRAM_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_FAULTS_PROGRAM_H

#include "distribute/mpi/world.h"

#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/** What ranks do together, while something fails; a step that fails on one is the last on all. */
class Program {
  public:
    explicit Program(std::string path) : path_(std::move(path)) {}

    /** Reads --policy=P, if it is the last argument: that of all queues. */
    static void read_policy(int *argc, char **argv);

    /** How many steps there are without the one that opens the queue, and with it. */
    enum { N_BEFORE_QUEUE = 2, N_WITH_QUEUE };

    /** The last status that was no success here; let_fail() is called after the first n_before
     * steps. */
    polytile_status run(int n_before, const std::function<void()> &let_fail);
    /** After a failure, when nothing fails any more: use the queue on, if all ranks have it and the
     * arrays. Returns the last status that was no success. */
    polytile_status go_on();
    bool went_on() const { return went_on_; }
    void end();

    bool is_right() const;
    const std::string &said() const { return said_; }
    int n_steps() const { return n_steps_; }

    /** By calls that never fail. */
    static int most_of_all(int value);

  private:
    polytile_status make_context();
    polytile_status make_kernels();
    polytile_status open();
    polytile_status make_array();
    polytile_status make_other();
    polytile_status fill();
    polytile_status get();
    polytile_status put();
    polytile_status wrap();
    polytile_status attach();
    polytile_status launch();
    polytile_status reduce();
    polytile_status launch_spread();
    polytile_status launch_back();
    polytile_status turn();
    polytile_status wait();
    polytile_status gather();
    polytile_status write();
    polytile_status read();
    polytile_status scatter();
    polytile_status detach();
    void note(polytile_status status);

    static constexpr int64_t n = 2048, n_slots = 5, n_columns = 2000;
    static const char *policy;

    const int world_rank_ = world_rank();
    std::string path_, said_;
    std::vector<float> x_ = std::vector<float>(n, 1), y_ = std::vector<float>(n, 0), sum_ = {7, 7};
    std::vector<int32_t> turned_ = std::vector<int32_t>(n_slots * n_columns);
    std::vector<float> all_ = std::vector<float>(n, 0);
    polytile_domain own_ = {};
    std::vector<float> own_values_;
    bool has_all_ = false, has_own_ = false, is_attached_ = false, went_on_ = false;
    int n_steps_ = 0;
    polytile_status status_ = POLYTILE_OK;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *smooth_ = nullptr, *add_up_ = nullptr, *turn_ = nullptr;
    polytile_array *u_ = nullptr, *v_ = nullptr, *arrays_[5] = {};
};

#endif
