# What is built once per MPI flavour; cmake/MpiLibraries.cmake has found them.

# unisono_static_runtime: to be linked into what is installed. Nothing of ours may clash with the program's
# C++ library, whatever its version, or be missing where that is older.
add_library(unisono_static_runtime INTERFACE)
if(NOT UNISONO_SANITIZE)
  add_library(unisono_older_glibc OBJECT ${CMAKE_SOURCE_DIR}/src/base/older_glibc.c)
  target_sources(unisono_static_runtime INTERFACE $<TARGET_OBJECTS:unisono_older_glibc>)
  # Of the archives, what is used only: libstdc++ alone is a megabyte otherwise, in each file.
  target_link_options(unisono_static_runtime INTERFACE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
endif()

foreach(flavour IN LISTS UNISONO_FLAVOURS)
  add_library(mpi_headers_${flavour} INTERFACE)
  target_include_directories(mpi_headers_${flavour} SYSTEM INTERFACE ${UNISONO_MPI_INCLUDE_${flavour}})
  add_library(mpi_${flavour} INTERFACE)
  target_link_libraries(mpi_${flavour} INTERFACE mpi_headers_${flavour})
  # By its path, which gives programs in the build tree an rpath to it, and those that are installed none.
  if(UNISONO_MPI_LIBRARY_${flavour})
    target_link_libraries(mpi_${flavour} INTERFACE ${UNISONO_MPI_LIBRARY_${flavour}})
  endif()
endforeach()
if(TARGET mpi_headers_abi)
  target_compile_definitions(mpi_headers_abi INTERFACE MPI_ABI)
endif()
foreach(flavour IN LISTS UNISONO_FLAVOURS)
  string(TOUPPER ${flavour} upper)
  target_compile_definitions(mpi_headers_${flavour} INTERFACE UNISONO_FLAVOUR_${upper}=1
                             UNISONO_FLAVOUR="${flavour}")
  # MPI's own headers of C++ bindings are no business of ours.
  target_compile_definitions(mpi_headers_${flavour} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endforeach()

# Shows the entry points and nothing else: instances of the C++ library's templates are visible otherwise,
# and the program's could take their place.
set(unisono_entry_points -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/interpose/entry_points.map)

# unisono_preload_library(flavour): build/lib/libunisono-<flavour>.so.
function(unisono_preload_library flavour)
  unisono_mpi_layers(${flavour})
  unisono_mpi_objects(${flavour} objects)
  add_library(unisono-${flavour} SHARED ${objects})
  target_include_directories(unisono-${flavour} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  target_link_libraries(unisono-${flavour} PRIVATE unisono_node unisono_multicast unisono_select unisono_trace
                                                   unisono_static_runtime Threads::Threads ${CMAKE_DL_LIBS})
  # PMPI_* stay undefined: the program's own MPI library resolves them at run time.
  target_link_options(unisono-${flavour} PRIVATE -Wl,--exclude-libs,ALL ${unisono_entry_points})
endfunction()

# build/lib/libunisono-bookend.so, which the libraries of all flavours look for beside themselves.
function(unisono_bookend)
  add_library(unisono-bookend SHARED ${CMAKE_SOURCE_DIR}/src/interpose/bookend/bookend.c)
  foreach(flavour IN LISTS UNISONO_FLAVOURS)
    if(TARGET unisono-${flavour})
      add_dependencies(unisono-${flavour} unisono-bookend)
    endif()
  endforeach()
endfunction()

# build/lib/libunisono-over-<file name of an MPI library>.so: nothing but the names of this library and of that
# of its flavour. The dynamic linker looks for the functions that libraries take from each other in all that such
# a library names. Linked to a stand-in of the MPI library, which is never loaded.
function(unisono_bridges)
  foreach(pair IN ITEMS mpich.libmpi.so.12 mpich.libmpich.so.12 openmpi.libmpi.so.40 abi.libmpi_abi.so.1)
    string(REGEX MATCH "^([a-z]+)\\.(lib[a-z_]+)(.so.[0-9]+)$" _ ${pair})
    set(name ${CMAKE_MATCH_2}${CMAKE_MATCH_3})
    if(TARGET unisono-${CMAKE_MATCH_1})
      add_library(stand-in-${name} SHARED ${CMAKE_SOURCE_DIR}/src/interpose/bookend/bookend.c)
      set_target_properties(stand-in-${name} PROPERTIES PREFIX "" OUTPUT_NAME ${CMAKE_MATCH_2}
                            SUFFIX ${CMAKE_MATCH_3} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand-ins)
      add_library(unisono-over-${name} SHARED ${CMAKE_SOURCE_DIR}/src/interpose/bookend/bookend.c)
      target_link_options(unisono-over-${name} PRIVATE -Wl,--no-as-needed)
      target_link_libraries(unisono-over-${name} PRIVATE unisono-${CMAKE_MATCH_1} stand-in-${name})
      set_target_properties(unisono-over-${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH $ORIGIN)
      list(APPEND bridges unisono-over-${name})
    endif()
  endforeach()
  set(UNISONO_BRIDGES ${bridges} PARENT_SCOPE)
endfunction()

# build/lib/libunisono.so: what is preloaded; it opens the flavour that the program needs. It goes under programs
# of any C library as well, which may have no MPI: it names no library that it needs, so that what it takes of the
# process's C library has no version. build/lib/libunisono-join.so: what it opens on ranks that do nothing.
function(unisono_stub_library)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/interpose/stub/*.cpp
       ${CMAKE_SOURCE_DIR}/src/interpose/stub/*.c)
  add_library(unisono SHARED ${sources})
  unisono_see(unisono PRIVATE base interpose)
  target_include_directories(unisono PRIVATE ${UNISONO_VERSION_HEADER})
  target_compile_definitions(unisono PRIVATE _GNU_SOURCE)
  # Pedantic: pointers to functions and to data are the same to POSIX, not to C.
  target_compile_options(unisono PRIVATE -U_FORTIFY_SOURCE -fno-stack-protector -Wno-pedantic)
  target_link_options(unisono PRIVATE -nostdlib ${unisono_entry_points})
  add_library(unisono-join SHARED ${CMAKE_SOURCE_DIR}/src/interpose/join/join.cpp)
  target_link_libraries(unisono-join PRIVATE unisono_base unisono_static_runtime ${CMAKE_DL_LIBS})
  target_link_options(unisono-join PRIVATE ${unisono_entry_points})
  add_dependencies(unisono unisono-join)
endfunction()

# build/bin/unisono-bench-<flavour>, linked to Unisono and to the MPI library.
function(unisono_bench flavour)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tools/bench/*.cpp)
  # Hidden in the library.
  foreach(source IN ITEMS comm/network_probe comm/placement comm/share_segment comm/tcp_connections mpi/rank_lost)
    list(APPEND sources ${CMAKE_SOURCE_DIR}/src/${source}.cpp)
  endforeach()
  if(NOT sources OR NOT TARGET unisono-${flavour})
    return()
  endif()
  add_executable(unisono-bench-${flavour} ${sources})
  unisono_in_batches(unisono-bench-${flavour})
  unisono_hardly_optimised(unisono-bench-${flavour})
  unisono_see(unisono-bench-${flavour} PRIVATE mpi comm tools)
  target_link_libraries(unisono-bench-${flavour} PRIVATE
                        unisono-layers unisono-${flavour} mpi_${flavour} CLI11::CLI11 fmt::fmt-header-only)
  # LD_LIBRARY_PATH says which MPI library is measured: it goes before RUNPATH, and not before RPATH.
  target_link_options(unisono-bench-${flavour} PRIVATE -Wl,--enable-new-dtags)
endfunction()

# How a program is run on so many ranks: sets `out` to a command prefix.
function(unisono_launcher flavour ranks out)
  set(command ${UNISONO_MPI_HOME_${flavour}}/bin/mpiexec)
  if(flavour STREQUAL openmpi)
    list(APPEND command --map-by :OVERSUBSCRIBE)
  endif()
  set(${out} ${command} -n ${ranks} PARENT_SCOPE)
endfunction()

# unisono_mpi_test(name SOURCES file... [RANKS n...] [FLAVOURS f...] [ARGS a...] [ENV VAR=value...]
#                  [TIMEOUT seconds] [COST c] [PRELOAD | INTERNALS | RUNTIME] [GTEST])
# One executable <name>_<flavour> per flavour, and one ctest entry <name>.<flavour>.n<ranks> each.
#   (none)     a plain MPI program, without Unisono
#   PRELOAD    run under unisono-exec; may call unisono.h, which it finds at run time only
#   LINKED     linked to libunisono-<flavour>.so
#   RUNTIME    contains the objects of the layers with MPI below src/interpose
#   INTERNALS  those of src/interpose too
function(unisono_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PRELOAD;LINKED;RUNTIME;INTERNALS;GTEST" "TIMEOUT;COST"
                        "SOURCES;RANKS;FLAVOURS;ARGS;ENV")
  if(NOT arg_RANKS)
    set(arg_RANKS 2 3)
  endif()
  if(NOT arg_FLAVOURS)
    set(arg_FLAVOURS mpich openmpi)
  endif()
  foreach(flavour IN LISTS arg_FLAVOURS)
    set(target ${name}_${flavour})
    if((arg_LINKED OR arg_PRELOAD) AND NOT TARGET unisono-${flavour})
      continue()
    endif()
    add_executable(${target} ${arg_SOURCES})
    unisono_in_batches(${target})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE unisono_node unisono_multicast unisono_select)
    foreach(layer IN LISTS UNISONO_MPI_LAYERS)
      if(arg_INTERNALS OR (arg_RUNTIME AND NOT layer STREQUAL interpose))
        target_link_libraries(${target} PRIVATE unisono_${layer}_${flavour})
      endif()
    endforeach()
    if(arg_LINKED)
      target_link_libraries(${target} PRIVATE unisono-${flavour})
    endif()
    target_link_libraries(${target} PRIVATE mpi_${flavour} Threads::Threads ${CMAKE_DL_LIBS})
    if(arg_GTEST)
      target_link_libraries(${target} PRIVATE GTest::gtest)
    endif()
    if(arg_PRELOAD AND UNISONO_SANITIZE)
      continue()  # a sanitized library cannot be placed under a plain mpiexec
    endif()
    if(arg_RUNTIME)
      add_dependencies(quality_programs ${target})
    endif()
    foreach(ranks IN LISTS arg_RANKS)
      unisono_launcher(${flavour} ${ranks} command)
      if(arg_PRELOAD)
        list(APPEND command ${CMAKE_BINARY_DIR}/bin/unisono-exec)
      endif()
      set(test ${name}.${flavour}.n${ranks})
      add_test(NAME ${test} COMMAND ${command} $<TARGET_FILE:${target}> ${arg_ARGS})
      unisono_mpi_properties(${test} TIMEOUT ${arg_TIMEOUT} ENV ${arg_ENV})
      if(arg_RUNTIME)
        set_property(TEST ${test} APPEND PROPERTY LABELS quality)
      endif()
      if(arg_COST)
        set_tests_properties(${test} PROPERTIES COST ${arg_COST})
      endif()
    endforeach()
  endforeach()
endfunction()

# The surroundings of a test that starts mpiexec itself or through ctest: one at a time, before all
# others, beside which those without MPI run (unisono_beside_mpi), with a time limit, and with Open
# MPI's consent to run as root in a container. What other jobs have learned is no part of it. Its one-sided messages over libfabric, which nothing
# here uses, would let every job sleep for a second.
function(unisono_mpi_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "ENV")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 240)  # virtual machines may stand still for more than a minute
  endif()
  set(environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
                  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
                  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=^ofi XDG_CACHE_HOME=/dev/null
                  ${arg_ENV})
  if(UNISONO_SANITIZE)
    # The MPI libraries keep what they allocated until the end.
    list(APPEND environment ASAN_OPTIONS=detect_leaks=0)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS mpi RESOURCE_LOCK mpi COST 100
                                          TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${environment}")
endfunction()

# Jobs whose times decide something, as those of `unisono tune`: beside them nothing runs but what is
# nice to them. So they come before those that unisono_beside_other_jobs() lets run beside others.
function(unisono_before_other_jobs test)
  set_tests_properties(${test} PROPERTIES COST 200)
endfunction()

# Jobs that may take as long as they like, and may run beside another: their command begins with
# ${unisono_beside_mpi}. They begin after the long tests without MPI, when no job is under way any more
# that is timed, and are there for the second core while the short ones follow each other on the first.
function(unisono_beside_other_jobs test)
  set_tests_properties(${test} PROPERTIES RESOURCE_LOCK mpi_beside COST 0.5)
endfunction()

# In front of the command of a test without MPI: it takes what jobs leave of the processors, so that
# they run as if they were alone.
set(unisono_beside_mpi nice -n 19)

# In front of a command whose output and end are both tested: tests/expect.py says how.
set(unisono_expect ${UNISONO_PYTHON} ${CMAKE_SOURCE_DIR}/tests/expect.py)
