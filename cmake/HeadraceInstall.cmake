# The install tree: static library, public headers, and a config file that finds the library's private dependencies.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(headrace_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/headrace")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/headraceConfig.cmake.in" headraceConfig.cmake
  INSTALL_DESTINATION "${headrace_package_dir}")
write_basic_package_version_file(headraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS headrace EXPORT headraceTargets ARCHIVE COMPONENT cxx)
install(DIRECTORY include/headrace DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT cxx FILES_MATCHING PATTERN "*.h")
install(EXPORT headraceTargets NAMESPACE headrace:: DESTINATION "${headrace_package_dir}" COMPONENT cxx)
install(FILES "${PROJECT_BINARY_DIR}/headraceConfig.cmake" "${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake"
  DESTINATION "${headrace_package_dir}" COMPONENT cxx)
