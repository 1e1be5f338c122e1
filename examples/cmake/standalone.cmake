# What polytile's own project tells the examples in its tree, for an installed copy of them.
option(POLYTILE_CUDA "Build for GPUs, too, where the CUDA Toolkit (12 or newer) is found" ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

find_package(OpenMP REQUIRED COMPONENTS C)
find_package(polytile REQUIRED OPTIONAL_COMPONENTS mpi)
set(POLYTILE_HAS_MPI ${polytile_mpi_FOUND})

# CUDA's runtime is linked as the library's is.
get_target_property(type polytile::polytile TYPE)
string(COMPARE EQUAL ${type} SHARED_LIBRARY BUILD_SHARED_LIBS)
include(PolytileCuda)
include(PolytileKernels)
include(PolytileWarnings)
