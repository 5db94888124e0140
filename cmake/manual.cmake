# The manual pages and the completion of shells (packaging/manual). The build
# makes them from the commands themselves, and an installation has them in
# share/. Their generator runs the commands' Python code, so it needs that
# code's packages, and shtab. A build without these leaves the pages out, aloud.
#
# A build for another processor cannot run its own `straightway run --help`.
# STRAIGHTWAY_HELP_COMMAND then names a command of this version that runs here.
set(STRAIGHTWAY_HELP_COMMAND "" CACHE FILEPATH
    "a straightway whose --help the manual shows; empty: the one that is built")

set(needs "import elftools, jinja2, rich, shtab")
execute_process(COMMAND ${Python3_EXECUTABLE} -c ${needs}
                RESULT_VARIABLE absent OUTPUT_QUIET ERROR_VARIABLE why)
if(absent)
  string(STRIP "${why}" why)
  string(REGEX REPLACE ".*\n" "" why "${why}")
  message(STATUS "Manual pages, completion: NONE. ${Python3_EXECUTABLE}: ${why}")
  return()
endif()

if(STRAIGHTWAY_HELP_COMMAND)
  set(program ${STRAIGHTWAY_HELP_COMMAND})
else()
  set(program $<TARGET_FILE:straightway_command>)
endif()
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/manual/*.py)
file(GLOB_RECURSE package CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/straightway/*.py)
set(share ${PROJECT_BINARY_DIR}/share)
add_custom_command(
  OUTPUT ${share}/man/man1/straightway.1
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}
          PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE}
          ${PROJECT_SOURCE_DIR}/packaging/manual/make.py ${share}
          --version ${PROJECT_VERSION} --program ${program}
  DEPENDS straightway_command ${sources} ${package}
          ${PROJECT_SOURCE_DIR}/include/straightway.h
          ${PROJECT_SOURCE_DIR}/include/straightway_mpi.h
  COMMENT "Writing the manual pages and the completion" VERBATIM)
add_custom_target(sw_manual ALL DEPENDS ${share}/man/man1/straightway.1)
install(DIRECTORY ${share}/ DESTINATION share)
