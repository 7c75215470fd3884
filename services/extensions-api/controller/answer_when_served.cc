#include "services/extensions-api/controller/answer_when_served.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "lib/mesh/served_header.h"

namespace apimesh::extensions_api {
namespace {

constexpr Duration kLimit = std::chrono::seconds(1);
/// The response must not miss the deadline of the request because it waits.
constexpr Duration kReserve = std::chrono::milliseconds(200);

bool MayCreateDefinition(const meta::RequestInfo& info) {
  if (!info.is_resource_request || info.resource != "customresourcedefinitions" || !info.subresource.empty())
    return false;
  return info.verb == meta::Verb::kCreate || info.verb == meta::Verb::kUpdate || info.verb == meta::Verb::kPatch;
}

}  // namespace

/// The definitions that the current requests create, by audit id. Clients can choose equal audit ids; then a request
/// may also wait for the definition of the other. Thread-safe.
struct AnswerWhenServed::Creations {
  struct Creation {
    std::string name, uid;
  };
  std::mutex mutex;
  std::multimap<std::string, Creation> by_audit_id;  // guarded by mutex

  void Add(const std::string& audit_id, Creation creation) {
    const std::lock_guard lock(mutex);
    by_audit_id.emplace(audit_id, std::move(creation));
  }
  std::vector<Creation> Take(const std::string& audit_id) {
    const std::lock_guard lock(mutex);
    const auto [first, last] = by_audit_id.equal_range(audit_id);
    std::vector<Creation> creations;
    for (auto it = first; it != last; ++it) creations.push_back(std::move(it->second));
    by_audit_id.erase(first, last);
    return creations;
  }
};

namespace {

class RecordCreation final : public registry::Hooks {
 public:
  explicit RecordCreation(std::shared_ptr<AnswerWhenServed::Creations> creations) : creations_(std::move(creations)) {}
  Task<meta::Result<>> BeginCreate(meta::RequestContext ctx, meta::Object& object) override {
    creations_->Add(ctx.AuditId(), {std::string(object.Name()), std::string(object.Uid())});
    co_return meta::Result<>();
  }

 private:
  const std::shared_ptr<AnswerWhenServed::Creations> creations_;
};

}  // namespace

AnswerWhenServed::AnswerWhenServed(std::shared_ptr<mesh::DelegateHandler> server,
                                   std::shared_ptr<ServedDefinitions> served, const Clock& clock)
    : server_(std::move(server)),
      served_(std::move(served)),
      clock_(clock),
      creations_(std::make_shared<Creations>()) {}

std::shared_ptr<registry::Hooks> AnswerWhenServed::CreationHooks() const {
  return std::make_shared<RecordCreation>(creations_);
}

// This is not a coroutine, so that other requests do not allocate a frame.
Task<mesh::Response> AnswerWhenServed::Call(mesh::Request&& request) {
  if (MayCreateDefinition(request.info)) return CallAndWait(std::move(request));
  return server_->Call(std::move(request));
}

Task<mesh::Response> AnswerWhenServed::CallAndWait(mesh::Request&& request) {
  const std::string audit_id = request.audit_id;
  const SteadyTime latest = request.deadline - kReserve;
  mesh::Response response = co_await server_->Call(std::move(request));
  const std::vector<Creations::Creation> creations = creations_->Take(audit_id);
  if (response.code != 201) co_return response;
  const SteadyTime deadline = std::min(clock_.Steady() + kLimit, latest);
  for (const Creations::Creation& creation : creations) {
    const std::vector<meta::Gvr> resources =
        co_await ServedDefinitions::Wait(served_, creation.name, creation.uid, deadline);
    for (const meta::Gvr& one : resources) {
      response.headers.emplace_back(mesh::kServedResourceHeader,
                                    fmt::format("{}/{}/{}", one.group, one.version, one.resource));
    }
  }
  co_return response;
}

Task<> AnswerWhenServed::Stream(mesh::Request request, mesh::ResponseStream& stream) {
  return server_->Stream(std::move(request), stream);
}

Task<> AnswerWhenServed::Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) {
  return server_->Connect(std::move(request), std::move(stream));
}

std::shared_ptr<void> AnswerWhenServed::Describe(std::function<void(mesh::Description)> changed) {
  return server_->Describe(std::move(changed));
}

}  // namespace apimesh::extensions_api
