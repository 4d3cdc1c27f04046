# The layers: a folder of src/ each, and a CMake target that sees the folders of the layers it uses and
# no others, so that the compiler refuses every other include.

# Sources are compiled several at a time: most of the compiler's work here is the standard library's
# headers. Those whose own names would clash go alone.
function(unisono_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${UNISONO_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()
foreach(alone IN ITEMS algorithms/composition select/online/settings mpi/datatype
        exec/execution)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${alone}.cpp PROPERTIES
                              SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()

# unisono_see(target scope layer...): the target may include <layer>/....h. Each layer has an include
# root that holds nothing but a link to its folder.
function(unisono_see target scope)
  foreach(layer IN LISTS ARGN)
    set(root ${CMAKE_BINARY_DIR}/roots/${layer})
    file(MAKE_DIRECTORY ${root})
    if(NOT EXISTS ${root}/${layer})
      file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${layer} ${root}/${layer} SYMBOLIC)
    endif()
    target_include_directories(${target} ${scope} ${root})
  endforeach()
endfunction()

# unisono_hardly_optimised(target): for what reads and writes JSON and command lines, whose templates
# are most of the compiler's work and none of the program's.
function(unisono_hardly_optimised target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# unisono_visible(target): its symbols can be used out of unisono_shared_layers(). What is preloaded hides
# those of archives; without interposition the compiler inlines them as if they were hidden.
function(unisono_visible target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
endfunction()

# unisono_layer(name [USES layer...] [TEMPLATES source...]): src/<name>/**.cpp as unisono_<name>; those
# sources, hardly optimised, in batches of their own.
function(unisono_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;TEMPLATES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(scope PUBLIC)
  if(arg_TEMPLATES)
    list(TRANSFORM arg_TEMPLATES PREPEND ${CMAKE_SOURCE_DIR}/src/${name}/)
    list(REMOVE_ITEM sources ${arg_TEMPLATES})
    set(templates unisono_${name}_templates)
    add_library(${templates} OBJECT ${arg_TEMPLATES})
    target_link_libraries(${templates} PRIVATE nlohmann_json::nlohmann_json)
    unisono_see(${templates} PRIVATE ${name})
    unisono_in_batches(${templates})
    unisono_visible(${templates})
    unisono_hardly_optimised(${templates})
    foreach(layer IN LISTS arg_USES)
      target_link_libraries(${templates} PRIVATE unisono_${layer})
    endforeach()
    list(APPEND sources $<TARGET_OBJECTS:${templates}>)
  endif()
  if(sources)
    add_library(unisono_${name} STATIC ${sources})
    target_compile_features(unisono_${name} PUBLIC cxx_std_20)
    unisono_in_batches(unisono_${name})
    unisono_visible(unisono_${name})
  else()
    add_library(unisono_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  unisono_see(unisono_${name} ${scope} ${name})
  target_include_directories(unisono_${name} ${scope} ${CMAKE_SOURCE_DIR}/include)
  foreach(layer IN LISTS arg_USES)
    target_link_libraries(unisono_${name} ${scope} unisono_${layer})
  endforeach()
endfunction()

# unisono_shared_layers(layer...): build/lib/libunisono-layers.so, of which the tools are made. Each with an
# archive of its own they took a third of the wheel (docs/adr/0044).
function(unisono_shared_layers)
  add_library(unisono-layers SHARED)
  foreach(layer IN LISTS ARGN)
    target_sources(unisono-layers PRIVATE $<TARGET_OBJECTS:unisono_${layer}>)
    if(TARGET unisono_${layer}_templates)
      target_sources(unisono-layers PRIVATE $<TARGET_OBJECTS:unisono_${layer}_templates>)
    endif()
    foreach(property IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS)
      set_property(TARGET unisono-layers APPEND PROPERTY INTERFACE_${property}
                   $<TARGET_PROPERTY:unisono_${layer},INTERFACE_${property}>)
    endforeach()
  endforeach()
  target_link_libraries(unisono-layers PRIVATE ${UNISONO_SODIUM} Threads::Threads
                                       INTERFACE nlohmann_json::nlohmann_json)
  target_link_options(unisono-layers PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL)
endfunction()

# The layers that know mpi.h, lowest first, and what each uses beside those before it.
set(UNISONO_MPI_LAYERS mpi exec comm calls runtime interpose)
set(unisono_uses_mpi schedule wait)
set(unisono_uses_exec node multicast)
set(unisono_uses_comm select)
set(unisono_uses_calls)
set(unisono_uses_runtime trace)
set(unisono_uses_interpose)

# unisono_mpi_layers(flavour [EXCLUDE regex]): src/<layer>/**.cpp of each as unisono_<layer>_<flavour>,
# objects: they go into the preload library, where --exclude-libs would hide the entry points if they
# came from an archive, and into tests of their insides.
function(unisono_mpi_layers flavour)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCLUDE" "")
  set(below)
  foreach(layer IN LISTS UNISONO_MPI_LAYERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/*.cpp
         ${CMAKE_SOURCE_DIR}/src/${layer}/*.c)
    list(FILTER sources EXCLUDE REGEX "/interpose/(bookend|join|stub)/")
    if(arg_EXCLUDE)
      list(FILTER sources EXCLUDE REGEX ${arg_EXCLUDE})
    endif()
    set(target unisono_${layer}_${flavour})
    add_library(${target} OBJECT ${sources})
    unisono_see(${target} PUBLIC ${layer})
    foreach(used IN LISTS unisono_uses_${layer})
      target_link_libraries(${target} PUBLIC unisono_${used})
    endforeach()
    target_link_libraries(${target} PUBLIC mpi_headers_${flavour} ${below})
    unisono_in_batches(${target})
    set(below ${target})
  endforeach()
endfunction()

# unisono_mpi_objects(flavour out): the objects of all of them.
function(unisono_mpi_objects flavour out)
  set(objects)
  foreach(layer IN LISTS UNISONO_MPI_LAYERS)
    list(APPEND objects $<TARGET_OBJECTS:unisono_${layer}_${flavour}>)
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
