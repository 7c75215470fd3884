#include "services/authn-authz/authorizers/webhook/webhook.h"

#include "lib/base/expiring_cache.h"
#include "lib/base/log.h"
#include "lib/meta/object.h"
#include "services/authn-authz/authorizers/webhook/match_conditions.h"

namespace apimesh::authn_authz {
namespace {

// Denials, which any client can cause, can't evict allowed requests.
constexpr std::size_t kAllowedBytes = 4 << 20, kDeniedBytes = 1 << 20;
// Answers to longer requests are not cached, as in kube-apiserver, so that clients can't fill the memory.
constexpr std::size_t kMaxKeyBytes = 10'000;

boost::json::array Array(const std::vector<std::string>& values) {
  return boost::json::array(values.begin(), values.end());
}

void SetIf(boost::json::object& object, const char* key, std::string_view value) {
  if (!value.empty()) object[key] = value;
}

boost::json::array Requirements(const std::vector<SelectorRequirement>& from, bool fields) {
  boost::json::array out;
  for (const SelectorRequirement& requirement : from) {
    boost::json::object& item = out.emplace_back(boost::json::object()).get_object();
    item["key"] = requirement.key;
    item["operator"] = !fields ? requirement.op : requirement.op == "=" ? "In" : "NotIn";
    if (!requirement.values.empty()) item["values"] = Array(requirement.values);
  }
  return out;
}

boost::json::object Spec(const Attributes& a, bool v1beta1) {
  boost::json::object spec;
  if (a.is_resource_request) {
    boost::json::object attributes;
    SetIf(attributes, "namespace", a.ns);
    SetIf(attributes, "verb", a.verb.Text());
    SetIf(attributes, "group", a.api_group);
    SetIf(attributes, "version", a.api_version);
    SetIf(attributes, "resource", a.resource);
    SetIf(attributes, "subresource", a.subresource);
    SetIf(attributes, "name", a.name);
    if (!a.field_requirements.empty()) {
      attributes["fieldSelector"] = boost::json::object{{"requirements", Requirements(a.field_requirements, true)}};
    }
    if (!a.label_requirements.empty()) {
      attributes["labelSelector"] = boost::json::object{{"requirements", Requirements(a.label_requirements, false)}};
    }
    spec["resourceAttributes"] = std::move(attributes);
  } else {
    boost::json::object attributes;
    SetIf(attributes, "path", a.path);
    SetIf(attributes, "verb", a.verb.Text());
    spec["nonResourceAttributes"] = std::move(attributes);
  }
  SetIf(spec, "user", a.user.name);
  if (!a.user.groups.empty()) spec[v1beta1 ? "group" : "groups"] = Array(a.user.groups);
  if (!a.user.extra.empty()) {
    boost::json::object& extra = spec["extra"].emplace_object();
    for (const auto& [key, values] : a.user.extra) extra[key] = Array(values);
  }
  SetIf(spec, "uid", a.user.uid);
  return spec;
}

bool True(const boost::json::object& status, std::string_view field) {
  const boost::json::value* value = meta::FindField(status, field);
  return value && value->is_bool() && value->get_bool();
}

class AuthorizationWebhook final : public Authorizer {
 public:
  AuthorizationWebhook(std::unique_ptr<service::ReviewClient> client, AuthorizationWebhookOptions options,
                       const std::string& name, const Clock& clock, service::Metrics* metrics)
      : client_(std::move(client)),
        options_(std::move(options)),
        conditions_(options_.match_conditions, name, metrics),
        clock_(clock) {}

  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    const boost::json::object spec = Spec(attributes, false);
    if (!conditions_.Empty()) {
      const MatchConditions::Result match = conditions_.Match(spec);
      if (!match.error.empty()) return OnError(match.error);
      if (!match.matches) return Decision::NoOpinion();
    }
    const Digest key = DigestOf(boost::json::serialize(spec));
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.Steady();
    const Entry* entry = allowed_.Find(key, now);
    if (entry == nullptr) entry = denied_.Find(key, now);
    if (entry == nullptr) return std::nullopt;
    Decision decision = entry->decision;
    decision.reuse = entry->until - now;
    return decision;
  }

  Task<Decision> Decide(AttributesPtr attributes) override {
    boost::json::object review;
    review["kind"] = "SubjectAccessReview";
    review["apiVersion"] = "authorization.k8s.io/" + options_.version;
    review["metadata"].emplace_object();
    review["spec"] = Spec(*attributes, options_.version == "v1beta1");
    std::string body = boost::json::serialize(review);
    auto answered = co_await client_->Review(std::move(body), clock_.Steady() + options_.timeout);
    if (!answered) {
      log::Error("Failed to make webhook authorizer request: {}", answered.error().Message());
      co_return OnError(answered.error().Message());
    }
    Decision decision = Read(*answered);
    const bool allowed = decision.verdict == Decision::Verdict::kAllow;
    decision.reuse = allowed ? options_.authorized_ttl : options_.unauthorized_ttl;
    const std::string text = boost::json::serialize(Spec(*attributes, false));
    if (decision.reuse > Duration::zero() && text.size() < kMaxKeyBytes) {
      const SteadyTime now = clock_.Steady(), until = now + decision.reuse;
      const std::size_t bytes = decision.reason.size() + decision.error.size();
      const std::lock_guard lock(mutex_);
      (allowed ? allowed_ : denied_).Put(DigestOf(text), Entry{decision, until}, bytes, until, now);
    }
    co_return decision;
  }

  void AddRules(const meta::UserInfo&, const std::string&, RuleList& rules) override {
    rules.incomplete = true;
    rules.errors.push_back("webhook authorizer does not support user rule resolution");
  }

 private:
  struct Entry {
    Decision decision;
    SteadyTime until;
  };
  Decision OnError(std::string error) const {
    Decision decision = options_.deny_on_error ? Decision::Deny("") : Decision::NoOpinion();
    decision.error = std::move(error);
    decision.reuse = Duration::zero();
    return decision;
  }
  static Digest DigestOf(std::string_view text) {
    KeyedHash hash;
    hash.Add(text);
    return hash.Finish();
  }

  static Decision Read(const boost::json::object& review) {
    static const boost::json::object none;
    const boost::json::value* found = meta::FindField(review, "status");
    const boost::json::object& status = found && found->is_object() ? found->get_object() : none;
    std::string reason(meta::FindString(status, "reason"));
    const bool allowed = True(status, "allowed"), denied = True(status, "denied");
    if (!denied) return allowed ? Decision::Allow(std::move(reason)) : Decision::NoOpinion(std::move(reason));
    Decision decision = Decision::Deny(std::move(reason));
    if (allowed) decision.error = "webhook subject access review returned both allow and deny response";
    return decision;
  }

  const std::unique_ptr<service::ReviewClient> client_;
  const AuthorizationWebhookOptions options_;
  const MatchConditions conditions_;
  const Clock& clock_;
  std::mutex mutex_;
  ExpiringCache<Entry> allowed_{kAllowedBytes}, denied_{kDeniedBytes};  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Authorizer> NewAuthorizationWebhook(std::unique_ptr<service::ReviewClient> client,
                                                    AuthorizationWebhookOptions options, std::string name,
                                                    const Clock& clock, service::Metrics* metrics) {
  return std::make_unique<AuthorizationWebhook>(std::move(client), std::move(options), name, clock, metrics);
}

}  // namespace apimesh::authn_authz
