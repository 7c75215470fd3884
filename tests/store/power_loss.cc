// Preloaded into a store (LD_PRELOAD), it remembers what a power failure would leave of APIMESH_POWER_LOSS_DATA, a
// folder: contents as of the last fsync, fdatasync or O_DSYNC write of a file, names as of the last fsync of their
// folder. That state is kept in APIMESH_POWER_LOSS_DISK, from where the test puts it back after killing the store:
//   DISK/<id>           contents of a file
//   DISK/names/<n>      one folder: its path in the first line, then "<id> <name>" lines
// Folders themselves count as durable at once. Only the calls that the store and LMDB make are covered.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

template <class Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct File {
  int id = 0;
  bool truncated = false;
  std::vector<std::pair<off_t, std::size_t>> unsynced;
};

struct OpenFile {
  std::shared_ptr<File> file;  // null: a folder
  fs::path folder;
  bool sync_each_write = false;
};

class Disk {
 public:
  static Disk* Get() {
    static Disk* disk = std::getenv("APIMESH_POWER_LOSS_DATA") == nullptr ? nullptr : new Disk;
    return disk;
  }

  bool Covers(const fs::path& path) const { return path.string().starts_with(data_.string() + "/") || path == data_; }

  void Opened(int fd, const char* name, int flags, bool existed) {
    const std::lock_guard lock(mutex_);
    const fs::path path = fs::absolute(name).lexically_normal();
    if (fd < 0 || !Covers(path)) return;
    if (fs::is_directory(path)) {
      open_[fd] = {nullptr, path, false};
      return;
    }
    auto& file = names_[path];
    if (!file || !existed) file = NewFile();
    if ((flags & O_TRUNC) != 0) {
      file->truncated = true;
      file->unsynced.clear();
    }
    open_[fd] = {file, {}, (flags & (O_DSYNC | O_SYNC)) != 0};
  }
  void Closed(int fd) {
    const std::lock_guard lock(mutex_);
    open_.erase(fd);
  }
  void Wrote(int fd, off_t offset, ssize_t size) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(fd);
    if (found == open_.end() || !found->second.file || size <= 0) return;
    found->second.file->unsynced.emplace_back(offset, static_cast<std::size_t>(size));
    if (found->second.sync_each_write) SyncFile(fd, *found->second.file);
  }
  void Synced(int fd) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(fd);
    if (found == open_.end()) return;
    if (found->second.file) {
      SyncFile(fd, *found->second.file);
    } else {
      SyncNames(found->second.folder);
    }
  }
  void Renamed(const fs::path& from, const fs::path& to) {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(from);
    if (found == names_.end()) return;
    names_[to] = found->second;
    names_.erase(from);
  }
  void Removed(const fs::path& path) {
    const std::lock_guard lock(mutex_);
    names_.erase(path);
  }

 private:
  // What is there at the start was put there by the test, so it is durable.
  Disk() : data_(std::getenv("APIMESH_POWER_LOSS_DATA")), disk_(std::getenv("APIMESH_POWER_LOSS_DISK")) {
    fs::remove_all(disk_);
    fs::create_directories(disk_ / "names");
    fs::create_directories(data_);
    std::vector<fs::path> folders{data_};
    for (const auto& entry : fs::recursive_directory_iterator(data_)) {
      if (entry.is_directory()) folders.push_back(entry.path());
      if (!entry.is_regular_file()) continue;
      auto file = NewFile();
      fs::copy_file(entry.path(), disk_ / std::to_string(file->id));
      names_[entry.path()] = file;
    }
    for (const fs::path& folder : folders) SyncNames(folder);
  }

  std::shared_ptr<File> NewFile() {
    auto file = std::make_shared<File>();
    file->id = next_id_++;
    return file;
  }

  void SyncFile(int fd, File& file) {
    static auto* const real_open = Real<int(const char*, int, ...)>("open64");
    static auto* const real_write = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite64");
    struct stat size{};
    fstat(fd, &size);
    const int copy = real_open((disk_ / std::to_string(file.id)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (std::exchange(file.truncated, false) && ftruncate(copy, 0) != 0) std::abort();
    if (ftruncate(copy, size.st_size) != 0) std::abort();
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);  // the descriptor itself may be for writing only
    const int source = real_open(path, O_RDONLY | O_CLOEXEC);
    std::vector<char> buffer;
    for (const auto& [offset, length] : file.unsynced) {
      buffer.resize(length);
      const ssize_t got = pread(source, buffer.data(), length, offset);
      if (got > 0 && real_write(copy, buffer.data(), static_cast<std::size_t>(got), offset) != got) std::abort();
    }
    file.unsynced.clear();
    static auto* const real_close = Real<int(int)>("close");
    real_close(source);
    real_close(copy);
  }

  void SyncNames(const fs::path& folder) {
    std::string listing = folder.string() + "\n";
    for (const auto& [path, file] : names_) {
      if (path.parent_path() == folder) listing += std::to_string(file->id) + " " + path.filename().string() + "\n";
    }
    const fs::path target = disk_ / "names" / std::to_string(std::hash<std::string>{}(folder.string()));
    std::ofstream(target.string() + ".new") << listing;
    static auto* const real_rename = Real<int(const char*, const char*)>("rename");
    real_rename((target.string() + ".new").c_str(), target.c_str());
  }

  const fs::path data_, disk_;
  std::mutex mutex_;
  int next_id_ = 1;
  std::map<fs::path, std::shared_ptr<File>> names_;
  std::map<int, OpenFile> open_;
};

