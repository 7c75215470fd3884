#include "services/aggregator/audit/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "lib/base/log.h"
#include "lib/base/private_folder.h"
#include "lib/meta/time.h"

namespace apimesh::aggregator {
namespace fs = std::filesystem;

struct AuditLog::State {
  AuditPolicy policy;
  AuditLogOptions options;
  std::mutex mutex;
  std::FILE* file = nullptr;  // guarded by mutex, as all below
  std::size_t size = 0;

  // A new file is readable by its owner only; one that exists keeps the mode that its owner gave it.
  void Open(mode_t mode = 0600) {
    if (options.path == "-") {
      file = stdout;
      return;
    }
    MakePrivateFolder(fs::path(options.path).parent_path());
    const int descriptor = ::open(options.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode);
    file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "a");
    if (file == nullptr) throw std::runtime_error(fmt::format("ensureLogFile: open {}: {}", options.path, std::strerror(errno)));
    size = fs::file_size(options.path);
  }

  // "audit.log" becomes "audit-2026-11-16T03:06:27.000000Z.log".
  void Rotate() {
    struct stat info {};
    const mode_t mode = ::fstat(::fileno(file), &info) == 0 ? info.st_mode & 0777 : 0600;
    std::fclose(file);
    const fs::path path(options.path);
    const std::string stem = path.stem().string() + "-";
    std::error_code ignored;
    fs::rename(path, path.parent_path() / (stem + meta::FormatMicroTime(Clock::System().Now()) + path.extension().string()), ignored);
    std::vector<fs::path> old;
    const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(stem) && entry.path().extension() == path.extension()) old.push_back(entry.path());
    }
    std::sort(old.rbegin(), old.rend());  // newest first
    for (std::size_t i = 0; i < old.size(); ++i) {
      const bool too_many = options.max_backups > 0 && i >= static_cast<std::size_t>(options.max_backups);
      const bool too_old = options.max_age_days > 0 && fs::last_write_time(old[i], ignored) + std::chrono::hours(24) * options.max_age_days <
                                                           fs::file_time_type::clock::now();
      if (too_many || too_old) fs::remove(old[i], ignored);
    }
    Open(mode);
    ::fchmod(::fileno(file), mode);  // open() subtracts the umask
  }
};

AuditLog::AuditLog(AuditPolicy policy, AuditLogOptions options) : state_(std::make_unique<State>()) {
  state_->policy = std::move(policy);
  state_->options = std::move(options);
  state_->Open();
}
AuditLog::~AuditLog() {
  if (state_->file != stdout) std::fclose(state_->file);
}

const AuditPolicy& AuditLog::Policy() const { return state_->policy; }

void AuditLog::Write(std::string_view line) {
  const std::lock_guard lock(state_->mutex);
  const auto limit = static_cast<std::size_t>(state_->options.max_size_megabytes) << 20;
  try {
    if (state_->file != stdout && limit > 0 && state_->size > 0 && state_->size + line.size() > limit) state_->Rotate();
  } catch (const std::exception& error) {
    log::Error("{}", error.what());
    state_->file = stdout;
  }
  std::fwrite(line.data(), 1, line.size(), state_->file);
  std::fputc('\n', state_->file);
  std::fflush(state_->file);
  state_->size += line.size() + 1;
}

}  // namespace apimesh::aggregator
