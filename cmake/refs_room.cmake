# Rooms: the parts of the core, and which of them may enter which.
#
#   refs_room(base HEADERS bytes.h INSIDE pool.h ENTERS … SOURCES pool.c buf.c [LIBRARIES …])
#
# HEADERS are public, in include/refs; INSIDE names headers in the room's folder that other rooms of
# the project may use, as refs/pool.h, and programs may not.
#
# Each room is an OBJECT library that sees these headers of the rooms it may enter and no others: they
# are linked into one include folder per room, so that a wrong arrow does not compile. What a room
# needs from elsewhere comes in by LIBRARIES, in that room alone.

set_property(GLOBAL PROPERTY REFS_ROOMS "")

function(refs_room name)
  cmake_parse_arguments(ROOM "" "" "HEADERS;INSIDE;ENTERS;SOURCES;LIBRARIES" ${ARGN})

  set(folder ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${folder}/refs)
  foreach(header IN LISTS ROOM_HEADERS)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/refs/${header} ${folder}/refs/${header} SYMBOLIC)
  endforeach()

  foreach(header IN LISTS ROOM_INSIDE)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${folder}/refs/${header} SYMBOLIC)
  endforeach()

  add_library(refs_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(refs_${name} PRIVATE ${folder} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(room IN LISTS ROOM_ENTERS)
    target_include_directories(refs_${name} PRIVATE ${PROJECT_BINARY_DIR}/rooms/${room})
  endforeach()
  target_link_libraries(refs_${name} PRIVATE refs_compile ${ROOM_LIBRARIES})

  set_property(GLOBAL APPEND PROPERTY REFS_ROOMS ${name})
  set_property(GLOBAL APPEND PROPERTY REFS_ROOM_LIBRARIES ${ROOM_LIBRARIES})
endfunction()

# The core as one static library, refs_core, from all rooms declared so far.
function(refs_core)
  get_property(rooms GLOBAL PROPERTY REFS_ROOMS)
  get_property(libraries GLOBAL PROPERTY REFS_ROOM_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  set(objects "")
  foreach(room IN LISTS rooms)
    list(APPEND objects $<TARGET_OBJECTS:refs_${room}>)
  endforeach()
  add_library(refs_core STATIC ${objects})
  target_include_directories(refs_core PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(refs_core PUBLIC ${libraries})

  # For the driver and the tests: what is inside, too.
  add_library(refs_inside INTERFACE)
  foreach(room IN LISTS rooms)
    target_include_directories(refs_inside INTERFACE ${PROJECT_BINARY_DIR}/rooms/${room})
  endforeach()
endfunction()
