# hwloc tells which ranks of a node are under one cache; without it they are not told apart. It is
# linked statically and hidden, so that it cannot clash with the MPI library's own, and without its
# ways out: plugins, which would load other libraries into the program, and udev.
find_path(UNISONO_HWLOC_INCLUDE hwloc.h)
find_library(UNISONO_HWLOC_ARCHIVE libhwloc.a)
if(NOT UNISONO_HWLOC_INCLUDE OR NOT UNISONO_HWLOC_ARCHIVE OR NOT CMAKE_OBJCOPY)
  message(STATUS "No libhwloc.a (libhwloc-dev): ranks that share a cache are not told from others")
  return()
endif()

set(ways_out ${CMAKE_SOURCE_DIR}/cmake/hwloc/ways_out)
set(cut_archive ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libunisono-hwloc.a)
add_custom_command(
  OUTPUT ${cut_archive}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}
  COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${ways_out}.txt ${UNISONO_HWLOC_ARCHIVE} ${cut_archive}
  DEPENDS ${ways_out}.txt ${UNISONO_HWLOC_ARCHIVE}
  COMMENT "Cutting the ways out of libhwloc.a")
add_custom_target(unisono_hwloc_archive DEPENDS ${cut_archive})

add_library(unisono_hwloc_ways_out STATIC ${ways_out}.c)
add_library(unisono_hwloc STATIC IMPORTED GLOBAL)
add_dependencies(unisono_hwloc unisono_hwloc_archive)
set_target_properties(unisono_hwloc PROPERTIES IMPORTED_LOCATION ${cut_archive})
target_include_directories(unisono_hwloc SYSTEM INTERFACE ${UNISONO_HWLOC_INCLUDE})
target_link_libraries(unisono_hwloc INTERFACE unisono_hwloc_ways_out m)
# Else a program would export to the MPI library what both have.
target_link_options(unisono_hwloc INTERFACE -Wl,--exclude-libs,libunisono-hwloc.a)

target_link_libraries(unisono_node PRIVATE unisono_hwloc)
target_compile_definitions(unisono_node PUBLIC UNISONO_HWLOC)
