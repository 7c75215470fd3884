#include <functional>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"
#include "lib/etcd/convert.h"
#include "lib/etcd/endpoints.h"
#include "lib/etcd/error.h"
#include "lib/etcd/watch_mux.h"
#include "lib/grpc/call_span.h"
#include "lib/grpc/typed_call.h"
#include "proto/etcd/v3/rpc.pb.h"

namespace apimesh::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kRetryPause = milliseconds(25);
constexpr auto kLastRetryPause = milliseconds(500);
constexpr auto kVersionTimeout = seconds(2);
constexpr int kTokenTries = 3;

/// A thread for watches, if the user of the client does not provide an executor.
struct OwnThread {
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::thread thread{[this] { io.run(); }};

  ~OwnThread() {
    work.reset();
    io.stop();
    thread.join();
  }
};

class GrpcClient final : public Client {
 public:
  explicit GrpcClient(ClientOptions options)
      : options_(std::move(options)),
        endpoints_(std::make_shared<Endpoints>(options_)),
        own_thread_(options_.executor ? nullptr : std::make_unique<OwnThread>()),
        executor_(own_thread_ ? boost::asio::any_io_executor(own_thread_->io.get_executor()) : options_.executor),
        mux_(std::make_shared<WatchMux>(endpoints_, executor_)) {}
  ~GrpcClient() override { mux_->Stop(); }

  Task<Result<RangeResult>> Range(std::string key, RangeOptions options) override;
  Task<Result<Revision>> Put(std::string key, std::string value, std::int64_t lease, SteadyTime deadline) override;
  Task<Result<SwapResult>> Swap(CompareAndSwap swap) override;
  Task<Result<std::int64_t>> DeleteRange(std::string key, std::string range_end, SteadyTime deadline) override;
  Task<Result<Revision>> Compact(Revision revision, SteadyTime deadline) override;
  std::unique_ptr<Watch> OpenWatch(WatchOptions options) override;
  Task<Result<std::int64_t>> GrantLease(seconds ttl, SteadyTime deadline) override;
  Task<Result<>> RevokeLease(std::int64_t lease, SteadyTime deadline) override;
  Task<Result<>> KeepLeaseAlive(std::int64_t lease, SteadyTime deadline) override;
  Task<Result<Status>> GetStatus(SteadyTime deadline) override;
  bool ProgressIsSafe() const override;

 private:
  template <class Response, class Request>
  Task<grpc::UnaryAnswer<Response>> Call(CallKind kind, SteadyTime deadline, std::string path, Request request,
                                         tracing::Carrier trace);
  /// A call on behalf of no request. This is not a default argument, because GCC 12 destroys an aggregate that is
  /// created inside a co_await expression twice.
  template <class Response, class Request>
  Task<grpc::UnaryAnswer<Response>> Call(CallKind kind, SteadyTime deadline, std::string path, Request request) {
    tracing::Carrier none;
    return Call<Response>(kind, deadline, std::move(path), std::move(request), std::move(none));
  }
  /// Runs `attempt` with the retries that are safe: reads after any lost connection, writes only if nothing was sent.
  using Attempt = std::function<Task<grpc::Status>(Endpoint& endpoint, grpc::CallOptions options)>;
  Task<grpc::Status> Try(CallKind kind, SteadyTime deadline, const Attempt& attempt);
  Task<grpc::Status> Login(SteadyTime deadline);
  Task<> DetectVersion(Endpoint& endpoint);

  const ClientOptions options_;
  const std::shared_ptr<Endpoints> endpoints_;
  const std::unique_ptr<OwnThread> own_thread_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<WatchMux> mux_;
};

