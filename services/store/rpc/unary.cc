#include "services/store/rpc/unary.h"

namespace apimesh::store {
namespace {

using Run = std::function<void(const CallPtr&, std::string_view)>;

class UnaryHandler final : public CallHandler {
 public:
  UnaryHandler(CallPtr call, std::shared_ptr<const Run> run) : call_(std::move(call)), run_(std::move(run)) {}

  void OnMessage(std::string_view message) override {
    if (std::exchange(called_, true)) return;
    (*run_)(call_, message);
  }
  void OnHalfClose() override {
    if (!called_) call_->Finish({Code::kInternal, "grpc: the call carried no request"});
  }

 private:
  CallPtr call_;
  std::shared_ptr<const Run> run_;
  bool called_ = false;
};

}  // namespace

Method UnaryBytes(Run run) {
  auto shared = std::make_shared<const Run>(std::move(run));
  return [shared](const CallPtr& call) { return std::make_unique<UnaryHandler>(call, shared); };
}

Method Refuse(Status status) {
  return UnaryBytes([status](const CallPtr& call, std::string_view) { call->Finish(status); });
}

void Answer(const CallPtr& call, std::string response) {
  call->Send(std::move(response));
  call->Finish({});
}

void AnswerWhenDurable(Store& store, const CallPtr& call, std::string response) {
  store.WhenDurable([call, response = std::move(response)]() mutable { Answer(call, std::move(response)); });
}

Methods AllMethods(Services& services) {
  Methods methods;
  AddKvMethods(services, methods);
  AddWatchMethods(services, methods);
  AddLeaseMethods(services, methods);
  AddClusterMethods(services, methods);
  AddAuthMethods(services, methods);
  AddMaintenanceMethods(services, methods);
  AddSnapshotMethod(services, methods);
  AddHealthMethods(methods);
  return methods;
}

}  // namespace apimesh::store
