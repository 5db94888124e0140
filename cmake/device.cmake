# The kernels that move datatypes in a GPU's memory, beside the library:
# device/move.cu and move.h, which NVRTC compiles where a program runs, and
# device/move.ptx for machines without NVRTC. The build makes move.ptx where it
# finds nvcc, or Python's package nvidia-cuda-nvrtc, and else does without.
set(kernels ${PROJECT_SOURCE_DIR}/src/device/move.cu
            ${PROJECT_SOURCE_DIR}/src/device/move.h)
set(folder ${SW_LIBRARY_DIR}/device)
set(made "")
foreach(source ${kernels})
  get_filename_component(name ${source} NAME)
  add_custom_command(OUTPUT ${folder}/${name}
    COMMAND ${CMAKE_COMMAND} -E copy ${source} ${folder}/${name}
    DEPENDS ${source} VERBATIM)
  list(APPEND made ${folder}/${name})
endforeach()
install(FILES ${kernels} DESTINATION ${SW_INSTALL_DIR}/device)

set(generate ${PROJECT_SOURCE_DIR}/src/device/generate_ptx.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${generate})
execute_process(COMMAND ${Python3_EXECUTABLE} ${generate} --find
                OUTPUT_VARIABLE compiler OUTPUT_STRIP_TRAILING_WHITESPACE)
if(compiler)
  message(STATUS "Kernels for GPUs: PTX by ${compiler}")
  add_custom_command(OUTPUT ${folder}/move.ptx
    COMMAND ${Python3_EXECUTABLE} ${generate} ${compiler} ${kernels}
            ${folder}/move.ptx
    DEPENDS ${generate} ${kernels}
    COMMENT "Compiling the kernels for GPUs" VERBATIM)
  list(APPEND made ${folder}/move.ptx)
  install(FILES ${folder}/move.ptx DESTINATION ${SW_INSTALL_DIR}/device)
else()
  message(STATUS "Kernels for GPUs: source alone, there is no nvcc or NVRTC")
endif()
add_custom_target(sw_kernels ALL DEPENDS ${made})
