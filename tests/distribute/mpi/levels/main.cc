#include <polytile/mpi.h>

#include <cstdio>
#include <cstring>

/* What a queue says where MPI is not as it needs it; each case needs a process of its own:
 * levels none | single | finalized. */

/* MPI leaks, the more where it is ended at once; the library's own leaks show in other tests. */
extern "C" const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

namespace {

bool is_refused(const char *text) {
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    if (polytile_context_create(&ctx) != POLYTILE_OK)
        return false;
    const polytile_status status =
        polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, "host", nullptr, &queue);
    const bool is_as_expected = status == POLYTILE_INVALID && queue == nullptr &&
                                std::strstr(polytile_last_error(ctx), text) != nullptr;
    std::printf("%s\n", polytile_last_error(ctx));
    polytile_context_destroy(ctx);
    return is_as_expected;
}

bool is_refused_with_level(int level) {
    int provided = -1;
    MPI_Init_thread(nullptr, nullptr, level, &provided);
    const bool refused = provided > MPI_THREAD_SINGLE ||
                         is_refused("initialized with MPI_THREAD_SINGLE");
    MPI_Finalize();
    return refused;
}

} // namespace

int main(int argc, char **argv) {
    const char *mode = argc == 2 ? argv[1] : "";
    if (std::strcmp(mode, "none") == 0)
        return !is_refused("MPI is not initialized");
    if (std::strcmp(mode, "single") == 0)
        return !is_refused_with_level(MPI_THREAD_SINGLE);
    if (std::strcmp(mode, "finalized") != 0)
        return 2;
    MPI_Init(nullptr, nullptr);
    MPI_Finalize();
    return !is_refused("MPI is finalized");
}
