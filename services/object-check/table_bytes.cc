// The bytes of the table of built-in resources. Nothing else may be in this file: see CMakeLists.txt.
#include "services/object-check/stored_resources.h"

__asm__(
    ".section .rodata\n"
    "apimesh_checked_resources_begin:\n"
    ".incbin \"" APIMESH_RESOURCES
    "\"\n"
    "apimesh_checked_resources_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char apimesh_checked_resources_begin[];
extern const char apimesh_checked_resources_end[];
}

namespace apimesh::object_check {

std::string_view ResourceTableBytes() {
  return {apimesh_checked_resources_begin,
          static_cast<std::size_t>(apimesh_checked_resources_end - apimesh_checked_resources_begin)};
}

}  // namespace apimesh::object_check
