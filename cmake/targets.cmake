# One CMake target a folder. Sources are found by name, so adding a file needs no CMake line:
#   *_test.cc  -> one GoogleTest binary for the folder      *_fuzz.cc  -> one libFuzzer binary each
#   *_bench.cc -> left to bench/micro                        the rest   -> the library or the service
include(GoogleTest)

add_library(apimesh_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_precompile_headers(apimesh_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

add_custom_target(fuzzers)  # all fuzz targets, and nothing that they do not link

function(_apimesh_sources out)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER found EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$|/main\\.cc$")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# A fuzz target links the library of its folder, or, with a line "// Links: FILES LIBRARIES" in it, only these: a parser in a
# folder that needs gRPC can be fuzzed without building gRPC's coroutines by clang.
function(_apimesh_fuzzer source library)
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} links REGEX "^// Links: ")
  set(sources ${source})
  set(libraries ${library})
  if(links)
    string(REPLACE "// Links: " "" links "${links}")
    separate_arguments(links)
    set(libraries ${links})
    list(FILTER libraries EXCLUDE REGEX "\\.cc$")
    list(FILTER links INCLUDE REGEX "\\.cc$")
    list(TRANSFORM links PREPEND ${CMAKE_SOURCE_DIR}/)
    list(APPEND sources ${links})
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${sources})
  target_precompile_headers(${name} REUSE_FROM apimesh_pch)
  target_link_libraries(${name} PRIVATE ${libraries})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endfunction()

function(_apimesh_tests library)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  if(APIMESH_TESTS AND tests)
    add_executable(${library}_test ${tests})
    target_precompile_headers(${library}_test REUSE_FROM apimesh_pch)
    target_compile_options(${library}_test PRIVATE $<$<CONFIG:Release>:-O1>)  # a sixth less time to compile
    target_link_libraries(${library}_test PRIVATE ${library} ${ARGN} GTest::gmock GTest::gtest_main)
    gtest_discover_tests(${library}_test TEST_PREFIX "${library}." DISCOVERY_MODE PRE_TEST
                         DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
  file(GLOB_RECURSE fuzzers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_fuzz.cc)
  if(APIMESH_FUZZ)
    foreach(source IN LISTS fuzzers)
      _apimesh_fuzzer(${source} ${library})
    endforeach()
  endif()
endfunction()

# apimesh_library(NAME [DEPS target...] [TEST_DEPS target...]): everything below the current folder.
function(apimesh_library name)
  cmake_parse_arguments(arg "" "" "DEPS;TEST_DEPS" ${ARGN})
  _apimesh_sources(sources)
  add_library(${name} STATIC ${sources})
  target_precompile_headers(${name} REUSE_FROM apimesh_pch)
  target_link_libraries(${name} PUBLIC ${arg_DEPS})
  _apimesh_tests(${name} ${arg_TEST_DEPS})
endfunction()

# apimesh_service(NAME [DEPS target...]): library NAME_lib of the folder, and the binary NAME from its main.cc.
function(apimesh_service name)
  cmake_parse_arguments(arg "" "" "DEPS;TEST_DEPS" ${ARGN})
  _apimesh_sources(sources)
  add_library(${name}_lib STATIC ${sources})
  target_precompile_headers(${name}_lib REUSE_FROM apimesh_pch)
  target_link_libraries(${name}_lib PUBLIC ${arg_DEPS})
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
  target_precompile_headers(${name} REUSE_FROM apimesh_pch)
  target_link_libraries(${name} PRIVATE ${name}_lib $<$<BOOL:${JEMALLOC_LIBRARY}>:-Wl,--no-as-needed,${JEMALLOC_LIBRARY},--as-needed>)
  _apimesh_tests(${name}_lib ${arg_TEST_DEPS})
endfunction()

# apimesh_proto(NAME FILES... [GRPC]): C++ for .proto files given relative to the repository root. With GRPC the messages
# are also a library of their own, NAME_messages, for programs that should not load gRPC. Generated code is protoc's to check, and
# takes half a minute a file under asan and ubsan; tsan has to see it, as it sees what one thread hands to another.
function(apimesh_proto name)
  cmake_parse_arguments(arg "GRPC" "" "FILES;DEPS" ${ARGN})
  find_program(GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
  set(quiet -w)
  if(APIMESH_SANITIZE MATCHES "address")
    list(APPEND quiet -fno-sanitize=all)
  endif()
  set(gen ${CMAKE_BINARY_DIR}/gen)
  file(MAKE_DIRECTORY ${gen})
  foreach(file IN LISTS arg_FILES)
    string(REGEX REPLACE "\\.proto$" "" stem ${file})
    set(outputs ${gen}/${stem}.pb.cc ${gen}/${stem}.pb.h)
    set(grpc_outputs "")
    set(command protobuf::protoc -I${CMAKE_SOURCE_DIR} --cpp_out=${gen})
    if(arg_GRPC)
      set(grpc_outputs ${gen}/${stem}.grpc.pb.cc ${gen}/${stem}.grpc.pb.h)
      list(APPEND command --grpc_out=${gen} --plugin=protoc-gen-grpc=${GRPC_PLUGIN})
    endif()
    add_custom_command(OUTPUT ${outputs} ${grpc_outputs} COMMAND ${command} ${CMAKE_SOURCE_DIR}/${file}
                       DEPENDS ${CMAKE_SOURCE_DIR}/${file} VERBATIM)
    list(APPEND messages ${outputs})
    list(APPEND services ${grpc_outputs})
  endforeach()
  set(messages_library ${name})
  if(arg_GRPC)
    set(messages_library ${name}_messages)
    add_library(${name} STATIC ${services})
    target_compile_options(${name} PRIVATE ${quiet} $<$<CONFIG:Release>:-O0>)  # gRPC's own stubs: for tests and tools
    target_link_libraries(${name} PUBLIC ${messages_library} gRPC::grpc++)
  endif()
  add_library(${messages_library} STATIC ${messages})
  target_compile_options(${messages_library} PRIVATE ${quiet})
  target_link_libraries(${messages_library} PUBLIC protobuf::libprotobuf ${arg_DEPS})
endfunction()
