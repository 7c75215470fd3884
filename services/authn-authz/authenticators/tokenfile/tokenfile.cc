#include "services/authn-authz/authenticators/tokenfile/tokenfile.h"

#include "lib/base/log.h"
#include "lib/base/text/text.h"
#include "services/authn-authz/authenticators/union.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {
namespace {

class TokenFile final : public TokenAuthenticator {
 public:
  explicit TokenFile(std::unordered_map<std::string, meta::UserInfo> users) : users_(std::move(users)) {}

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    const auto it = users_.find(question->token);
    if (it == users_.end()) co_return std::optional<Authenticated>();
    co_return std::optional(Authenticated{.user = it->second, .audiences = {}});
  }

 private:
  const std::unordered_map<std::string, meta::UserInfo> users_;
};

}  // namespace

meta::Result<std::unique_ptr<TokenAuthenticator>> NewTokenFile(std::string_view csv, std::string_view path) {
  ASSIGN_OR_RETURN(const auto records, ParseCsv(csv));
  std::unordered_map<std::string, meta::UserInfo> users;
  int number = 0;
  for (const std::vector<std::string>& record : records) {
    if (record.size() < 3) {
      return meta::BadRequest(fmt::format(
          "token file '{}' must have at least 3 columns (token, user name, user uid), found {}", path, record.size()));
    }
    ++number;
    if (record[0].empty()) {
      log::Warning("empty token has been found in token file '{}', record number '{}'", path, number);
      continue;
    }
    meta::UserInfo user{.name = record[1], .uid = record[2], .groups = {}, .extra = {}};
    if (record.size() >= 4) {
      const std::vector<std::string_view> groups = Split(record[3], ',');
      user.groups.assign(groups.begin(), groups.end());
    }
    if (!users.insert_or_assign(record[0], std::move(user)).second) {
      log::Warning("duplicate token has been found in token file '{}', record number '{}'", path, number);
    }
  }
  return std::unique_ptr<TokenAuthenticator>(std::make_unique<TokenFile>(std::move(users)));
}

std::unique_ptr<TokenAuthenticator> MakeTokenFile(const AuthenticatorInputs& inputs) {
  const std::string& file = inputs.Get<TokenFileFlags>().file;
  if (file.empty()) return nullptr;
  const SecretBytes csv = OrThrow(ReadSecretFile(file), "token-auth-file");
  return NewAudienceAgnosticToken(inputs.audiences, OrThrow(NewTokenFile(csv, file)));
}

}  // namespace apimesh::authn_authz
