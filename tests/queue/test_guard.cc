#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "queue/guard.h"
}

namespace {

const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));

/** Mapped memory that is unmapped in the end, whatever its protection then is. */
class Mapping {
  public:
    Mapping(size_t n_bytes, int protection = PROT_READ | PROT_WRITE,
            int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1)
        : n_bytes_(n_bytes), at_(mmap(nullptr, n_bytes, protection, flags, file, 0)) {}
    ~Mapping() { munmap(at_, n_bytes_); }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    bool is_there() const { return at_ != MAP_FAILED; }
    char *at(size_t offset_bytes) const { return static_cast<char *>(at_) + offset_bytes; }

  private:
    size_t n_bytes_;
    void *at_;
};

char read_byte(const char *byte) {
    return *static_cast<const volatile char *>(byte);
}

void write_byte(char *byte, char value) {
    *static_cast<volatile char *>(byte) = value;
}

/* Sanitizers handle the signal themselves; here it ends the process, as without them. */
void read_and_exit(const char *byte) {
    std::signal(SIGSEGV, SIG_DFL);
    std::exit(read_byte(byte) == 0 ? 0 : 1);
}

void write_and_exit(char *byte) {
    std::signal(SIGSEGV, SIG_DFL);
    write_byte(byte, 1);
    std::exit(0);
}

