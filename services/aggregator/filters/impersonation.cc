#include "lib/base/log.h"
#include "lib/meta/forbidden.h"
#include "lib/meta/query.h"
#include "services/aggregator/filters/filters.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kUser = "impersonate-user", kGroup = "impersonate-group", kUid = "impersonate-uid",
                           kExtra = "impersonate-extra-", kServiceAccount = "system:serviceaccount:",
                           kAuthenticated = "system:authenticated", kUnauthenticated = "system:unauthenticated",
                           kAnonymous = "system:anonymous";

/// What is asked for: the user to act as, and the right to be checked for each part of it.
struct Wish {
  meta::UserInfo user;
  std::vector<meta::RequestInfo> rights;
};

meta::RequestInfo Right(std::string group, std::string version, std::string resource, std::string name) {
  meta::RequestInfo info;
  info.is_resource_request = true;
  info.verb = "impersonate";
  info.api_group = std::move(group);
  info.api_version = std::move(version);
  info.resource = std::move(resource);
  info.name = std::move(name);
  return info;
}

bool Contains(const std::vector<std::string>& groups, std::string_view group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

// The groups that every user has by being one, if they were not said.
void AddImplicitGroups(meta::UserInfo& user) {
  if (user.name == kAnonymous) {
    if (!Contains(user.groups, kUnauthenticated)) user.groups.emplace_back(kUnauthenticated);
  } else if (!Contains(user.groups, kAuthenticated) && !Contains(user.groups, kUnauthenticated)) {
    user.groups.emplace_back(kAuthenticated);
  }
}

void WishForUser(Wish& wish, const std::string& name, bool groups_given) {
  wish.user.name = name;
  const std::string_view rest = std::string_view(name).substr(std::min(name.size(), kServiceAccount.size()));
  const std::size_t colon = rest.find(':');
  const bool is_account = name.starts_with(kServiceAccount) && colon != std::string_view::npos && colon > 0 &&
                          colon + 1 < rest.size() && rest.find(':', colon + 1) == std::string_view::npos;
  if (!is_account) {
    wish.rights.push_back(Right("", "", "users", name));
    return;
  }
  const std::string ns(rest.substr(0, colon));
  wish.rights.push_back(Right("", "", "serviceaccounts", std::string(rest.substr(colon + 1))));
  wish.rights.back().ns = ns;
  if (!groups_given) wish.user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + ns};
}

/// Nullopt: none of the headers. An error: the headers make no sense.
meta::Result<std::optional<Wish>> ParseWish(const http::Request& request) {
  const std::string user(request.Header(kUser));
  Wish wish;
  std::vector<std::string> groups;
  std::string uid;
  bool others = false;
  for (const auto& [name, value] : request.headers) {
    if (name == kGroup) groups.push_back(value);
    if (name == kUid) uid = value;
    others |= name == kGroup || (name == kUid && !value.empty()) || name.starts_with(kExtra);
  }
  if (user.empty() && !others) return std::optional<Wish>();
  if (user.empty()) return meta::BadRequest("requested impersonation of groups, a uid or extra fields without impersonating a user");
  WishForUser(wish, user, !groups.empty());
  for (const std::string& group : groups) {
    wish.user.groups.push_back(group);
    wish.rights.push_back(Right("", "", "groups", group));
  }
  for (const auto& [name, value] : request.headers) {
    if (!name.starts_with(kExtra)) continue;
    const std::string raw = name.substr(kExtra.size());
    const std::string key = meta::PercentDecode(raw, false).value_or(raw);
    wish.user.extra[key].push_back(value);
    wish.rights.push_back(Right("authentication.k8s.io", "v1", "userextras", value));
    wish.rights.back().subresource = key;
  }
  if (!uid.empty()) {
    wish.user.uid = uid;
    wish.rights.push_back(Right("authentication.k8s.io", "v1", "uids", uid));
  }
  AddImplicitGroups(wish.user);
  return std::optional<Wish>(std::move(wish));
}

class Impersonation final : public Filter {
 public:
  explicit Impersonation(std::shared_ptr<Authority> authority) : authority_(std::move(authority)) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    bool asked = false;
    for (const auto& [name, value] : exchange.request.headers) asked |= name.starts_with("impersonate-");
    return asked ? Impersonate(exchange, next) : next(exchange);
  }

 private:
  Task<> Impersonate(Exchange& exchange, Next next) {
    auto wish = ParseWish(exchange.request);
    if (!wish) {
      co_await exchange.reply.SendError(wish.error());
      co_return;
    }
    if (*wish) {
      for (meta::RequestInfo& right : (*wish)->rights) {
        AuthorizationQuestion question{exchange.user, right, exchange.audit_id, exchange.deadline};
        const AuthorizationAnswer answer = co_await authority_->Authorize(std::move(question));
        if (answer.verdict == AuthorizationAnswer::Verdict::kUnavailable) {
          co_await exchange.reply.SendError(NotAvailable(exchange, "authorization"));
          co_return;
        }
        if (answer.verdict != AuthorizationAnswer::Verdict::kAllow) {
          co_await exchange.reply.SendError(meta::ForbiddenTo(exchange.user->info.name, right, answer.reason));
          co_return;
        }
      }
      exchange.impersonator = exchange.user;
      exchange.user = MakeUser(std::move((*wish)->user));
      log::Write(log::Level::kDebug,
                 fmt::format("{} is impersonating {}", exchange.impersonator->info.name, exchange.user->info.name), exchange.audit_id);
    }
    std::erase_if(exchange.request.headers, [](const auto& header) { return header.first.starts_with("impersonate-"); });
    co_await next(exchange);
  }

  std::shared_ptr<Authority> authority_;
};

}  // namespace

std::shared_ptr<Filter> NewImpersonation(std::shared_ptr<Authority> authority) {
  return std::make_shared<Impersonation>(std::move(authority));
}

}  // namespace apimesh::aggregator
