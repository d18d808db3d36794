# libcurl for the HTTP engine, as target refs_curl.
#
# GDAL sets options on the engine's handles (CPLHTTPSetOptions), so that both must run on the same
# libcurl: Debian has several flavours of it side by side, and a handle of one must never reach
# another. What libgdal itself was linked with is looked up in it.

include(refs_gdal)
get_target_property(gdal_file GDAL::GDAL LOCATION)

find_path(REFS_CURL_INCLUDE_DIR curl/curl.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE})
if(NOT REFS_CURL_INCLUDE_DIR)
  message(FATAL_ERROR "curl/curl.h is needed (Debian: libcurl4-gnutls-dev)")
endif()

execute_process(COMMAND ldd ${gdal_file} OUTPUT_VARIABLE linked ERROR_QUIET)
if(linked MATCHES "(libcurl[^ ]*) => ([^ ]+)")
  set(REFS_CURL_LIBRARY ${CMAKE_MATCH_2})
else()
  find_library(REFS_CURL_LIBRARY curl REQUIRED)
endif()
message(STATUS "libcurl of libgdal: ${REFS_CURL_LIBRARY}")

add_library(refs_curl INTERFACE)
target_include_directories(refs_curl SYSTEM INTERFACE ${REFS_CURL_INCLUDE_DIR})
target_link_libraries(refs_curl INTERFACE ${REFS_CURL_LIBRARY})
