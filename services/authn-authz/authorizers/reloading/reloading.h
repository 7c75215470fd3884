#pragma once

#include <atomic>

#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// An authorizer that can be replaced while it is in use. A decision in progress finishes with the authorizer that it
/// started with.
class ReloadingAuthorizer final : public Authorizer {
 public:
  explicit ReloadingAuthorizer(std::shared_ptr<Authorizer> first) : current_(std::move(first)) {}
  void Replace(std::shared_ptr<Authorizer> next) { current_.store(std::move(next)); }

  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    return current_.load()->DecideNow(attributes);
  }
  Task<Decision> Decide(AttributesPtr attributes) override {
    const std::shared_ptr<Authorizer> current = current_.load();
    // The authorizer may have been replaced since DecideNow(), and the new one may be able to decide without waiting.
    std::optional<Decision> decision = current->DecideNow(*attributes);
    if (!decision) decision = co_await current->Decide(std::move(attributes));
    co_return std::move(*decision);
  }
  void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) override {
    current_.load()->AddRules(user, ns, rules);
  }

 private:
  std::atomic<std::shared_ptr<Authorizer>> current_;
};

}  // namespace apimesh::authn_authz