void expect_closed(char *byte) {
    EXPECT_EXIT(read_and_exit(byte), testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(write_and_exit(byte), testing::KilledBySignal(SIGSEGV), "");
}

/** Whether a byte can be read, asked of the system without touching it. */
bool is_readable(const char *byte) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const bool readable = write(ends[1], byte, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

class Guard : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    void close(pti_guard &guard) {
        ASSERT_EQ(pti_guard_close(ctx_, &guard), POLYTILE_OK) << polytile_last_error(ctx_);
    }
    void open(pti_guard &guard) {
        ASSERT_EQ(pti_guard_open(ctx_, &guard), POLYTILE_OK) << polytile_last_error(ctx_);
    }
    void expect_error(const std::string &text) {
        const std::string error = polytile_last_error(ctx_);
        EXPECT_NE(error.find(text), std::string::npos) << error << "\nlacks " << text;
    }

    polytile_context *ctx_ = nullptr;
};

using GuardDeathTest = Guard;

TEST_F(GuardDeathTest, TouchingAClosedArrayEndsTheProgramThere) {
    Mapping memory(3 * page_bytes);
    pti_guard guard = pti_guard_of("A", memory.at(0), 3 * page_bytes, false);
    close(guard);
    for (size_t byte : {size_t{0}, page_bytes + 7, 3 * page_bytes - 1})
        expect_closed(memory.at(byte));
}

TEST_F(GuardDeathTest, AnArrayThatWasOpenedCanBeClosedAgain) {
    Mapping memory(page_bytes);
    pti_guard guard = pti_guard_of("A", memory.at(0), page_bytes, false);
    close(guard);
    open(guard);
    write_byte(memory.at(5), 17);
    close(guard);
    close(guard);
    expect_closed(memory.at(5));
    open(guard);
    open(guard);
    EXPECT_EQ(read_byte(memory.at(5)), 17);
}

TEST_F(GuardDeathTest, MemoryThatCannotBeWrittenStaysSo) {
    Mapping memory(2 * page_bytes, PROT_READ);
    pti_guard guard = pti_guard_of("A", memory.at(0), 2 * page_bytes, true);
    close(guard);
    expect_closed(memory.at(page_bytes));
    open(guard);
    EXPECT_EQ(read_byte(memory.at(page_bytes)), 0);
    EXPECT_EXIT(write_and_exit(memory.at(page_bytes)), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(Guard, ANewOneIsOpen) {
    Mapping memory(page_bytes);
    pti_guard guard = pti_guard_of("A", memory.at(0), page_bytes, false);
    write_byte(memory.at(0), 3);
    open(guard);
    EXPECT_EQ(read_byte(memory.at(0)), 3);
}

TEST_F(Guard, OpeningWhatWasNeverClosedGivesNoRights) {
    Mapping memory(page_bytes, PROT_NONE);
    pti_guard guard = pti_guard_of("A", memory.at(0), page_bytes, false);
    open(guard);
    EXPECT_FALSE(is_readable(memory.at(0)));
}

/* Of random stretches of a mapping exactly those bytes are closed whose whole page lies inside. */
TEST_F(Guard, ClosesExactlyTheWholePagesInside) {
    const size_t n_pages = 6;
    Mapping memory(n_pages * page_bytes);
    Random random(test_seed("Guard.ClosesExactlyTheWholePagesInside"));
    for (int64_t round = 0; round < scaled(500) && !HasFailure(); round++) {
        const int64_t all = static_cast<int64_t>(n_pages * page_bytes);
        const int64_t unit = random.one_of({1, 1, static_cast<int64_t>(page_bytes)});
        const int64_t begin = random.number(0, all / unit) * unit;
        const int64_t end = begin + random.number(0, (all - begin) / unit) * unit;
        pti_guard guard = pti_guard_of("A", memory.at(static_cast<size_t>(begin)),
                                       static_cast<size_t>(end - begin), false);
        close(guard);
        for (size_t page = 0; page < n_pages; page++) {
            const int64_t first = static_cast<int64_t>(page * page_bytes);
            const int64_t behind = first + static_cast<int64_t>(page_bytes);
            const bool is_inside = begin <= first && behind <= end;
            EXPECT_EQ(is_readable(memory.at(page * page_bytes)), !is_inside)
                << "bytes " << begin << " to " << end << ", page " << page;
            EXPECT_EQ(is_readable(memory.at((page + 1) * page_bytes - 1)), !is_inside);
        }
        open(guard);
        for (size_t page = 0; page < n_pages; page++)
            EXPECT_TRUE(is_readable(memory.at(page * page_bytes)));
    }
}

TEST_F(Guard, WhatLiesBesideAnArrayStaysUsable) {
    Mapping memory(4 * page_bytes);
    const size_t begin = page_bytes / 2, end = 3 * page_bytes + 8;
    pti_guard guard = pti_guard_of("A", memory.at(begin), end - begin, false);
    close(guard);
    write_byte(memory.at(begin - 1), 1);
    write_byte(memory.at(end), 2);
    EXPECT_EQ(read_byte(memory.at(begin - 1)), 1);
    EXPECT_EQ(read_byte(memory.at(end)), 2);
    EXPECT_FALSE(is_readable(memory.at(page_bytes)));
    open(guard);
}

TEST_F(Guard, ArraysWithoutAWholePageAreLeftAlone) {
    Mapping memory(2 * page_bytes);
    const size_t lengths[][2] = {
        {0, 0}, {0, 1}, {0, page_bytes - 1}, {1, 2 * page_bytes - 2}, {page_bytes - 1, page_bytes}};
    for (const auto &[begin, n_bytes] : lengths) {
        pti_guard guard = pti_guard_of("A", memory.at(begin), n_bytes, false);
        close(guard);
        for (size_t byte : {size_t{0}, page_bytes, 2 * page_bytes - 1})
            EXPECT_TRUE(is_readable(memory.at(byte))) << n_bytes << " bytes from " << begin;
        open(guard);
    }
}

TEST_F(Guard, HugeArraysTakeNoMemory) {
    const size_t n_bytes = size_t{1} << 40;
    Mapping memory(n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!memory.is_there())
        GTEST_SKIP() << "no address space for 1 TiB here";
    pti_guard guard = pti_guard_of("A", memory.at(3), n_bytes - 3, false);
    if (pti_guard_close(ctx_, &guard) != POLYTILE_OK)
        GTEST_SKIP() << polytile_last_error(ctx_);
    EXPECT_TRUE(is_readable(memory.at(3)));
    EXPECT_FALSE(is_readable(memory.at(n_bytes / 2)));
    EXPECT_FALSE(is_readable(memory.at(n_bytes - 1)));
    open(guard);
    write_byte(memory.at(n_bytes / 2), 1);
}

TEST_F(Guard, KeepsWhatTheMemoryOfMallocHolds) {
    std::vector<int> numbers(100000);
    for (size_t k = 0; k < numbers.size(); k++)
        numbers[k] = static_cast<int>(k);
    pti_guard guard = pti_guard_of("A", numbers.data(), numbers.size() * sizeof(int), false);
    close(guard);
    open(guard);
    for (size_t k = 0; k < numbers.size(); k++)
        ASSERT_EQ(numbers[k], static_cast<int>(k));
}

TEST_F(Guard, InstallsNoSignalHandler) {
    struct sigaction before = {}, after = {};
    Mapping memory(page_bytes);
    pti_guard guard = pti_guard_of("A", memory.at(0), page_bytes, false);
    for (int signal : {SIGSEGV, SIGBUS}) {
        sigaction(signal, nullptr, &before);
        close(guard);
        sigaction(signal, nullptr, &after);
        EXPECT_EQ(before.sa_sigaction, after.sa_sigaction);
        open(guard);
    }
}

/** Shared memory of a file that may only be read: the system does not make it writable. */
class ReadOnlyFile {
  public:
    ReadOnlyFile() : file_(std::fopen("/proc/self/exe", "rb")) {}
    ~ReadOnlyFile() { std::fclose(file_); }
    void map_over(char *page, int protection) const {
        ASSERT_EQ(mmap(page, page_bytes, protection, MAP_SHARED | MAP_FIXED, fileno(file_), 0),
                  page);
    }

  private:
    FILE *file_;
};

TEST_F(Guard, DoesNotCloseWhatItCouldNotOpen) {
    Mapping memory(page_bytes);
    ReadOnlyFile().map_over(memory.at(0), PROT_READ);
    pti_guard guard = pti_guard_of("A", memory.at(0), page_bytes, false);
    EXPECT_EQ(pti_guard_close(ctx_, &guard), POLYTILE_INVALID);
    expect_error("A: cannot protect its memory, the " + std::to_string(page_bytes) + " bytes from");
    expect_error("Permission denied; use memory of malloc()");
    EXPECT_EQ(read_byte(memory.at(1)), 'E');
    guard.is_read_only = true;
    close(guard);
    EXPECT_FALSE(is_readable(memory.at(1)));
    open(guard);
    EXPECT_EQ(read_byte(memory.at(1)), 'E');
}

TEST_F(Guard, ClosesNothingWhereOnePageCannotBeProtected) {
    Mapping memory(3 * page_bytes);
    ReadOnlyFile().map_over(memory.at(page_bytes), PROT_READ);
    write_byte(memory.at(0), 4);
    pti_guard guard = pti_guard_of("A", memory.at(0), 3 * page_bytes, false);
    EXPECT_EQ(pti_guard_close(ctx_, &guard), POLYTILE_INVALID);
    expect_error("POLYTILE_CHECK");
    EXPECT_FALSE(guard.is_closed);
    EXPECT_EQ(read_byte(memory.at(0)), 4);
    write_byte(memory.at(2 * page_bytes), 5);
}

/* Provoked by putting a file in the memory's place meanwhile. */
TEST_F(Guard, StaysClosedWhenTheSystemRefusesToOpen) {
    Mapping memory(page_bytes);
    pti_guard guard = pti_guard_of("A", memory.at(0), page_bytes, false);
    close(guard);
    ReadOnlyFile().map_over(memory.at(0), PROT_NONE);
    EXPECT_EQ(pti_guard_open(ctx_, &guard), POLYTILE_INVALID);
    expect_error("A: cannot open its memory");
    EXPECT_TRUE(guard.is_closed);
}

} // namespace
