#pragma once

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "lib/admission/plugins/node_restriction/node_restriction.h"
#include "lib/testing/fake_store.h"
#include "lib/testing/run.h"

/// A small cluster for the tests of this folder: the plugin over stores in memory.
namespace apimesh::admission::node_restriction {

/// Answers every question with `decision` and keeps the last question.
class FakeAuth final : public service::AuthClient {
 public:
  Task<meta::Result<service::TokenIdentity>> ReviewToken(std::string, std::vector<std::string>, SteadyTime) override {
    co_return meta::InternalError("not asked for");
  }
  Task<meta::Result<service::AccessDecision>> Authorize(service::AccessQuestion asked, SteadyTime) override {
    question = std::move(asked);
    co_return decision;
  }
  Task<meta::Result<service::AccessRules>> Rules(meta::UserInfo, std::string, SteadyTime) override {
    co_return meta::InternalError("not asked for");
  }

  service::AccessQuestion question;
  meta::Result<service::AccessDecision> decision = service::AccessDecision{};
};

inline meta::Object Parse(const std::string& text) { return meta::Object(boost::json::parse(text).as_object()); }

/// One write as admission sees it. `resource` may have a group ("leases.coordination.k8s.io") and a subresource
/// ("pods/status").
struct Write {
  Operation operation = Operation::kCreate;
  std::string resource;
  std::string name;
  std::string object, old_object;  // JSON; "": none
  std::string ns = "ns";
  meta::UserInfo user = {.name = "system:node:n1", .groups = {"system:nodes", "system:authenticated"}};
};

class TestCluster {
 public:
  TestCluster() {
    Put({"", "nodes"}, "n1", R"({"metadata":{"name":"n1","uid":"node-uid"}})");
    Put({"", "pods"}, "ns/mine",
        R"({"metadata":{"name":"mine","namespace":"ns","uid":"pod-uid"},"spec":{"nodeName":"n1"}})");
    Put({"", "pods"}, "ns/other",
        R"({"metadata":{"name":"other","namespace":"ns","uid":"pod-uid"},"spec":{"nodeName":"n2"}})");
  }

  void Put(const meta::GroupResource& resource, const std::string& key, const std::string& json) {
    std::shared_ptr<testing::FakeStore>& store = stores_[resource];
    if (!store) store = std::make_shared<testing::FakeStore>(storage::ResourceConfig{.resource = resource});
    store->Put(storage::Key{key}, Parse(json));
  }
  /// No store for this resource from now on.
  void Forget(const meta::GroupResource& resource) { stores_.erase(resource); }

  /// "" if the plugin lets the write pass, else the code and the message.
  std::string Answer(const Write& write) {
    PluginInputs inputs;
    inputs.store = [this](const meta::GroupResource& resource) -> storage::StorePtr {
      const auto found = stores_.find(resource);
      return found == stores_.end() ? nullptr : found->second;
    };
    inputs.auth = auth;
    const std::unique_ptr<Plugin> plugin = MakeNodeRestriction(inputs);
    std::optional<meta::Object> object, old_object;
    if (!write.object.empty()) object = Parse(write.object);
    if (!write.old_object.empty()) old_object = Parse(write.old_object);
    Attributes attributes;
    attributes.operation = write.operation;
    const std::size_t slash = write.resource.find('/'), dot = write.resource.find('.');
    attributes.subresource = slash == std::string::npos ? "" : write.resource.substr(slash + 1);
    attributes.resource.resource = write.resource.substr(0, std::min(slash, dot));
    const std::string path = write.resource.substr(0, slash);
    if (dot < path.size()) attributes.resource.group = path.substr(dot + 1);
    attributes.resource.version = "v1";
    attributes.ns = write.ns;
    attributes.name = write.name;
    attributes.object = object ? &*object : nullptr;
    attributes.old_object = old_object ? &*old_object : nullptr;
    meta::RequestContext::State state;
    state.user = write.user;
    if (!plugin->Handles(Phase::kMutate, attributes)) return "not asked";
    const meta::Result<> result = testing::RunTask(plugin->Mutate(meta::RequestContext(state), attributes));
    return result ? "" : fmt::format("{} {}", result.error().Code(), result.error().Message());
  }

  std::shared_ptr<FakeAuth> auth = std::make_shared<FakeAuth>();

 private:
  std::map<meta::GroupResource, std::shared_ptr<testing::FakeStore>> stores_;
};

}  // namespace apimesh::admission::node_restriction
