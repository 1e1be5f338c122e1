#include "partition/memory/resident.h"

/* How much moves in sweeps over more data than the arena holds. */

namespace {

/** Sweeps over data twice the arena; how many times fewer bytes move than of all in each sweep. */
double TimesFewer(const Kernel &there, const Kernel &back, const std::vector<std::string> &domains,
                  int64_t threads_each, int64_t arena_bytes, int64_t sweep_bytes, bool together) {
    const int n_sweeps = 60;
    Resident resident(arena_bytes, domains);
    CutLaunch forth(there, domains), again(back, domains);
    forth.CutInPieces(threads_each);
    again.CutInPieces(threads_each);
    std::vector<pti_step> steps;
    for (int k = 0; k < n_sweeps; k++) {
        steps.push_back(k % 2 == 0 ? forth.Step() : again.Step());
        if (!together) {
            resident.Plan(steps);
            steps.clear();
        }
    }
    for (int a = 0; a < static_cast<int>(domains.size()); a++)
        steps.push_back(Flush(a));
    resident.Plan(steps);
    return static_cast<double>(n_sweeps * sweep_bytes) /
           static_cast<double>(resident.h2d_bytes + resident.d2h_bytes);
}

/** Planned together, sweeps need not bring back what the next one overwrites. Planned alone, what a
 * sweep of ping-pong read is as new as what it wrote, and is brought back before its place is
 * taken.
 */
TEST(Residency, SweepsOverTwiceTheArenaMoveHalf) {
    const int64_t piece = 20480, n = 64 * piece, bytes = n * 8;
    const std::vector<std::string> one = {std::to_string(n)};
    const std::vector<std::string> two = {std::to_string(n), std::to_string(n)};
    const std::string all = std::to_string(n), inner = "1:" + std::to_string(n - 2);
    const Kernel increase = {"increase[i]: inout x[i]", all.c_str(), {{"x", 0}}};
    const Kernel copy = {"copy[i]: in x[i]; out y[i]", all.c_str(), {{"x", 0}, {"y", 1}}};
    const char *blur = "blur[i]: in x[i-1:i+1]; out y[i]";
    const Kernel there = {blur, inner.c_str(), {{"x", 0}, {"y", 1}}};
    const Kernel back = {blur, inner.c_str(), {{"x", 1}, {"y", 0}}};
    for (bool together : {false, true}) {
        SCOPED_TRACE(together ? "in one window" : "each alone");
        EXPECT_GE(TimesFewer(increase, increase, one, piece / 2, bytes / 2, 2 * bytes, together),
                  1.9);
        const double copies = TimesFewer(copy, copy, two, piece, bytes, 2 * bytes, together);
        const double blurs = TimesFewer(there, back, two, piece, bytes, 2 * bytes, together);
        std::printf("copies move %.1f times less, ping-pong %.1f times\n", copies, blurs);
        EXPECT_GE(copies, together ? 8 : 1.9);
        EXPECT_GE(blurs, together ? 4 : 1.7);
    }
}

/** update A -> B and copy B -> A over the interior, n_sweeps of both: the bytes that move. */
int64_t BytesOfTwoKernels(int n_sweeps, int64_t n_rows, int64_t rows_each, int64_t arena_bytes,
                          bool together) {
    const std::string rows = std::to_string(n_rows), grid = rows + "x100";
    const std::vector<std::string> domains = {grid, grid};
    const std::string inner = "1:" + std::to_string(n_rows - 2) + ", 1:98";
    Resident resident(arena_bytes, domains, {false, true});
    CutLaunch update({"update[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                      inner.c_str(),
                      {{"A", 0}, {"B", 1}}},
                     domains);
    CutLaunch copy({"copy[i, j]: in B[i, j]; out A[i, j]", inner.c_str(), {{"A", 0}, {"B", 1}}},
                   domains);
    update.CutInPieces(rows_each);
    copy.CutInPieces(rows_each);
    std::vector<pti_step> steps;
    for (int k = 0; k < n_sweeps; k++) {
        steps.insert(steps.end(), {update.Step(), copy.Step()});
        if (!together) {
            resident.Plan(steps);
            steps.clear();
        }
    }
    steps.push_back(Flush(0));
    steps.push_back(Drop(1));
    resident.Plan(steps);
    return resident.h2d_bytes + resident.d2h_bytes;
}

/** Of two ping-pong arrays only one is worth keeping: the other is overwritten unread. */
TEST(Residency, UpdateAndCopyOverTwiceTheArenaMoveLittle) {
    const int64_t rows_each = 40, n_rows = 64 * rows_each, array_bytes = n_rows * 100 * 8;
    const int n_sweeps = 30;
    const double all_bytes = 4.0 * n_sweeps * static_cast<double>(array_bytes);
    double times_fewer[2];
    for (bool together : {false, true})
        times_fewer[together] =
            all_bytes / static_cast<double>(
                            BytesOfTwoKernels(n_sweeps, n_rows, rows_each, array_bytes, together));
    std::printf("move %.1f times less in windows of one sweep, %.1f times in one of all\n",
                times_fewer[false], times_fewer[true]);
    EXPECT_GE(times_fewer[false], 1.9);
    EXPECT_GE(times_fewer[true], 4);
}

/** Only the hull of what it writes is known: it is read whole, and comes to the host whole. */
/** As a product whose vector stays, and was made from an array that is never used again. */
TEST(Residency, WhatIsUsedOnceLeavesNoHolesBetweenWhatStays) {
    const int64_t rows_each = 32, n_rows = 64 * rows_each, n_sweeps = 6;
    const int64_t vector_bytes = n_rows * 8, matrix_bytes = 16 * vector_bytes;
    const int64_t part_bytes = matrix_bytes / 4, piece_bytes = 16 * rows_each * 8;
    const std::string rows = std::to_string(n_rows);
    const std::vector<std::string> domains = {rows, rows, std::to_string(16 * n_rows)};
    CutLaunch begin({"begin[i]: in b[i]; out r[i]", rows.c_str(), {{"b", 0}, {"r", 1}}}, domains);
    CutLaunch sweep(
        {"sweep[i]: in V[16*i:16*i+15]; inout r[i]", rows.c_str(), {{"V", 2}, {"r", 1}}}, domains);
    CutLaunch step({"step[i]: inout r[i]", rows.c_str(), {{"r", 1}}}, domains);
    for (CutLaunch *launch : {&begin, &sweep, &step})
        launch->CutInPieces(rows_each);
    Resident resident(vector_bytes + part_bytes, domains);
    std::vector<pti_step> steps = {begin.Step()};
    for (int64_t k = 0; k < n_sweeps; k++) {
        steps.push_back(sweep.Step());
        steps.push_back(step.Step());
    }
    resident.Plan(steps);
    EXPECT_EQ(resident.d2h_bytes, 0);
    EXPECT_LE(resident.h2d_bytes,
              vector_bytes + matrix_bytes +
                  (n_sweeps - 1) * (matrix_bytes - part_bytes + 3 * piece_bytes));
}

} // namespace
