#include "services/aggregator/audit/backends/log_file.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/private_folder.h"
#include "lib/gzip/stream.h"
#include "lib/meta/time.h"

namespace apimesh::aggregator {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kCompressed = ".gz";

/// "2026-11-16T03-06-27.000": the time in the names of rotated files.
std::string TimeInName(WallTime time) {
  std::string text = meta::FormatMicroTime(time).substr(0, 23);
  std::replace(text.begin(), text.end(), ':', '-');
  return text;
}

std::optional<WallTime> ParseTimeInName(std::string text) {
  if (text.size() != 23) return std::nullopt;
  text[13] = text[16] = ':';
  return meta::ParseTime(text + "Z");
}

/// Returns the text of an error as Go prints it.
std::string ErrorText(int error) {
  std::string text = std::strerror(error);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

struct Backup {
  fs::path path;
  std::string name;  // without ".gz"
  WallTime time;
};

/// Returns the rotated files of a log, the newest first.
std::vector<Backup> Backups(const fs::path& log) {
  const std::string prefix = log.stem().string() + "-", extension = log.extension().string();
  const fs::path folder = log.parent_path().empty() ? fs::path(".") : log.parent_path();
  std::vector<Backup> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(kCompressed) && extension != kCompressed) name.resize(name.size() - kCompressed.size());
    if (!name.starts_with(prefix) || !name.ends_with(extension) || name.size() < prefix.size() + extension.size()) {
      continue;
    }
    const auto time = ParseTimeInName(name.substr(prefix.size(), name.size() - prefix.size() - extension.size()));
    if (time) found.push_back({entry.path(), std::move(name), *time});
  }
  std::sort(found.begin(), found.end(), [](const Backup& a, const Backup& b) { return a.time > b.time; });
  return found;
}

bool Compress(const fs::path& path) {
  constexpr std::size_t kBlock = 1 << 16;
  const fs::path target = path.string() + std::string(kCompressed);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return false;
  std::ifstream in(path, std::ios::binary);
  const int descriptor = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, info.st_mode & 0777);
  if (descriptor >= 0) ::close(descriptor);
  std::ofstream out(target, std::ios::binary);
  gzip::Stream stream;
  std::string block(kBlock, '\0'), compressed;
  while (in && out) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    stream.Add(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())), false, compressed);
    out.write(compressed.data(), static_cast<std::streamsize>(compressed.size()));
    compressed.clear();
  }
  stream.Finish(compressed);
  out.write(compressed.data(), static_cast<std::streamsize>(compressed.size()));
  out.close();
  std::error_code ignored;
  if (in.bad() || !out) {
    fs::remove(target, ignored);
    return false;
  }
  return fs::remove(path, ignored);
}

/// Writes all pieces. Returns errno, or 0.
int WriteAll(int descriptor, const std::vector<std::string_view>& line, std::size_t& written) {
  std::vector<iovec> pieces;
  pieces.reserve(line.size());
  for (const std::string_view piece : line) {
    if (!piece.empty()) pieces.push_back({const_cast<char*>(piece.data()), piece.size()});
  }
  for (std::size_t next = 0; next < pieces.size();) {
    const auto count = static_cast<int>(std::min<std::size_t>(pieces.size() - next, IOV_MAX));
    ssize_t bytes = ::writev(descriptor, &pieces[next], count);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno;
    written += static_cast<std::size_t>(bytes);
    for (; next < pieces.size() && static_cast<std::size_t>(bytes) >= pieces[next].iov_len; ++next) {
      bytes -= static_cast<ssize_t>(pieces[next].iov_len);
    }
    if (bytes > 0) {
      pieces[next].iov_base = static_cast<char*>(pieces[next].iov_base) + bytes;
      pieces[next].iov_len -= static_cast<std::size_t>(bytes);
    }
  }
  return 0;
}

}  // namespace

struct LogFile::State {
  State(const AuditLogOptions& given, const Clock& given_clock) : options(given), clock(given_clock) {}

  const AuditLogOptions options;
  const Clock& clock;
  std::mutex mutex;
  int descriptor = -1;  // guarded by mutex, as are all members below; -1: the file could not be opened
  std::size_t size = 0;
  std::thread cleaning;  // deletes and compresses rotated files

