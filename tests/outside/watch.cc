#include "outside/watch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace outside {

namespace {

/** Writes outcomes as lines: the fields of one program, and an empty line. */
void write_outcome(FILE *file, const Outcome &outcome) {
    std::string failure = outcome.failure;
    for (char &c : failure)
        c = c == '\n' ? '\v' : c;
    fprintf(file, "a%d\n", outcome.n_accepted);
    if (!failure.empty())
        fprintf(file, "f%s\n", failure.c_str());
    for (const std::string &refusal : outcome.refusals)
        fprintf(file, "r%s\n", refusal.c_str());
    fprintf(file, "\n");
    fflush(file);
}

[[noreturn]] void run_child(const Batch &batch, int to) {
    FILE *file = fdopen(to, "w");
    for (uint64_t k = 0; file && k < batch.n; k++)
        write_outcome(file, batch.run(batch.first + k));
    fflush(nullptr);
    _exit(file ? 0 : 1);
}

/** Collects what a child writes. */
class Reader {
  public:
    explicit Reader(int from) : fd(from) {}

    /** Whether a whole outcome is there; false also at the end, and when nothing comes. */
    bool read(int seconds, Outcome &outcome);
    bool is_silent = false;

  private:
    int fd;
    std::string buffer;

    bool parse(Outcome &outcome);
};

bool Reader::parse(Outcome &outcome) {
    const size_t end = buffer.find("\n\n");
    if (end == std::string::npos)
        return false;
    outcome = Outcome();
    for (size_t at = 0; at < end;) {
        const size_t next = buffer.find('\n', at);
        std::string line = buffer.substr(at + 1, next - at - 1);
        for (char &c : line)
            c = c == '\v' ? '\n' : c;
        if (buffer[at] == 'a')
            outcome.n_accepted = atoi(line.c_str());
        else if (buffer[at] == 'f')
            outcome.failure = line;
        else
            outcome.refusals.push_back(line);
        at = next + 1;
    }
    buffer.erase(0, end + 2);
    return true;
}

bool Reader::read(int seconds, Outcome &outcome) {
    while (!parse(outcome)) {
        char bytes[4096];
        pollfd waiting = {fd, POLLIN, 0};
        const int ready = poll(&waiting, 1, seconds * 1000);
        is_silent = ready == 0;
        const ssize_t n = ready > 0 ? ::read(fd, bytes, sizeof bytes) : 0;
        if (n <= 0)
            return false;
        buffer.append(bytes, static_cast<size_t>(n));
    }
    return true;
}

Outcome ended_early(pid_t child, bool is_silent) {
    Outcome outcome;
    int status = 0;
    if (is_silent)
        kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (is_silent)
        outcome.failure = "hang: killed";
    else if (WIFSIGNALED(status))
        outcome.failure = std::string("signal: ") + strsignal(WTERMSIG(status));
    else
        outcome.failure = "signal: exit " + std::to_string(WEXITSTATUS(status));
    return outcome;
}

/** Run a batch in one process, up to the program that ends it; how many are done. */
uint64_t watch_child(const Batch &batch,
                     const std::function<void(uint64_t, const Outcome &)> &tell) {
    int ends[2];
    uint64_t done = 0;
    Outcome outcome;
    fflush(nullptr);
    if (pipe(ends))
        return batch.n;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(batch, ends[1]);
    }
    close(ends[1]);
    Reader reader(ends[0]);
    while (done < batch.n && reader.read(batch.seconds, outcome))
        tell(batch.first + done++, outcome);
    if (done < batch.n)
        tell(batch.first + done++, ended_early(child, reader.is_silent));
    else
        waitpid(child, nullptr, 0);
    close(ends[0]);
    return done;
}

} // namespace

void watch(const Batch &batch, const std::function<void(uint64_t, const Outcome &)> &tell) {
    enum { PROGRAMS_PER_PROCESS = 200 };
    for (uint64_t done = 0; done < batch.n;) {
        Batch part = batch;
        part.first += done;
        part.n = std::min<uint64_t>(batch.n - done, PROGRAMS_PER_PROCESS);
        done += watch_child(part, tell);
    }
}

} // namespace outside
