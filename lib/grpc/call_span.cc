#include "lib/grpc/call_span.h"

#include <array>
#include <charconv>

namespace apimesh::grpc {
namespace {

/// The names of the codes as Go's gRPC prints them.
constexpr std::array<std::string_view, 17> kCodes = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

std::string NameOf(Code code) {
  const auto index = static_cast<std::size_t>(code);
  return index < kCodes.size() ? std::string(kCodes[index]) : "Code(" + std::to_string(index) + ")";
}

}  // namespace

CallSpan::CallSpan(const tracing::SpanPtr& parent, std::string_view path, tracing::Kind kind) {
  if (!parent) return;
  if (path.starts_with('/')) path.remove_prefix(1);
  tracing::Attributes attributes = {{"rpc.method", std::string(path)}, {"rpc.system.name", std::string("grpc")}};
  span_ = parent->Child(std::string(path), std::move(attributes), kind, tracing::kGrpcScope);
}

void CallSpan::Server(std::string_view target) {
  if (!span_) return;
  if (const std::size_t scheme = target.find("://"); scheme != target.npos) target.remove_prefix(scheme + 3);
  if (target.starts_with('/')) target.remove_prefix(1);
  const std::size_t colon = target.rfind(':');
  std::int64_t port = 0;
  const bool has_port =
      colon != target.npos &&
      std::from_chars(target.data() + colon + 1, target.data() + target.size(), port).ec == std::errc();
  std::string_view host = has_port ? target.substr(0, colon) : target;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  span_->Set("server.address", std::string(host));
  if (has_port) span_->Set("server.port", port);
}

void CallSpan::Message(std::string_view type, std::int64_t& count, std::size_t bytes) {
  if (!span_) return;
  const auto size = static_cast<std::int64_t>(bytes);
  span_->AddEvent("message", {{"rpc.message.type", std::string(type)},
                              {"rpc.message.id", ++count},
                              {"rpc.message.compressed_size", size},
                              {"rpc.message.uncompressed_size", size}});
}

void CallSpan::Finish(const Status& status) {
  if (!span_) return;
  span_->Set("rpc.response.status_code", NameOf(status.code));
  if (!status.ok()) span_->Fail(status.message);
  span_->End();
}

}  // namespace apimesh::grpc
