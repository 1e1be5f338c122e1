# Finds isl, the integer set library: ISL_FOUND, ISL_VERSION (when a .pc file tells it) and the
# target ISL::ISL, and ISL_HAS_GMP. Looks in CMAKE_PREFIX_PATH, then where pkg-config points.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_ISL QUIET isl)
endif()

find_path(ISL_INCLUDE_DIR isl/ctx.h HINTS ${PC_ISL_INCLUDEDIR})
find_library(ISL_LIBRARY isl HINTS ${PC_ISL_LIBDIR})
mark_as_advanced(ISL_INCLUDE_DIR ISL_LIBRARY)
# The GMP of its integers. An isl may have integers of its own, and Debian's comes without GMP's header.
find_path(GMP_INCLUDE_DIR gmp.h)
find_library(GMP_LIBRARY gmp)
mark_as_advanced(GMP_INCLUDE_DIR GMP_LIBRARY)
if(GMP_INCLUDE_DIR AND GMP_LIBRARY AND EXISTS ${ISL_INCLUDE_DIR}/isl/val_gmp.h)
  set(ISL_HAS_GMP TRUE)
else()
  set(ISL_HAS_GMP FALSE)
endif()
set(ISL_VERSION ${PC_ISL_VERSION})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  ISL REQUIRED_VARS ISL_LIBRARY ISL_INCLUDE_DIR VERSION_VAR ISL_VERSION
  REASON_FAILURE_MESSAGE "install libisl-dev, or set CMAKE_PREFIX_PATH to where isl is")

if(ISL_FOUND AND NOT TARGET ISL::ISL)
  add_library(ISL::ISL UNKNOWN IMPORTED)
  set_target_properties(ISL::ISL PROPERTIES IMPORTED_LOCATION ${ISL_LIBRARY}
                                            INTERFACE_INCLUDE_DIRECTORIES ${ISL_INCLUDE_DIR})
  if(ISL_HAS_GMP)
    set_property(TARGET ISL::ISL PROPERTY INTERFACE_LINK_LIBRARIES ${GMP_LIBRARY})
    set_property(TARGET ISL::ISL APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES ${GMP_INCLUDE_DIR})
  endif()
endif()
