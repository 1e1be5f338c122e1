#ifndef OUTSIDE_MODEL_H
#define OUTSIDE_MODEL_H

/*
 * Random programs as data: what is drawn, printed as text for the library, run, interpreted, and
 * made smaller. Written from the grammar of docs/declarations.md and the public headers alone;
 * nothing here knows how the library works, or asks it what a kernel touches.
 */
#include "outside/number.h"

#include <polytile/array.h>
#include <polytile/declaration.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace outside {

enum { MAX_INDICES = 4, MAX_PARAMETERS = 16, MAX_DIMS = 4, NO_ARRAY = -1 };

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

struct LookUp;

/**
 * One element (lo), or lo:hi:step with ends that may be left out. An end may add an element of an
 * index array; one element that does so is as many as the index array's section has.
 */
struct Subscript {
    bool is_single = true;
    bool from_first = false;
    bool to_last = false;
    Affine lo;
    Affine hi;
    int64_t step = 1;
    polytile_edge edge = POLYTILE_EDGE_CLIP;
    std::vector<LookUp> lo_of; /* none or one */
    std::vector<LookUp> hi_of; /* likewise */
};

/** Elements of an index array, in a subscript of another one. */
struct LookUp {
    int operand = 0;
    std::vector<Subscript> subscripts;
};

/** A section of an operand with its role. */
struct Access {
    polytile_role role = POLYTILE_IN;
    bool is_fresh = false;
    bool is_relation = false; /* in text: in braces */
    int operand = 0;
    std::vector<Subscript> subscripts;
};

/** Of an array: its elements' type, its index domain, and of an index array what it may hold. */
struct Shape {
    polytile_type type = POLYTILE_F32;
    Box box;
    std::vector<Integers> versions; /* none: anything */
    bool is_scratch = false;        /* no array, and the box only says how many dimensions */

    bool operator==(const Shape &other) const {
        return type == other.type && box == other.box && versions == other.versions &&
               is_scratch == other.is_scratch;
    }
};

/** In which order, and how far apart, the elements of an array lie in the program's memory. */
struct Memory {
    std::vector<size_t>
        order; /* of dimensions, the one whose neighbours lie nearest last; none: C */
    std::vector<int64_t> gaps; /* elements of room after each dimension of the order */
};

struct Parameter {
    std::string name;
    polytile_type type = POLYTILE_I64;
    bool is_listed = false; /* in parentheses, or added; else subscripts declare it, or the call */
    bool is_steady = false; /* each launch gives the value with which the kernel was drawn */
    int64_t value = 0;      /* with which it was drawn, for subscripts */
};

/** What is wrong with a kernel that is created, and refused, before the right one. */
enum class Flaw {
    none,
    one_more, /* than 16 parameters */
    twice,
    as_index,
    as_array,
    real_in_subscript,
    body_type,
    body_name
};

struct Kernel {
    std::string name;
    int n_indices = 1;
    std::vector<Parameter> parameters;
    bool names_taken = false; /* polytile_implementation.parameters; else the body takes all */
    std::vector<int> taken;
    Flaw flaw = Flaw::none;
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

/** What is wrong with the parameters of a call that is made, and refused, before the right one. */
enum class Mistake {
    none,
    left_out,
    unknown, /* some more */
    renamed,
    twice,
    beyond,     /* a number that the type cannot hold */
    other_value /* than the plan's */
};

struct Launch {
    int kernel = 0;
    std::vector<Number> values; /* one a parameter */
    Mistake mistake = Mistake::none;
    size_t mistaken = 0; /* parameter */
    Number wrong;        /* that the mistaken one is given */
    uint64_t seed = 0;   /* of the order in which parameters are given, and so on */
    Box domain;
    std::vector<int> arrays; /* one an operand, NO_ARRAY for scratch */
    Options options;
    bool by_name = false;
};

enum class Act {
    run,      /* polytile_run() */
    plan_run, /* polytile_plan_create(), and times polytile_plan_run() */
    check,    /* polytile_check() */
    check_run,
    launch,
    wait,
    wait_for,
    pause,
    resume,
    test,
    notify,
    progress,
    cancel,
    discard,
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
    std::vector<std::vector<Number>> later; /* the values of the runs of a plan but the first */
    uint64_t seed = 0;
};

struct Array {
    std::string name;
    Shape shape;
    bool is_internal = false;
    uint64_t seed = 0;
    Memory memory;
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
    int n_ranks = 1;
    std::vector<Device> devices; /* of each rank */
    std::string device;          /* the text, where the command line fixes it; else "" */
    bool is_shared = false;      /* polytile_queue_create_shared() */
    std::string layout;          /* "": NULL */
    std::string policy;          /* likewise */
    std::string grid;
    int64_t launches_per_exchange = 0;
    std::string check; /* POLYTILE_CHECK */
    std::vector<Array> arrays;
    std::vector<Kernel> kernels;
    std::vector<Step> steps;
    End end = End::detach_all;
};

std::string type_name(polytile_type type);
int64_t type_bytes(polytile_type type);
const char *role_name(polytile_role role);
bool is_reducing(polytile_role role);
bool is_reading(polytile_role role);
bool is_storing(polytile_role role);

/** Whether elements of the type have that role. */
bool suits(polytile_role role, polytile_type type);

int64_t count(const Box &box);
polytile_domain to_domain(const Box &box);
bool is_written(const Kernel &kernel, int operand);
bool has_look_ups(const Kernel &kernel);

/** The devices of a queue, on all ranks. */
size_t n_members(const Program &program);
bool has_look_up(const Subscript &subscript);

/** Whether an expression that is to be seen has the parameter. */
bool is_named(const Kernel &kernel, size_t parameter);

/** The same of any expression, also of an end that is left out. */
bool is_mentioned(const Kernel &kernel, size_t parameter);

/** The parameters that the declaration has, in the order in which it first names them. */
std::vector<int> declared_parameters(const Kernel &kernel);

/** Those that the body gets, in its order. */
std::vector<int> taken_parameters(const Kernel &kernel);

bool takes(const Kernel &kernel, size_t parameter);

/** What an index array, given as an operand, holds at an index. */
using Look = std::function<int64_t(int, const int64_t *)>;

/** The values of a launch as a thread has them. */
struct Values {
    Integers subscripts; /* one a parameter; 0 if it is no integer */
    uint64_t mixed = 0;  /* of all that the body takes */
    Look look;           /* as in the first version of each index array, unless it is set */
};

/** raw: one a parameter, in its type; what the body does not take does not count. */
Values to_values(const Kernel &kernel, const std::vector<uint64_t> &raw);

/** Those with which the kernel was drawn, for subscripts alone. */
Values drawn_values(const Kernel &kernel);

/** Convert the numbers of a launch. */
Values launch_values(const Kernel &kernel, const std::vector<Number> &numbers);

/** The declaration's name of an operand. */
std::string operand_name(int operand);

/** Elements go by their position in the array's memory, in C order. */
int64_t position(const Box &box, const int64_t *index);

} // namespace outside

#endif
