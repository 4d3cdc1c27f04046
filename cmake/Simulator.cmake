# build/sim: the runtime compiled for SimGrid's SMPI, where SimGrid is installed. Programs for SMPI
# are shared objects that smpirun loads once per rank, so that every rank has its own globals; what
# smpicxx does is written out here, because its compiler flags are not ours.
find_path(UNISONO_SIMGRID_INCLUDE smpi/smpi.h)
find_library(UNISONO_SIMGRID_LIBRARY simgrid)
find_program(UNISONO_SMPIRUN smpirun)

# unisono_simulator(): sim/libunisono-smpi.a, to be linked into programs, and sim/unisono-sim.
function(unisono_simulator)
  if(NOT UNISONO_SIMGRID_INCLUDE OR NOT UNISONO_SIMGRID_LIBRARY OR NOT UNISONO_SMPIRUN)
    message(STATUS "SimGrid (libsimgrid-dev) is not installed: build/sim is left out")
    return()
  endif()
  if(UNISONO_SANITIZE)
    return()  # smpirun's own program would have to be sanitized as well
  endif()

  add_library(mpi_headers_smpi INTERFACE)
  target_include_directories(mpi_headers_smpi SYSTEM INTERFACE ${UNISONO_SIMGRID_INCLUDE}/smpi
                                                               ${UNISONO_SIMGRID_INCLUDE})
  target_compile_definitions(mpi_headers_smpi INTERFACE UNISONO_FLAVOUR_SMPI=1
                             UNISONO_FLAVOUR="smpi")
  # Symbols that are unique in a process would be shared by the ranks.
  target_compile_options(mpi_headers_smpi INTERFACE
                         $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)

  # Of the sources only, not of a checkout whose own path says so.
  unisono_mpi_layers(smpi EXCLUDE "/src/interpose/([^/]*/)*fortran[^/]*$")
  unisono_mpi_objects(smpi objects)
  foreach(layer IN LISTS UNISONO_MPI_LAYERS)  # time there is simulated
    unisono_hardly_optimised(unisono_${layer}_smpi)
  endforeach()
  add_library(unisono-smpi STATIC ${objects})
  foreach(layer IN ITEMS base files wait node multicast trace schedule patterns topology algorithms model
                         select)
    target_sources(unisono-smpi PRIVATE $<TARGET_OBJECTS:unisono_${layer}>)
    if(TARGET unisono_${layer}_templates)
      target_sources(unisono-smpi PRIVATE $<TARGET_OBJECTS:unisono_${layer}_templates>)
    endif()
  endforeach()
  set_target_properties(unisono-smpi PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/sim)
  # What it is linked with (unisono sim), though simulated networks have no multicast.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/sim)
  file(CREATE_LINK ${UNISONO_SODIUM} ${CMAKE_BINARY_DIR}/sim/libsodium.a SYMBOLIC)

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tools/sim/*.cpp)
  foreach(source IN ITEMS call_pattern cell collectives options values)
    list(APPEND sources ${CMAKE_SOURCE_DIR}/src/tools/bench/${source}.cpp)
  endforeach()
  add_library(unisono-sim SHARED ${sources} ${objects})
  unisono_in_batches(unisono-sim)
  unisono_hardly_optimised(unisono-sim)
  unisono_see(unisono-sim PRIVATE tools ${UNISONO_MPI_LAYERS})
  target_link_libraries(unisono-sim PRIVATE unisono_select unisono_node unisono_multicast unisono_trace mpi_headers_smpi
                        CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt
                        ${UNISONO_SIMGRID_LIBRARY})
  # Its own MPI_Bcast must come before SMPI's. Every rank loads a copy: no symbols, no dead code.
  target_link_options(unisono-sim PRIVATE -Wl,-Bsymbolic -Wl,-z,defs -Wl,--gc-sections -s)
  set_target_properties(unisono-sim PROPERTIES PREFIX "" SUFFIX ""
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/sim)
endfunction()
