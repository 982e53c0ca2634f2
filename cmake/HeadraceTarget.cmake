# headrace_target(<target>) gives every target of the project the same warnings, visibility, baseline, sanitizers and
# linker, so that no two object files of one binary are built under different rules.

option(HEADRACE_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(HEADRACE_STALL "Make every stage block at random, to find orders that only luck keeps" OFF)
option(HEADRACE_FUZZ "Make the fuzzers (clang)" OFF)
set(HEADRACE_SANITIZE "" CACHE STRING "Sanitizers of the whole build: 'address,undefined' or 'thread'")

find_program(HEADRACE_CCACHE ccache)
find_program(HEADRACE_MOLD mold)

function(headrace_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  # Designated initialisers leave fields to their defaults on purpose; GCC's -Wextra takes that for an oversight.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
    $<$<BOOL:${HEADRACE_WERROR}>:-Werror>)

  # a * b + c is rounded twice, on every CPU and in every kernel alike.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 reports overlaps and copies of 2^63 bytes in std::string's operator+ (its bug 105651), under three names.
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wthread-safety)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # Kernels above this baseline are chosen at run time.
    target_compile_options(${target} PRIVATE -march=x86-64-v2)
  endif()
  # Bounds of spans, vectors and optionals are checked wherever asserts are.
  target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
  if(HEADRACE_STALL)
    target_compile_definitions(${target} PRIVATE HEADRACE_STALL=1)
  endif()

  if(HEADRACE_SANITIZE)
    set(flags -fsanitize=${HEADRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
  endif()
  if(HEADRACE_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_compile_definitions(${target} PRIVATE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1)
  endif()

  if(HEADRACE_MOLD)
    target_link_options(${target} PRIVATE -fuse-ld=mold)
  endif()
  if(HEADRACE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The sloppiness that ccache asks of users of precompiled headers; nothing here depends on the time of day.
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${HEADRACE_CCACHE}")
  endif()
endfunction()
