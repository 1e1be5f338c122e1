#ifndef POLYTILE_TESTS_SUPPORT_TERMINAL_H
#define POLYTILE_TESTS_SUPPORT_TERMINAL_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <poll.h>
#include <pty.h>
#include <string>
#include <unistd.h>

/* Programs whose stderr is a terminal, or looks like one. */

/** What arrives at one end of a channel whose other end takes the place of stderr. */
class Captured {
  public:
    explicit Captured(bool is_terminal, unsigned short n_columns = 0) {
        int ends[2] = {-1, -1};
        winsize size{};
        size.ws_col = n_columns;
        EXPECT_EQ(is_terminal ? openpty(&ends[0], &ends[1], nullptr, nullptr, &size) : pipe(ends),
                  0);
        reader_ = ends[0];
        saved_ = dup(STDERR_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
    }
    Captured(const Captured &) = delete;
    ~Captured() {
        dup2(saved_, STDERR_FILENO);
        close(saved_);
        close(reader_);
    }

    bool has_text() const {
        pollfd waiting{reader_, POLLIN, 0};
        return poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLIN) != 0;
    }

    std::string text() const {
        std::string text;
        char part[4096];
        while (has_text()) {
            const ssize_t n_bytes = read(reader_, part, sizeof part);
            if (n_bytes <= 0)
                break;
            text.append(part, static_cast<size_t>(n_bytes));
        }
        return text;
    }

  private:
    int reader_ = -1, saved_ = -1;
};

/** TERM for the length of a test; NULL: not set. */
class Terminal {
  public:
    explicit Terminal(const char *kind) {
        const char *before = getenv("TERM");
        had_ = before != nullptr;
        before_ = had_ ? before : "";
        set(kind);
    }
    Terminal(const Terminal &) = delete;
    ~Terminal() { set(had_ ? before_.c_str() : nullptr); }
    static void set(const char *kind) {
        if (kind == nullptr)
            unsetenv("TERM");
        else
            setenv("TERM", kind, 1);
    }

  private:
    bool had_;
    std::string before_;
};

#endif
