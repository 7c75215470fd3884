#include "services/store/net/short_slice.h"

#include <cstdint>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace apimesh::store {
namespace {

// The kernel's struct sched_attr, which libc does not declare yet.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};

constexpr std::uint64_t kSliceNanoseconds = 100'000;  // the minimum

}  // namespace

void UseShortTimeSlices() {
  Attributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;  // another policy was chosen explicitly
  attributes.runtime = kSliceNanoseconds;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace apimesh::store