  bool IsStandardOutput() const { return options.path == "-"; }
  std::size_t Limit() const { return static_cast<std::size_t>(options.max_size_megabytes) << 20; }

  /// Returns the error, or "".
  std::string Open(mode_t mode) {
    if (IsStandardOutput()) {
      descriptor = STDOUT_FILENO;
      return "";
    }
    descriptor = ::open(options.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode);
    if (descriptor < 0) return fmt::format("open {}: {}", options.path, ErrorText(errno));
    struct stat info{};
    size = ::fstat(descriptor, &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
    return "";
  }

  /// Renames the file and opens a new one with the same mode.
  std::string Rotate() {
    struct stat info{};
    const mode_t mode = ::fstat(descriptor, &info) == 0 ? info.st_mode & 0777 : 0600;
    ::close(std::exchange(descriptor, -1));
    const fs::path path(options.path);
    const std::string name = path.stem().string() + "-" + TimeInName(clock.Now()) + path.extension().string();
    std::error_code error;
    fs::rename(path, path.parent_path() / name, error);
    std::string problem = Open(mode);
    if (!problem.empty()) return problem;
    ::fchmod(descriptor, mode);  // open() subtracts the umask
    if (error) return fmt::format("can't rename log file: {}", error.message());
    if (cleaning.joinable()) cleaning.join();
    cleaning = std::thread([options = options, now = clock.Now()] { Clean(options, now); });
    return "";
  }

  static void Clean(const AuditLogOptions& options, WallTime now) {
    std::error_code ignored;
    std::size_t kept = 0;
    for (const Backup& backup : Backups(options.path)) {
      const bool too_many = options.max_backups > 0 && kept >= static_cast<std::size_t>(options.max_backups);
      const bool too_old =
          options.max_age_days > 0 && backup.time + std::chrono::hours(24) * options.max_age_days < now;
      if (too_many || too_old) {
        fs::remove(backup.path, ignored);
        continue;
      }
      ++kept;
      if (options.compress && backup.path.extension() != kCompressed && !Compress(backup.path)) {
        log::Error("the rotated audit log {} can't be compressed", backup.path.string());
      }
    }
  }
};

LogFile::LogFile(const AuditLogOptions& options, const Clock& clock) : state_(std::make_unique<State>(options, clock)) {
  try {
    if (options.path != "-") MakePrivateFolder(fs::path(options.path).parent_path());
  } catch (const fs::filesystem_error& error) {
    throw std::runtime_error(
        fmt::format("ensureLogFile: mkdir {}: {}", error.path1().string(), ErrorText(error.code().value())));
  }
  if (const std::string error = state_->Open(0600); !error.empty()) {
    throw std::runtime_error("ensureLogFile: " + error);
  }
}

LogFile::~LogFile() {
  if (state_->cleaning.joinable()) state_->cleaning.join();
  if (state_->descriptor >= 0 && !state_->IsStandardOutput()) ::close(state_->descriptor);
}

std::string LogFile::Write(const std::vector<std::string_view>& line) {
  std::size_t bytes = 0;
  for (const std::string_view piece : line) bytes += piece.size();
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.descriptor < 0) {
    if (std::string error = state.Open(0600); !error.empty()) return error;
  }
  if (const std::size_t limit = state.Limit(); limit > 0 && !state.IsStandardOutput()) {
    if (bytes > limit) return fmt::format("write length {} exceeds maximum file size {}", bytes, limit);
    if (state.size > 0 && state.size + bytes > limit) {
      if (std::string error = state.Rotate(); !error.empty()) return error;
    }
  }
  std::size_t written = 0;
  const int error = WriteAll(state.descriptor, line, written);
  if (error == 0) {
    state.size += bytes;
    return "";
  }
  // Half a line would make the next one unreadable.
  if (written > 0 && !state.IsStandardOutput() && ::ftruncate(state.descriptor, static_cast<off_t>(state.size)) != 0) {
    state.size += written;
  }
  return fmt::format("write {}: {}", state.options.path, ErrorText(error));
}

}  // namespace apimesh::aggregator
