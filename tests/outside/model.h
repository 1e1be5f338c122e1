#ifndef OUTSIDE_MODEL_H
#define OUTSIDE_MODEL_H

/*
 * Random programs as data: what is drawn, printed as text for the library, run, interpreted, and made
 * smaller. Written from the grammar of docs/declarations.md and the public headers alone; nothing
 * here knows how the library works, or asks it what a kernel touches.
 */
#include <polytile/array.h>
#include <polytile/declaration.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace outside {

enum { MAX_INDICES = 4, MAX_PARAMETERS = 2, MAX_DIMS = 4 };

using Integers = std::vector<int64_t>;

/** All integers from lo to hi. */
struct Range {
    int64_t lo = 0;
    int64_t hi = -1;

    int64_t count() const { return hi < lo ? 0 : hi - lo + 1; }
    bool operator==(const Range &other) const { return lo == other.lo && hi == other.hi; }
};

/** A product of ranges: of threads, or of elements. */
using Box = std::vector<Range>;

/** constant + sum of index[k] * (index k) + sum of parameter[k] * (parameter k). */
struct Affine {
    int64_t constant = 0;
    std::array<int64_t, MAX_INDICES> index{};
    std::array<int64_t, MAX_PARAMETERS> parameter{};
};

/** One element (lo), or lo:hi:step with ends that may be left out. */
struct Subscript {
    bool is_single = true;
    bool from_first = false;
    bool to_last = false;
    Affine lo;
    Affine hi;
    int64_t step = 1;
};

/** A section of an operand with its role. */
struct Access {
    polytile_role role = POLYTILE_IN;
    bool is_fresh = false;
    bool is_relation = false; /* in text: in braces */
    int operand = 0;
    std::vector<Subscript> subscripts;
};

/** Of an array: its elements' type, and its index domain. */
struct Shape {
    polytile_scalar type = POLYTILE_F32;
    Box box;

    bool operator==(const Shape &other) const { return type == other.type && box == other.box; }
};

struct Kernel {
    std::string name;
    int n_indices = 1;
    Integers parameters; /* values; their names are p and q */
    std::vector<Access> accesses;
    std::vector<Shape> operands;
    Box domain; /* over which it was drawn */
    bool is_launcher = false;
    bool tells_shapes = false;
    bool is_built = false; /* by polytile_declaration_add(), not from text */
    uint64_t style = 0;    /* of its text */
};

struct Options {
    int64_t limit_bytes = 0;
    std::string strategy;
    int n_buffers = 0;
    Integers block;
    int64_t launches_per_pass = 0;
};

struct Launch {
    int kernel = 0;
    Box domain;
    std::vector<int> arrays;
    Options options;
    bool by_name = false;
};

enum class Act {
    run,      /* polytile_run() */
    plan_run, /* polytile_plan_create(), and times polytile_plan_run() */
    check,    /* polytile_check() */
    launch,
    wait,
    wait_for,
    pause,
    resume,
    attach,
    detach,
    change, /* the program writes an array's memory */
    look,   /* and compares it */
    create, /* an internal array */
    destroy,
    report
};

struct Step {
    Act act = Act::run;
    Launch launch;
    std::vector<int> arrays;
    int times = 1;
    uint64_t seed = 0;
};

struct Array {
    std::string name;
    Shape shape;
    bool is_internal = false;
    uint64_t seed = 0;
};

struct Device {
    int64_t memory_bytes = 0; /* 0: in place */
    int n_threads = 0;        /* 0: not said */
};

/** How the queue ends. */
enum class End { detach_all, detach_each, destroy, destroy_context };

struct Program {
    uint64_t seed = 0;
    bool has_queue = false;
    std::vector<Device> devices;
    std::string device;     /* the text, where the command line fixes it; else "" */
    bool is_shared = false; /* polytile_queue_create_shared() */
    std::string layout;     /* "": NULL */
    std::string grid;
    int64_t launches_per_exchange = 0;
    std::string check; /* POLYTILE_CHECK */
    std::vector<Array> arrays;
    std::vector<Kernel> kernels;
    std::vector<Step> steps;
    End end = End::detach_all;
};

const char *type_name(polytile_scalar type);
int64_t type_bytes(polytile_scalar type);
const char *role_name(polytile_role role);
bool is_reducing(polytile_role role);
bool is_reading(polytile_role role);
bool is_storing(polytile_role role);

int64_t count(const Box &box);
polytile_domain to_domain(const Box &box);
bool is_written(const Kernel &kernel, int operand);

/** Whether an expression that is to be seen has the parameter. */
bool is_named(const Kernel &kernel, size_t parameter);

/** The declaration's name of an operand. */
std::string operand_name(int operand);

/** Elements go by their position in the array's memory, in C order. */
int64_t position(const Box &box, const int64_t *index);

} // namespace outside

#endif
