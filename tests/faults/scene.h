#ifndef POLYTILE_TESTS_FAULTS_SCENE_H
#define POLYTILE_TESTS_FAULTS_SCENE_H

#include "faults/inject.h"

#include <functional>
#include <polytile/polytile.h>
#include <string>
#include <vector>

/* Programs that use the library, to be repeated with each call of a kind failing in turn. */

/** An array's memory, which outlives every repetition. */
struct Field {
    std::string name;
    polytile_type type;
    std::vector<int64_t> extents;
    bool is_written;
    std::vector<unsigned char> memory, before, expected;
    std::vector<std::vector<unsigned char>> between; /* what a launch before the last leaves */
    polytile_array *array;                           /* of the last repetition */
};

/** What a scene may use; all of it is made without faults. */
class Stage {
  public:
    explicit Stage(std::string directory) : directory_(std::move(directory)) {}

    /** An array of small whole numbers. */
    void add(const char *name, polytile_type type, std::vector<int64_t> extents, bool is_written);
    /** An array of i32 that is only read, in which indices are looked up. */
    void add_indices(const char *name, std::vector<int64_t> extents,
                     const std::vector<int32_t> &indices);
    /** Wrap the memory of a field; its array is kept until the next repetition. */
    polytile_status wrap(polytile_context *ctx, size_t field, polytile_array **array);
    /** The same for all fields, in this repetition's context. */
    polytile_status wrap_all(polytile_array **arrays);
    /** A path in a directory that all repetitions share. */
    const char *path(const char *name);

    /** Whether a text is what the first repetition printed at its place, but for how long planning
     * took. */
    bool prints(const char *text);
    void begin_printing() { n_printed_ = 0; }

    /** Keep the text of an error that later calls would replace. */
    void say() { said = polytile_last_error(ctx); }

    /** For scenes that use CUDA: let the n-th call fail, 0: none; and which has failed, of how
     * many. */
    std::function<void(int64_t n)> let_cuda_fail;
    std::function<std::string(int64_t *n_calls)> stop_cuda;

    std::vector<Field> fields;
    std::string said;                /* "": what the context says */
    polytile_context *ctx = nullptr; /* of this repetition */

  private:
    std::string directory_;
    std::vector<std::pair<std::string, std::string>> paths_;
    std::vector<std::string> printed_;
    size_t n_printed_ = 0; /* by this repetition */
};

struct Scene {
    const char *name;
    /* What is made once. */
    std::function<void(Stage &)> prepare;
    /* All calls, up to the first that fails. */
    std::function<polytile_status(Stage &)> perform;
    polytile_status expected; /* of a repetition without faults */
    std::vector<std::pair<const char *, const char *>> environment;
};

/** Launches on a queue over all fields, which they attach; they detach them unless a call fails. */
using QueueLaunches = polytile_status (*)(Stage &, polytile_queue *, polytile_array **);

/** Perform launches on a new queue. After a failure arrays are detached one by one, so that the
 * fields are the program's again. */
std::function<polytile_status(Stage &)> on_queue(const char *device_text, QueueLaunches launch);

/** Detach those of several arrays that are there. */
void hand_back(polytile_queue *queue, polytile_array *const *arrays, int n_arrays);

std::vector<Scene> all_scenes();
std::vector<Scene> scenes_of_declarations();
std::vector<Scene> scenes_of_arrays();
std::vector<Scene> scenes_of_plans();
std::vector<Scene> scenes_of_queues();
std::vector<Scene> scenes_of_checks();
std::vector<Scene> scenes_of_parameters();
std::vector<Scene> scenes_of_graphs();
std::vector<Scene> scenes_of_scratch();
std::vector<Scene> scenes_of_messages();
std::vector<Scene> scenes_of_compiling();
std::vector<Scene> scenes_of_lookups();
/** None in a library without CUDA. */
std::vector<Scene> scenes_on_cuda();

/** Leave a scene when a call fails. */
#define SCENE_TRY(call)                                                                            \
    do {                                                                                           \
        const polytile_status scene_status = (call);                                               \
        if (scene_status != POLYTILE_OK)                                                           \
            return scene_status;                                                                   \
    } while (0)

#endif
