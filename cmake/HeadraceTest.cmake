# headrace_test_program(<name> <sources...>) makes a program of its own main() that sees the whole engine.
function(headrace_test_program name)
  add_executable(${name} ${ARGN})
  headrace_target(${name})
  target_include_directories(${name} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE headrace Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
endfunction()

# What all GoogleTest programs are compiled with. GoogleTest's headers are parsed once, and the tests' own code is not optimised
# further than its time is worth: both halve what building the tests takes.
function(headrace_gtest_target name)
  headrace_target(${name})
  target_include_directories(${name} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE HEADRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gmock)
  # Precompiled headers serve only what is compiled like them: programs and the object library that owns them.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

# headrace_test(<name> <folder> LINK <targets...> [TIMEOUT seconds]) makes the GoogleTest program <name> of all test files in
# <folder>, registered as one test. A folder without test files makes no program.
function(headrace_test name folder)
  cmake_parse_arguments(arg "" "PATTERN;TIMEOUT" "LINK" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(HEADRACE_SANITIZE OR HEADRACE_STALL)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 3")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/${arg_PATTERN}")
  if(NOT sources)
    return()
  endif()

  add_executable(${name} ${sources})
  headrace_gtest_target(${name})
  target_precompile_headers(${name} REUSE_FROM headrace_gtest_headers)
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")

  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1;TSAN_OPTIONS=second_deadlock_stack=1")
endfunction()
