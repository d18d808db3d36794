# Tests: one GoogleTest program per folder.
#
#   refs_gtest(unit_base SOURCES error_test.cc bytes_test.cc [THREADS Fork.*] [LIBRARIES ...])
#
# THREADS: patterns of tests that are about threads. They have a label of their own, unit_base_threads,
# so that `ctest -L threads` runs those of all programs, for ThreadSanitizer above all.
#
# Each test is a process of its own. With sanitizers that takes 0.3 s of processor time before a test
# begins, most of what they all take: there a program runs in parts (refs_add_parts).

find_package(GTest REQUIRED)
include(GoogleTest)

# Compiling tests takes most of a build's time, optimising them most of that.
add_library(refs_test INTERFACE)
target_link_libraries(refs_test INTERFACE refs_compile GTest::gtest)
target_compile_options(refs_test INTERFACE ${REFS_TEST_OPTIONS})

# Reading GoogleTest's and the library's headers is two thirds of what a test takes to compile: they
# are compiled once for all programs (refs_use_test_headers), for a program since the others are
# programs: a library's options differ (-fPIC).
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc CONTENT "")
add_executable(refs_test_headers EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc)
target_link_libraries(refs_test_headers PRIVATE refs_test GTest::gtest_main)
target_precompile_headers(refs_test_headers PRIVATE
  <gtest/gtest.h> <algorithm> <atomic> <chrono> <cmath> <cstdlib> <filesystem> <fstream> <functional>
  <map> <memory> <random> <set> <sstream> <string> <thread> <vector>)

function(refs_use_test_headers target)
  target_precompile_headers(${target} REUSE_FROM refs_test_headers)
endfunction()

# What sanitizers are told in tests, each with its reason:
set(REFS_SANITIZER_OPTIONS "")
if(REFS_SANITIZE MATCHES address)
  # Tests ask for more memory than there is, five terabytes in one: that shall fail with a null
  # pointer, as it does without sanitizers.
  set(REFS_SANITIZER_OPTIONS ASAN_OPTIONS=allocator_may_return_null=1)
elseif(REFS_SANITIZE MATCHES thread)
  # The same; and children of fork(2) that start threads are what some tests are about.
  string(JOIN ":" REFS_SANITIZER_OPTIONS
    TSAN_OPTIONS=allocator_may_return_null=1
    die_after_fork=0
    suppressions=${PROJECT_SOURCE_DIR}/autotest/sanitize/tsan.supp)
endif()

# Runs the tests of program `name` that match `filter`, in as many processes as it has sources, but in
# four at least.
function(refs_add_parts name label filter)
  get_target_property(sources ${name} SOURCES)
  list(LENGTH sources n)
  if(n LESS 4)
    set(n 4)
  endif()
  math(EXPR last "${n} - 1")
  foreach(i RANGE ${last})
    add_test(NAME ${label}.${name}.Part${i} COMMAND ${name} --gtest_brief=1 --gtest_filter=${filter})
    set_tests_properties(${label}.${name}.Part${i} PROPERTIES LABELS ${label}
      ENVIRONMENT "${REFS_SANITIZER_OPTIONS};GTEST_TOTAL_SHARDS=${n};GTEST_SHARD_INDEX=${i}")
  endforeach()
endfunction()

function(refs_discover_tests name)
  cmake_parse_arguments(TEST "" "PREFIX;LABEL;TIMEOUT;ENVIRONMENT" "THREADS" ${ARGN})
  list(JOIN TEST_THREADS ":" threads)
  if(REFS_SANITIZER_OPTIONS)
    refs_add_parts(${name} ${TEST_LABEL} "-${threads}")
    if(TEST_THREADS)
      refs_add_parts(${name} ${TEST_LABEL}_threads "${threads}")
    endif()
    return()
  endif()
  set(properties DISCOVERY_TIMEOUT 60)
  if(TEST_PREFIX)
    list(APPEND properties TEST_PREFIX "${TEST_PREFIX}")
  endif()
  list(APPEND properties PROPERTIES)
  if(TEST_TIMEOUT)
    list(APPEND properties TIMEOUT ${TEST_TIMEOUT})
  endif()
  if(TEST_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${TEST_ENVIRONMENT}")
  endif()
  if(NOT TEST_THREADS)
    gtest_discover_tests(${name} ${properties} LABELS ${TEST_LABEL})
    return()
  endif()
  gtest_discover_tests(${name} TEST_FILTER "-${threads}" TEST_LIST ${name}_others
                       ${properties} LABELS ${TEST_LABEL})
  gtest_discover_tests(${name} TEST_FILTER "${threads}" TEST_LIST ${name}_threads
                       ${properties} LABELS ${TEST_LABEL}_threads)
endfunction()

function(refs_gtest name)
  cmake_parse_arguments(TEST "" "" "SOURCES;THREADS;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE refs_test refs_inside refs_core ${TEST_LIBRARIES} GTest::gtest_main)
  refs_use_test_headers(${name})
  refs_discover_tests(${name} LABEL ${name} THREADS ${TEST_THREADS})
endfunction()
