#pragma once

#include <map>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lib/admission/all_plugins.h"
#include "lib/admission/objects/cluster_objects.h"
#include "lib/testing/fake_store.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"

/// A small cluster for the tests of plugins: stores in memory, an authorizer, and writes that run through one plugin.
namespace apimesh::admission {

/// Returns `decision` for every request and records the last request.
class FakeAuth final : public service::AuthClient {
 public:
  Task<meta::Result<service::TokenIdentity>> ReviewToken(std::string, std::vector<std::string>, SteadyTime) override {
    co_return meta::InternalError("not asked for");
  }
  Task<meta::Result<service::AccessDecision>> Authorize(service::AccessQuestion asked, SteadyTime) override {
    question = std::move(asked);
    co_return decide ? decide(question) : decision;
  }
  Task<meta::Result<service::AccessRules>> Rules(meta::UserInfo, std::string, SteadyTime) override {
    co_return meta::InternalError("not asked for");
  }

  service::AccessQuestion question;
  meta::Result<service::AccessDecision> decision = service::AccessDecision{};
  std::function<meta::Result<service::AccessDecision>(const service::AccessQuestion&)> decide;  // instead of `decision`
};

inline meta::Object Parse(const std::string& text) { return meta::Object(boost::json::parse(text).as_object()); }

/// The attributes of one write. `resource` may have a group ("leases.coordination.k8s.io") and a subresource
/// ("pods/status").
struct Write {
  Operation operation = Operation::kCreate;
  std::string resource;
  std::string name;
  std::string object, old_object;  // JSON; "" if there is none
  std::string ns = "ns";
  meta::UserInfo user = {.name = "jane", .groups = {"system:authenticated"}};
  bool dry_run = false;
};

/// What a plugin did with a write.
struct Outcome {
  std::string error;  // code and message, or "" if the write was admitted
  bool asked = false;
  meta::Object object;
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> annotations;

  std::string Json() const { return boost::json::serialize(object.Root()); }
};

class TestCluster {
 public:
  void Put(const meta::GroupResource& resource, const std::string& key, const std::string& json) {
    std::shared_ptr<testing::FakeStore>& store = stores_[resource];
    if (!store) store = NewStore(resource);
    store->Put(storage::Key{key}, Parse(json));
  }
  /// Removes the store of this resource, which then cannot be read.
  void Forget(const meta::GroupResource& resource) { stores_[resource] = nullptr; }

  PluginInputs Inputs() {
    PluginInputs inputs;
    ClusterObjects::Parts parts{.clock = clock};
    parts.store = [this](const meta::Gvr& resource) -> storage::StorePtr {
      const auto [found, added] = stores_.try_emplace(resource.GroupResource());
      if (added) found->second = NewStore(resource.GroupResource());
      return found->second;
    };
    parts.executor = subscriptions.get_executor();
    inputs.objects = std::make_shared<ClusterObjects>(std::move(parts));
    inputs.auth = auth;
    inputs.clock = &clock;
    inputs.features = features;
    return inputs;
  }

  /// Runs both phases of the plugin, in order, if it handles them.
  static Outcome Run(Plugin& plugin, const Write& write) {
    std::optional<meta::Object> object, old_object;
    if (!write.object.empty()) object = Parse(write.object);
    if (!write.old_object.empty()) old_object = Parse(write.old_object);
    Attributes attributes = AttributesOf(write);
    attributes.object = object ? &*object : nullptr;
    attributes.old_object = old_object ? &*old_object : nullptr;
    meta::RequestContext::State state;
    state.user = write.user;
    const meta::RequestContext ctx(state);
    Outcome outcome;
    meta::Result<> result;
    if (plugin.Handles(Phase::kMutate, attributes)) {
      outcome.asked = true;
      result = testing::RunTask(plugin.Mutate(ctx, attributes));
    }
    if (result && plugin.Handles(Phase::kValidate, attributes)) {
      outcome.asked = true;
      result = testing::RunTask(plugin.Validate(ctx, attributes));
    }
    if (!result) outcome.error = fmt::format("{} {}", result.error().Code(), result.error().Message());
    if (object) outcome.object = std::move(*object);
    outcome.warnings = ctx.Warnings();
    outcome.annotations = ctx.AuditAnnotations();
    return outcome;
  }

  std::shared_ptr<FakeAuth> auth = std::make_shared<FakeAuth>();
  testing::ManualClock clock;
  features::FeatureGates features;
  boost::asio::io_context subscriptions{1};  // runs the subscriptions of plugins, in tests that run it

 private:
  static std::shared_ptr<testing::FakeStore> NewStore(const meta::GroupResource& resource) {
    return std::make_shared<testing::FakeStore>(storage::ResourceConfig{.resource = resource});
  }
  static Attributes AttributesOf(const Write& write) {
    Attributes attributes;
    attributes.operation = write.operation;
    const std::size_t slash = write.resource.find('/'), dot = write.resource.find('.');
    attributes.subresource = slash == std::string::npos ? "" : write.resource.substr(slash + 1);
    attributes.resource.resource = write.resource.substr(0, std::min(slash, dot));
    const std::string path = write.resource.substr(0, slash);
    if (dot < path.size()) attributes.resource.group = path.substr(dot + 1);
    attributes.resource.version = "v1";
    if (!write.object.empty()) attributes.kind = Parse(write.object).GetGvk();
    attributes.ns = write.ns;
    attributes.name = write.name;
    attributes.dry_run = write.dry_run;
    return attributes;
  }

  std::map<meta::GroupResource, std::shared_ptr<testing::FakeStore>> stores_;  // nullptr: cannot be read
};

/// A case of a table: a write, the error that it is answered with ("" if it is admitted), and fields that the object
/// must have afterwards, as a JSON merge patch that changes nothing ("" if there are none).
struct PluginCase {
  std::string test;
  Write write;
  std::string error;
  std::string want = {};
};

/// Returns whether all fields of `wanted` are in `found`. Lists and other values must be equal.
inline bool Contains(const boost::json::value& found, const boost::json::value& wanted) {
  if (!wanted.is_object()) return found == wanted;
  if (!found.is_object()) return false;
  for (const auto& field : wanted.get_object()) {
    const boost::json::value* value = found.get_object().if_contains(field.key());
    if (field.value().is_null() ? value != nullptr : !value || !Contains(*value, field.value())) return false;
  }
  return true;
}

/// Runs one case through a plugin.
inline void Check(Plugin& plugin, const PluginCase& test) {
  const Outcome outcome = TestCluster::Run(plugin, test.write);
  EXPECT_EQ(outcome.error, test.error) << test.test;
  if (!test.want.empty()) {
    EXPECT_TRUE(Contains(outcome.object.Root(), boost::json::parse(test.want))) << test.test << ": " << outcome.Json();
  }
}

}  // namespace apimesh::admission
