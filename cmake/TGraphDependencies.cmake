# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds MLIR 22 (MLIR_DIR is honoured, as a CMake variable or from the
# environment), a BLAS with a C interface, and zlib. Sets TGRAPH_MLIR_INCLUDES,
# TGRAPH_MLIR_LIBRARIES and TGRAPH_CBLAS_INCLUDE, TGRAPH_MODEL_LIBRARIES.

set(TGRAPH_LLVM_MAJOR 22)

if(NOT MLIR_DIR AND DEFINED ENV{MLIR_DIR})
  set(MLIR_DIR "$ENV{MLIR_DIR}" CACHE PATH "Folder of MLIRConfig.cmake")
endif()
# No version here: MLIR's version file accepts nothing but the very same number.
find_package(MLIR CONFIG QUIET
             PATHS "/usr/lib/llvm-${TGRAPH_LLVM_MAJOR}/lib/cmake/mlir")
if(NOT MLIR_FOUND)
  message(FATAL_ERROR
    "MLIR was not found. Install MLIR ${TGRAPH_LLVM_MAJOR} (Debian: libmlir-${TGRAPH_LLVM_MAJOR}-dev "
    "mlir-${TGRAPH_LLVM_MAJOR}-tools llvm-${TGRAPH_LLVM_MAJOR}-dev) or set MLIR_DIR to the folder that "
    "holds MLIRConfig.cmake.")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL TGRAPH_LLVM_MAJOR)
  message(FATAL_ERROR
    "TGraph needs MLIR ${TGRAPH_LLVM_MAJOR}; ${MLIR_DIR} is version ${LLVM_PACKAGE_VERSION}. "
    "Set MLIR_DIR to the lib/cmake/mlir folder of an MLIR ${TGRAPH_LLVM_MAJOR}.")
endif()
if(NOT TARGET MLIR OR NOT TARGET LLVM)
  message(FATAL_ERROR
    "The MLIR in ${MLIR_DIR} has no shared libraries libMLIR and libLLVM. A pass plugin shares them with "
    "mlir-opt: build it with LLVM_LINK_LLVM_DYLIB and MLIR_LINK_MLIR_DYLIB.")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

set(TGRAPH_MLIR_INCLUDES ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
list(REMOVE_DUPLICATES TGRAPH_MLIR_INCLUDES)

# As CMake targets the C API archives bring a second, static MLIR with them:
# their files are linked, and what they call comes from libMLIR.so.
set(TGRAPH_MLIR_LIBRARIES)
foreach(part
    RegisterEverything Conversion Transforms ExecutionEngine Target
    TransformDialectTransforms TransformDialect
    Affine Arith Bufferization ControlFlow DLTI Func Index LLVM Linalg Math
    MemRef SCF Tensor UB Vector X86Vector Interfaces Debug IR)
  if(NOT TARGET MLIRCAPI${part})
    message(FATAL_ERROR "The MLIR in ${MLIR_DIR} has no C API archive MLIRCAPI${part}.")
  endif()
  list(APPEND TGRAPH_MLIR_LIBRARIES "$<TARGET_FILE:MLIRCAPI${part}>")
endforeach()
list(APPEND TGRAPH_MLIR_LIBRARIES
     "$<TARGET_FILE:MLIR>" "$<TARGET_FILE:LLVM>")

find_path(TGRAPH_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread)
find_library(TGRAPH_OPENBLAS NAMES openblas)
if(NOT TGRAPH_CBLAS_INCLUDE OR NOT TGRAPH_OPENBLAS)
  message(FATAL_ERROR "OpenBLAS was not found (Debian: libopenblas-dev).")
endif()
find_package(ZLIB REQUIRED)
if(TGRAPH_CBLAS_INCLUDE IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
  set(TGRAPH_CBLAS_INCLUDE "" CACHE PATH "On the compiler's own path" FORCE)
endif()
set(TGRAPH_MODEL_LIBRARIES "${TGRAPH_OPENBLAS}" ZLIB::ZLIB m)
