// The bytes of the two tables. Nothing else may be in this file: see CMakeLists.txt.
#include "services/core-api/resources/table.h"

__asm__(
    ".section .rodata\n"
    "apimesh_resources_begin:\n"
    ".incbin \"" APIMESH_RESOURCES
    "\"\n"
    "apimesh_resources_end:\n"
    "apimesh_priorities_begin:\n"
    ".incbin \"" APIMESH_PRIORITIES
    "\"\n"
    "apimesh_priorities_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char apimesh_resources_begin[];
extern const char apimesh_resources_end[];
extern const char apimesh_priorities_begin[];
extern const char apimesh_priorities_end[];
}

namespace apimesh::core_api {

std::string_view ResourceTableBytes() {
  return {apimesh_resources_begin, static_cast<std::size_t>(apimesh_resources_end - apimesh_resources_begin)};
}

std::string_view PriorityTableBytes() {
  return {apimesh_priorities_begin, static_cast<std::size_t>(apimesh_priorities_end - apimesh_priorities_begin)};
}

}  // namespace apimesh::core_api
