#ifndef POLYTILE_TESTS_LAUNCH_CUDA_TILE_PROGRAMS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_TILE_PROGRAMS_H

#include "launch/cuda/tile_kernels.h"
#include "launch/cuda/tile_kernels_periodic.h"
#include "support/environment.h"
#include "support/fake_cuda.h"
#include "support/random.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <string>
#include <vector>

/* Programs of a queue whose arrays change roles in turn. They run on the host, on GPUs that are not
 * there, which run several launches as one, and on GPUs. */

namespace tile_programs {

struct TileKernel {
    const char *declaration;
    const polytile_implementation *host;
    int64_t before[2], after[2]; /* what a thread reads around its own element */
    bool has_ends; /* threads may read beyond the array's ends along the first index */
    bool has_parameters;
    /** What each operand is: B is written, A is what the launch before wrote, C the oldest and D
     * the second oldest array; others are fixed. */
    const char *roles = "AB";
    bool is_round[2] = {false, false}; /* periodic along each dimension */

    int n_turning() const {
        const std::string all = roles;
        return static_cast<int>(std::count_if(all.begin(), all.end(), is_turning));
    }
    static bool is_turning(char role) { return role >= 'A' && role <= 'D'; }
};

extern const TileKernel tile_kernels[];
extern const int n_kernels;

/** Places in tile_kernels: a kernel that reads another array, the first periodic one, the one that
 * is periodic and keeps two arrays alive, and the first whose arrays change roles in turn. */
constexpr int a_field = 5, first_round = 7, round_leap = 10, first_wave = 11;

/** The steps of one program: how far the arrays have gone round, and whether somebody waits after
 * them; and whether the second array is the queue's own, which is dropped after them. */
struct Turns {
    const TileKernel *kernel;
    polytile_domain threads;
    int64_t extents[2];
    struct Turn {
        int n_turned;
        bool waits;
    };
    std::vector<Turn> turns;
    bool is_dropped;
};

using Bytes = std::vector<unsigned char>;
using Fields = std::vector<Bytes>; /* the arrays that change roles: A, B and so on at first */

polytile_type type_of(const TileKernel &kernel);

/** Run all steps on a device; the arrays hold what they leave. */
void run(const Turns &of, const char *device, const polytile_implementation &implementation,
         int64_t launches_per_pass, Fields &memory);

/** Arrays of a program with elements by chance. */
Fields fill(const Turns &of, Random *random);

/** A program of any kernel. */
Turns draw(Random *random);

/** A body that the runtime without a GPU knows by addresses of its own. */
polytile_implementation fake_of(const polytile_implementation &host);

void expect_equal(const Fields &got, const Fields &wanted);

std::string describe(const Turns &of);

/** Run a program on GPUs that are not there, of the typical link or another one. Returns how many
 * launches ran in tiles. */
int64_t run_on_fake(const Turns &of, uint64_t seed, size_t shared_bytes, int64_t per_pass,
                    Fields &memory, const std::string &device = "cuda:0",
                    bool has_near_kernel = true, bool goes_round = true,
                    const polytile_link *link = nullptr);

/** Some launches of the first kernel, without a wait. */
Turns alternate(int n);

/** A device that the arrays of a program do not fit: of two of them it holds so much. */
std::string small_device(const Turns &of, int64_t percent);

/** Fields of so many times as many rows: of few each member computes too much of its
 * neighbours'. */
Turns make_taller(Turns of, int64_t times);

/** Every plan is proved. */
class CudaTiles : public testing::Test {
  protected:
    void SetUp() override { environment_.set("POLYTILE_CHECK", "plan"); }
    Environment environment_;
};

} // namespace tile_programs

#endif
