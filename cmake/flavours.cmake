# libstraightway-<flavour>.so: src/mpi compiled against each binary interface
# whose mpi.h can be found. The header, not the host, decides: a library made
# with the headers of Open MPI 5 serves Open MPI 4.1, too.

set(STRAIGHTWAY_MPI_PREFIXES "" CACHE STRING
    "prefixes of MPI installations whose include/mpi.h to use (;-list)")
foreach(flavour OMPI MPICH ABI)
  set(STRAIGHTWAY_${flavour}_INCLUDE "" CACHE PATH
      "folder of the mpi.h for this flavour; empty: look for one")
endforeach()

# Folders that may hold an mpi.h, in the order of preference: the prefixes
# given, the Python environment that builds, the machine's compiler wrappers.
set(folders "")
foreach(prefix ${STRAIGHTWAY_MPI_PREFIXES})
  get_filename_component(prefix ${prefix} ABSOLUTE
                         BASE_DIR ${PROJECT_SOURCE_DIR})
  list(APPEND folders ${prefix}/include)
endforeach()
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c
          "import sysconfig; print(sysconfig.get_path('data'))"
  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
list(APPEND folders ${prefix}/include)
foreach(wrapper mpicc mpicc.openmpi mpicc.mpich mpigcc)
  find_program(SW_WRAPPER_${wrapper} ${wrapper})
  mark_as_advanced(SW_WRAPPER_${wrapper})
  if(SW_WRAPPER_${wrapper})
    execute_process(COMMAND ${SW_WRAPPER_${wrapper}} -show
                    OUTPUT_VARIABLE shown ERROR_QUIET TIMEOUT 20)
    string(REGEX MATCHALL "-I *[^ \n\"]+" flags "${shown}")
    foreach(flag ${flags})
      string(REGEX REPLACE "^-I *" "" folder ${flag})
      list(APPEND folders ${folder})
    endforeach()
  endif()
endforeach()
list(APPEND folders
     /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include
     /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich)

# What an mpi.h is, by the macros that it defines.
function(sw_flavours_of folder result)
  set(flavours "")
  if(EXISTS ${folder}/mpi.h)
    file(STRINGS ${folder}/mpi.h marks REGEX
         "^ *#[ \t]*(define|ifdef)[ \t]+(OMPI_MAJOR_VERSION|MPICH_NUMVERSION|I_MPI_VERSION|MPI_ABI_VERSION|MPI_ABI)")
    if(marks MATCHES "OMPI_MAJOR_VERSION")
      list(APPEND flavours OMPI)
    elseif(marks MATCHES "MPICH_NUMVERSION|I_MPI_VERSION")
      list(APPEND flavours MPICH)
      # With -DMPI_ABI the same header is the standard's.
      if(marks MATCHES "ifdef[ \t]+MPI_ABI" AND EXISTS ${folder}/mpi_abi.h)
        list(APPEND flavours ABI)
      endif()
    elseif(marks MATCHES "MPI_ABI_VERSION")
      list(APPEND flavours ABI)
    endif()
  endif()
  set(${result} "${flavours}" PARENT_SCOPE)
endfunction()

set(include_OMPI ${STRAIGHTWAY_OMPI_INCLUDE})
set(include_MPICH ${STRAIGHTWAY_MPICH_INCLUDE})
set(include_ABI ${STRAIGHTWAY_ABI_INCLUDE})
foreach(folder ${folders})
  sw_flavours_of(${folder} flavours)
  foreach(flavour ${flavours})
    if(NOT include_${flavour})
      set(include_${flavour} ${folder})
    endif()
  endforeach()
endforeach()

