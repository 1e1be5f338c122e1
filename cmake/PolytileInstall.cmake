# What `cmake --install` puts where: the library with its headers, a CMake package, a .pc file, the
# command and its man pages, the documentation, and the examples as a project that uses them.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/polytile)

install(TARGETS polytile polytile_compile EXPORT polytileTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/polytile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT polytileTargets NAMESPACE polytile:: DESTINATION ${package_dir})

# Targets of their own, so that only programs that ask for them have to find MPI.
if(POLYTILE_HAS_MPI)
  install(TARGETS polytile_mpi EXPORT polytileMpiTargets)
  install(EXPORT polytileMpiTargets NAMESPACE polytile:: DESTINATION ${package_dir})
endif()

if(TARGET polytile_fortran)
  install(TARGETS polytile_fortran EXPORT polytileFortranTargets)
  install(EXPORT polytileFortranTargets NAMESPACE polytile:: DESTINATION ${package_dir})
  install(DIRECTORY $<TARGET_PROPERTY:polytile_fortran,Fortran_MODULE_DIRECTORY>/
          DESTINATION ${POLYTILE_FORTRAN_MODULES})
endif()

# The options that link a library: VARIABLE FILE NAME. Other compilers than the one that built
# polytile may not know the place.
function(polytile_set_pc_options variable file name)
  get_filename_component(directory ${file} DIRECTORY)
  set(options -l${name})
  if(NOT directory IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    string(PREPEND options "-L${directory} ")
  endif()
  set(${variable} ${options} PARENT_SCOPE)
endfunction()

list(GET OpenMP_C_LIB_NAMES 0 POLYTILE_OPENMP_RUNTIME)
polytile_set_pc_options(POLYTILE_PC_OPENMP ${OpenMP_${POLYTILE_OPENMP_RUNTIME}_LIBRARY}
                        ${POLYTILE_OPENMP_RUNTIME})
# isl's own .pc file asks for GMP, whose libgmp.so may not be there, and need not be.
polytile_set_pc_options(POLYTILE_PC_ISL ${ISL_LIBRARY} isl)
if(ISL_HAS_GMP)
  polytile_set_pc_options(gmp_options ${GMP_LIBRARY} gmp)
  string(APPEND POLYTILE_PC_ISL " ${gmp_options}")
endif()
set(POLYTILE_PC_CUDA)
if(POLYTILE_HAS_CUDA AND NOT BUILD_SHARED_LIBS)
  set(POLYTILE_PC_CUDA "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/polytileConfig.cmake.in ${PROJECT_BINARY_DIR}/polytileConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/polytileConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/polytileConfig.cmake
              ${PROJECT_BINARY_DIR}/polytileConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindISL.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindJansson.cmake
        DESTINATION ${package_dir})

# A shared library brings what it needs along; pkg-config asks for private packages even there.
set(POLYTILE_PC_REQUIRES_PRIVATE)
set(POLYTILE_PC_LIBS_PRIVATE)
if(NOT BUILD_SHARED_LIBS)
  set(POLYTILE_PC_REQUIRES_PRIVATE jansson)
  set(POLYTILE_PC_LIBS_PRIVATE
      "${POLYTILE_PC_ISL} ${POLYTILE_PC_OPENMP} ${POLYTILE_PC_CUDA} -lpthread -lm")
endif()

# Relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH POLYTILE_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/polytile.pc.in ${PROJECT_BINARY_DIR}/polytile.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/polytile.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_file(${PROJECT_SOURCE_DIR}/cmake/polytile_compile.pc.in
               ${PROJECT_BINARY_DIR}/polytile_compile.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/polytile_compile.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(POLYTILE_HAS_MPI)
  list(JOIN MPI_C_LIBRARIES " " POLYTILE_PC_MPI_LIBRARIES)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE POLYTILE_PC_MPI_INCLUDES)
  list(JOIN POLYTILE_PC_MPI_INCLUDES " " POLYTILE_PC_MPI_INCLUDES)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/polytile_mpi.pc.in
                 ${PROJECT_BINARY_DIR}/polytile_mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/polytile_mpi.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(TARGET polytile_fortran)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/polytile_fortran.pc.in
                 ${PROJECT_BINARY_DIR}/polytile_fortran.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/polytile_fortran.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(TARGET polytile_command)
  install(TARGETS polytile_command)
  file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/polytile*.1)
  install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# In the places that they have in the sources, so that links between pages hold.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN man EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/PolytileCuda.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PolytileKernels.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PolytileWarnings.cmake
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples/cmake)
install(FILES ${PROJECT_SOURCE_DIR}/data/tuning.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/polytile)
