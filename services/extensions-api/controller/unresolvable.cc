#include "services/extensions-api/controller/unresolvable.h"

#include "lib/service/chain.h"

namespace apimesh::extensions_api {
namespace {

class UnresolvableHandler final : public mesh::DelegateHandler {
 public:
  explicit UnresolvableHandler(std::shared_ptr<const UnresolvableResources> resources)
      : resources_(std::move(resources)) {}

  Task<mesh::Response> Call(mesh::Request&& request) override { co_return ResponseTo(request.info); }
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override {
    mesh::Response response = ResponseTo(request.info);
    co_await stream.WriteComplete(std::move(response));
  }
  Task<> Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) override {
    mesh::Response response = ResponseTo(request.info);
    co_await stream->Answer(std::move(response));
  }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override {
    changed({});
    return nullptr;
  }

 private:
  mesh::Response ResponseTo(const meta::RequestInfo& info) const {
    if (!resources_->Contains(info)) return service::PlainNotFound();
    return mesh::Response::Error(meta::InternalError("error resolving resource"));
  }

  const std::shared_ptr<const UnresolvableResources> resources_;
};

}  // namespace

void UnresolvableResources::Replace(std::set<meta::Gvr> resources) {
  const std::lock_guard lock(mutex_);
  resources_ = std::move(resources);
}

bool UnresolvableResources::Contains(const meta::RequestInfo& info) const {
  if (!info.is_resource_request) return false;
  const std::lock_guard lock(mutex_);
  return resources_.contains({info.api_group, info.api_version, info.resource});
}

std::shared_ptr<mesh::DelegateHandler> AnswerUnresolvable(std::shared_ptr<const UnresolvableResources> resources) {
  return std::make_shared<UnresolvableHandler>(std::move(resources));
}

}  // namespace apimesh::extensions_api
