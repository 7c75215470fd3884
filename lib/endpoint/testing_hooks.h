#pragma once

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lib/admission/chain.h"
#include "lib/endpoint/testing_server.h"

/// Records the steps of a write and lets one of them fail, for the tests of this folder.
namespace apimesh::endpoint {

enum class Fault { kError, kGone, kThrow };

/// The steps of the writes of one server, in the order in which they ran.
struct WriteSpy {
  std::vector<std::string> steps;
  std::string fails_at;  // the step that fails; empty: none
  Fault fault = Fault::kError;
  std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
  std::set<std::string> taken;  // the addresses that are in use

  meta::Result<> Reach(const std::string& step) {
    steps.push_back(step);
    if (step != fails_at) return {};
    if (fault == Fault::kGone) *gone = true;
    if (fault == Fault::kThrow) throw std::runtime_error("thrown at " + step);
    if (fault == Fault::kError) return meta::Forbidden(meta::GroupResource{"", "configmaps"}, "a", "failed at " + step);
    return {};
  }
};
using SpyPtr = std::shared_ptr<WriteSpy>;

/// Allocates an address for every configmap, in data.address: the requested one, or a new one. A requested address that
/// is in use is a conflict.
class AddressHooks final : public registry::Hooks {
 public:
  explicit AddressHooks(SpyPtr spy) : spy_(std::move(spy)) {}

  static std::string AddressOf(const meta::Object& object) {
    return std::string(meta::FindString(object.Root(), "data", "address"));
  }
  Task<meta::Result<>> BeginCreate(meta::RequestContext, meta::Object& object) override {
    CO_RETURN_IF_ERROR(spy_->Reach("BeginCreate " + std::string(object.Name().empty() ? "unnamed" : "named")));
    co_return Take(object);
  }
  Task<meta::Result<>> BeginUpdate(meta::RequestContext, meta::Object& object, const meta::Object& old) override {
    CO_RETURN_IF_ERROR(spy_->Reach("BeginUpdate"));
    if (AddressOf(object) == AddressOf(old)) co_return meta::Result<>();
    co_return Take(object);
  }
  Task<> GiveBack(meta::RequestContext ctx, const meta::Object& loser, const meta::Object& winner) override {
    if (AddressOf(loser) != AddressOf(winner)) Release(ctx, loser);
    co_return;
  }
  Task<> AbandonCreate(meta::RequestContext ctx, const meta::Object& object) override {
    Release(ctx, object);
    co_return;
  }
  Task<> AfterDelete(meta::RequestContext ctx, const meta::Object& object) override {
    Release(ctx, object);
    co_return;
  }

 private:
  meta::Result<> Take(meta::Object& object) {
    std::string address = AddressOf(object);
    if (address.empty()) address = fmt::format("10.0.0.{}", ++last_);
    if (!spy_->taken.insert(address).second)
      return meta::Conflict({"", "configmaps"}, object.Name(), address + " is in use");
    meta::MakeObject(object.Root(), "data")["address"] = address;
    return {};
  }
  /// Like a store, this does nothing for a request that was abandoned.
  void Release(const meta::RequestContext& ctx, const meta::Object& object) {
    if (!ctx.Abandoned()) spy_->taken.erase(AddressOf(object));
  }

  const SpyPtr spy_;
  int last_ = 0;
};

class SpyPlugin final : public admission::Plugin {
 public:
  explicit SpyPlugin(SpyPtr spy) : spy_(std::move(spy)) {}
  bool Handles(admission::Phase, const admission::Attributes&) const override { return true; }
  Task<meta::Result<>> Mutate(meta::RequestContext, admission::Attributes&) override {
    co_return spy_->Reach("Mutate");
  }
  Task<meta::Result<>> Validate(meta::RequestContext, const admission::Attributes&) override {
    co_return spy_->Reach("ValidatingAdmission");
  }

