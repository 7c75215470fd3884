#include "lib/base/resident_memory.h"

#include <cstdint>
#include <string_view>

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
// These are used if the program is linked with jemalloc; otherwise glibc's allocator is used.
const char* malloc_conf = "narenas:2";
int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value, std::size_t new_size)
    __attribute__((weak));
}

namespace apimesh {
namespace {

constexpr int kArenas = 2;                              // the same for glibc
constexpr char kPurgeAllArenas[] = "arena.4096.purge";  // MALLCTL_ARENAS_ALL

/// Only read-only segments are released; relocations are in writable ones.
int ReleaseReadOnlySegments(dl_phdr_info* object, std::size_t, void*) {
  if (std::string_view(object->dlpi_name).find("vdso") != std::string_view::npos) return 0;
  const std::uintptr_t page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = (object->dlpi_addr + segment.p_vaddr + segment.p_memsz + page - 1) & ~(page - 1);
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void KeepFewArenas() { ::mallopt(M_ARENA_MAX, kArenas); }

void ReleaseIdlePages() {
  if (mallctl) {
    mallctl(kPurgeAllArenas, nullptr, nullptr, nullptr, 0);
  } else {
    ::malloc_trim(0);
  }
  ::dl_iterate_phdr(&ReleaseReadOnlySegments, nullptr);
}

}  // namespace apimesh
