# How everything is compiled. Compile time is a feature on two cores: ccache, mold, one precompiled header.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(APIMESH_CCACHE ccache)
if(APIMESH_CCACHE)
  # base_dir and nohashdir let clones and worktrees share one cache; the sloppiness is what ccache asks for with
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
  # GCC 12 reports these falsely through coroutines and inlined std::string code at -O2.
  add_compile_options(-fpch-preprocess -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer
                      -Wno-mismatched-new-delete -Wno-stringop-overread -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_UNITY_BUILD)
  add_compile_options(-Wno-subobject-linkage)  # it takes an anonymous namespace of an included .cc for one of a header
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
# gRPC and GoogleTest bring -pthread along; the shared precompiled header is only used where the flags are the same.
add_compile_options(-pthread)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--as-needed)

if(APIMESH_SANITIZE)
  add_compile_options(-fsanitize=${APIMESH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${APIMESH_SANITIZE})
  if(APIMESH_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Some 40 % less time to compile (two files measured): checks are calls, and what asan (null, object-size) or the fuzz targets (alignment, vptr: built
    # by clang with all of ubsan) find as well is left out.
    add_compile_options(--param=asan-instrumentation-with-call-threshold=0 -fno-sanitize=null,object-size,alignment,vptr)
  endif()
endif()
if(APIMESH_FUZZ)
  # Clang 14 keeps the type signature of -fsanitize=function as an offset from the function it belongs to; the parts a
  # coroutine is split into land in other sections, and the assembler refuses that difference.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=function)
endif()

# Asio and Beast are compiled once, in lib/base/boost_sources.cc.
add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
                        BOOST_ASIO_NO_DEPRECATED)
# Asio keeps two freed blocks of a kind and gives one back to the allocator whenever neither fits, which a request of forty coroutine
# frames makes it do all the time. The allocator itself is faster than that, most of all when no alignment is asked of it.
add_compile_definitions(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING
                        BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN)
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/gen)
