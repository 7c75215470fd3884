#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.h"
#include "lib/credentials/requested_key.h"

namespace apimesh::credentials {

/// What a signer has put into a certificate.
struct IssuedCertificate {
  RequestedKey key;
  WallTime not_before, not_after;
  std::vector<std::string> dns_names, email_addresses;  // the subject alternative names

  /// Parses the DER of one certificate. Returns nullopt if it is none.
  static std::optional<IssuedCertificate> Parse(std::string_view der);
};

}  // namespace apimesh::credentials
