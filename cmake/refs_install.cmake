# cmake --install: the plugin where GDAL looks for it, the programs, and the C core for programs without GDAL.
include(GNUInstallDirs)

# -- the plugin -------------------------------------------------------------------------------------

# Prints what gdal-config says, or sets nothing where it does not know the option.
function(refs_ask_gdal option result)
  find_program(REFS_GDAL_CONFIG gdal-config)
  mark_as_advanced(REFS_GDAL_CONFIG)
  if(REFS_GDAL_CONFIG)
    execute_process(COMMAND ${REFS_GDAL_CONFIG} ${option} OUTPUT_VARIABLE answer ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
    if(status EQUAL 0 AND answer MATCHES "^/[^\n]*$")
      set(${result} ${answer} PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Where the installed GDAL looks for plugins: it says so itself from 3.9 on; before, the folder is a
# text in the library.
function(refs_find_plugin_dir result)
  refs_ask_gdal(--plugindir folder)
  if(NOT folder)
    get_target_property(library GDAL::GDAL LOCATION)
    file(STRINGS ${library} folders REGEX "^/.*/gdalplugins$")
    list(GET folders 0 folder)
  endif()
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

# The same folder below a prefix, as GDAL has it below its own: lib/gdalplugins, or
# lib/x86_64-linux-gnu/gdalplugins.
function(refs_place_plugin folder result)
  refs_ask_gdal(--prefix prefix)
  if(prefix AND folder MATCHES "^${prefix}/(.*)$")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${result} ${CMAKE_INSTALL_LIBDIR}/gdalplugins PARENT_SCOPE)
  endif()
endfunction()

include(refs_gdal)
# Not of the type PATH: that would make a relative one of the command line one of the working directory.
set(REFS_PLUGIN_DIR "" CACHE STRING "Where the plugin is installed, if not below the prefix as GDAL's plugins are below GDAL's")
set(refs_plugin_place ${REFS_PLUGIN_DIR})
refs_find_plugin_dir(refs_gdal_plugins)
if(NOT refs_plugin_place)
  refs_place_plugin(${refs_gdal_plugins} refs_plugin_place)
endif()
message(STATUS "The plugin is installed in: ${refs_plugin_place} (GDAL looks in ${refs_gdal_plugins})")
install(TARGETS gdal_REFS LIBRARY DESTINATION ${refs_plugin_place} COMPONENT plugin)

# -- the program ------------------------------------------------------------------------------------

set(refs_texts ${PROJECT_BINARY_DIR}/frmts/refs/cli)
install(TARGETS refs_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(FILES ${refs_texts}/man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME refs.1 COMPONENT tool)
install(FILES ${refs_texts}/bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions
        RENAME refs COMPONENT tool)
install(FILES ${refs_texts}/zsh DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions
        RENAME _refs COMPONENT tool)

# -- netCDF-C ---------------------------------------------------------------------------------------

# The library that netCDF-C loads, or that `ncrefs` has loaded before a program's own.
if(TARGET ncrefs)
  set(refs_netcdf_dir ${CMAKE_INSTALL_LIBDIR}/ncrefs)
  install(TARGETS ncrefs LIBRARY DESTINATION ${refs_netcdf_dir} COMPONENT netcdf)
  file(RELATIVE_PATH REFS_NCREFS_FOLDER ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_PREFIX}/${refs_netcdf_dir})
  configure_file(frmts/refs/netcdf_c/ncrefs.sh ncrefs @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/ncrefs DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT netcdf)
endif()

# -- librefs.so -------------------------------------------------------------------------------------

install(TARGETS refs_library
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)

# -- the core ---------------------------------------------------------------------------------------

# Files of the libraries that targets stand for: what programs link after the core.
function(refs_library_files result)
  set(files "")
  foreach(library IN LISTS ARGN)
    if(NOT TARGET ${library})
      list(APPEND files ${library})
      continue()
    endif()
    get_target_property(kind ${library} TYPE)
    if(NOT kind STREQUAL INTERFACE_LIBRARY)
      foreach(configuration "" _RELEASE _NONE _RELWITHDEBINFO)
        get_target_property(file ${library} IMPORTED_LOCATION${configuration})
        if(file)
          list(APPEND files ${file})
          break()
        endif()
      endforeach()
    endif()
    get_target_property(more ${library} INTERFACE_LINK_LIBRARIES)
    if(more)
      refs_library_files(inner ${more})
      list(APPEND files ${inner})
    endif()
  endforeach()
  list(FILTER files EXCLUDE REGEX "^\\$<")
  list(REMOVE_DUPLICATES files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

get_property(refs_libraries GLOBAL PROPERTY REFS_MODULE_LIBRARIES)
refs_library_files(REFS_LINKED_FILES ${refs_libraries})
set(REFS_LINKED_FLAGS "")
foreach(file IN LISTS REFS_LINKED_FILES)
  if(file MATCHES "^[/-]")
    string(APPEND REFS_LINKED_FLAGS " ${file}")
  else()
    string(APPEND REFS_LINKED_FLAGS " -l${file}")
  endif()
endforeach()

# Both files find the rest from where they lie, so that the tree may be moved.
file(RELATIVE_PATH REFS_PC_TO_INCLUDE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH REFS_CMAKE_TO_INCLUDE ${CMAKE_INSTALL_FULL_LIBDIR}/cmake/refs
     ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/refs.pc.in refs.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/librefs.pc.in librefs.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/refs-config.cmake.in refs-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(refs-config-version.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS refs_core ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY include/refs DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/refs.pc ${PROJECT_BINARY_DIR}/librefs.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/refs-config.cmake ${PROJECT_BINARY_DIR}/refs-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/refs COMPONENT dev)

# -- pages ------------------------------------------------------------------------------------------

# Under the names that Debian's packages of the components have. The plugin's has the pages too: the driver names one of
# them as its help (GDAL_DMD_HELPTOPIC).
set(refs_components plugin=libgdal-plugin-refs library=librefs0 dev=librefs-dev tool=refs)
if(TARGET ncrefs)
  list(APPEND refs_components netcdf=libncrefs)
endif()
foreach(entry IN LISTS refs_components)
  string(REGEX MATCH "(.*)=(.*)" entry ${entry})
  install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CMAKE_MATCH_2} COMPONENT ${CMAKE_MATCH_1})
endforeach()
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libgdal-plugin-refs COMPONENT plugin
        PATTERN decisions EXCLUDE PATTERN *.sh EXCLUDE)
