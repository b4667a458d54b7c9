# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the targets of the rooms have in common.

function(tgraph_glob variable pattern)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${pattern}")
  list(SORT files)
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

function(tgraph_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra
    $<$<COMPILE_LANGUAGE:C>:-Wpedantic>
    $<$<BOOL:${TGRAPH_WERROR}>:-Werror>)
endfunction()

# Numbers must not depend on whether the compiler fuses a multiplication with
# an addition: the same input gives the same choice everywhere.
function(tgraph_c_options target)
  tgraph_warnings(${target})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-ffp-contract=off>
    $<$<AND:$<BOOL:${TGRAPH_ASSERTIONS}>,$<COMPILE_LANGUAGE:C>>:-UNDEBUG>)
  if(TGRAPH_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:C>:-fsanitize=${TGRAPH_SANITIZE}>
      $<$<COMPILE_LANGUAGE:C>:-fno-omit-frame-pointer>
      $<$<COMPILE_LANGUAGE:C>:-fno-sanitize-recover=undefined>)
  endif()
endfunction()

# The shim is not sanitized: LLVM's inline containers would then disagree with
# the ones inside libMLIR about which bytes are poisoned.
function(tgraph_cxx_options target)
  tgraph_warnings(${target})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>
    $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-parameter>)
endfunction()

function(tgraph_link_mlir target)
  target_link_libraries(${target} PRIVATE ${TGRAPH_MLIR_LIBRARIES})
  target_link_options(${target} PRIVATE "-Wl,--exclude-libs,ALL")
  # The archives are of C++, whatever the program's own files are.
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

function(tgraph_link_model target)
  target_link_libraries(${target} PRIVATE ${TGRAPH_MODEL_LIBRARIES})
  if(TGRAPH_SANITIZE)
    # Shared runtimes: the plugin is loaded by a program that has none.
    target_link_options(${target} PRIVATE "-fsanitize=${TGRAPH_SANITIZE}")
    if(CMAKE_C_COMPILER_ID MATCHES "Clang")
      target_link_options(${target} PRIVATE -shared-libsan)
    endif()
  endif()
endfunction()

function(tgraph_embed_weights target)
  if(TGRAPH_WEIGHTS STREQUAL "none")
    message(STATUS "No weights are embedded (TGRAPH_WEIGHTS=none)")
    return()
  endif()
  get_filename_component(file "${TGRAPH_WEIGHTS}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "TGRAPH_WEIGHTS: ${file} does not exist; 'none' builds without weights.")
  endif()
  set(TGRAPH_HAS_WEIGHTS TRUE PARENT_SCOPE)
  target_compile_definitions(${target} PRIVATE "TG_WEIGHTS_FILE=\"${file}\"")
  set_property(SOURCE cmake/weights.S APPEND PROPERTY OBJECT_DEPENDS "${file}")
endfunction()

# Weights that do not fit the code fail the build, not the user's run: the
# library is linked only after the checking program has accepted them.
function(tgraph_check_weights)
  if(NOT TGRAPH_HAS_WEIGHTS)
    return()
  endif()
  add_executable(tgraph_check_weights test/model/check_weights.c
                 $<TARGET_OBJECTS:tgraph_model> $<TARGET_OBJECTS:tgraph_weights>)
  tgraph_c_options(tgraph_check_weights)
  target_include_directories(tgraph_check_weights PRIVATE "${PROJECT_SOURCE_DIR}")
  tgraph_link_model(tgraph_check_weights)
  add_custom_command(TARGET tgraph_check_weights POST_BUILD
    COMMAND tgraph_check_weights
    COMMENT "Checking that the embedded weights fit the code")
  add_dependencies(tgraph tgraph_check_weights)
  if(TARGET tgraph_tool)
    add_dependencies(tgraph_tool tgraph_check_weights)
  endif()
endfunction()
