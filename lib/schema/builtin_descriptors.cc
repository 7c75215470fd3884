// Embeds the descriptor set that protoc writes. This file must not contain anything else: see CMakeLists.txt.
#include <string_view>

__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    "apimesh_descriptors_begin:\n"
    ".incbin \"" APIMESH_DESCRIPTORS
    "\"\n"
    "apimesh_descriptors_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char apimesh_descriptors_begin[];
extern const char apimesh_descriptors_end[];
}

namespace apimesh::schema {

std::string_view BuiltinDescriptors() {
  return {apimesh_descriptors_begin, static_cast<std::size_t>(apimesh_descriptors_end - apimesh_descriptors_begin)};
}

}  // namespace apimesh::schema
