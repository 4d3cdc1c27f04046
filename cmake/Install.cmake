# What `cmake --install` puts into a prefix, which may be moved afterwards: everything in it finds the rest
# from where it lies itself. The wheel carries the same tree, but for the component python (setup.py).
#
#   runtime      bin/unisono-exec, lib/libunisono*.so: all that programs run under; manual pages, module files
#   tools        bin/unisono-bench-<flavour> and its like
#   python       bin/unisono, lib/unisono/python and lib/unisono/packages
#   development  include/, lib/cmake, lib/pkgconfig: to link in place of preloading
#   simulator    lib/unisono/sim, only if asked for: it is linked to this system's SimGrid
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Of libraries, in the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
set(made ${CMAKE_BINARY_DIR}/packaging)

set(libraries unisono unisono-join unisono-bookend)
foreach(flavour IN LISTS UNISONO_FLAVOURS)
  list(APPEND libraries unisono-${flavour})
  set_target_properties(unisono-${flavour} PROPERTIES EXPORT_NAME ${flavour})
endforeach()
set(tools)
foreach(name IN ITEMS schedule model network multicast)
  list(APPEND tools unisono-${name})
endforeach()
foreach(flavour IN LISTS UNISONO_LINKED_FLAVOURS)
  list(APPEND tools unisono-bench-${flavour} unisono-calibrate-${flavour})
endforeach()

# From bin/ to lib/. An MPI library in the same prefix (a virtual environment) is found there as well; any
# other is found as its own programs find it, or named by the command line (unisono.core.places).
file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
target_compile_definitions(unisono-exec PRIVATE UNISONO_LIBRARIES="${to_libraries}")

install(TARGETS ${libraries} EXPORT UnisonoTargets COMPONENT runtime
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS unisono-exec COMPONENT runtime)
install(TARGETS ${UNISONO_BRIDGES} COMPONENT runtime LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES LICENSE COMPONENT runtime DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/man/ COMPONENT runtime DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")

if(UNISONO_BUILD_TOOLS)
  set_target_properties(${tools} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS ${tools} COMPONENT tools)
  install(TARGETS unisono-layers unisono-lab-yield COMPONENT tools LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET unisono-sim)
  install(TARGETS unisono-sim COMPONENT simulator EXCLUDE_FROM_ALL LIBRARY DESTINATION lib/unisono/sim)
  install(TARGETS unisono-smpi COMPONENT simulator EXCLUDE_FROM_ALL ARCHIVE DESTINATION lib/unisono/sim)
  install(FILES ${UNISONO_SODIUM} COMPONENT simulator EXCLUDE_FROM_ALL DESTINATION lib/unisono/sim)
endif()

# --- the command line -----------------------------------------------------------------------------
# Put together when it is installed, by the Python that has the packages, in a folder of its own, since two
# installations may run beside each other. A variable of the name of a component would
# be taken for its value where CMake compares components (CMP0054).
set(UNISONO_BUNDLE light CACHE STRING "Python packages that a prefix brings along: light, all (numpy, scipy, matplotlib too), none")
find_program(UNISONO_SYSTEM_PYTHON python3)
install(CODE "set(interpreter \"${UNISONO_PYTHON}\")
  if(NOT EXISTS \"\${interpreter}\")
    set(interpreter \"${UNISONO_SYSTEM_PYTHON}\")
  endif()
  string(RANDOM LENGTH 12 unique)
  set(folder \"${made}/python-\${unique}\")
  execute_process(COMMAND \"\${interpreter}\" \"${packaging}/bundle.py\" \"\${folder}/unisono\" ${UNISONO_BUNDLE} COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib\" TYPE DIRECTORY USE_SOURCE_PERMISSIONS FILES \"\${folder}/unisono\")
  file(REMOVE_RECURSE \"\${folder}\")"
        COMPONENT python)
install(PROGRAMS ${packaging}/unisono COMPONENT python DESTINATION ${CMAKE_INSTALL_BINDIR})

# --- for other builds, and modules ----------------------------------------------------------------
install(FILES include/unisono/unisono.h COMPONENT development
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/unisono)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Unisono)
install(EXPORT UnisonoTargets NAMESPACE Unisono:: COMPONENT development DESTINATION ${package})
configure_package_config_file(${packaging}/UnisonoConfig.cmake.in ${made}/UnisonoConfig.cmake
                              INSTALL_DESTINATION ${package}
                              PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${made}/UnisonoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${made}/UnisonoConfig.cmake ${made}/UnisonoConfigVersion.cmake COMPONENT development
        DESTINATION ${package})

file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(flavour IN LISTS UNISONO_FLAVOURS)
  configure_file(${packaging}/unisono.pc.in ${made}/unisono-${flavour}.pc @ONLY)
  install(FILES ${made}/unisono-${flavour}.pc COMPONENT development
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

foreach(kind IN ITEMS "" .lua)  # the first is Tcl's, for Environment Modules and Lmod; Lmod prefers the second
  configure_file(${packaging}/module${kind}.in ${made}/${PROJECT_VERSION}${kind} @ONLY)
  install(FILES ${made}/${PROJECT_VERSION}${kind} COMPONENT runtime DESTINATION share/modulefiles/unisono)
endforeach()

# --- a Debian package, and the way back -----------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME unisono)
set(CPACK_PACKAGE_CONTACT "The Unisono project")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The MPI library need not be the system's. What the package does not bundle is what Debian has: bin/unisono says which is missing.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3 (>= 3.11), python3-numpy, python3-scipy, python3-matplotlib")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin | mpich")
include(CPack)

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D MANIFESTS=${CMAKE_BINARY_DIR} -P
                                    ${CMAKE_CURRENT_LIST_DIR}/Uninstall.cmake)
