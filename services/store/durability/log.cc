#include "services/store/durability/log.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/log.h"

namespace apimesh::store {
namespace {

// The header of a segment: magic, u32 epoch, u32 zero.
constexpr std::string_view kMagic = "APIMLOG2";
constexpr std::string_view kMagicWithoutEpoch = "APIMLOG1";  // the first version: frames follow without an epoch
// Space is reserved in advance, so that the blocks of a segment are contiguous and fdatasync need not update the file
// size.
constexpr off_t kReserve = 8 * 1024 * 1024;
// Reserved blocks are filled with zeros in steps of this size: the file system records the conversion in its journal,
// which delays the sync.
constexpr std::size_t kZeroAhead = 512 * 1024;
constexpr std::size_t kMaxSpares = 2;
constexpr std::string_view kSparePrefix = "spare-";

[[noreturn]] void Die(const char* what) {
  log::Error("the log could not be written: {}: {}", what, std::strerror(errno));
  std::abort();
}

void SyncFolder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || fsync(fd) != 0) Die("fsync of the folder");
  close(fd);
}

// Data after a hole cannot belong to the frames before it. Reserved space that was never written counts as a hole.
std::string ReadUntilFirstHole(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("cannot read " + path.string());
  off_t end = lseek(fd, 0, SEEK_HOLE);
  if (end < 0) end = lseek(fd, 0, SEEK_END);  // the file system does not support holes
  std::string bytes(static_cast<std::size_t>(std::max<off_t>(end, 0)), '\0');
  std::size_t got = 0;
  for (ssize_t part = 1; part > 0 && got < bytes.size(); got += static_cast<std::size_t>(std::max<ssize_t>(part, 0))) {
    part = pread(fd, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
  }
  close(fd);
  if (got < bytes.size()) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

}  // namespace

Log::Log(std::filesystem::path folder, Sync sync)
    : folder_(std::move(folder)), sync_(sync), epoch_(std::random_device{}()) {
  if (!std::filesystem::exists(folder_)) return;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (file.path().filename().string().starts_with(kSparePrefix)) spares_.push_back(file.path());
  }
}

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

void Log::Recycle(const LogSegment& segment) {
  const std::lock_guard lock(mutex_);
  if (sync_ == Sync::kNever || spares_.size() >= kMaxSpares) {
    std::filesystem::remove(segment.path);
    return;
  }
  spares_.push_back(folder_ / fmt::format("{}{:016x}", kSparePrefix, segment.first));
  std::filesystem::rename(segment.path, spares_.back());
}

// Renames a spare file to the current segment.
bool Log::TakeSpare() {
  const std::lock_guard lock(mutex_);
  if (spares_.empty()) return false;
  std::filesystem::rename(spares_.back(), current_.path);
  spares_.pop_back();
  return true;
}

void Log::StartSegment(std::uint64_t next_sequence) {
  if (fd_ >= 0) close(fd_);
  current_ = {folder_ / fmt::format("log-{:016x}", next_sequence), next_sequence};
  const bool used_before = TakeSpare();
  fd_ = open(current_.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (used_before ? 0 : O_TRUNC), 0600);
  if (fd_ < 0) Die("open");
  // Space that was reserved but never written counts as a hole.
  written_ = used_before ? static_cast<std::size_t>(std::max<off_t>(lseek(fd_, 0, SEEK_HOLE), 0)) : 0;
  if (!used_before && fallocate(fd_, 0, 0, kReserve) != 0 && errno != EOPNOTSUPP) Die("fallocate");
  offset_ = 0;
  std::string header(kMagic);
  header.append(reinterpret_cast<const char*>(&epoch_), sizeof epoch_).resize(SegmentContents::kHeaderBytes);
  Append(header);
  if (sync_ == Sync::kAlways) SyncFolder(folder_);
}

void Log::Append(std::string_view frames) {
  std::string with_zeros;
  const std::size_t end = offset_ + frames.size();
  std::string_view rest = frames;
  if (sync_ == Sync::kAlways && end > written_) {
    written_ = end + kZeroAhead - end % kZeroAhead;
    with_zeros.reserve(written_ - offset_);
    with_zeros.assign(frames).resize(written_ - offset_);
    rest = with_zeros;
  }
  for (std::size_t at = offset_; !rest.empty();) {
    const ssize_t part = pwrite(fd_, rest.data(), rest.size(), static_cast<off_t>(at));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) Die("write");
    at += static_cast<std::size_t>(part);
    rest.remove_prefix(static_cast<std::size_t>(part));
  }
  offset_ = end;
  if (sync_ == Sync::kAlways && fdatasync(fd_) != 0) Die("fdatasync");
}

SegmentContents ReadSegment(const LogSegment& segment) {
  const std::string bytes = ReadUntilFirstHole(segment.path);
  SegmentContents contents;
  if (bytes.starts_with(kMagic) && bytes.size() >= SegmentContents::kHeaderBytes) {
    std::memcpy(&contents.epoch, bytes.data() + kMagic.size(), sizeof contents.epoch);
    contents.frames = bytes.substr(SegmentContents::kHeaderBytes);
  } else if (bytes.starts_with(kMagicWithoutEpoch)) {
    contents.frames = bytes.substr(kMagicWithoutEpoch.size());
  } else if (bytes.size() >= kMagic.size() && bytes.find_first_not_of('\0') != std::string::npos) {
    throw std::runtime_error("not a log segment of this store: " + segment.path.string());
  }  // else: the creation of the segment was interrupted, so it is empty
  return contents;
}

}  // namespace apimesh::store