 private:
  const SpyPtr spy_;
};

class SpyStrategy final : public registry::Strategy {
 public:
  explicit SpyStrategy(SpyPtr spy) : spy_(std::move(spy)) {}
  void Default(meta::json::object&) const override { (void)spy_->Reach("Default"); }
  void PrepareForCreate(const meta::RequestContext&, meta::Object&) const override { (void)spy_->Reach("Prepare"); }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object&) const override { return Check(); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object&, const meta::Object&) const override {
    (void)spy_->Reach("Prepare");
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object&,
                                   const meta::Object&) const override {
    return Check();
  }
  bool AllowCreateOnUpdate() const override { return true; }

 private:
  meta::FieldErrors Check() const {
    if (spy_->Reach("Validate")) return {};
    return {meta::Invalid("data", "x", "failed at Validate")};
  }
  const SpyPtr spy_;
};

class SpyChecks final : public WriteChecks {
 public:
  explicit SpyChecks(SpyPtr spy) : spy_(std::move(spy)) {}
  Task<meta::Result<>> CheckCreate(meta::RequestContext, const meta::Object&) override {
    co_return spy_->Reach("Check");
  }
  Task<meta::Result<>> CheckUpdate(meta::RequestContext, const meta::Object&, const meta::Object&) override {
    co_return spy_->Reach("Check");
  }

 private:
  const SpyPtr spy_;
};

inline Task<meta::Result<>> SpyAuthorize(SpyPtr spy) { co_return spy->Reach("Authorize"); }

/// A server whose writes of configmaps report each step to `spy`.
inline TestServerOptions SpiedOn(const SpyPtr& spy) {
  std::vector<std::unique_ptr<admission::Plugin>> plugins;
  plugins.push_back(std::make_unique<SpyPlugin>(spy));
  TestServerOptions options;
  options.chain = std::make_shared<const admission::Chain>(std::move(plugins));
  options.authorize_create = [spy](meta::RequestContext) { return SpyAuthorize(spy); };
  options.strategy = std::make_shared<SpyStrategy>(spy);
  options.hooks = std::make_shared<AddressHooks>(spy);
  options.checks = std::make_shared<SpyChecks>(spy);
  return options;
}

inline const std::string kSpiedMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kSpiedBody =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}})";
inline const storage::Key kSpiedKey{"default/a"};

/// One way to write an object.
struct Way {
  const char* name;
  const char* method;
  std::string target;
  const char* type;
};

/// A server of configmaps whose writes are recorded.
class SpiedServer {
 public:
  SpiedServer() : server(SpiedOn(spy)) {}
  explicit SpiedServer(const std::function<void(TestServerOptions&)>& change)
      : server([&] {
          TestServerOptions options = SpiedOn(spy);
          change(options);
          return options;
        }()) {}

  Reply Send(const Way& way, const std::string& body = kSpiedBody) {
    return server.Send(way.method, way.target, body, {{"content-type", way.type}, {"user-agent", "test/1"}}, spy->gone);
  }
  int Count(const std::string& step) const {
    return static_cast<int>(std::count(spy->steps.begin(), spy->steps.end(), step));
  }
  /// The addresses of the stored objects.
  std::set<std::string> Stored() {
    std::set<std::string> addresses;
    const boost::json::value list = server.Send("GET", kSpiedMaps).Json();
    for (const auto& item : list.at("items").as_array()) addresses.emplace(item.at("data").at("address").as_string());
    return addresses;
  }
  /// Writes "a" directly to the store and marks the address as taken. `metadata` begins with a comma unless it is
  /// empty.
  void PutAsAnotherWriter(const std::string& address, const std::string& metadata = "") {
    spy->taken.insert(address);
    const std::string text =
        R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"u")" + metadata +
        R"(},"data":{"address":")" + address + R"("}})";
    server.config_map_store->Put(kSpiedKey, meta::Object(boost::json::parse(text).as_object()));
  }

  const SpyPtr spy = std::make_shared<WriteSpy>();
  TestServer server;
};

}  // namespace apimesh::endpoint
