#ifndef POLYTILE_TESTS_REPORT_TRACE_FILE_H
#define POLYTILE_TESTS_REPORT_TRACE_FILE_H

#include <polytile/trace.h>

#include <cstdio>
#include <fstream>
#include <jansson.h>
#include <memory>
#include <string>
#include <unistd.h>

/** A trace that is written by hand; times in microseconds. */
class TraceFile {
  public:
    ~TraceFile() { std::remove(path.c_str()); }

    /** A device, or the program, with further members of its name's event: ", \"limit_bytes\":
     * 1". */
    TraceFile &device(int pid, const std::string &name, const std::string &figures = "") {
        return event("\"ph\": \"M\", \"name\": \"process_name\", \"pid\": " + std::to_string(pid) +
                     ", \"args\": {\"name\": \"polytile " + name + "\"" + figures + "}");
    }

    /** The begin of a run; args: "\"run\": 1, \"superblocks\": 2". */
    TraceFile &run(int pid, const std::string &args) {
        return event("\"ph\": \"B\", \"cat\": \"run\", \"name\": \"run k\", \"ts\": 0, \"pid\": " +
                     std::to_string(pid) + ", \"tid\": 0, \"args\": {" + args + "}");
    }

    TraceFile &slice(int pid, int tid, const std::string &work, const std::string &name,
                     double begin, double taken, int64_t bytes = 0) {
        return event("\"ph\": \"X\", \"cat\": \"" + work + "\", \"name\": \"" + work + " " + name +
                     "\", \"ts\": " + std::to_string(begin) +
                     ", \"dur\": " + std::to_string(taken) + ", \"pid\": " + std::to_string(pid) +
                     ", \"tid\": " + std::to_string(tid) +
                     ", \"args\": {\"bytes\": " + std::to_string(bytes) + "}");
    }

    TraceFile &event(const std::string &members) {
        events_ += (events_.empty() ? "" : ",\n") + ("{" + members + "}");
        return *this;
    }

    std::string text() const { return "{\"traceEvents\": [\n" + events_ + "\n]}\n"; }

    polytile_status read(polytile_context *ctx, polytile_trace **trace) const {
        return read(ctx, text(), trace);
    }

    /** Read any text as a trace. */
    polytile_status read(polytile_context *ctx, const std::string &text,
                         polytile_trace **trace) const {
        std::ofstream(path, std::ios::binary) << text;
        return polytile_trace_read(ctx, path.c_str(), trace);
    }

    const std::string path = "/tmp/polytile-report-" + std::to_string(getpid()) + ".json";

  private:
    std::string events_;
};

#endif
