#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/clock.h"

namespace apimesh {

/// Secrets that can be used once. One process issues them and another one redeems them; both run as the same user and
/// share a folder that only this user can enter. The folder has an empty file per unused secret, named by the SHA-256
/// digest of the secret, so that its contents do not disclose a secret. Thread-safe.
class OneTimeSecrets {
 public:
  OneTimeSecrets(std::filesystem::path folder, Duration lifetime) : folder_(std::move(folder)), lifetime_(lifetime) {}

  /// Returns a new secret of 64 hexadecimal digits. Creates the folder if it is missing, and removes secrets that have
  /// expired. Throws std::runtime_error.
  std::string Issue(WallTime now) const;
  /// Whether the secret was issued, has not expired, and is redeemed by this call for the first time. Of several
  /// concurrent calls with the same secret, one returns true.
  bool Redeem(std::string_view secret, WallTime now) const;

 private:
  bool HasExpired(const std::filesystem::path& file, WallTime now) const;

  const std::filesystem::path folder_;
  const Duration lifetime_;
};

/// A random text of 64 hexadecimal digits (256 bits). Throws std::runtime_error if there is no randomness.
std::string RandomSecret();

}  // namespace apimesh
