#include "services/store/rpc/services.h"
#include "services/store/rpc/unary.h"

namespace apimesh::store {
namespace {

// grpc.health.v1.HealthCheckResponse{status: SERVING}
std::string Serving() {
  std::string response;
  wire::AppendInteger(response, 1, std::int64_t{1});
  return response;
}

/// Health/Watch: sends the current state, which does not change before the process ends.
class WatchHealth final : public CallHandler {
 public:
  explicit WatchHealth(CallPtr call) : call_(std::move(call)) {}
  void OnMessage(std::string_view) override { call_->Send(Serving()); }
  void OnHalfClose() override {}

 private:
  CallPtr call_;
};

}  // namespace

void AddHealthMethods(Methods& methods) {
  methods["/grpc.health.v1.Health/Check"] =
      UnaryBytes([](const CallPtr& call, std::string_view) { Answer(call, Serving()); });
  methods["/grpc.health.v1.Health/Watch"] = [](const CallPtr& call) -> std::unique_ptr<CallHandler> {
    return std::make_unique<WatchHealth>(call);
  };
}

}  // namespace apimesh::store