Task<grpc::Status> GrpcClient::Try(CallKind kind, SteadyTime deadline, const Attempt& attempt) {
  auto pause = kRetryPause;
  std::size_t failed = 0;
  int logins = 0;
  if (!options_.username.empty() && !endpoints_->Token()) {
    grpc::Status status = co_await Login(deadline);
    if (!status.ok()) co_return status;
  }
  for (;;) {
    Endpoint& endpoint = endpoints_->Current();
    // If there are several members, a read does not wait for an unresponsive one until its own deadline.
    const bool limit_attempt = kind == CallKind::kRead && endpoints_->size() > 1;
    const SteadyTime now = options_.clock.Steady();
    const SteadyTime until = limit_attempt ? std::min(deadline, now + options_.dial_timeout) : deadline;
    grpc::Status status = co_await attempt(endpoint, endpoints_->Options(until));
    if (status.ok()) {
      if (endpoint.progress == Endpoint::Progress::kUnknown) co_await DetectVersion(endpoint);
      co_return status;
    }
    if (!options_.username.empty() && TokenExpired(status) && ++logins <= kTokenTries) {
      grpc::Status login = co_await Login(deadline);
      if (!login.ok()) co_return login;
      continue;
    }
    const bool timed_out = status.code == grpc::Code::kDeadlineExceeded && until < deadline;
    const bool lost = status.code == grpc::Code::kUnavailable || timed_out;
    if (lost) endpoints_->FailOverFrom(endpoint);
    if (!lost || (kind == CallKind::kWrite && !NotSent(status))) co_return status;
    if (++failed % endpoints_->size() == 0) {
      const SteadyTime wake = options_.clock.Steady() + pause;
      if (wake >= deadline) co_return status;
      co_await SleepUntil(wake);
      pause = std::min<milliseconds>(pause * 2, kLastRetryPause);
    } else if (options_.clock.Steady() >= deadline) {
      co_return status;
    }
  }
}

template <class Response, class Request>
Task<grpc::UnaryAnswer<Response>> GrpcClient::Call(CallKind kind, SteadyTime deadline, std::string path,
                                                   Request request, tracing::Carrier trace) {
  grpc::UnaryAnswer<Response> answer;
  struct Once {
    static Task<grpc::Status> Run(Endpoint& endpoint, grpc::CallOptions options, const std::string& path,
                                  const Request& request, const tracing::Carrier& trace,
                                  grpc::UnaryAnswer<Response>& answer) {
      grpc::CallSpan span(trace.span, path, tracing::Kind::kClient);
      if (span) {
        span.Server(endpoint.url);
        span.Sent(request.ByteSizeLong());
        span.AddTo(options);
      } else {
        trace.AddTo(options.metadata);  // as a request that is not recorded here
      }
      answer = co_await grpc::Unary<Response>(endpoint.calls, path, request, std::move(options));
      if (span) {
        if (answer.status.ok()) span.Received(answer.response.ByteSizeLong());
        span.Finish(answer.status);
      }
      co_return answer.status;
    }
  };
  const Attempt attempt = [&](Endpoint& endpoint, grpc::CallOptions options) {
    return Once::Run(endpoint, std::move(options), path, request, trace, answer);
  };
  answer.status = co_await Try(kind, deadline, attempt);
  co_return answer;
}

Task<grpc::Status> GrpcClient::Login(SteadyTime deadline) {
  etcdserverpb::AuthenticateRequest request;
  request.set_name(options_.username);
  request.set_password(options_.password);
  grpc::Status status;
  for (std::size_t tried = 0; tried < endpoints_->size(); ++tried) {
    Endpoint& endpoint = endpoints_->Current();
    grpc::CallOptions options;
    options.deadline = std::min(deadline, options_.clock.Steady() + options_.dial_timeout);
    auto answer = co_await grpc::Unary<etcdserverpb::AuthenticateResponse>(
        endpoint.calls, "/etcdserverpb.Auth/Authenticate", request, std::move(options));
    status = std::move(answer.status);
    if (status.ok()) {
      endpoints_->SetToken(answer.response.token());
      break;
    }
    endpoints_->FailOverFrom(endpoint);
  }
  co_return status;
}

