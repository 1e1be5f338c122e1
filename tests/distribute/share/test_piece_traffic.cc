#include <gtest/gtest.h>

#include "distribute/shared_program.h"

extern "C" {
#include "distribute/share/piece_traffic.h"
}

namespace {

enum { N_ROWS = 64, N_INNER = 16, N_COLUMNS = 32 };

/** C = A B, whose rows each read all of B. */
class PieceTraffic : public ::testing::Test {
  protected:
    PieceTraffic() {
        const int64_t extents[][2] = {{N_ROWS, N_INNER}, {N_INNER, N_COLUMNS}, {N_ROWS, N_COLUMNS}};
        for (const int64_t(&of)[2] : extents)
            program_.add_array(polytile_domain_from_extents(2, of), 2, "", "block");
        EXPECT_TRUE(program_.add_launch("product[i, j]: in A[i, :], B[:, j]; out C[i, j]",
                                        polytile_domain_from_extents(2, extents[2]), {0, 1, 2}));
        instance_ = program_.launches()[0].call.instance;
        element_bytes_ = static_cast<double>(instance_->operand[0].element_bytes);
    }

    double bytes_of(int64_t n_elements) const {
        return element_bytes_ * static_cast<double>(n_elements);
    }

    SharedProgram program_;
    const pti_instance *instance_;
    double element_bytes_;
};

TEST_F(PieceTraffic, IsWhatEachRowReadsAsAWhole) {
    const pti_piece_traffic of = pti_piece_traffic_of(instance_);
    EXPECT_EQ(of.n_rows, N_ROWS);
    EXPECT_EQ(of.fixed_bytes, bytes_of(N_INNER * N_COLUMNS));
    EXPECT_EQ(of.touched_bytes,
              bytes_of(N_ROWS * N_INNER + N_INNER * N_COLUMNS + N_ROWS * N_COLUMNS));
    EXPECT_EQ(of.written_bytes, bytes_of(N_ROWS * N_COLUMNS));
}

TEST_F(PieceTraffic, ComesAgainWhereHalfOfTheMemoryDoesNotHoldIt) {
    const pti_piece_traffic of = pti_piece_traffic_of(instance_);
    const auto fixed = static_cast<int64_t>(of.fixed_bytes);
    EXPECT_EQ(pti_piece_traffic_again(&of, 2 * fixed), 0);
    EXPECT_EQ(pti_piece_traffic_again(&of, 2 * fixed - 1), of.fixed_bytes);
}

TEST_F(PieceTraffic, IsWorthRowsThatMoveAsMuch) {
    const pti_piece_traffic of = pti_piece_traffic_of(instance_);
    const double row_bytes = bytes_of(N_INNER + N_COLUMNS);
    EXPECT_EQ(pti_piece_traffic_rows(&of, 0, 2), 1);
    EXPECT_EQ(pti_piece_traffic_rows(&of, 3 * row_bytes, 2), 3);
    EXPECT_EQ(pti_piece_traffic_rows(&of, 3 * row_bytes + 1, 2), 4);
    EXPECT_EQ(pti_piece_traffic_rows(&of, 1000 * row_bytes, 2), N_ROWS / 8);
    EXPECT_EQ(pti_piece_traffic_rows(&of, 1000 * row_bytes, 1000), 1);
    const pti_piece_traffic all_fixed = {N_ROWS, 100, 100, 0};
    EXPECT_EQ(pti_piece_traffic_rows(&all_fixed, 0, 2), 1);
    EXPECT_EQ(pti_piece_traffic_rows(&all_fixed, 100, 2), N_ROWS / 8);
}

} // namespace
