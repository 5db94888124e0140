# bin/straightway, the probe, the readers and the benchmark.
#
# The layout of the build folder is that of an installation (bin/ beside
# lib/straightway/), so the command finds its library in both alike.
set(SW_LIB_SUBDIR lib/straightway)

# The launcher: no room, no MPI, nothing to load but libc.
file(GLOB command_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/command/*.c)
add_executable(straightway_command ${command_sources})
set_target_properties(straightway_command PROPERTIES
    OUTPUT_NAME straightway
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
target_compile_definitions(straightway_command PRIVATE
    SW_VERSION="${PROJECT_VERSION}")
target_link_options(straightway_command PRIVATE -Wl,-z,now)

# The probe stands on the library's own rooms, to try what it will use.
add_executable(straightway_probe ${PROJECT_SOURCE_DIR}/src/probe/probe.c
               ${PROJECT_SOURCE_DIR}/src/probe/streamed.c
               ${PROJECT_SOURCE_DIR}/src/probe/cores.c
               $<TARGET_OBJECTS:sw_node> $<TARGET_OBJECTS:sw_topology>
               $<TARGET_OBJECTS:sw_p2p> $<TARGET_OBJECTS:sw_device>
               $<TARGET_OBJECTS:sw_layout>)
set_target_properties(straightway_probe PROPERTIES
    OUTPUT_NAME straightway-probe
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${SW_LIB_SUBDIR})
target_include_directories(straightway_probe PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(straightway_probe PRIVATE Threads::Threads m
                      ${CMAKE_DL_LIBS})

# The solvers of `straightway map`.
file(GLOB solver_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/solver/*.c)
add_executable(straightway_map ${solver_sources}
               $<TARGET_OBJECTS:sw_node> $<TARGET_OBJECTS:sw_mapping>)
set_target_properties(straightway_map PROPERTIES
    OUTPUT_NAME straightway-map
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${SW_LIB_SUBDIR})
target_include_directories(straightway_map PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(straightway_map PRIVATE Threads::Threads m
                      ${CMAKE_DL_LIBS})

# What goes through every event of a trace.
add_executable(straightway_trace ${PROJECT_SOURCE_DIR}/src/trace/main.c
               ${PROJECT_SOURCE_DIR}/src/node/base/crc.c
               $<TARGET_OBJECTS:sw_trace>)
set_target_properties(straightway_trace PROPERTIES
    OUTPUT_NAME straightway-trace
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${SW_LIB_SUBDIR})
target_link_libraries(straightway_trace PRIVATE Threads::Threads)

# Where the processes of a job are.
file(GLOB where_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/watch/reader/*.c)
add_executable(straightway_where ${where_sources}
               ${PROJECT_SOURCE_DIR}/src/contract/procedures.c
               $<TARGET_OBJECTS:sw_node>
               ${PROJECT_SOURCE_DIR}/src/profile/stack/cfi.c
               ${PROJECT_SOURCE_DIR}/src/profile/stack/pycode.c)
add_dependencies(straightway_where sw_procedures)
target_include_directories(straightway_where PRIVATE ${SW_GENERATED})
target_compile_options(straightway_where PRIVATE ${SW_STACK_OPTIONS})
target_link_libraries(straightway_where PRIVATE Threads::Threads m
                      ${CMAKE_DL_LIBS})
set_target_properties(straightway_where PROPERTIES
    OUTPUT_NAME straightway-where
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${SW_LIB_SUBDIR})

# The engine of virtual time.
if(TARGET sw_vtime)
  add_executable(straightway_whatif ${PROJECT_SOURCE_DIR}/src/vtime/main.c
                 $<TARGET_OBJECTS:sw_node> $<TARGET_OBJECTS:sw_trace>
                 $<TARGET_OBJECTS:sw_vtime> $<TARGET_OBJECTS:sw_feed>)
  set_target_properties(straightway_whatif PROPERTIES
      OUTPUT_NAME straightway-whatif
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${SW_LIB_SUBDIR})
  target_link_libraries(straightway_whatif PRIVATE Threads::Threads m
                        ${CMAKE_DL_LIBS})
  install(TARGETS straightway_whatif DESTINATION ${SW_LIB_SUBDIR})
endif()

# The benchmark: an executable that knows no MPI, and one module per flavour.
add_executable(straightway_bench ${PROJECT_SOURCE_DIR}/bench/main.c)
set_target_properties(straightway_bench PROPERTIES
    OUTPUT_NAME straightway-bench
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${SW_LIB_SUBDIR})
target_link_libraries(straightway_bench PRIVATE ${CMAKE_DL_LIBS})

install(TARGETS straightway_command DESTINATION bin)
install(TARGETS straightway_probe straightway_map straightway_bench
                straightway_trace straightway_where
        DESTINATION ${SW_LIB_SUBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/straightway.h
              ${PROJECT_SOURCE_DIR}/include/straightway_mpi.h
              ${PROJECT_SOURCE_DIR}/include/straightway_mpi_inline.h
              ${PROJECT_SOURCE_DIR}/include/straightway_mpi.f90
              ${PROJECT_SOURCE_DIR}/include/straightway_fortran.c
        DESTINATION include)

# One module per flavour that is built, with the headers found for it, as
# flavours.cmake says: SW_FLAVOURS, include_<FLAVOUR>, SW_<FLAVOUR>_OPTIONS. Its
# MPI symbols stay undefined: the process brings them.
file(GLOB kernel_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/bench/kernels/*.c)
foreach(flavour ${SW_FLAVOURS})
  string(TOUPPER ${flavour} FLAVOUR)
  set(module straightway_bench_${flavour})
  add_library(${module} MODULE ${PROJECT_SOURCE_DIR}/bench/sampling.c
              ${PROJECT_SOURCE_DIR}/bench/collectives.c
              ${PROJECT_SOURCE_DIR}/bench/overlap.c
              ${PROJECT_SOURCE_DIR}/bench/onesided.c
              ${PROJECT_SOURCE_DIR}/bench/operations.c
              ${PROJECT_SOURCE_DIR}/bench/blocks.c
              ${PROJECT_SOURCE_DIR}/bench/arithmetic.c
              ${PROJECT_SOURCE_DIR}/bench/computing.c
              ${PROJECT_SOURCE_DIR}/bench/messages.c
              ${PROJECT_SOURCE_DIR}/bench/nodes.c
              ${PROJECT_SOURCE_DIR}/bench/wires.c
              ${PROJECT_SOURCE_DIR}/bench/pingpong.c
              ${PROJECT_SOURCE_DIR}/bench/ladder.c
              ${PROJECT_SOURCE_DIR}/bench/partitions.c
              ${PROJECT_SOURCE_DIR}/bench/remap.c
              ${PROJECT_SOURCE_DIR}/bench/datatypes.c
              ${PROJECT_SOURCE_DIR}/bench/array.c
              ${PROJECT_SOURCE_DIR}/bench/gpu.c
              ${PROJECT_SOURCE_DIR}/bench/profile.c
              ${PROJECT_SOURCE_DIR}/bench/placement.c
              ${PROJECT_SOURCE_DIR}/src/coll/span_names.c
              ${PROJECT_SOURCE_DIR}/bench/places.c ${kernel_sources})
  target_include_directories(${module} SYSTEM PRIVATE ${include_${FLAVOUR}})
  target_compile_definitions(${module} PRIVATE OMPI_SKIP_MPICXX
                             MPICH_SKIP_MPICXX
                             $<$<STREQUAL:${flavour},abi>:MPI_ABI>)
  target_compile_options(${module} PRIVATE ${SW_${FLAVOUR}_OPTIONS})
  set_target_properties(${module} PROPERTIES
      OUTPUT_NAME straightway-bench-${flavour}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${SW_LIB_SUBDIR})
  install(TARGETS ${module} DESTINATION ${SW_LIB_SUBDIR})
endforeach()
