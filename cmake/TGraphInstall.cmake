# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# find_package(TGraph) gives TGraph::tgraph (C functions over mlir-c) and
# TGRAPH_PLUGIN (the path for --load-pass-plugin).
include(CMakePackageConfigHelpers)

set(TGRAPH_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/TGraph")
file(RELATIVE_PATH TGRAPH_PLUGIN_FROM_PREFIX "/prefix"
     "/prefix/${CMAKE_INSTALL_LIBDIR}/${CMAKE_SHARED_LIBRARY_PREFIX}tgraph${CMAKE_SHARED_LIBRARY_SUFFIX}")

install(TARGETS tgraph EXPORT TGraphTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY model passes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tgraph
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "train" EXCLUDE)
install(EXPORT TGraphTargets NAMESPACE TGraph:: DESTINATION ${TGRAPH_CMAKE_DIR})
configure_package_config_file(cmake/TGraphConfig.cmake.in
  "${PROJECT_BINARY_DIR}/TGraphConfig.cmake"
  INSTALL_DESTINATION ${TGRAPH_CMAKE_DIR})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TGraphConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TGraphConfig.cmake"
              "${PROJECT_BINARY_DIR}/TGraphConfigVersion.cmake"
        DESTINATION ${TGRAPH_CMAKE_DIR})
