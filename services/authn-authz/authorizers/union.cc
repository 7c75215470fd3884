#include "services/authn-authz/authorizers/union.h"

namespace apimesh::authn_authz {
namespace {

void Append(std::string& text, const std::string& line) {
  if (line.empty()) return;
  if (!text.empty()) text += '\n';
  text += line;
}

class Union final : public Authorizer {
 public:
  explicit Union(std::vector<std::unique_ptr<Authorizer>> parts) : parts_(std::move(parts)) {}

  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    Decision joined;
    for (const auto& part : parts_) {
      std::optional<Decision> decision = part->DecideNow(attributes);
      if (!decision) return std::nullopt;
      if (IsFinal(*decision, joined)) return decision;
    }
    return joined;
  }

  Task<Decision> Decide(AttributesPtr attributes) override {
    Decision joined;
    for (const auto& part : parts_) {
      std::optional<Decision> decision = part->DecideNow(*attributes);
      if (!decision) decision = co_await part->Decide(attributes);
      if (IsFinal(*decision, joined)) co_return std::move(*decision);
    }
    co_return joined;
  }

  void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) override {
    for (const auto& part : parts_) part->AddRules(user, ns, rules);
  }

 private:
  static bool IsFinal(Decision& decision, Decision& joined) {
    joined.reuse = std::min(joined.reuse, decision.reuse);
    decision.reuse = joined.reuse;
    if (decision.verdict != Decision::Verdict::kNoOpinion) return true;
    Append(joined.reason, decision.reason);
    Append(joined.error, decision.error);
    return false;
  }

  std::vector<std::unique_ptr<Authorizer>> parts_;
};

}  // namespace

Task<Decision> Authorizer::Decide(AttributesPtr) { co_return Decision::NoOpinion(); }

std::unique_ptr<Authorizer> NewAuthorizerUnion(std::vector<std::unique_ptr<Authorizer>> parts) {
  return std::make_unique<Union>(std::move(parts));
}

}  // namespace apimesh::authn_authz
