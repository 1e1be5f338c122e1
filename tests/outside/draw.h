#ifndef OUTSIDE_DRAW_H
#define OUTSIDE_DRAW_H

#include "outside/dice.h"
#include "outside/model.h"
#include "outside/touch.h"

namespace outside {

/** What the command line fixes instead of leaving it to the seed. */
struct Fixed {
    std::string device; /* the text */
    std::string layout; /* "none": NULL */
    std::string policy; /* likewise */
    int n_members = 0;  /* of a queue */
    int n_ranks = 1;    /* that share one, each with as many members */
    int n_indices = 0;
    std::string type;      /* of all elements */
    std::string check;     /* POLYTILE_CHECK, "off" for none */
    bool is_queue = false; /* only queues, */
    bool is_run = false;   /* only runs */
    bool is_apart = false; /* arrays that are reduced have no other role */
    int percent_wrong = 3; /* launches that the contract refuses */
};

/** The program of a seed. */
Program draw_program(uint64_t seed, const Fixed &fixed);

/** The index domain of an array. */
Box draw_box(Dice &dice);

/** A subscript of a section that need not be written by one thread alone. */
Subscript draw_subscript(Dice &dice, const Range &range, const Box &domain);

/** Parameters, and by what means the kernel is declared and run. */
void draw_manner(Dice &dice, Kernel &kernel);

/** A kernel as of a time step, from one array of the shape to another. */
Kernel draw_stencil(Dice &dice, const Shape &shape);

/** Give the operands the numbers in which the declaration mentions them first. */
void number_operands(Kernel &kernel);

/** The index domain of arrays that hold more than a device, for time steps. */
Box draw_field(Dice &dice);

/** Parameters, for which parts of constants are replaced, and those that the body takes. */
void draw_parameters(Dice &dice, Kernel &kernel);

/** Put into the list what nothing else declares. */
void list_unnamed(Kernel &kernel);

/** The values of a launch; right ones, mostly; before: those of another, or none. */
std::vector<Number> draw_values(Dice &dice, const Kernel &kernel, const Box &domain,
                                const std::vector<Number> &before);

/** Now and then something that is wrong with the parameters of a call. */
void draw_mistake(Dice &dice, const Kernel &kernel, Step &step);

/** A kernel over arrays of some of the shapes; right, if the verdict says so. */
Kernel draw_kernel(Dice &dice, const std::vector<Shape> &shapes, const Fixed &fixed,
                   Verdict &verdict);

/** Devices, layout and checks, for launches that touch so many bytes. */
void draw_place(Dice &dice, const Fixed &fixed, const Verdict &most, Program &program);

Options draw_options(Dice &dice, const Program &program, const Kernel &kernel,
                     const Verdict &verdict);

/** What the program does with its arrays and kernels, on a queue and without one. */
void draw_queue_steps(Dice &dice, const std::vector<Verdict> &verdicts, Program &program);
void draw_time_steps(Dice &dice, const std::vector<Verdict> &verdicts, Program &program);
void draw_run_steps(Dice &dice, const std::vector<Verdict> &verdicts, Program &program);

/** A launch of one of the kernels on arrays that the program may use now. */
bool draw_launch(Dice &dice, const std::vector<Verdict> &verdicts, const Program &program,
                 const std::vector<bool> &is_usable, Launch &launch);

} // namespace outside

#endif
