# libstraightway.so, the preloaded library: the stubs, generated from the MPI
# standard's own list of procedures, and all rooms that know no MPI.

# The Python that has the list.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import pympistandard"
                RESULT_VARIABLE absent ERROR_QUIET)
if(absent)
  message(FATAL_ERROR
    "${Python3_EXECUTABLE} has no package pympistandard, from which the MPI "
    "stubs are generated. Install it (pip install pympistandard), or choose "
    "another Python with -DPython3_EXECUTABLE=.")
endif()

# No include and no import runs against the lists of arrows.
add_custom_target(sw_arrows ALL
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/arrows.py
          ${PROJECT_SOURCE_DIR}/src
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/arrows.py
          ${PROJECT_SOURCE_DIR}/straightway
  COMMENT "Looking for includes and imports that run back" VERBATIM)

set(SW_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${SW_GENERATED})
add_custom_command(
  OUTPUT ${SW_GENERATED}/procedures.inc ${SW_GENERATED}/stubs.S
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/src/contract/generate.py
          ${SW_GENERATED}
  DEPENDS ${PROJECT_SOURCE_DIR}/src/contract/generate.py
  COMMENT "Generating the MPI stubs" VERBATIM)
add_custom_target(sw_procedures DEPENDS ${SW_GENERATED}/procedures.inc)

# Where the libraries go: beside each other, in the build as installed.
set(SW_LIBRARY_DIR ${PROJECT_BINARY_DIR}/lib/straightway)
if(SKBUILD)
  set(SW_INSTALL_DIR ${SKBUILD_DATA_DIR}/lib/straightway)
else()
  set(SW_INSTALL_DIR lib/straightway)
endif()

file(GLOB_RECURSE front_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/front/*.c ${PROJECT_SOURCE_DIR}/src/front/*.S
     ${PROJECT_SOURCE_DIR}/src/contract/*.c)
add_library(straightway SHARED ${front_sources} ${SW_GENERATED}/stubs.S)
foreach(room ${SW_ROOMS})
  target_sources(straightway PRIVATE $<TARGET_OBJECTS:${room}>)
endforeach()
add_dependencies(straightway sw_procedures)
target_include_directories(straightway PRIVATE ${SW_GENERATED})
target_compile_options(straightway PRIVATE
                       $<$<COMPILE_LANGUAGE:C>:${SW_STACK_OPTIONS}>)
target_link_libraries(straightway PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
# separate-code: the symbol table, which names.c edits, shares no page with
# code. A linker without the option is lld, which always does so. nodelete: slots
# and thunks must outlive any dlclose.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,-z,separate-code SW_SEPARATES_CODE)
set(exports ${PROJECT_SOURCE_DIR}/src/front/exports.map)
target_link_options(straightway PRIVATE
  -Wl,--version-script=${exports} -Wl,--hash-style=gnu
  $<$<BOOL:${SW_SEPARATES_CODE}>:-Wl,-z,separate-code>
  -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now)
set_target_properties(straightway PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${SW_LIBRARY_DIR} LINK_DEPENDS ${exports})
install(TARGETS straightway LIBRARY DESTINATION ${SW_INSTALL_DIR})
