# The command line's programs: those that the Python side starts, and people too (UNISONO_BUILD_TOOLS).

unisono_layer(network USES algorithms)
# False alarms in Boost's templates.
set_source_files_properties(src/network/limits.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                            COMPILE_OPTIONS -Wno-maybe-uninitialized)

unisono_shared_layers(base files wait node multicast schedule patterns topology algorithms model network select)

foreach(flavour IN LISTS UNISONO_LINKED_FLAVOURS)
  unisono_bench(${flavour})

  # What the cost model is fitted from; plain MPI, without Unisono, but for messages in a node's memory.
  add_executable(unisono-calibrate-${flavour} src/tools/calibrate/calibrate.cpp
                                              src/tools/calibrate/node_memory.cpp
                                              src/comm/share_segment.cpp
                                              src/mpi/rank_lost.cpp)
  unisono_see(unisono-calibrate-${flavour} PRIVATE mpi comm model tools)
  target_compile_definitions(unisono-calibrate-${flavour} PRIVATE UNISONO_NODE_MEMORY)
  target_link_libraries(unisono-calibrate-${flavour} PRIVATE unisono-layers mpi_${flavour})
endforeach()

unisono_simulator()

# What the lab puts under MPICH.
add_library(unisono-lab-yield SHARED src/tools/lab/yield.c)
target_link_libraries(unisono-lab-yield PRIVATE ${CMAKE_DL_LIBS})

# unisono_tool(name): build/bin/unisono-<name> of src/tools/<name>/*.cpp, without MPI.
function(unisono_tool name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tools/${name}/*.cpp)
  add_executable(unisono-${name} ${sources})
  unisono_in_batches(unisono-${name})
  unisono_hardly_optimised(unisono-${name})
  unisono_see(unisono-${name} PRIVATE tools)
  target_link_libraries(unisono-${name} PRIVATE unisono-layers CLI11::CLI11 fmt::fmt-header-only)
endfunction()

foreach(tool IN ITEMS schedule model network multicast)
  unisono_tool(${tool})
endforeach()