Task<> GrpcClient::DetectVersion(Endpoint& endpoint) {
  if (endpoint.version_asked.exchange(true)) co_return;
  grpc::CallOptions options = endpoints_->Options(options_.clock.Steady() + kVersionTimeout);
  auto answer = co_await grpc::Unary<etcdserverpb::StatusResponse>(endpoint.calls, "/etcdserverpb.Maintenance/Status",
                                                                   etcdserverpb::StatusRequest(), std::move(options));
  if (!answer.status.ok()) {
    endpoint.version_asked = false;  // asked again with the next call
    co_return;
  }
  const std::string& version = answer.response.version();
  const bool safe = ProgressInOrder(version);
  if (!safe) {
    log::Warning("etcd {} at {} may send progress notifications out of order; they are not used. Use 3.5.13 or newer.",
                 version, endpoint.url);
  }
  endpoint.progress = safe ? Endpoint::Progress::kSafe : Endpoint::Progress::kUnsafe;
}

Task<Result<RangeResult>> GrpcClient::Range(std::string key, RangeOptions options) {
  etcdserverpb::RangeRequest request;
  request.set_key(std::move(key));
  request.set_range_end(std::move(options.range_end));
  request.set_limit(options.limit);
  request.set_revision(options.revision);
  request.set_count_only(options.count_only);
  request.set_keys_only(options.keys_only);
  request.set_serializable(options.serializable);
  auto answer = co_await Call<etcdserverpb::RangeResponse>(CallKind::kRead, options.deadline, "/etcdserverpb.KV/Range",
                                                           std::move(request), std::move(options.trace));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kRead);
  co_return ToRange(answer.response);
}

Task<Result<Revision>> GrpcClient::Put(std::string key, std::string value, std::int64_t lease, SteadyTime deadline) {
  etcdserverpb::PutRequest request;
  request.set_key(std::move(key));
  request.set_value(std::move(value));
  request.set_lease(lease);
  auto answer =
      co_await Call<etcdserverpb::PutResponse>(CallKind::kWrite, deadline, "/etcdserverpb.KV/Put", std::move(request));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kWrite);
  co_return answer.response.header().revision();
}

Task<Result<SwapResult>> GrpcClient::Swap(CompareAndSwap swap) {
  etcdserverpb::TxnRequest request;
  etcdserverpb::Compare& compare = *request.add_compare();
  compare.set_result(etcdserverpb::Compare::EQUAL);
  compare.set_target(etcdserverpb::Compare::MOD);
  compare.set_key(swap.key);
  compare.set_mod_revision(swap.expected_mod_revision);
  request.add_failure()->mutable_request_range()->set_key(swap.key);
  if (swap.remove) {
    request.add_success()->mutable_request_delete_range()->set_key(std::move(swap.key));
  } else {
    etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
    put.set_key(std::move(swap.key));
    put.set_value(std::move(swap.value));
    put.set_lease(swap.lease);
  }
  auto answer = co_await Call<etcdserverpb::TxnResponse>(CallKind::kWrite, swap.deadline, "/etcdserverpb.KV/Txn",
                                                         std::move(request), std::move(swap.trace));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kWrite);
  etcdserverpb::TxnResponse& response = answer.response;
  SwapResult result;
  result.swapped = response.succeeded();
  result.revision = response.header().revision();
  if (!result.swapped && response.responses_size() > 0) {
    for (mvccpb::KeyValue& kv : *response.mutable_responses(0)->mutable_response_range()->mutable_kvs()) {
      result.current.push_back(ToKeyValue(kv));
    }
  }
  co_return result;
}

Task<Result<std::int64_t>> GrpcClient::DeleteRange(std::string key, std::string range_end, SteadyTime deadline) {
  etcdserverpb::DeleteRangeRequest request;
  request.set_key(std::move(key));
  request.set_range_end(std::move(range_end));
  auto answer = co_await Call<etcdserverpb::DeleteRangeResponse>(CallKind::kWrite, deadline,
                                                                 "/etcdserverpb.KV/DeleteRange", std::move(request));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kWrite);
  co_return answer.response.deleted();
}

Task<Result<Revision>> GrpcClient::Compact(Revision revision, SteadyTime deadline) {
  etcdserverpb::CompactionRequest request;
  request.set_revision(revision);
  auto answer = co_await Call<etcdserverpb::CompactionResponse>(CallKind::kWrite, deadline, "/etcdserverpb.KV/Compact",
                                                                std::move(request));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kWrite);
  co_return answer.response.header().revision();
}

