// Tests OTLP against gRPC's own server, and over HTTP against the server of lib/http.
#include "lib/otlp/transport.h"

#include <stdexcept>

#include <boost/asio/io_context.hpp>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include "lib/http/server.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "lib/testing/temp_path.h"
#include "proto/opentelemetry/v1/trace.grpc.pb.h"

namespace apimesh::otlp {
namespace {

namespace pb = opentelemetry::proto::collector::trace::v1;

/// Accepts spans with the name "good" and reports that others are rejected. A message without spans is a failure.
class Collector final : public pb::TraceService::Service {
 public:
  ::grpc::Status Export(::grpc::ServerContext*, const pb::ExportTraceServiceRequest* request,
                        pb::ExportTraceServiceResponse* response) override {
    if (request->resource_spans().empty()) return {code, "no"};
    const pb::Span& span = request->resource_spans(0).scope_spans(0).spans(0);
    if (span.name() == "good") return ::grpc::Status::OK;
    response->mutable_partial_success()->set_rejected_spans(1);
    response->mutable_partial_success()->set_error_message("bad name");
    return ::grpc::Status::OK;
  }
  ::grpc::StatusCode code = ::grpc::StatusCode::UNAVAILABLE;
};

std::string MessageWith(const std::string& name) {
  pb::ExportTraceServiceRequest request;
  request.add_resource_spans()->add_scope_spans()->add_spans()->set_name(name);
  return request.SerializeAsString();
}

Transport::Outcome Send(Transport& transport, std::string message) {
  boost::asio::io_context io(1);
  return testing::RunTask(io, transport.Send(std::move(message), testing::In(std::chrono::seconds(20))));
}

TEST(GrpcTransport, ReportsWhatTheCollectorSays) {
  Collector collector;
  const std::string path = testing::TempPath("collector.sock");
  ::grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + path, ::grpc::InsecureServerCredentials());
  builder.RegisterService(&collector);
  const std::unique_ptr<::grpc::Server> server = builder.BuildAndStart();
  for (const std::string scheme : {"unix://", "unix:"}) {
    const auto transport = NewGrpcTransport(scheme + path, testing::SystemClock());
    EXPECT_EQ(Send(*transport, MessageWith("good")).error, "") << scheme;
    EXPECT_EQ(Send(*transport, MessageWith("other")).error, "1 spans rejected: bad name");
    collector.code = ::grpc::StatusCode::UNAVAILABLE;
    Transport::Outcome outcome = Send(*transport, "");
    EXPECT_EQ(outcome.error, "gRPC status 14: no");
    EXPECT_TRUE(outcome.again);
    collector.code = ::grpc::StatusCode::INVALID_ARGUMENT;
    outcome = Send(*transport, "");
    EXPECT_EQ(outcome.error, "gRPC status 3: no");
    EXPECT_FALSE(outcome.again);
  }
  server->Shutdown(testing::SystemClock().Now());
}

TEST(GrpcTransport, TriesAgainIfThereIsNoCollector) {
  const auto transport = NewGrpcTransport("unix:///no/such/socket", testing::SystemClock());
  const Transport::Outcome outcome = Send(*transport, MessageWith("good"));
  EXPECT_NE(outcome.error, "");
  EXPECT_TRUE(outcome.again);
}

TEST(HttpTransport, ReportsWhatTheCollectorSays) {
  int code = 200;
  std::string seen, answer;
  const http::Handler handler = [&](http::Request request, http::ResponseWriter& writer) -> Task<> {
    seen = request.method + " " + request.target + " " + std::string(request.Header("content-type"));
    std::vector<SharedBytes> body;
    body.emplace_back(answer);
    http::Headers headers;
    co_await writer.Send(code, std::move(headers), std::move(body));
  };
  http::ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const std::unique_ptr<http::Server> server = http::Listen(std::move(options), handler);
  const auto transport = NewHttpTransport("dns:///127.0.0.1:" + std::to_string(server->Port()), testing::SystemClock());
  EXPECT_EQ(Send(*transport, MessageWith("good")).error, "");
  EXPECT_EQ(seen, "POST /v1/traces application/x-protobuf");

  pb::ExportTraceServiceResponse response;
  response.mutable_partial_success()->set_rejected_spans(1);
  response.mutable_partial_success()->set_error_message("bad name");
  answer = response.SerializeAsString();
  EXPECT_EQ(Send(*transport, MessageWith("other")).error, "1 spans rejected: bad name");

  for (const auto& [status, again] : {std::pair(400, false), std::pair(429, true), std::pair(503, true)}) {
    code = status;
    const Transport::Outcome outcome = Send(*transport, MessageWith("good"));
    EXPECT_EQ(outcome.error, "HTTP status " + std::to_string(status));
    EXPECT_EQ(outcome.again, again);
  }
}

TEST(HttpTransport, HasNoUnixSockets) {
  EXPECT_THROW(NewHttpTransport("unix:///run/collector.sock", testing::SystemClock()), std::invalid_argument);
}

}  // namespace
}  // namespace apimesh::otlp
