# What a wheel has: the component `wheel`, below the package gdal_refs.
#
# A process loads the libgdal of another wheel, whose file has a name of its own. The plugins here are linked with a
# library of a name that gdal_refs replaces by that of libgdal when it loads them; libcurl has to be the one of
# libgdal (docs/decisions/0005-the-libcurl-of-libgdal.md) and is found behind it. PROJ's functions have other names in
# some of these wheels: the plugin brings its own PROJ.
set(refs_placeholder gdal-is-named-here-when-gdal_refs-loads-this-plugin-0000)
file(WRITE ${PROJECT_BINARY_DIR}/placeholder.c "extern int refs_placeholder;\nint refs_placeholder;\n")
add_library(refs_placeholder SHARED ${PROJECT_BINARY_DIR}/placeholder.c)
set_target_properties(refs_placeholder PROPERTIES OUTPUT_NAME ${refs_placeholder})

# Wheels for manylinux2014 have the C++ interface that GCC had before 2015, in which strings are other types; those
# of rasterio and fiona up to GDAL 3.9. Their plugins lie in the folder cxx98.
set(REFS_GDAL_HEADERS "" CACHE STRING
    "Wheels: minor versions of GDAL and their headers, 3.10=FOLDER;cxx98/3.9=FOLDER; if empty, the GDAL that is found")
set(headers ${REFS_GDAL_HEADERS})
if(NOT headers)
  string(REGEX MATCH "^[0-9]+[.][0-9]+" minor ${GDAL_VERSION})
  get_target_property(folder GDAL::GDAL INTERFACE_INCLUDE_DIRECTORIES)
  set(headers "${minor}=${folder}")
endif()

get_property(libraries GLOBAL PROPERTY REFS_MODULE_LIBRARIES)
list(REMOVE_DUPLICATES libraries)
list(REMOVE_ITEM libraries refs_curl)

# refs_wheel_plugin(3.10 /…/include) or refs_wheel_plugin(cxx98/3.9 /…/include)
function(refs_wheel_plugin place folder)
  string(REPLACE "/" "_" name ${place})
  string(REGEX MATCH "[0-9.]+$" minor ${place})
  refs_gdal_objects(refs_gdal_${name} ${minor})
  target_include_directories(refs_gdal_${name} SYSTEM PRIVATE ${folder})
  # cpl_config.h of a build of GDAL has this, that of its sources in gdal-async has not.
  target_compile_definitions(refs_gdal_${name} PRIVATE USE_GCC_VISIBILITY_FLAG=1)
  if(place MATCHES "^cxx98/")
    target_compile_definitions(refs_gdal_${name} PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
  endif()
  add_library(gdal_REFS_${name} MODULE $<TARGET_OBJECTS:refs_gdal_${name}>)
  add_dependencies(gdal_REFS_${name} refs_core)
  target_link_libraries(gdal_REFS_${name} PRIVATE
    -Wl,--no-as-needed refs_placeholder -Wl,--as-needed refs_compile $<TARGET_FILE:refs_core> ${libraries})
  target_link_options(gdal_REFS_${name} PRIVATE LINKER:--exclude-libs,ALL)
  set_target_properties(gdal_REFS_${name} PROPERTIES
    PREFIX ""
    OUTPUT_NAME gdal_REFS
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/wheel/${place})
  install(TARGETS gdal_REFS_${name} LIBRARY DESTINATION gdal_refs/gdalplugins/${place} COMPONENT wheel)
  add_dependencies(wheel gdal_REFS_${name})
endfunction()

add_custom_target(wheel DEPENDS refs_tool)
foreach(entry IN LISTS headers)
  string(REGEX MATCH "^((cxx98/)?[0-9]+[.][0-9]+)=(/.*)$" matched ${entry})
  if(NOT matched OR NOT EXISTS ${CMAKE_MATCH_3}/gdal_priv.h)
    message(FATAL_ERROR "REFS_GDAL_HEADERS: expected 3.10=FOLDER with gdal_priv.h in it, found ${entry}")
  endif()
  refs_wheel_plugin(${CMAKE_MATCH_1} ${CMAKE_MATCH_3})
endforeach()

install(TARGETS refs_tool RUNTIME DESTINATION gdal_refs/bin COMPONENT wheel)
if(TARGET ncrefs)
  add_dependencies(wheel ncrefs)
  install(TARGETS ncrefs LIBRARY DESTINATION gdal_refs/lib COMPONENT wheel)
endif()
# The module of Python looks for it beside itself.
add_dependencies(wheel refs_library)
install(FILES $<TARGET_FILE:refs_library> DESTINATION gdal_refs RENAME librefs.so.0 COMPONENT wheel)

# The database of the PROJ that is linked.
find_file(REFS_PROJ_DB proj.db PATHS ${PROJ_DIR}/../../../share/proj ${PROJ_DIR}/../../../../share/proj /usr/share/proj
          NO_DEFAULT_PATH REQUIRED)
install(FILES ${REFS_PROJ_DB} DESTINATION gdal_refs/proj COMPONENT wheel)