file(GLOB_RECURSE mpi_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/mpi/*.c)
execute_process(
  COMMAND ${Python3_EXECUTABLE}
          ${PROJECT_SOURCE_DIR}/src/mpi/calls/generate_entries.py --list
  OUTPUT_VARIABLE SW_ENTRIES OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT SW_ENTRIES)
  message(FATAL_ERROR "generate_entries.py has named no entries")
endif()
# MPICH 4.0 declares arrays of statuses, and MPI_STATUSES_IGNORE is the address
# 1. gcc takes that for an array that is too short.
set(SW_MPICH_OPTIONS "")
check_c_compiler_flag(-Wstringop-overflow SW_KNOWS_STRINGOP)
if(SW_KNOWS_STRINGOP)
  set(SW_MPICH_OPTIONS -Wno-stringop-overflow)
endif()
set(SW_FLAVOURS "")
foreach(flavour ompi mpich abi)
  string(TOUPPER ${flavour} FLAVOUR)
  set(include ${include_${FLAVOUR}})
  if(NOT include)
    message(STATUS "Flavour ${flavour}: no mpi.h found, not built "
                   "(STRAIGHTWAY_${FLAVOUR}_INCLUDE or "
                   "STRAIGHTWAY_MPI_PREFIXES names one)")
    continue()
  endif()
  message(STATUS "Flavour ${flavour}: ${include}")
  list(APPEND SW_FLAVOURS ${flavour})

  set(definitions "")
  if(flavour STREQUAL abi)
    set(definitions MPI_ABI)
  endif()
  # C++ bindings are of no concern, and their headers may be missing.
  list(APPEND definitions OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set(flags -I${include})
  foreach(definition ${definitions})
    list(APPEND flags -D${definition})
  endforeach()

  set(generated ${PROJECT_BINARY_DIR}/generated/${flavour})
  file(MAKE_DIRECTORY ${generated})
  add_custom_command(
    OUTPUT ${generated}/host.inc ${generated}/has.h ${generated}/weak.h
           ${generated}/guard.c
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/src/mpi/base/generate.py
            ${generated} ${SW_GENERATED}/procedures.inc
            ${CMAKE_C_COMPILER} ${flags}
    DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/base/generate.py ${include}/mpi.h
            ${SW_GENERATED}/procedures.inc
    COMMENT "Reading the mpi.h of flavour ${flavour}" VERBATIM)
  set(mpi ${PROJECT_SOURCE_DIR}/src/mpi)
  set(wrappers "")
  foreach(kind record:recorded virtual:virtual watch:watched)
    string(REGEX REPLACE ":.*" "" room ${kind})
    string(REGEX REPLACE ".*:" "" kind ${kind})
    add_custom_command(
      OUTPUT ${generated}/${kind}.c
      COMMAND ${Python3_EXECUTABLE} ${mpi}/${room}/generate_${kind}.py
              ${generated}/${kind}.c ${SW_GENERATED}/procedures.inc
              ${CMAKE_C_COMPILER} ${flags}
      DEPENDS ${mpi}/${room}/generate_${kind}.py ${mpi}/${room}/rules.py
              ${mpi}/calls/wrappers.py ${mpi}/calls/table.py
              ${mpi}/base/generate.py ${include}/mpi.h
              ${SW_GENERATED}/procedures.inc ${SW_COLLECTIVES}
      COMMENT "Wrapping the procedures of flavour ${flavour}: ${kind}" VERBATIM)
    list(APPEND wrappers ${generated}/${kind}.c)
  endforeach()
  add_custom_command(
    OUTPUT ${generated}/patient.c
    COMMAND ${Python3_EXECUTABLE} ${mpi}/base/generate_patient.py
            ${generated}/patient.c ${SW_GENERATED}/procedures.inc
            ${CMAKE_C_COMPILER} ${flags}
    DEPENDS ${mpi}/base/generate_patient.py ${mpi}/base/generate.py
            ${include}/mpi.h ${SW_GENERATED}/procedures.inc ${SW_COLLECTIVES}
    COMMENT "Patient forms of the procedures of flavour ${flavour}" VERBATIM)
  set(entries "")
  foreach(file ${SW_ENTRIES})
    list(APPEND entries ${generated}/entries/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${entries}
    COMMAND ${Python3_EXECUTABLE} ${mpi}/calls/generate_entries.py
            ${generated}/entries ${SW_GENERATED}/procedures.inc
            ${CMAKE_C_COMPILER} ${flags}
    DEPENDS ${mpi}/calls/generate_entries.py ${mpi}/calls/wrappers.py
            ${mpi}/calls/table.py ${mpi}/base/generate.py ${include}/mpi.h
            ${SW_GENERATED}/procedures.inc ${SW_COLLECTIVES}
    COMMENT "Entries of the procedures of flavour ${flavour}" VERBATIM)
  add_custom_target(sw_header_${flavour}
                    DEPENDS ${generated}/host.inc ${generated}/has.h
                            ${generated}/weak.h)
  add_dependencies(sw_header_${flavour} sw_procedures)

  add_library(straightway-${flavour} MODULE ${mpi_sources}
              ${generated}/guard.c ${generated}/patient.c ${wrappers} ${entries})
  # Of generated code a backtrace needs lines alone; all of it, variables too,
  # takes a third of the time that its compilation takes.
  set_source_files_properties(${generated}/patient.c ${wrappers}
                              PROPERTIES COMPILE_OPTIONS -g1)
  add_dependencies(straightway-${flavour} sw_header_${flavour})
  target_include_directories(straightway-${flavour} PRIVATE
                             ${generated} ${SW_GENERATED})
  # The host's headers are not ours to warn about.
  target_include_directories(straightway-${flavour} SYSTEM PRIVATE ${include})
  target_compile_definitions(straightway-${flavour} PRIVATE
                             ${definitions} SW_FLAVOUR="${flavour}"
                             SW_FLAVOUR_${FLAVOUR})
  # Exceptions thrown by a program's error handlers pass through.
  target_compile_options(straightway-${flavour} PRIVATE
                         -fexceptions "SHELL:-include ${generated}/weak.h"
                         ${SW_STACK_OPTIONS} ${SW_${FLAVOUR}_OPTIONS})
  target_link_libraries(straightway-${flavour} PRIVATE straightway)
  target_link_options(straightway-${flavour} PRIVATE
                      -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now)
  set_target_properties(straightway-${flavour} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${SW_LIBRARY_DIR}
    BUILD_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN")
  install(TARGETS straightway-${flavour} LIBRARY DESTINATION ${SW_INSTALL_DIR})
endforeach()
