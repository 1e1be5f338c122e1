# Finds isl, the integer set library: ISL_FOUND, ISL_VERSION (when a .pc file tells it) and the
# target ISL::ISL. Looks in CMAKE_PREFIX_PATH, then where pkg-config points.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_ISL QUIET isl)
endif()

find_path(ISL_INCLUDE_DIR isl/ctx.h HINTS ${PC_ISL_INCLUDEDIR})
find_library(ISL_LIBRARY isl HINTS ${PC_ISL_LIBDIR})
mark_as_advanced(ISL_INCLUDE_DIR ISL_LIBRARY)
set(ISL_VERSION ${PC_ISL_VERSION})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  ISL REQUIRED_VARS ISL_LIBRARY ISL_INCLUDE_DIR VERSION_VAR ISL_VERSION
  REASON_FAILURE_MESSAGE "install libisl-dev, or set CMAKE_PREFIX_PATH to where isl is")

if(ISL_FOUND AND NOT TARGET ISL::ISL)
  add_library(ISL::ISL UNKNOWN IMPORTED)
  set_target_properties(ISL::ISL PROPERTIES IMPORTED_LOCATION ${ISL_LIBRARY}
                                            INTERFACE_INCLUDE_DIRECTORIES ${ISL_INCLUDE_DIR})
  # A static isl does not bring its own integers along.
  if(ISL_LIBRARY MATCHES "\\.a$")
    find_library(GMP_LIBRARY gmp REQUIRED)
    mark_as_advanced(GMP_LIBRARY)
    set_property(TARGET ISL::ISL PROPERTY INTERFACE_LINK_LIBRARIES ${GMP_LIBRARY})
  endif()
endif()
