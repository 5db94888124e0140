# One object library per room that knows no MPI. Arrows run downwards:
# coll, p2p -> topology -> node; p2p -> device -> layout -> node; offload -> coll;
# rma -> coll/reduce; device -> layout; match, turns -> node.
foreach(room node device topology coll match p2p layout offload rma profile mapping turns)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  if(sources)
    add_library(sw_${room} OBJECT ${sources})
    target_compile_options(sw_${room} PRIVATE ${SW_STACK_OPTIONS})
    list(APPEND SW_ROOMS sw_${room})
  endif()
endforeach()
# What reads traces, and what simulates, are no parts of the library:
# cmake/command.cmake. The feeds on which a program talks to the simulation
# are (src/vtime/feed).
foreach(room trace vtime)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  list(FILTER sources EXCLUDE REGEX "/(main\\.c|feed/.*)$")
  if(sources)
    add_library(sw_${room} OBJECT ${sources})
    list(APPEND SW_TOOLS sw_${room})
  endif()
endforeach()
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/vtime/feed/*.c)
if(sources)
  add_library(sw_feed OBJECT ${sources})
  target_compile_options(sw_feed PRIVATE ${SW_STACK_OPTIONS})
  list(APPEND SW_ROOMS sw_feed)
endif()
# What this process shows is a part of the library; what reads it is not.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/watch/*.c)
add_library(sw_watch OBJECT ${sources})
target_compile_options(sw_watch PRIVATE ${SW_STACK_OPTIONS})
list(APPEND SW_ROOMS sw_watch)
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
