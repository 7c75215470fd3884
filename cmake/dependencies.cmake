# Debian 12 packages as imported targets. `./apimesh deps` installs them; its list is tools/deps/debian.txt.
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
find_library(LMDB_LIBRARY lmdb REQUIRED)
# AES with wide registers for the edge's TLS records (decision 0021). Of the static library only what is used becomes part of a program; on
# other processors OpenSSL does all of it.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  find_library(IPSEC_MB_LIBRARY libIPSec_MB.a REQUIRED)
endif()
# The services allocate small and often, where jemalloc takes a quarter less time than glibc; sanitizers bring their own.
if(NOT APIMESH_SANITIZE)
  find_library(JEMALLOC_LIBRARY jemalloc REQUIRED)
endif()
if(APIMESH_TESTS)
  find_package(GTest REQUIRED)
endif()

# The precompiled header is shared by all targets, so all of them must see the same definitions, whatever they link.
foreach(package Boost::json Boost::url Boost::container Boost::system spdlog::spdlog fmt::fmt gRPC::grpc++ protobuf::libprotobuf
        prometheus-cpp::core yaml-cpp CLI11::CLI11 GTest::gtest)
  if(TARGET ${package})
    get_target_property(definitions ${package} INTERFACE_COMPILE_DEFINITIONS)
    if(definitions)
      list(FILTER definitions EXCLUDE REGEX "\\$<")
      add_compile_definitions(${definitions})
    endif()
  endif()
endforeach()
