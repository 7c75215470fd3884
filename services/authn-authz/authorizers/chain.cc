#include "services/authn-authz/authorizers/chain.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "services/authn-authz/authorizers/abac/make.h"
#include "services/authn-authz/authorizers/always/always.h"
#include "services/authn-authz/authorizers/counted/counted.h"
#include "services/authn-authz/authorizers/node/node.h"
#include "services/authn-authz/authorizers/rbac/rbac.h"
#include "services/authn-authz/authorizers/union.h"
#include "services/authn-authz/authorizers/webhook/make.h"

namespace apimesh::authn_authz {
namespace {

struct Entry {
  std::string_view mode;
  std::unique_ptr<Authorizer> (*make)(const AuthorizerInputs& inputs);
  void (*bind)(flags::OptionSet& options, flags::Binder& flags);
};

/// For authorizers without options.
struct NoFlags {
  void Bind(flags::Binder&) {}
};

constexpr Entry kAuthorizers[] = {
#define AUTHORIZER(mode, factory, options) {mode, &factory, &flags::BindOptions<options>},
#include "services/authn-authz/authorizers/authorizers.inc"
#undef AUTHORIZER
};

const Entry& EntryOf(std::string_view mode) {
  const auto found = std::find_if(std::begin(kAuthorizers), std::end(kAuthorizers),
                                  [&](const Entry& entry) { return entry.mode == mode; });
  if (found == std::end(kAuthorizers)) {
    throw std::runtime_error(fmt::format("authorization-mode \"{}\" is not a valid mode", mode));
  }
  return *found;
}

}  // namespace

bool HasMode(const std::vector<AuthorizerConfig>& configs, std::string_view mode) {
  return std::any_of(configs.begin(), configs.end(),
                     [&](const AuthorizerConfig& config) { return config.type == mode; });
}

void BindAuthorizers(flags::OptionSet& options, flags::Binder& flags) {
  for (const Entry& entry : kAuthorizers) entry.bind(options, flags);
}

std::unique_ptr<Authorizer> BuildAuthorizerChain(const std::vector<AuthorizerConfig>& configs,
                                                 const AuthorizationOptions& options, const AuthorizationState& state,
                                                 const Clock& clock, service::Metrics& metrics) {
  if (configs.empty()) throw std::runtime_error("at least one authorization-mode must be passed");
  std::vector<std::unique_ptr<Authorizer>> parts;
  parts.push_back(NewPrivilegedGroup("system:masters"));
  for (const AuthorizerConfig& config : configs) {
    auto part = EntryOf(config.type).make({config, options, state, clock, metrics});
    parts.push_back(NewCounted(std::move(part), config.type, config.name, metrics));
  }
  return NewAuthorizerUnion(std::move(parts));
}

}  // namespace apimesh::authn_authz
