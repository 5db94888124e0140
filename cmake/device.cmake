# The kernels that work in a GPU's memory, beside the library: for those that
# move datatypes, device/move.cu and move.h, which NVRTC compiles where a program
# runs, and device/move.ptx for machines without NVRTC; and so for those that
# reduce. The build makes the PTX where it finds nvcc, or Python's package
# nvidia-cuda-nvrtc, and else does without.
set(folder ${SW_LIBRARY_DIR}/device)
set(made "")
set(generate ${PROJECT_SOURCE_DIR}/src/device/generate_ptx.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${generate})
execute_process(COMMAND ${Python3_EXECUTABLE} ${generate} --find
                OUTPUT_VARIABLE compiler OUTPUT_STRIP_TRAILING_WHITESPACE)
if(compiler)
  message(STATUS "Kernels for GPUs: PTX by ${compiler}")
else()
  message(STATUS "Kernels for GPUs: source alone, there is no nvcc or NVRTC")
endif()
foreach(name move reduce)
  set(kernels ${PROJECT_SOURCE_DIR}/src/device/${name}.cu
              ${PROJECT_SOURCE_DIR}/src/device/${name}.h)
  foreach(source ${kernels})
    get_filename_component(file ${source} NAME)
    add_custom_command(OUTPUT ${folder}/${file}
      COMMAND ${CMAKE_COMMAND} -E copy ${source} ${folder}/${file}
      DEPENDS ${source} VERBATIM)
    list(APPEND made ${folder}/${file})
  endforeach()
  install(FILES ${kernels} DESTINATION ${SW_INSTALL_DIR}/device)
  if(compiler)
    add_custom_command(OUTPUT ${folder}/${name}.ptx
      COMMAND ${Python3_EXECUTABLE} ${generate} ${compiler} ${kernels}
              ${folder}/${name}.ptx
      DEPENDS ${generate} ${kernels}
      COMMENT "Compiling the kernels of ${name}.cu for GPUs" VERBATIM)
    list(APPEND made ${folder}/${name}.ptx)
    install(FILES ${folder}/${name}.ptx DESTINATION ${SW_INSTALL_DIR}/device)
  endif()
endforeach()
add_custom_target(sw_kernels ALL DEPENDS ${made})
