#include "services/authn-authz/config/file.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/base/secrets/secret_file.h"

namespace apimesh::authn_authz {
namespace {

constexpr auto kLookEvery = std::chrono::seconds(1);

// Returns a value that changes with every write or replacement. Secrets mounted in pods are replaced by renaming a
// link, which changes the inode.
std::string Stamp(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return {};
  return fmt::format("{}:{}:{}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

meta::Result<std::string> ReadFile(const std::string& path) {
  std::optional<std::string> text = apimesh::ReadFile(path);
  if (!text) return meta::BadRequest(fmt::format("open {}: {}", path, std::strerror(errno)));
  return std::move(*text);
}

meta::Result<SecretBytes> ReadSecretFile(const std::string& path) {
  std::optional<SecretBytes> text = apimesh::ReadSecretFile(path);
  if (!text) return meta::BadRequest(fmt::format("open {}: {}", path, std::strerror(errno)));
  return std::move(*text);
}

WatchedFile::WatchedFile(std::string path, const Clock& clock)
    : path_(std::move(path)), clock_(clock), next_look_(clock.Steady() + kLookEvery), stamp_(Stamp(path_)) {}

std::optional<std::string> WatchedFile::ChangedContents() {
  const std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.Steady();
  if (now < next_look_) return std::nullopt;
  next_look_ = now + kLookEvery;
  std::string stamp = Stamp(path_);
  if (stamp.empty() || stamp == stamp_) return std::nullopt;
  auto contents = ReadFile(path_);
  if (!contents) return std::nullopt;
  stamp_ = std::move(stamp);
  return std::move(*contents);
}

}  // namespace apimesh::authn_authz
