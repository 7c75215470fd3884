#include "services/aggregator/filters/impersonation/impersonation_modes.h"

#include "lib/meta/errors/field_error.h"
#include "lib/meta/errors/forbidden.h"
#include "lib/meta/names.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:", kNode = "system:node:",
                           kAnonymous = "system:anonymous", kAuthenticated = "system:authenticated",
                           kUnauthenticated = "system:unauthenticated", kMasters = "system:masters",
                           kNodeNameExtra = "authentication.kubernetes.io/node-name";
constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";
// From this number of values on, one check for all of them ("*") is tried first.
constexpr std::size_t kMany = 4;
constexpr std::size_t kMaxRemembered = 10'000;

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

struct AccountName {
  std::string ns, name;
};
std::optional<AccountName> ServiceAccountOf(const std::string& user) {
  if (!user.starts_with(kServiceAccount)) return std::nullopt;
  const std::string_view rest = std::string_view(user).substr(kServiceAccount.size());
  const std::size_t colon = rest.find(':');
  if (colon == rest.npos || rest.find(':', colon + 1) != rest.npos) return std::nullopt;
  AccountName account{std::string(rest.substr(0, colon)), std::string(rest.substr(colon + 1))};
  if (!meta::NameIsDnsLabel(account.ns, false).empty() || !meta::NameIsDnsSubdomain(account.name, false).empty())
    return std::nullopt;
  return account;
}

std::optional<std::string> NodeOf(const std::string& user) {
  if (!user.starts_with(kNode)) return std::nullopt;
  std::string name = user.substr(kNode.size());
  return meta::NameIsDnsSubdomain(name, false).empty() ? std::optional(std::move(name)) : std::nullopt;
}

bool OnlyName(const meta::UserInfo& user) { return user.uid.empty() && user.groups.empty() && user.extra.empty(); }

bool RunsOn(const meta::UserInfo& account, const std::string& node) {
  const auto found = account.extra.find(std::string(kNodeNameExtra));
  return ServiceAccountOf(account.name) && found != account.extra.end() && found->second.size() == 1 &&
         found->second.front() == node;
}

// These functions decide whether a mode applies to the impersonated user.
bool ForAssociatedNode(const meta::UserInfo& wanted, const meta::UserInfo& requestor) {
  const auto node = NodeOf(wanted.name);
  return node && OnlyName(wanted) && RunsOn(requestor, *node);
}
bool ForNode(const meta::UserInfo& wanted, const meta::UserInfo&) { return OnlyName(wanted) && NodeOf(wanted.name); }
bool ForServiceAccount(const meta::UserInfo& wanted, const meta::UserInfo&) {
  return OnlyName(wanted) && ServiceAccountOf(wanted.name);
}
bool ForOthers(const meta::UserInfo& wanted, const meta::UserInfo&) {
  return !NodeOf(wanted.name) && !ServiceAccountOf(wanted.name);
}
bool ForAll(const meta::UserInfo&, const meta::UserInfo&) { return true; }

struct Mode {
  std::string_view name;
  bool (*applies)(const meta::UserInfo& wanted, const meta::UserInfo& requestor);
  bool constrained = true;
  bool associated_node = false;
};
// In the order in which they are tried.
constexpr Mode kModes[] = {{"associated-node", &ForAssociatedNode, true, true},
                           {"arbitrary-node", &ForNode},
                           {"serviceaccount", &ForServiceAccount},
                           {"user-info", &ForOthers},
                           {"legacy", &ForAll, false}};

// Returns the message for extra fields that constrained modes always refuse; "" if they are valid.
std::string ExtraComplaint(const std::map<std::string, std::vector<std::string>>& extra) {
  for (const auto& [key, values] : extra) {
    if (key.empty()) return "impersonating the empty string key in extra is not allowed";
    const std::size_t slash = key.find('/');
    constexpr std::string_view kInvalid =
        "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ";
    if (slash == key.npos || slash == 0 || slash + 1 == key.size()) {
      return fmt::format("{}{}: must be a domain-prefixed path (such as \"acme.io/foo\")", kInvalid, meta::Quoted(key));
    }
    if (const auto complaints = meta::CheckDnsSubdomain(key.substr(0, slash)); !complaints.empty()) {
      return fmt::format("{}{}: {}", kInvalid, meta::Quoted(key.substr(0, slash)), complaints.front());
    }
    if (std::any_of(key.begin(), key.end(), [](unsigned char c) { return std::isupper(c); })) {
      return fmt::format("impersonating a non-lowercase key in extra is not allowed: {}", meta::Quoted(key));
    }
    if (values.empty()) return "impersonating empty values in extra is not allowed";
    if (Contains(values, "")) return "impersonating the empty string value in extra is not allowed";
  }
  return "";
}

