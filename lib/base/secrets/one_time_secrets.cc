#include "lib/base/secrets/one_time_secrets.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash/hex.h"
#include "lib/base/private_folder.h"
#include "lib/base/wipe.h"

namespace apimesh {
namespace {

constexpr std::size_t kDigits = 64;

std::string FileNameOf(std::string_view secret) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), digest);
  return Hex(digest);
}

}  // namespace

std::string RandomSecret() {
  unsigned char bytes[kDigits / 2];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw std::runtime_error("no random bytes");
  std::string secret = Hex(bytes);
  OPENSSL_cleanse(bytes, sizeof bytes);
  return secret;
}

std::string OneTimeSecrets::Issue(WallTime now) const {
  MakePrivateFolder(folder_);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    if (HasExpired(entry.path(), now)) std::filesystem::remove(entry.path(), ignored);
  }
  std::string secret = RandomSecret();
  const std::filesystem::path path = folder_ / FileNameOf(secret);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("can't write " + path.string() + ": " + std::strerror(errno));
  ::close(file);
  return secret;
}

bool OneTimeSecrets::Redeem(std::string_view secret, WallTime now) const {
  if (secret.size() != kDigits) return false;
  const std::filesystem::path path = folder_ / FileNameOf(secret);
  const bool expired = HasExpired(path, now);
  // Only one of several callers can remove the file.
  return ::unlink(path.c_str()) == 0 && !expired;
}

bool OneTimeSecrets::HasExpired(const std::filesystem::path& file, WallTime now) const {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return true;
  const auto issued = std::chrono::system_clock::from_time_t(info.st_mtime);
  return now - issued > lifetime_ + std::chrono::seconds(1);  // st_mtime is rounded down to a second
}

}  // namespace apimesh
