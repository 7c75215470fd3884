// Links: services/store/bolt/bolt_reader.cc services/store/bolt/bolt_writer.cc services/store/bolt/etcd_snapshot.cc
// Links: services/store/durability/base.cc base etcd_proto_messages lmdb
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "services/store/bolt/bolt_reader.h"
#include "services/store/bolt/etcd_snapshot.h"
#include "services/store/bolt/format.h"

// A snapshot may come from an untrusted source. The meta page is made valid, because otherwise nothing after it would
// be read. The page size is the smallest possible one, so that a small input has many pages.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::store;
  constexpr std::uint32_t kSmallPage = 512;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() >= 2 * kSmallPage) {
    bolt::Meta meta;
    std::memcpy(&meta, bytes.data() + sizeof(bolt::PageHeader), sizeof meta);
    meta.magic = bolt::kMagic;
    meta.version = bolt::kVersion;
    meta.page_size = kSmallPage;
    meta.checksum = bolt::Checksum(meta);
    std::memcpy(bytes.data() + sizeof(bolt::PageHeader), &meta, sizeof meta);
  }
  static const int fd = memfd_create("snapshot", MFD_CLOEXEC);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes.data(), bytes.size(), 0) < 0) return 0;
  try {
    ReadSnapshotSummary(fmt::format("/proc/self/fd/{}", fd));
  } catch (const std::runtime_error&) {}
  return 0;
}
