#include "services/store/durability/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "lib/base/log.h"

namespace apimesh::store {
namespace {

constexpr std::string_view kMagic = "APIMLOG1";
// Space is reserved ahead, so that fdatasync has no file size to update.
constexpr off_t kReserve = 8 * 1024 * 1024;

[[noreturn]] void Die(const char* what) {
  log::Error("the log cannot be written: {}: {}", what, std::strerror(errno));
  std::abort();
}

void SyncFolder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || fsync(fd) != 0) Die("fsync of the folder");
  close(fd);
}

}  // namespace

Log::~Log() {
  if (fd_ >= 0) close(fd_);
}

std::vector<LogSegment> Log::Segments(const std::filesystem::path& folder) {
  std::vector<LogSegment> segments;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename();
    if (!name.starts_with("log-")) continue;
    segments.push_back({file.path(), std::strtoull(name.c_str() + 4, nullptr, 16)});
  }
  std::ranges::sort(segments, {}, &LogSegment::first);
  return segments;
}

void Log::StartSegment(std::uint64_t next_sequence) {
  if (fd_ >= 0) close(fd_);
  current_ = {folder_ / fmt::format("log-{:016x}", next_sequence), next_sequence};
  fd_ = open(current_.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd_ < 0) Die("open");
  if (fallocate(fd_, 0, 0, kReserve) != 0 && errno != EOPNOTSUPP) Die("fallocate");
  offset_ = 0;
  Append(kMagic);
  if (sync_ == Sync::kAlways) SyncFolder(folder_);
}

void Log::Append(std::string_view frames) {
  while (!frames.empty()) {
    const ssize_t written = pwrite(fd_, frames.data(), frames.size(), static_cast<off_t>(offset_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) Die("write");
    offset_ += static_cast<std::size_t>(written);
    frames.remove_prefix(static_cast<std::size_t>(written));
  }
  if (sync_ == Sync::kAlways && fdatasync(fd_) != 0) Die("fdatasync");
}

std::string ReadSegment(const LogSegment& segment) {
  std::string bytes(std::filesystem::file_size(segment.path), '\0');
  std::ifstream file(segment.path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error("cannot read " + segment.path.string());
  if (!bytes.starts_with(kMagic)) {
    // A segment whose creation was cut short holds nothing.
    if (bytes.size() < kMagic.size() || bytes.find_first_not_of('\0') == std::string::npos) return {};
    throw std::runtime_error("not a log of this store: " + segment.path.string());
  }
  bytes.erase(0, kMagic.size());
  return bytes;
}

}  // namespace apimesh::store
