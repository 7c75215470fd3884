#include "lib/otlp/transport.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/grpc/channel.h"
#include "lib/http/client.h"
#include "proto/opentelemetry/v1/trace.pb.h"

namespace apimesh::otlp {
namespace {

namespace pb = opentelemetry::proto::collector::trace::v1;

/// Returns what the collector said of the spans that it rejected; "" if it has accepted all.
std::string RejectionIn(const std::string& response) {
  pb::ExportTraceServiceResponse message;
  if (!message.ParseFromString(response) || message.partial_success().rejected_spans() == 0) return {};
  return fmt::format("{} spans rejected: {}", message.partial_success().rejected_spans(),
                     message.partial_success().error_message());
}

/// The codes after which the protocol allows another attempt.
bool MayTryAgain(grpc::Code code) {
  switch (code) {
    case grpc::Code::kCancelled:
    case grpc::Code::kDeadlineExceeded:
    case grpc::Code::kAborted:
    case grpc::Code::kOutOfRange:
    case grpc::Code::kUnavailable:
    case grpc::Code::kDataLoss: return true;
    default: return false;
  }
}

/// Converts a target of gRPC's naming to one of lib/grpc.
std::string TargetOf(const std::string& endpoint) {
  if (endpoint.empty()) return "dns:///localhost:4317";
  for (const std::string_view scheme : {"unix://", "unix:"}) {
    if (endpoint.starts_with(scheme)) return "unix:" + endpoint.substr(scheme.size());
  }
  return endpoint;
}

class GrpcTransport final : public Transport {
 public:
  GrpcTransport(const std::string& endpoint, const Clock& clock) {
    grpc::ChannelOptions options{.clock = clock};
    options.target = TargetOf(endpoint);
    channel_ = grpc::Channel::New(std::move(options));
  }

  Task<Outcome> Send(std::string message, SteadyTime deadline) override {
    grpc::Message packed;
    packed.emplace_back(std::move(message));
    grpc::CallOptions options;
    options.deadline = deadline;
    std::string path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
    const grpc::UnaryResult result = co_await channel_->Unary(std::move(path), std::move(packed), std::move(options));
    Outcome outcome;
    if (result.status.ok()) {
      outcome.error = RejectionIn(result.message);
    } else {
      outcome.error = fmt::format("gRPC status {}: {}", static_cast<int>(result.status.code), result.status.message);
      outcome.again = MayTryAgain(result.status.code);
    }
    co_return outcome;
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

class HttpTransport final : public Transport {
 public:
  HttpTransport(std::string_view endpoint, const Clock& clock) : client_(http::NewClient({.clock = clock})) {
    if (endpoint.starts_with("unix")) {
      throw std::invalid_argument(
          "--tracing-exporter=http cannot use a Unix socket: the endpoint of the tracing configuration must be "
          "host:port");
    }
    if (endpoint.starts_with("dns:")) endpoint.remove_prefix(std::min(endpoint.size(), endpoint.rfind('/') + 1));
    url_ = fmt::format("http://{}/v1/traces", endpoint.empty() ? "localhost:4318" : endpoint);
  }

  Task<Outcome> Send(std::string message, SteadyTime deadline) override {
    http::Headers headers = {{"content-type", "application/x-protobuf"}};
    const auto response = co_await client_->Do("POST", url_, std::move(headers), std::move(message), deadline);
    Outcome outcome;
    if (!response) {
      outcome.error = response.error().message;
      outcome.again = true;
    } else if (response->code >= 200 && response->code < 300) {
      outcome.error = RejectionIn(response->body);
    } else {
      outcome.error = fmt::format("HTTP status {}", response->code);
      outcome.again = response->code == 429 || (response->code >= 502 && response->code <= 504);
    }
    co_return outcome;
  }

 private:
  const std::unique_ptr<http::Client> client_;
  std::string url_;
};

}  // namespace

std::unique_ptr<Transport> NewGrpcTransport(const std::string& endpoint, const Clock& clock) {
  return std::make_unique<GrpcTransport>(endpoint, clock);
}

std::unique_ptr<Transport> NewHttpTransport(const std::string& endpoint, const Clock& clock) {
  return std::make_unique<HttpTransport>(endpoint, clock);
}

}  // namespace apimesh::otlp
