# Compiler and linker options of all targets. ccache, mold and a shared precompiled header keep builds short on two cores.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(APIMESH_CCACHE ccache)
if(APIMESH_CCACHE)
  # With base_dir and nohashdir, clones and worktrees share one cache. The documentation of ccache requires these sloppiness options for
  # precompiled headers.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${APIMESH_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_program(APIMESH_MOLD mold)
if(APIMESH_MOLD)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(--ld-path=${APIMESH_MOLD})
  else()
    add_link_options(-fuse-ld=mold)
  endif()
endif()

add_compile_options(-pthread -Wall -Wextra -Wno-missing-field-initializers -fdiagnostics-color=auto)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # At -O2, GCC 12 reports false positives of these warnings for coroutines and inlined std::string code.
  add_compile_options(-fpch-preprocess -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer
                      -Wno-mismatched-new-delete -Wno-stringop-overread -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_UNITY_BUILD)
  add_compile_options(-Wno-subobject-linkage)  # GCC treats the anonymous namespace of an included .cc file like one in a header
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
# Targets of gRPC and GoogleTest add -pthread. The shared precompiled header is only used with equal flags, so every target gets it.
add_compile_options(-pthread)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--as-needed)

if(APIMESH_SANITIZE)
  add_compile_options(-fsanitize=${APIMESH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${APIMESH_SANITIZE})
  if(APIMESH_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # These options save about 40 % of the compile time (measured on two files). The checks of asan are function calls instead of inline code.
    # The checks null and object-size of ubsan are left out because asan reports most of these errors; alignment and vptr run only in the
    # fuzz targets, which clang builds.
    add_compile_options(--param=asan-instrumentation-with-call-threshold=0 -fno-sanitize=null,object-size,alignment,vptr)
  endif()
endif()
if(APIMESH_FUZZ)
  # For -fsanitize=function, Clang 14 stores the type signature as an offset from the function. The parts of a split coroutine are in other
  # sections, and the assembler rejects an offset between sections.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=function)
endif()

# Asio and Beast are compiled once, in lib/base/boost_sources.cc.
add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
                        BOOST_ASIO_NO_DEPRECATED)
# Asio caches two freed blocks of each kind, and frees one of them if neither is large enough. A request has about forty coroutine frames,
# so the cache rarely helps. Allocating directly is faster, in particular without a requested alignment.
add_compile_definitions(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING
                        BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN)
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/gen)
