#include "services/authn-authz/authenticators/bearer/bearer.h"

#include "lib/base/text/base64.h"
#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"

namespace apimesh::authn_authz {
namespace {

constexpr std::string_view kProtocolPrefix = "base64url.bearer.authorization.k8s.io.";

Task<AuthenticationResult> AskTokens(std::shared_ptr<TokenAuthenticator> tokens, std::string token,
                                     CredentialsPtr credentials) {
  auto question = std::make_shared<const TokenQuestion>(TokenQuestion{std::move(token), credentials->audiences});
  AuthenticationResult answer = co_await tokens->AuthenticateToken(std::move(question));
  if (answer && !*answer) co_return BadCredential("invalid bearer token");
  co_return answer;
}

class Bearer final : public Authenticator {
 public:
  explicit Bearer(std::shared_ptr<TokenAuthenticator> tokens) : tokens_(std::move(tokens)) {}

  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    const std::string_view header = TrimSpace(credentials->Header("authorization"));
    const std::size_t space = header.find(' ');
    if (space == header.npos || !EqualsIgnoreCase(header.substr(0, space), "bearer")) {
      co_return std::optional<Authenticated>();
    }
    const std::string_view rest = header.substr(space + 1);
    // A header with two spaces before the token is ignored, as in kube-apiserver.
    std::string token(rest.substr(0, rest.find(' ')));
    if (token.empty()) co_return std::optional<Authenticated>();
    co_return co_await AskTokens(tokens_, std::move(token), credentials);
  }

 private:
  std::shared_ptr<TokenAuthenticator> tokens_;
};

class WebSocketBearer final : public Authenticator {
 public:
  explicit WebSocketBearer(std::shared_ptr<TokenAuthenticator> tokens) : tokens_(std::move(tokens)) {}

  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    if (!IsWebSocket(*credentials)) co_return std::optional<Authenticated>();
    std::optional<std::string> token;
    bool other_protocol = false;
    for (const auto& [name, value] : credentials->headers) {
      if (name != "sec-websocket-protocol") continue;
      std::string_view rest = value;
      while (true) {
        const std::size_t comma = rest.find(',');
        const std::string_view protocol = TrimSpace(rest.substr(0, comma));
        if (!protocol.starts_with(kProtocolPrefix)) {
          other_protocol = true;
        } else {
          if (token) co_return BadCredential("multiple base64.bearer.authorization tokens specified");
          token = DecodeBase64Url(protocol.substr(kProtocolPrefix.size()));
          if (!token) co_return BadCredential("invalid base64.bearer.authorization token encoding");
        }
        if (comma == rest.npos) break;
        rest.remove_prefix(comma + 1);
      }
    }
    if (!token || token->empty()) co_return std::optional<Authenticated>();
    if (!other_protocol) co_return BadCredential("missing additional subprotocol");
    co_return co_await AskTokens(tokens_, std::move(*token), credentials);
  }

 private:
  static bool IsWebSocket(const Credentials& credentials) {
    if (!EqualsIgnoreCase(TrimSpace(credentials.Header("upgrade")), "websocket")) return false;
    std::string_view rest = credentials.Header("connection");
    while (true) {
      const std::size_t comma = rest.find(',');
      if (EqualsIgnoreCase(TrimSpace(rest.substr(0, comma)), "upgrade")) return true;
      if (comma == rest.npos) return false;
      rest.remove_prefix(comma + 1);
    }
  }

  std::shared_ptr<TokenAuthenticator> tokens_;
};

}  // namespace

std::unique_ptr<Authenticator> NewBearer(std::shared_ptr<TokenAuthenticator> tokens) {
  return std::make_unique<Bearer>(std::move(tokens));
}

std::unique_ptr<Authenticator> NewWebSocketBearer(std::shared_ptr<TokenAuthenticator> tokens) {
  return std::make_unique<WebSocketBearer>(std::move(tokens));
}

}  // namespace apimesh::authn_authz
