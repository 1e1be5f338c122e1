#ifndef POLYTILE_TESTS_DISTRIBUTE_SHARED_PROGRAM_H
#define POLYTILE_TESTS_DISTRIBUTE_SHARED_PROGRAM_H

#include <memory>
#include <string>
#include <vector>

#include "distribute/members.h"
#include "support/random.h"

#include <polytile/polytile.h>

/** Launches over a few arrays that members share, from texts or drawn at random; declarations are
 * parsed without isl, so nothing looks for conflicts. */
class SharedProgram {
  public:
    SharedProgram() { polytile_context_create(&ctx_); }
    ~SharedProgram();
    SharedProgram(const SharedProgram &) = delete;
    SharedProgram &operator=(const SharedProgram &) = delete;

    polytile_context *context() { return ctx_; }
    std::string error() const { return polytile_last_error(ctx_); }

    /** An array dealt out as texts say; returns its number. grid: "" for a balanced one. */
    int add_array(const polytile_domain &domain, int n_members, const std::string &grid,
                  const std::string &distribution);

    /** A launch; false if it is refused. arrays: one an operand. is_exact: whether it is known
     * which elements of sections are touched. */
    bool add_launch(const std::string &declaration, const polytile_domain &threads,
                    const std::vector<int> &arrays, bool is_exact = true,
                    const std::vector<polytile_parameter> &parameters = {});

    /** A few arrays of 1 to 3 dimensions. */
    void draw_arrays(Random *random, int n_members);
    /** A kernel that writes one or two of the arrays without conflicts, with subscripts that name a
     * parameter here and there; may be refused often. */
    bool draw_launch(Random *random);
    /** A few kernels, of which several are launched again and again, as in time steps. */
    void draw_launches(Random *random);
    /** From here on no thread of a launch that updates is run by several members. */
    void let_run_once() { runs_once_ = true; }
    /** The same launch as one before. */
    void repeat_launch(size_t number) { launches_.push_back(launches_[number]); }

    const std::vector<pti_ownership> &ownerships() const { return ownerships_; }
    const std::vector<pti_shared_launch> &launches() const { return launches_; }
    /** The group of n launches from a first on. */
    pti_superstep superstep(size_t first, size_t n, int n_members) const;
    /** Arrays, and all launches so far. */
    std::string text() const;

  private:
    struct Launch {
        std::string text;
        std::vector<int> arrays;
        pti_instance *instance;
    };

    polytile_context *ctx_ = nullptr;
    std::vector<polytile_array *> arrays_;
    std::vector<pti_ownership> ownerships_;
    std::vector<std::string> placements_;
    std::vector<std::unique_ptr<Launch>> made_;
    std::vector<pti_shared_launch> launches_;
    bool runs_once_ = false;
};

#endif
