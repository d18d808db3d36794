# How every target is compiled: warnings, sanitizers.

add_library(refs_compile INTERFACE)
target_compile_options(refs_compile INTERFACE
  -Wall -Wextra -Wshadow -Wvla -Wpointer-arith -Wcast-qual -Wformat=2
  $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wpedantic>
  $<$<COMPILE_LANGUAGE:CXX>:-Wsuggest-override -Woverloaded-virtual>
  # Messages are cut to their buffers on purpose.
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
  $<$<BOOL:${REFS_WERROR}>:-Werror>)
target_compile_definitions(refs_compile INTERFACE _FILE_OFFSET_BITS=64 _POSIX_C_SOURCE=200809L
                                                  _DEFAULT_SOURCE)

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(refs_compile INTERFACE -Wno-suggest-override)
endif()

if(REFS_SANITIZE)
  target_compile_options(refs_compile INTERFACE
    -fsanitize=${REFS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # With sanitizers GCC takes for uninitialised what is not, in std::regex for one; its manual
    # says so.
    $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(refs_compile INTERFACE -fsanitize=${REFS_SANITIZE})
  if(REFS_SANITIZE MATCHES fuzzer)
    # What fuzzing changes has wrong checksums: with this they are not looked at. Clang defines it
    # from version 16 on.
    target_compile_options(refs_compile INTERFACE -UFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
                                                  -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  endif()
  if(REFS_SANITIZE MATCHES address)
    # GCC 12's LeakSanitizer mistakes what is stored in front of a plugin's thread-local storage for
    # the place of that storage, and crashes ("Tracer caught signal 11"). With this model the storage
    # is a part of each thread's own.
    target_compile_options(refs_compile INTERFACE -ftls-model=initial-exec)
  endif()
endif()
