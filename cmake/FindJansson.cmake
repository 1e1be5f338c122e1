# Finds jansson, the JSON library: Jansson_FOUND, Jansson_VERSION (when a .pc file tells it) and the
# target Jansson::Jansson. Looks in CMAKE_PREFIX_PATH, then where pkg-config points.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_JANSSON QUIET jansson)
endif()

find_path(JANSSON_INCLUDE_DIR jansson.h HINTS ${PC_JANSSON_INCLUDEDIR})
find_library(JANSSON_LIBRARY jansson HINTS ${PC_JANSSON_LIBDIR})
mark_as_advanced(JANSSON_INCLUDE_DIR JANSSON_LIBRARY)
set(Jansson_VERSION ${PC_JANSSON_VERSION})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Jansson REQUIRED_VARS JANSSON_LIBRARY JANSSON_INCLUDE_DIR VERSION_VAR Jansson_VERSION
  REASON_FAILURE_MESSAGE "install libjansson-dev, or set CMAKE_PREFIX_PATH to where jansson is")

if(Jansson_FOUND AND NOT TARGET Jansson::Jansson)
  add_library(Jansson::Jansson UNKNOWN IMPORTED)
  set_target_properties(
    Jansson::Jansson PROPERTIES IMPORTED_LOCATION ${JANSSON_LIBRARY}
                                INTERFACE_INCLUDE_DIRECTORIES ${JANSSON_INCLUDE_DIR})
endif()
