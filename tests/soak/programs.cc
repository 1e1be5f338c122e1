#include "soak/programs.h"

#include "queue/program.h"
#include "queue/random_program.h"
#include "queue/small_program.h"

Launches run_chain(Place *place, Random *random) {
    RandomProgram program(random);
    const int64_t memory_bytes = program.some_memory();
    const RandomProgram::Told told =
        program.run(place->device(memory_bytes), memory_bytes, place->hooks());
    return {told.n_launched, {{POLYTILE_NO_FIT, told.n_refused}}};
}

Launches run_queue(Place *place, Random *random) {
    const TwinPlace hooks = place->hooks();
    std::vector<polytile_implementation> implementations;
    for (const ProgramKernel &kernel : program_kernels()) {
        implementations.push_back(*kernel.implementation);
        hooks.prepare(&implementations.back());
    }
    Program::Options options = Program::Options::draw(random, 60);
    options.implementations = &implementations;
    options.create_queue = hooks.create_queue;
    const int64_t memory_bytes =
        random->one_of({512, 1024, 2500, 6 << 10, 9 << 10, 14 << 10, 1 << 20});
    Program program(place->device(memory_bytes), options, random);
    program.run();
    return {program.n_launched(), {{POLYTILE_NO_FIT, program.n_refused()}}};
}

Launches run_small(Place *place, Random *random) {
    const int64_t memory_bytes = random->one_of({24 << 10, 32 << 10, 1 << 20});
    SmallProgram program(random);
    return {program.run(place->device(memory_bytes), place->hooks()), {}};
}
