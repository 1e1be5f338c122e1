#ifndef POLYTILE_TESTS_GRAPH_STREAM_RANDOM_STREAM_H
#define POLYTILE_TESTS_GRAPH_STREAM_RANDOM_STREAM_H

#include "support/generic_kernel.h"
#include "support/random.h"

#include <polytile/stream.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

/* Random graphs whose actors mix all that they may read, and what plain loops make of them, frame
 * by frame. */

using Bytes = std::vector<unsigned char>;

class RandomStream {
  public:
    /** splits: most actors can be split over units, and many are. asks_ends: many bodies ask for
     * the ends of their arrays, and wrap and clamp what they read. */
    RandomStream(Random *random, const std::vector<std::string> &units, bool splits = false,
                 bool asks_ends = false);

    /** The graph as a text. */
    std::string text() const;
    /** Bind each actor, by a name of its own. symbols: CUDA's, one an actor; none: host
     * functions. */
    polytile_status bind(polytile_graph *graph, const std::vector<const void *> &symbols) const;
    /** What runs for an actor, without a symbol. */
    polytile_implementation implementation(size_t actor) const;
    size_t n_actors() const { return actors_.size(); }
    /** Whether some actor reads an older frame. */
    bool has_state() const;
    int n_split() const { return n_split_; }

    std::vector<int> inputs() const;
    std::vector<int> outputs() const;
    const std::vector<int64_t> &extents() const { return extents_; }
    int64_t element_bytes(int array) const { return arrays_[at(array)].element_bytes; }
    std::vector<int64_t> extents(int array) const { return arrays_[at(array)].extents; }
    std::string name(int array) const { return "x" + std::to_string(array); }
    size_t n_bytes(int array) const;

    /** Run a frame in plain loops. inputs: one an input. Returns what comes out. */
    std::vector<Bytes> run_plainly(const std::vector<Bytes> &inputs);

  private:
    struct Array {
        std::vector<int64_t> extents;
        int64_t element_bytes;
        int producer = -1;
        int delay = 0; /* on the producer's edge */
        bool is_read = false;
    };
    struct Operand {
        int in = -1, delay = 0, out = -1;
    };
    struct Actor {
        std::vector<Operand> operands;
        std::unique_ptr<GenericKernel> kernel;
        polytile_domain domain;
        int64_t repeat = 1;
        bool reduces = false;
        std::string unit;
        int64_t microseconds;
        int64_t sleeps_of_100; /* firings that take longer */
    };

    static size_t at(int n) { return static_cast<size_t>(n); }
    int add_array(std::vector<int64_t> extents, int64_t element_bytes);
    GenericSection around(size_t n_dims, int64_t reach) const;
    bool reach(const Operand &operand, std::vector<GenericAccess> *accesses, polytile_role role,
               bool is_fresh, std::vector<GenericSection> sections);
    int draw_source(int actor, int *delay, int like);
    void add_actor(int number);
    void finish_actor(Actor *actor, std::vector<GenericAccess> accesses);
    GenericSection draw_section(int64_t most);
    void add_repeated(int number, Actor *actor);
    void add_reduction(int number, Actor *actor);
    void add_mixture(int number, Actor *actor);
    bool reads_older(const Actor &actor, int array) const;
    void take_turns(int number);
    bool is_read_later(int array) const;
    void split(int number);
    Bytes before(int array, int delay) const;
    void run_actor(const Actor &actor);

    Random *random_;
    std::vector<int64_t> extents_;
    std::vector<std::string> units_;
    bool splits_, asks_ends_;
    int n_inputs_, n_split_ = 0;
    std::vector<Array> arrays_;
    std::vector<Actor> actors_;
    std::vector<std::deque<Bytes>> frames_; /* of each array, the newest first */
};

#endif
