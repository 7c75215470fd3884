#pragma once

#include <string>
#include <string_view>

namespace apimesh::core_api {

/// Checks that a certificate and a private key, both as PEM, belong together. Returns "" if they do, or else Go's text
/// for the problem.
std::string CheckKeyPair(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace apimesh::core_api
