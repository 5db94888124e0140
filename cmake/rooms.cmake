# One object library per room that knows no MPI. Arrows run downwards:
# coll, p2p -> topology -> node; p2p -> layout -> node; offload -> node.
foreach(room node topology coll p2p layout offload profile)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  if(sources)
    add_library(sw_${room} OBJECT ${sources})
    list(APPEND SW_ROOMS sw_${room})
  endif()
endforeach()
# What reads traces is no part of the library: cmake/command.cmake.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/trace/*.c)
list(FILTER sources EXCLUDE REGEX "/main\\.c$")
add_library(sw_trace OBJECT ${sources})
if(TARGET sw_profile)
  target_compile_definitions(sw_profile PRIVATE SW_VERSION="${PROJECT_VERSION}")
endif()
find_package(Threads REQUIRED)
# Reduction kernels give the same bits in every vector width: no fused
# multiply-add. Floating-point exception flags are nobody's concern there, and
# caring for them would keep gcc from vectorising selects.
if(TARGET sw_coll)
  file(GLOB kernels ${PROJECT_SOURCE_DIR}/src/coll/reduce/*.c)
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS
      "-ffp-contract=off;-fno-trapping-math")
endif()