bool IsLarge(const std::map<std::string, std::vector<std::string>>& extra) {
  std::size_t count = 0;
  for (const auto& [key, values] : extra) count += std::max<std::size_t>(values.size(), 1);
  return count >= kMany;
}

// Checks one request in one mode.
class Attempt {
 public:
  Attempt(std::shared_ptr<Authority> authority, const Mode& mode, AuthorizationQuestion request, meta::UserInfo wanted)
      : authority_(std::move(authority)),
        mode_(mode),
        request_(std::move(request)),
        wanted_(std::move(wanted)),
        verb_(mode.constrained ? fmt::format("impersonate:{}", mode.name) : "impersonate") {
    if (mode.associated_node) {
      // The permission does not depend on the node, so node-specific values are removed from the question.
      meta::UserInfo requestor = request_.user->info;
      std::vector<std::string> keys;
      for (const auto& [key, values] : requestor.extra) keys.push_back(key);
      requestor.extra = {{"authentication.kubernetes.io/associated-node-keys", std::move(keys)}};
      request_.user = MakeUser(std::move(requestor));
    }
  }

  Task<meta::Result<Impersonated>> Run() {
    if (mode_.constrained) {
      meta::RequestInfo on = request_.info;
      on.verb = fmt::format("impersonate-on:{}:{}", mode_.name, on.verb.Text());
      CO_RETURN_IF_ERROR(co_await Ask(std::move(on)));
    }
    meta::UserInfo actual = wanted_;
    CO_RETURN_IF_ERROR(co_await AskForName(actual));
    if (!wanted_.uid.empty()) CO_RETURN_IF_ERROR(co_await Ask(Right(kAuthenticationGroup, "uids", wanted_.uid)));
    CO_RETURN_IF_ERROR(co_await AskForGroups());
    CO_RETURN_IF_ERROR(co_await AskForExtra());
    if (actual.name == kAnonymous) {
      if (!Contains(actual.groups, kUnauthenticated)) actual.groups.emplace_back(kUnauthenticated);
    } else if (!Contains(actual.groups, kAuthenticated) && !Contains(actual.groups, kUnauthenticated)) {
      actual.groups.emplace_back(kAuthenticated);
    }
    co_return Impersonated{std::move(actual), std::string(mode_.name), mode_.constrained ? verb_ : "",
                           std::move(granted_)};
  }

 private:
  meta::RequestInfo Right(std::string_view group, std::string_view resource, std::string name) const {
    meta::RequestInfo info;
    info.is_resource_request = true;
    info.verb = verb_;
    info.api_group = group;
    info.api_version = "v1";
    info.resource = resource;
    info.name = std::move(name);
    return info;
  }
  std::string_view NameGroup() const { return mode_.constrained ? kAuthenticationGroup : std::string_view(); }

