# Tests: one GoogleTest program per folder.
#
#   refs_gtest(unit_base SOURCES error_test.cc bytes_test.cc)

find_package(GTest REQUIRED)
include(GoogleTest)

function(refs_gtest name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE refs_compile refs_core ${TEST_LIBRARIES} GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${name})
endfunction()
