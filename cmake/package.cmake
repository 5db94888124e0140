# What the builds of other programs read to find straightway.h: a file for
# pkg-config, and a package for find_package(Straightway). Its one target,
# straightway::straightway, brings the include folder. There is nothing to link.
#
# Both files compute the prefix from their own place, so an installation may
# move. They lie in share/, because they are the same for every processor.
include(CMakePackageConfigHelpers)

configure_file(${PROJECT_SOURCE_DIR}/packaging/headers/straightway.pc.in
               ${PROJECT_BINARY_DIR}/straightway.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/straightway.pc DESTINATION share/pkgconfig)

add_library(straightway_headers INTERFACE)
set_target_properties(straightway_headers PROPERTIES EXPORT_NAME straightway)
install(TARGETS straightway_headers EXPORT straightway_headers
        INCLUDES DESTINATION include)
install(EXPORT straightway_headers FILE StraightwayConfig.cmake
        NAMESPACE straightway:: DESTINATION share/cmake/Straightway)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/StraightwayConfigVersion.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/StraightwayConfigVersion.cmake
        DESTINATION share/cmake/Straightway)

# For `module use PREFIX/share/modulefiles`.
install(FILES ${PROJECT_SOURCE_DIR}/packaging/recipes/modules/straightway.tcl
        DESTINATION share/modulefiles/straightway RENAME ${PROJECT_VERSION})
