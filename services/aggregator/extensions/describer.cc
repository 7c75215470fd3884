#include "services/aggregator/extensions/describer.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include "lib/grpc/typed_call.h"
#include "lib/mesh/methods.h"
#include "proto/mesh/v1/delegate.pb.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {
namespace {

constexpr const char* kHealth = "/grpc.health.v1.Health/Check";
constexpr char kServing = 1;
constexpr std::chrono::seconds kHealthTimeout{5};
/// A server whose description never changes may end the stream after one message; it is asked again after this time.
constexpr std::chrono::seconds kAskAgain{5};
constexpr std::chrono::milliseconds kRetry{500};

}  // namespace

void Describer::Start(const boost::asio::any_io_executor& executor) {
  boost::asio::co_spawn(executor, Run(shared_from_this()), boost::asio::detached);
}

void Describer::Stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  const auto cancel = std::exchange(cancel_, nullptr);
  const auto pause = std::exchange(pause_, nullptr);
  lock.unlock();
  if (cancel) cancel();
  if (pause) pause->Wake();
}

Task<> Describer::Run(std::shared_ptr<Describer> self) {
  for (;;) {
    co_await self->Follow();
    const auto pause = Wakeup::New();
    bool known = false;
    {
      const std::lock_guard lock(self->mutex_);
      if (self->stopped_) co_return;
      self->pause_ = pause;
      known = self->resources_ != nullptr;
    }
    const Duration time = known ? Duration(kAskAgain) : Duration(kRetry);
    co_await Wakeup::WaitFor(pause, time);
  }
}

Task<> Describer::Follow() {
  grpc::ClientCall call = co_await source_.channel->Open(mesh::methods::kDescribe, grpc::CallOptions());
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) co_return;
    cancel_ = call.Canceller();
  }
  mesh::v1::DescribeRequest request;
  request.set_contract_version(kContractVersion);
  co_await call.Write(grpc::Pack(request));
  call.WritesDone();
  bool described = false;
  for (;;) {
    std::optional<std::string> bytes = co_await call.Read();
    if (!bytes) break;
    described = true;
    mesh::v1::Description description;
    Refusal refusal{"InvalidDescription", "the description of the server can't be decoded"};
    ExtensionResourcesPtr resources;
    if (description.ParseFromString(*bytes)) {
      const schema::DescriptionTexts texts = source_.texts->Read();
      resources = ReadResources(description, source_.version, texts, refusal);
    }
    Report(std::move(resources), std::move(refusal));
  }
  const grpc::Status status = co_await call.Finish();
  if (status.ok() && !described) {
    Report(nullptr, {"InvalidDescription", "the server ended the stream Describe without a description"});
  } else if (!status.ok()) {
    Report(nullptr, Failed(status));
  }
}

Refusal Describer::Failed(const grpc::Status& status) const {
  if (status.code == grpc::Code::kUnimplemented) {
    return {"ContractUnsupported",
            fmt::format("{} does not implement apimesh.mesh.v1.Delegate/Describe", source_.endpoint)};
  }
  const char* const reason = status.code == grpc::Code::kUnavailable ? "FailedConnection" : "FailedDescription";
  return {reason,
          fmt::format("{}: {:.300} (code {})", source_.endpoint, status.message, static_cast<int>(status.code))};
}

void Describer::Report(ExtensionResourcesPtr resources, Refusal refusal) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    const bool same = resources && resources_ && resources->openapi_hash == resources_->openapi_hash &&
                      resources->resource_list == resources_->resource_list &&
                      *resources->shared_watches == *resources_->shared_watches;
    if (same || (!resources && !resources_ && refusal.message == refusal_.message)) return;
    resources_ = std::move(resources);
    refusal_ = resources_ ? Refusal() : std::move(refusal);
    if (resources_) documents_ = {resources_, NewOpenApiVersion()};
    if (!resources_) healthy_ = false;  // requests are refused from now on
  }
  source_.changed();
}

Task<Refusal> Describer::Check() {
  grpc::Message everything;  // an empty HealthCheckRequest asks for the complete server
  everything.emplace_back(std::string());
  grpc::CallOptions options{.deadline = source_.clock.Steady() + kHealthTimeout};
  const grpc::UnaryResult answer = co_await source_.channel->Unary(kHealth, std::move(everything), std::move(options));
  Refusal refusal;
  if (answer.status.code == grpc::Code::kUnimplemented) {
    // The health service is optional. The description shows that the server is there.
  } else if (!answer.status.ok()) {
    refusal = Failed(answer.status);
    if (answer.status.code != grpc::Code::kUnavailable) refusal.reason = "FailedHealthCheck";
  } else if (answer.message.size() != 2 || answer.message[0] != '\x08' || answer.message[1] != kServing) {
    refusal = {"NotServing", fmt::format("the health service of {} does not report SERVING", source_.endpoint)};
  }
  const std::lock_guard lock(mutex_);
  if (!resources_) refusal = refusal_;
  healthy_ = refusal.reason.empty();
  co_return refusal;
}

bool Describer::Available() const {
  const std::lock_guard lock(mutex_);
  return healthy_ && resources_;
}

Describer::Documents Describer::LastDocuments() const {
  const std::lock_guard lock(mutex_);
  return documents_;
}

ExtensionResourcesPtr Describer::Resources() const {
  const std::lock_guard lock(mutex_);
  return healthy_ ? resources_ : nullptr;
}

}  // namespace apimesh::aggregator