std::unique_ptr<Watch> GrpcClient::OpenWatch(WatchOptions options) {
  if (!options.own_stream) return mux_->Open(std::move(options));
  return std::make_shared<WatchMux>(endpoints_, executor_)->Open(std::move(options));
}

Task<Result<std::int64_t>> GrpcClient::GrantLease(seconds ttl, SteadyTime deadline) {
  etcdserverpb::LeaseGrantRequest request;
  request.set_ttl(ttl.count());
  // Granting a lease twice is harmless: an unused lease expires. So this write may be retried like a read.
  auto answer = co_await Call<etcdserverpb::LeaseGrantResponse>(CallKind::kRead, deadline,
                                                                "/etcdserverpb.Lease/LeaseGrant", std::move(request));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kRead);
  co_return answer.response.id();
}

Task<Result<>> GrpcClient::RevokeLease(std::int64_t lease, SteadyTime deadline) {
  etcdserverpb::LeaseRevokeRequest request;
  request.set_id(lease);
  auto answer = co_await Call<etcdserverpb::LeaseRevokeResponse>(CallKind::kWrite, deadline,
                                                                 "/etcdserverpb.Lease/LeaseRevoke", std::move(request));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kWrite);
  co_return Result<>();
}

/// Sends one request and receives one response on a method that the protocol offers only as a stream.
Task<grpc::Status> KeepAliveOnce(Endpoint& endpoint, grpc::CallOptions options, std::int64_t lease, std::int64_t& ttl) {
  etcdserverpb::LeaseKeepAliveRequest request;
  request.set_id(lease);
  grpc::ClientCall call = co_await endpoint.calls->Open("/etcdserverpb.Lease/LeaseKeepAlive", std::move(options));
  call.Post(grpc::Pack(request));
  call.WritesDone();
  const auto answer = co_await grpc::ReadAs<etcdserverpb::LeaseKeepAliveResponse>(call);
  if (answer) {
    ttl = answer->ttl();
    co_return grpc::Status();
  }
  grpc::Status status = co_await call.Finish();
  if (status.ok()) status = {grpc::Code::kUnavailable, "no answer"};
  co_return status;
}

Task<Result<>> GrpcClient::KeepLeaseAlive(std::int64_t lease, SteadyTime deadline) {
  std::int64_t ttl = 0;
  const Attempt attempt = [lease, &ttl](Endpoint& endpoint, grpc::CallOptions options) {
    return KeepAliveOnce(endpoint, std::move(options), lease, ttl);
  };
  const grpc::Status status = co_await Try(CallKind::kRead, deadline, attempt);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kRead);
  if (ttl <= 0) co_return Error{Error::Code::kLeaseNotFound, "etcdserver: requested lease not found"};
  co_return Result<>();
}

Task<Result<Status>> GrpcClient::GetStatus(SteadyTime deadline) {
  etcdserverpb::StatusRequest request;
  auto answer = co_await Call<etcdserverpb::StatusResponse>(CallKind::kRead, deadline,
                                                            "/etcdserverpb.Maintenance/Status", std::move(request));
  if (!answer.status.ok()) co_return ErrorFrom(answer.status, CallKind::kRead);
  const etcdserverpb::StatusResponse& response = answer.response;
  co_return Status{response.version(), response.dbsize(), response.dbsizeinuse(), response.header().revision()};
}

bool GrpcClient::ProgressIsSafe() const {
  bool known = false;
  for (const auto& endpoint : endpoints_->All()) {
    const Endpoint::Progress progress = endpoint->progress;
    if (progress == Endpoint::Progress::kUnsafe) return false;
    known = known || progress == Endpoint::Progress::kSafe;
  }
  return known;
}

}  // namespace

std::unique_ptr<Client> NewClient(ClientOptions options) { return std::make_unique<GrpcClient>(std::move(options)); }

}  // namespace apimesh::etcd
