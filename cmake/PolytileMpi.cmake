# Finds out whether queues over the ranks of an MPI communicator can be built: POLYTILE_HAS_MPI.
set(POLYTILE_HAS_MPI OFF)

# The launcher beside a compiler that is given, with the same ending: mpicc.openmpi, mpiexec.openmpi.
# That of another MPI would start every rank as a job of its own. FindMPI looks where there is none.
function(polytile_find_mpiexec_of compiler)
  find_program(POLYTILE_MPI_COMPILER ${compiler})
  get_filename_component(directory "${POLYTILE_MPI_COMPILER}" DIRECTORY)
  get_filename_component(name "${POLYTILE_MPI_COMPILER}" NAME)
  string(REGEX REPLACE "^mpi[A-Za-z0-9]*" mpiexec launcher "${name}")
  find_program(MPIEXEC_EXECUTABLE ${launcher} PATHS "${directory}" NO_DEFAULT_PATH)
  unset(POLYTILE_MPI_COMPILER CACHE)
endfunction()

if(POLYTILE_MPI)
  if(MPI_C_COMPILER AND NOT MPIEXEC_EXECUTABLE)
    polytile_find_mpiexec_of(${MPI_C_COMPILER})
  endif()
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3.0 QUIET COMPONENTS C)
  set(POLYTILE_HAS_MPI ${MPI_C_FOUND})
endif()
