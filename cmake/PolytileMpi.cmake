# Finds out whether queues over the ranks of an MPI communicator can be built: POLYTILE_HAS_MPI.
set(POLYTILE_HAS_MPI OFF)
if(POLYTILE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3.0 QUIET COMPONENTS C)
  set(POLYTILE_HAS_MPI ${MPI_C_FOUND})
endif()