  Task<meta::Result<>> AskForName(meta::UserInfo& actual) {
    meta::RequestInfo right = Right(NameGroup(), "users", wanted_.name);
    if (const auto node = NodeOf(wanted_.name); node && mode_.constrained) {
      right.resource = "nodes";
      right.name = mode_.associated_node ? "*" : *node;
      actual.groups = {"system:nodes"};
    }
    if (const auto account = ServiceAccountOf(wanted_.name)) {
      right.resource = "serviceaccounts";
      right.ns = account->ns;
      right.name = account->name;
      if (wanted_.groups.empty()) actual.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account->ns};
    }
    return Ask(std::move(right));
  }

  Task<meta::Result<>> AskForGroups() {
    meta::RequestInfo right = Right(NameGroup(), "groups", "");
    if (mode_.constrained) {
      if (Contains(wanted_.groups, "")) co_return Refused(right, "impersonating the empty string group is not allowed");
      if (Contains(wanted_.groups, kMasters)) {
        right.name = kMasters;
        co_return Refused(right, "impersonating the system:masters group is not allowed");
      }
      if (wanted_.groups.size() >= kMany) {
        right.name = "*";
        if (co_await Ask(right)) co_return meta::Result<>();
      }
    }
    for (const std::string& group : wanted_.groups) {
      right.name = group;
      CO_RETURN_IF_ERROR(co_await Ask(right));
    }
    co_return meta::Result<>();
  }

  Task<meta::Result<>> AskForExtra() {
    meta::RequestInfo right = Right(kAuthenticationGroup, "userextras", "");
    if (mode_.constrained) {
      if (const std::string complaint = ExtraComplaint(wanted_.extra); !complaint.empty())
        co_return Refused(right, complaint);
      if (IsLarge(wanted_.extra)) {
        right.subresource = right.name = "*";
        if (co_await Ask(right)) co_return meta::Result<>();
      }
    }
    for (const auto& [key, values] : wanted_.extra) {
      right.subresource = key;
      for (const std::string& value : values) {
        right.name = value;
        CO_RETURN_IF_ERROR(co_await Ask(right));
      }
    }
    co_return meta::Result<>();
  }

  Task<meta::Result<>> Ask(meta::RequestInfo right) {
    const AuthorizationQuestion question{request_.user, right, request_.audit_id, request_.deadline};
    const AuthorizationAnswer answer = co_await authority_->Authorize(question);
    switch (answer.verdict) {
      case AuthorizationAnswer::Verdict::kAllow: granted_.push_back(question); co_return meta::Result<>();
      case AuthorizationAnswer::Verdict::kUnavailable:
        co_return meta::ServiceUnavailable("authorization is not available, please try again later", 1);
      case AuthorizationAnswer::Verdict::kDeny: break;
    }
    std::string why = answer.error;
    if (!why.empty() && !answer.reason.empty()) why += ": ";
    co_return Refused(right, why + answer.reason);
  }

  meta::Result<> Refused(const meta::RequestInfo& right, std::string_view why) const {
    return meta::ForbiddenTo(request_.user->info.name, right, why);
  }

  const std::shared_ptr<Authority> authority_;
  const Mode& mode_;
  AuthorizationQuestion request_;
  const meta::UserInfo wanted_;
  const std::string verb_;
  std::vector<AuthorizationQuestion> granted_;
};

Digest DigestOf(std::string_view name) {
  KeyedHash hash;
  hash.Add(name);
  return hash.Finish();
}

}  // namespace

Task<meta::Result<Impersonated>> ImpersonationModes::Check(AuthorizationQuestion request, meta::UserInfo wanted) {
  const Digest requestor = DigestOf(request.user->info.name);
  const std::optional<std::size_t> last = LastOf(requestor);
  std::vector<std::size_t> order;
  if (last) order.push_back(*last);
  for (std::size_t i = 0; i < std::size(kModes); ++i) {
    if (i != last) order.push_back(i);
  }
  std::optional<meta::ApiError> first_error;
  for (const std::size_t i : order) {
    if ((kModes[i].constrained && !constrained_) || !kModes[i].applies(wanted, request.user->info)) continue;
    Attempt attempt(authority_, kModes[i], request, wanted);
    auto result = co_await attempt.Run();
    if (result) {
      Remember(requestor, i);
      co_return result;
    }
    if (result.error().Code() == 503) co_return result.error();
    if (!first_error) first_error = result.error();
  }
  co_return *first_error;  // set, because "legacy" applies to every user
}

std::optional<std::size_t> ImpersonationModes::LastOf(const Digest& requestor) {
  const std::lock_guard lock(mutex_);
  const auto found = last_.find(requestor);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

void ImpersonationModes::Remember(const Digest& requestor, std::size_t mode) {
  const std::lock_guard lock(mutex_);
  if (last_.size() >= kMaxRemembered) last_.clear();
  last_[requestor] = mode;
}

}  // namespace apimesh::aggregator
