# Finds out whether the module for Fortran can be built: POLYTILE_HAS_FORTRAN. It needs a compiler with
# Fortran 2018's descriptors of arrays, whose header the C compiler has to find, as gcc's does gfortran's.
include(CheckIncludeFile)
include(CheckLanguage)
set(POLYTILE_HAS_FORTRAN OFF)
set(POLYTILE_FORTRAN_MODULES ${CMAKE_INSTALL_INCLUDEDIR}/polytile/fortran
    CACHE STRING "Where the files of the modules are installed, below the prefix")
mark_as_advanced(POLYTILE_FORTRAN_MODULES)

if(POLYTILE_FORTRAN)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    check_include_file(ISO_Fortran_binding.h POLYTILE_HAS_FORTRAN_BINDING)
    set(POLYTILE_HAS_FORTRAN ${POLYTILE_HAS_FORTRAN_BINDING})
  endif()
  if(POLYTILE_HAS_FORTRAN)
    message(STATUS "The module for Fortran is built with ${CMAKE_Fortran_COMPILER}")
  else()
    message(STATUS "No module for Fortran: it needs a Fortran compiler (gfortran), and its "
                   "ISO_Fortran_binding.h in the C compiler's reach")
  endif()
endif()
