# Benchmarks of the parts, for the experiments and scripts/ (UNISONO_BUILD_BENCH). None is installed.

# What a small call adds to an exchange of two cache lines, and a call to a communicator that is made
# for it; plain MPI as well.
foreach(flavour IN LISTS UNISONO_LINKED_FLAVOURS)
  add_executable(unisono-added-time-${flavour} benchmarks/node/added_time.cpp)
  target_link_libraries(unisono-added-time-${flavour} PRIVATE mpi_${flavour})
  add_executable(unisono-churn-${flavour} benchmarks/calls/churn.cpp)
  target_link_libraries(unisono-churn-${flavour} PRIVATE mpi_${flavour})
endforeach()

# Programs of scripts/unasked.py, init_time.py and overlap_tests.py; plain MPI too.
foreach(flavour IN LISTS UNISONO_LINKED_FLAVOURS)
  add_executable(unisono-kinds-${flavour} benchmarks/calls/kinds.cpp)
  target_link_libraries(unisono-kinds-${flavour} PRIVATE mpi_${flavour})
  add_executable(unisono-start-${flavour} benchmarks/calls/start.cpp)
  target_link_libraries(unisono-start-${flavour} PRIVATE mpi_${flavour})
  add_executable(unisono-overlap-${flavour} benchmarks/calls/overlap.cpp)
  target_link_libraries(unisono-overlap-${flavour} PRIVATE mpi_${flavour})
  # Of experiments/pipelines/stream.py.
  add_executable(unisono-stream-${flavour} benchmarks/calls/stream.cpp)
  target_link_libraries(unisono-stream-${flavour} PRIVATE mpi_${flavour})
endforeach()

# Of experiments/compiled/; linked to Unisono, and with the bench's way to meet.
foreach(flavour IN LISTS UNISONO_LINKED_FLAVOURS)
  add_executable(unisono-matrices-${flavour} benchmarks/calls/matrices.cpp src/tools/bench/sideband.cpp
                                             src/tools/bench/meeting.cpp src/comm/share_segment.cpp
                                             src/mpi/rank_lost.cpp)
  unisono_in_batches(unisono-matrices-${flavour})
  unisono_hardly_optimised(unisono-matrices-${flavour})
  unisono_see(unisono-matrices-${flavour} PRIVATE mpi comm tools)
  target_link_libraries(unisono-matrices-${flavour} PRIVATE
                        unisono_schedule unisono_node unisono-${flavour} mpi_${flavour} CLI11::CLI11 fmt::fmt
                        nlohmann_json::nlohmann_json)
endforeach()

# For comparison, where there is NORM (Debian: libnorm-dev).
find_library(UNISONO_NORM norm)
find_path(UNISONO_NORM_HEADERS normApi.h)
if(UNISONO_NORM AND UNISONO_NORM_HEADERS)
  add_executable(unisono-norm experiments/compiled/norm.cpp)
  target_include_directories(unisono-norm SYSTEM PRIVATE ${UNISONO_NORM_HEADERS})
  target_link_libraries(unisono-norm PRIVATE ${UNISONO_NORM})
endif()

file(GLOB benchmark_sources CONFIGURE_DEPENDS benchmarks/*.cpp)
add_executable(unisono-benchmarks ${benchmark_sources})
target_link_libraries(unisono-benchmarks PRIVATE unisono_select unisono_node benchmark::benchmark
                                                 benchmark::benchmark_main)

add_executable(unisono-node-benchmark benchmarks/node/main.cpp)
target_link_libraries(unisono-node-benchmark PRIVATE unisono_node)

add_executable(unisono-torus-benchmark benchmarks/torus/main.cpp)
target_link_libraries(unisono-torus-benchmark PRIVATE unisono_patterns)
