#include "distribute/mpi/world.h"

/* Every rank runs the same tests. Rank 0 prints them; others print what fails. */

namespace {

class FailuresAlone : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult &part) override {
        if (part.failed())
            std::fprintf(stderr, "rank %d: %s:%d: %s\n", world_rank(),
                         part.file_name() == nullptr ? "" : part.file_name(), part.line_number(),
                         part.message());
    }
};

/** A rank that failed early does not meet the others in the middle of their next test. */
class MeetAfterEachTest : public testing::EmptyTestEventListener {
    void OnTestEnd(const testing::TestInfo &) override { world_most(0); }
};

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    testing::InitGoogleTest(&argc, argv);
    testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
    if (world_rank() != 0) {
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new FailuresAlone);
    }
    listeners.Append(new MeetAfterEachTest);
    const int n_failed = world_most(RUN_ALL_TESTS());
    MPI_Finalize();
    return n_failed != 0;
}
