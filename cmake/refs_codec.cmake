# Codecs: one file each, gathered in a table when the build is configured.
#
#   refs_codec_library(zstd HEADER zstd.h PACKAGE libzstd-dev)     looks for libzstd
#   refs_codec_library(eccodes HEADER eccodes.h PACKAGE libeccodes-dev LAZY)
#                                                                  which is loaded when it is used
#   refs_add_codec(hdf5/shuffle)                                   hdf5/shuffle.c, needs nothing
#   refs_add_codec(general/zstd LIBRARIES zstd SHARES general/stream.c)
#                                                                  both files, needs libzstd
#   refs_add_codec(image/webp ID imagecodecs_webp LIBRARIES webp)  where the id is not the file's name
#   refs_codec_table(sources libraries)                            what refs_module is to be given
#
# A codec whose library is not found stays in the table as a row that names the library, so that
# the error for data which need it can say so.

set(REFS_WITHOUT "" CACHE STRING "Libraries not to use even if found, for example blosc;lz4")

# Fails if REFS_WITHOUT names a library that no refs_codec_library has looked for.
function(refs_check_without)
  get_property(names GLOBAL PROPERTY REFS_LIBRARY_NAMES)
  list(REMOVE_DUPLICATES names)
  list(SORT names CASE INSENSITIVE)
  list(JOIN names ", " shown)
  foreach(name IN LISTS REFS_WITHOUT)
    if(NOT name IN_LIST names)
      message(FATAL_ERROR "REFS_WITHOUT: expected names of libraries with semicolons between them, found \"${name}\": "
                          "write some of ${shown}")
    endif()
  endforeach()
endfunction()

# Sets `target` to the name by which the dynamic linker knows `library`.
function(refs_soname library target)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers ERROR_QUIET)
  string(REGEX MATCH "SONAME +([^ \n]+)" found "${headers}")
  if(NOT found)
    message(FATAL_ERROR "${library} has no SONAME: is it a shared library?")
  endif()
  set(${target} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# A library that few need and that takes megabytes just by being there is not linked: its codec
# loads it (lazy.h), by the name in the definition REFS_LAZY_<name>.
function(refs_lazy_target name)
  add_library(refs::${name} INTERFACE IMPORTED GLOBAL)
  refs_soname(${REFS_${name}_LIBRARY} soname)
  set_target_properties(refs::${name} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${REFS_${name}_INCLUDE}
    INTERFACE_COMPILE_DEFINITIONS REFS_LAZY_${name}="${soname}"
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endfunction()

# Makes the target refs::<name> where the library is found, and a message where it is not.
function(refs_codec_library name)
  cmake_parse_arguments(LIB "LAZY" "HEADER;PACKAGE" "FOLDERS" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY REFS_LIBRARY_NAMES ${name})
  if(name IN_LIST REFS_WITHOUT)
    message(STATUS "Codec library lib${name}: left out")
    return()
  endif()
  find_path(REFS_${name}_INCLUDE ${LIB_HEADER} PATH_SUFFIXES ${LIB_FOLDERS}
            HINTS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  find_library(REFS_${name}_LIBRARY ${name})
  mark_as_advanced(REFS_${name}_INCLUDE REFS_${name}_LIBRARY)
  if(NOT REFS_${name}_INCLUDE OR NOT REFS_${name}_LIBRARY)
    message(STATUS "Codec library lib${name}: not found (Debian: ${LIB_PACKAGE})")
    return()
  endif()
  message(STATUS "Codec library lib${name}: ${REFS_${name}_LIBRARY}")
  if(TARGET refs::${name})
    return()
  endif()
  if(LIB_LAZY)
    refs_lazy_target(${name})
  else()
    add_library(refs::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(refs::${name} PROPERTIES
      IMPORTED_LOCATION ${REFS_${name}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${REFS_${name}_INCLUDE})
  endif()
endfunction()

macro(refs_add_codec source)
  get_filename_component(name ${source} NAME)
  cmake_parse_arguments(CODEC "" "ID" "LIBRARIES;SHARES" ${ARGN})
  set(missing "")
  foreach(library IN LISTS CODEC_LIBRARIES)
    if(NOT TARGET refs::${library})
      string(APPEND missing " lib${library}")
    endif()
  endforeach()
  if(NOT missing)
    list(APPEND refs_codec_sources ${source}.c ${CODEC_SHARES})
    list(TRANSFORM CODEC_LIBRARIES PREPEND refs::)
    list(APPEND refs_codec_libraries ${CODEC_LIBRARIES})
    string(APPEND refs_codec_rows "extern const refs_codec_type refs_codec_${name};\n")
  else()
    string(STRIP "${missing}" missing)
    if(NOT CODEC_ID)
      set(CODEC_ID ${name})
    endif()
    message(STATUS "Codec ${CODEC_ID}: not in this build (needs ${missing})")
    # Its other names are in its source, if it has one.
    set(aliases NULL)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source}.c)
      file(READ ${source}.c source_text)
      if(source_text MATCHES "aliases\\[\\] = {([^}]*)}")
        set(aliases ${CMAKE_MATCH_1})
      endif()
    endif()
    string(APPEND refs_codec_rows "static const char *const aliases_of_${name}[] = {${aliases}};\n"
      "static const refs_codec_type refs_codec_${name} = {\n"
      "    .name = \"${CODEC_ID}\", .aliases = aliases_of_${name}, .library = \"${missing}\",\n"
      "    .missing = \"${missing}\"};\n")
  endif()
  string(APPEND refs_codec_pointers "    &refs_codec_${name},\n")
endmacro()

# Writes the table, and sets the variables named by the arguments.
macro(refs_codec_table sources libraries)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/table.c @ONLY CONTENT
"/* table.c -- see table.h. Written by cmake/refs_codec.cmake. */
#include \"table.h\"

@refs_codec_rows@
const refs_codec_type *const refs_codec__table[] = {
@refs_codec_pointers@    NULL,
};
")
  list(REMOVE_DUPLICATES refs_codec_sources)
  list(REMOVE_DUPLICATES refs_codec_libraries)
  file(RELATIVE_PATH ${sources} ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/table.c)
  list(APPEND ${sources} ${refs_codec_sources})
  set(${libraries} ${refs_codec_libraries})
endmacro()
