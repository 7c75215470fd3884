# One CMake target per folder. Sources are found by name, so adding a file needs no CMake line:
#   *_test.cc  -> one GoogleTest binary for the folder      *_fuzz.cc  -> one libFuzzer binary each
#   *_bench.cc -> a microbenchmark (bench/micro)            other *.cc -> the library or the service
#   test_*.cc, testing/*.cc -> NAME_testing, a library for the tests of this folder and of other folders
include(GoogleTest)

add_library(apimesh_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_precompile_headers(apimesh_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)

if(CMAKE_UNITY_BUILD)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# In a unity build (release and the sanitizers, which then compile in a third of the time), sets which files of `target` are compiled
# together. The groups are computed when CMake runs. If an edit gives two files of a group the same private name, the build fails until
# CMake runs again; `./apimesh build` detects this and runs CMake.
function(_apimesh_unity target)
  if(CMAKE_UNITY_BUILD AND ARGN)
    set(script ${CMAKE_SOURCE_DIR}/cmake/unity_groups.py)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${CMAKE_BINARY_DIR}/unity/${target}.txt ${CMAKE_UNITY_BUILD_BATCH_SIZE} ${ARGN}
                    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" lines "${lines}")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^([0-9]+) (.*)$" _ "${line}")
      set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
    endforeach()
  endif()
endfunction()

add_custom_target(fuzzers)  # builds all fuzz targets and the libraries that they link

set(_apimesh_testing_regex "${CMAKE_SOURCE_DIR}/(lib|services)/.+/(test_[^/]*|testing/.*)\\.cc$")

function(_apimesh_sources target out)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER found EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$|/main\\.cc$")
  list(FILTER found EXCLUDE REGEX ${_apimesh_testing_regex})
  _apimesh_unity(${target} ${found})
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# A fuzz target links the library of its folder. If its source has a line "// Links: FILES LIBRARIES", it links only these; so a parser
# in a folder that needs gRPC can be fuzzed without compiling the coroutines of lib/grpc with clang.
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

# Adds NAME_testing: the test helpers of NAME, for its tests and the tests of other folders. Programs do not link it.
function(_apimesh_testing library)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER found INCLUDE REGEX ${_apimesh_testing_regex})
  list(FILTER found EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  if(found)
    add_library(${library}_testing STATIC EXCLUDE_FROM_ALL ${found})
    target_precompile_headers(${library}_testing REUSE_FROM apimesh_pch)
    target_link_libraries(${library}_testing PUBLIC ${library} ${ARGN})
  endif()
endfunction()

function(_apimesh_tests library)
  _apimesh_testing(${library} ${ARGN})
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  if(APIMESH_TESTS AND tests)
    _apimesh_unity(${library}_test ${tests})
    add_executable(${library}_test ${tests})
    set_target_properties(${library}_test PROPERTIES UNITY_BUILD_MODE GROUP)
    target_precompile_headers(${library}_test REUSE_FROM apimesh_pch)
    target_compile_options(${library}_test PRIVATE $<$<CONFIG:Release>:-O1>)  # saves a sixth of the compile time
    target_link_libraries(${library}_test PRIVATE $<TARGET_NAME_IF_EXISTS:${library}_testing> ${library} ${ARGN} GTest::gmock GTest::gtest_main)
    set(properties TIMEOUT 300)
    if(APIMESH_SANITIZE MATCHES "thread")
      list(APPEND properties ENVIRONMENT "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/sanitize/tsan.supp")
    endif()
    gtest_discover_tests(${library}_test TEST_PREFIX "${library}." DISCOVERY_MODE PRE_TEST
                         DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  endif()
  file(GLOB_RECURSE fuzzers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_fuzz.cc)
  if(APIMESH_FUZZ)
    foreach(source IN LISTS fuzzers)
      _apimesh_fuzzer(${source} ${library})
    endforeach()
  endif()
endfunction()

# apimesh_library(NAME [ALONE] [DEPS target...] [TEST_DEPS target...]): a library of all sources below the current folder, and its tests.
# With ALONE, a release build compiles each file separately: GCC inlines less in a large unit, which slows down loops over bytes and fields.
function(apimesh_library name)
  cmake_parse_arguments(arg "ALONE" "" "DEPS;TEST_DEPS" ${ARGN})
  _apimesh_sources(${name} sources)
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(arg_ALONE AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_precompile_headers(${name} REUSE_FROM apimesh_pch)
  target_link_libraries(${name} PUBLIC ${arg_DEPS})
  _apimesh_tests(${name} ${arg_TEST_DEPS})
endfunction()

# apimesh_service(NAME [DEPS target...] [TEST_DEPS target...]): the library NAME_lib of the folder, and the program NAME from its main.cc.
function(apimesh_service name)
  cmake_parse_arguments(arg "" "" "DEPS;TEST_DEPS" ${ARGN})
  _apimesh_sources(${name} sources)
  add_library(${name}_lib STATIC ${sources})
  set_target_properties(${name}_lib PROPERTIES UNITY_BUILD_MODE GROUP)
  target_precompile_headers(${name}_lib REUSE_FROM apimesh_pch)
  target_link_libraries(${name}_lib PUBLIC ${arg_DEPS})
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
  target_precompile_headers(${name} REUSE_FROM apimesh_pch)
  target_link_libraries(${name} PRIVATE ${name}_lib $<$<BOOL:${JEMALLOC_LIBRARY}>:-Wl,--no-as-needed,${JEMALLOC_LIBRARY},--as-needed>)
  _apimesh_tests(${name}_lib ${arg_TEST_DEPS})
endfunction()

# apimesh_proto(NAME FILES file... [DEPS target...] [GRPC]): a library of the C++ code that protoc generates. FILES are relative to the
# repository root. With GRPC, the messages are in a separate library, NAME_messages, for programs that must not load gRPC, and NAME has the stubs.
# asan and ubsan do not instrument generated code, which would take half a minute per file; tsan does, because threads pass messages to each other.
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
    target_compile_options(${name} PRIVATE ${quiet} $<$<CONFIG:Release>:-O0>)  # the stubs of gRPC are used only by tests and tools
    target_link_libraries(${name} PUBLIC ${messages_library} gRPC::grpc++)
  endif()
  add_library(${messages_library} STATIC ${messages})
  set_target_properties(${name} ${messages_library} PROPERTIES UNITY_BUILD OFF)
  target_compile_options(${messages_library} PRIVATE ${quiet})
  target_link_libraries(${messages_library} PUBLIC protobuf::libprotobuf ${arg_DEPS})
endfunction()
