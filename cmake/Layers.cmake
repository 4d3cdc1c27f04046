# One static library per layer without MPI. scripts/check_layers.py checks the includes themselves.

# Sources are compiled several at a time: most of the compiler's work here is the standard library's
# headers. Those whose own names would clash go alone.
function(unisono_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${UNISONO_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()
foreach(alone IN ITEMS algorithms/composition select/online/settings runtime/datatype
        runtime/executor)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${alone}.cpp PROPERTIES
                              SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()

# unisono_layer(name [USES layer...]): src/<name>/**.cpp as unisono_<name>.
function(unisono_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(scope PUBLIC)
  if(sources)
    add_library(unisono_${name} STATIC ${sources})
    target_compile_features(unisono_${name} PUBLIC cxx_std_20)
    unisono_in_batches(unisono_${name})
  else()
    add_library(unisono_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(unisono_${name} ${scope} ${CMAKE_SOURCE_DIR}/src
                                                      ${CMAKE_SOURCE_DIR}/include)
  foreach(layer IN LISTS arg_USES)
    target_link_libraries(unisono_${name} ${scope} unisono_${layer})
  endforeach()
endfunction()
