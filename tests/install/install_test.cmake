# Installs the build into a folder of its own, builds examples/cpp against it as a stranger would, and runs it.
# Usage: cmake -DSOURCE=... -DBUILD=... -DCOMPILER=... -DFAKE_NCCL=... -P install_test.cmake
set(tree "${BUILD}/install_test")
file(REMOVE_RECURSE "${tree}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${tree}/prefix")
run("${CMAKE_COMMAND}" -S "${SOURCE}/examples/cpp" -B "${tree}/example" -G Ninja -DCMAKE_BUILD_TYPE=Release
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${tree}/prefix")
run("${CMAKE_COMMAND}" --build "${tree}/example")

execute_process(COMMAND "${tree}/example/sum_labels" "${tree}/data"
  OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "1000 rows, labels add up to 499500")
  message(FATAL_ERROR "sum_labels printed: ${output}")
endif()

# It exits with 1 where the losses of the replicas are not those of one.
execute_process(COMMAND "${tree}/example/mirrored_train" "${tree}/mirrored" 3
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "50 steps on 1 and on 3 replicas")
  message(FATAL_ERROR "mirrored_train printed: ${output}")
endif()

# The same by NCCL, whose place a library of the host takes; and without it, which is said.
foreach(case "fake/3/NCCL\n" "fake/10/no NCCL, but the ring: there are 8 CUDA devices"
             "none/2/no NCCL, but the ring: none: cannot open")
  string(REGEX REPLACE "^(.*)/(.*)/(.*)$" "\\1;\\2" words "${case}")
  string(REGEX REPLACE "^(.*)/(.*)/(.*)$" "\\3" wanted "${case}")
  list(GET words 0 library)
  list(GET words 1 replicas)
  string(REPLACE "fake" "${FAKE_NCCL}" library "${library}")
  execute_process(COMMAND "${tree}/example/mirrored_train" "${tree}/mirrored" ${replicas} "${library}" "${library}"
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "^${wanted}" OR NOT output MATCHES "50 steps on 1 and on ${replicas} replicas")
    message(FATAL_ERROR "mirrored_train by ${case} printed: ${output}")
  endif()
endforeach()

# The public headers must be whole in the install tree: none may name a file that is not installed.
file(GLOB headers "${tree}/prefix/include/headrace/*.h")
foreach(header IN LISTS headers)
  file(STRINGS "${header}" includes REGEX "^#include \"")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" name "${line}")
    if(NOT EXISTS "${tree}/prefix/include/${name}")
      message(FATAL_ERROR "${header} includes ${name}, which is not installed")
    endif()
  endforeach()
endforeach()
