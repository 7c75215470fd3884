#include "lib/service/auth/authority.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

namespace apimesh::service {
namespace {

std::string Sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  static const EVP_MD* const sha256 =
      EVP_MD_fetch(nullptr, "SHA256", nullptr);  // fetched once, because a lookup costs as much as the digest
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, sha256, nullptr);
  return digest;
}

// Appends a part with its length, so that "ab"+"c" differs from "a"+"bc".
void Append(std::string& key, std::string_view part) {
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

}  // namespace

UserPtr MakeUser(meta::UserInfo info) {
  std::string all;
  Append(all, info.name);
  Append(all, info.uid);
  for (const std::string& group : info.groups) Append(all, group);
  for (const auto& [key, values] : info.extra) {
    all += '|';
    Append(all, key);
    for (const std::string& value : values) Append(all, value);
  }
  return std::make_shared<const AuthenticatedUser>(AuthenticatedUser{std::move(info), Sha256(all)});
}

Task<std::vector<AuthorizationAnswer>> Authority::AuthorizeAll(std::vector<AuthorizationQuestion> questions) {
  std::vector<AuthorizationAnswer> answers;
  for (AuthorizationQuestion& question : questions) {
    AuthorizationAnswer answer = co_await Authorize(std::move(question));
    answers.push_back(std::move(answer));
  }
  co_return answers;
}

meta::ApiError AuthorityUnreachable(std::string_view cause) {
  return meta::InternalError(fmt::format("authn-authz: {}", cause));
}

}  // namespace apimesh::service