thread_local int inside = 0;  // our own work on files is not watched

struct Inside {
  Inside() { ++inside; }
  ~Inside() { --inside; }
};

Disk* Watching() {
  if (inside > 0) return nullptr;
  const Inside guard;
  return Disk::Get();
}

using OpenFunction = int(const char*, int, ...);

int Open(OpenFunction* real, const char* path, int flags, mode_t mode) {
  Disk* const disk = Watching();
  if (disk == nullptr) return real(path, flags, mode);
  const bool existed = access(path, F_OK) == 0;
  const int fd = real(path, flags, mode);
  const Inside guard;
  disk->Opened(fd, path, flags, existed);
  return fd;
}

ssize_t AfterWrite(int fd, off_t offset, ssize_t written) {
  if (Disk* const disk = Watching()) {
    const Inside guard;
    disk->Wrote(fd, offset, written);
  }
  return written;
}

ssize_t AfterAppend(int fd, ssize_t written) {
  return AfterWrite(fd, written > 0 ? lseek(fd, 0, SEEK_CUR) - written : 0, written);
}

int AfterSync(int fd, int result) {
  Disk* const disk = Watching();
  if (disk != nullptr && result == 0) {
    const Inside guard;
    disk->Synced(fd);
  }
  return result;
}

fs::path Absolute(const char* path) {
  const Inside guard;
  return fs::absolute(path).lexically_normal();
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, unsigned));
  va_end(rest);
  static auto* const real = Real<OpenFunction>("open");
  return Open(real, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, unsigned));
  va_end(rest);
  static auto* const real = Real<OpenFunction>("open64");
  return Open(real, path, flags, mode);
}
int close(int fd) {
  if (Disk* const disk = Watching()) {
    const Inside guard;
    disk->Closed(fd);
  }
  static auto* const real = Real<int(int)>("close");
  return real(fd);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  static auto* const real = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return AfterWrite(fd, offset, real(fd, data, size, offset));
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t offset) {
  static auto* const real = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite64");
  return AfterWrite(fd, offset, real(fd, data, size, offset));
}
ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  static auto* const real = Real<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  return AfterWrite(fd, offset, real(fd, parts, count, offset));
}
ssize_t pwritev64(int fd, const iovec* parts, int count, off_t offset) {
  static auto* const real = Real<ssize_t(int, const iovec*, int, off_t)>("pwritev64");
  return AfterWrite(fd, offset, real(fd, parts, count, offset));
}
ssize_t write(int fd, const void* data, size_t size) {
  static auto* const real = Real<ssize_t(int, const void*, size_t)>("write");
  return AfterAppend(fd, real(fd, data, size));
}
ssize_t writev(int fd, const iovec* parts, int count) {
  static auto* const real = Real<ssize_t(int, const iovec*, int)>("writev");
  return AfterAppend(fd, real(fd, parts, count));
}
int fsync(int fd) {
  static auto* const real = Real<int(int)>("fsync");
  return AfterSync(fd, real(fd));
}
int fdatasync(int fd) {
  static auto* const real = Real<int(int)>("fdatasync");
  return AfterSync(fd, real(fd));
}
int rename(const char* from, const char* to) {
  static auto* const real = Real<int(const char*, const char*)>("rename");
  const int result = real(from, to);
  Disk* const disk = Watching();
  if (disk != nullptr && result == 0) {
    const fs::path old_path = Absolute(from), new_path = Absolute(to);
    const Inside guard;
    disk->Renamed(old_path, new_path);
  }
  return result;
}
int unlink(const char* path) {
  static auto* const real = Real<int(const char*)>("unlink");
  const int result = real(path);
  Disk* const disk = Watching();
  if (disk != nullptr && result == 0) {
    const fs::path absolute = Absolute(path);
    const Inside guard;
    disk->Removed(absolute);
  }
  return result;
}
int remove(const char* path) {
  static auto* const real = Real<int(const char*)>("remove");
  const int result = real(path);
  Disk* const disk = Watching();
  if (disk != nullptr && result == 0) {
    const fs::path absolute = Absolute(path);
    const Inside guard;
    disk->Removed(absolute);
  }
  return result;
}

}  // extern "C"
