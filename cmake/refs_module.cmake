# Modules: the parts of the core, and which of them may enter which.
#
#   refs_module(base HEADERS bytes.h INSIDE pool.h ENTERS … SOURCES pool.c buf.c [LIBRARIES …])
#
# HEADERS are public, in include/refs; INSIDE names headers in the module's folder that other modules of
# the project may use, as refs/pool.h or refs/http/handle.h, and programs may not.
#
# Each module is an OBJECT library that sees these headers of the modules it may enter and no others: they
# are linked into one include folder per module, so that a wrong arrow does not compile. What a module
# needs from elsewhere comes in by LIBRARIES, in that module alone.

set_property(GLOBAL PROPERTY REFS_MODULES "")

function(refs_module name)
  cmake_parse_arguments(MODULE "" "" "HEADERS;INSIDE;ENTERS;SOURCES;LIBRARIES" ${ARGN})

  set(folder ${PROJECT_BINARY_DIR}/modules/${name})
  foreach(header IN LISTS MODULE_HEADERS MODULE_INSIDE)
    get_filename_component(path ${folder}/refs/${header} DIRECTORY)
    file(MAKE_DIRECTORY ${path})
  endforeach()
  foreach(header IN LISTS MODULE_HEADERS)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/refs/${header} ${folder}/refs/${header} SYMBOLIC)
  endforeach()

  foreach(header IN LISTS MODULE_INSIDE)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${folder}/refs/${header} SYMBOLIC)
  endforeach()

  add_library(refs_${name} OBJECT ${MODULE_SOURCES})
  target_include_directories(refs_${name} PRIVATE ${folder} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(module IN LISTS MODULE_ENTERS)
    target_include_directories(refs_${name} PRIVATE ${PROJECT_BINARY_DIR}/modules/${module})
  endforeach()
  target_link_libraries(refs_${name} PRIVATE refs_compile ${MODULE_LIBRARIES})

  set_property(GLOBAL APPEND PROPERTY REFS_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY REFS_MODULE_LIBRARIES ${MODULE_LIBRARIES})
endfunction()

# The core as one static library, refs_core, from all modules declared so far.
function(refs_core)
  get_property(modules GLOBAL PROPERTY REFS_MODULES)
  get_property(libraries GLOBAL PROPERTY REFS_MODULE_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  set(objects "")
  foreach(module IN LISTS modules)
    list(APPEND objects $<TARGET_OBJECTS:refs_${module}>)
  endforeach()
  add_library(refs_core STATIC ${objects})
  target_include_directories(refs_core PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(refs_core PUBLIC ${libraries})

  # For the driver and the tests: what is inside, too.
  add_library(refs_inside INTERFACE)
  foreach(module IN LISTS modules)
    target_include_directories(refs_inside INTERFACE ${PROJECT_BINARY_DIR}/modules/${module})
  endforeach()
endfunction()
