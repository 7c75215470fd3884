#include <boost/asio/steady_timer.hpp>

#include "lib/base/log.h"
#include "lib/base/wakeup.h"
#include "lib/etcd/convert.h"
#include "lib/etcd/endpoints.h"
#include "lib/etcd/error.h"
#include "lib/etcd/unary_call.h"
#include "lib/etcd/watch_mux.h"

namespace apimesh::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kRetryPause = milliseconds(25);
constexpr auto kLastRetryPause = milliseconds(500);
constexpr auto kVersionTimeout = seconds(2);
constexpr int kTokenTries = 3;

std::chrono::system_clock::time_point ToSystem(SteadyTime deadline) {
  return std::chrono::system_clock::now() + (deadline - std::chrono::steady_clock::now());
}

/// The messages of one call; alive until gRPC is done with them, even if the coroutine is gone.
template <class Request, class Response>
struct Messages {
  Request request;
  Response response;
};

class GrpcClient final : public Client {
 public:
  explicit GrpcClient(ClientOptions options)
      : options_(std::move(options)), endpoints_(std::make_shared<Endpoints>(options_)),
        mux_(std::make_shared<WatchMux>(endpoints_)) {}
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
  template <class Request, class Response, class Start>
  Task<grpc::Status> Call(CallKind kind, SteadyTime deadline, std::shared_ptr<Messages<Request, Response>> messages,
                          Start start);
  Task<grpc::Status> Login(SteadyTime deadline);
  Task<> DetectVersion(Endpoint& endpoint);

  const ClientOptions options_;
  const std::shared_ptr<Endpoints> endpoints_;
  const std::shared_ptr<WatchMux> mux_;
};

/// Runs one call with the retries that are safe: reads on any lost connection, writes only where nothing was sent.
/// `start(endpoint, context, messages, callback)` begins one attempt.
template <class Request, class Response, class Start>
Task<grpc::Status> GrpcClient::Call(CallKind kind, SteadyTime deadline,
                                    std::shared_ptr<Messages<Request, Response>> messages, Start start) {
  auto pause = kRetryPause;
  std::size_t failed = 0;
  int logins = 0;
  if (!options_.username.empty() && !endpoints_->Token()) {
    const grpc::Status status = co_await Login(deadline);
    if (!status.ok()) co_return status;
  }
  for (;;) {
    Endpoint& endpoint = endpoints_->Current();
    auto context = std::make_shared<grpc::ClientContext>();
    // With a choice of members, a read does not wait for a silent one until its own deadline.
    const bool impatient = kind == CallKind::kRead && endpoints_->size() > 1;
    const SteadyTime now = std::chrono::steady_clock::now();
    const SteadyTime attempt = impatient ? std::min(deadline, now + options_.dial_timeout) : deadline;
    if (attempt != SteadyTime::max()) context->set_deadline(ToSystem(attempt));
    endpoints_->AddToken(*context);
    auto begin = [this_endpoints = endpoints_, &endpoint, context, messages, start](auto callback) {
      auto done = [this_endpoints, context, messages, callback](grpc::Status status) { callback(std::move(status)); };
      start(endpoint, context.get(), *messages, std::move(done));
    };
    const grpc::Status status = co_await AwaitCall(context, begin);
    if (status.ok()) {
      if (endpoint.progress == Endpoint::Progress::kUnknown) co_await DetectVersion(endpoint);
      co_return status;
    }
    if (!options_.username.empty() && TokenExpired(status) && ++logins <= kTokenTries) {
      const grpc::Status login = co_await Login(deadline);
      if (!login.ok()) co_return login;
      continue;
    }
    const bool timed_out = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && attempt < deadline;
    const bool lost = status.error_code() == grpc::StatusCode::UNAVAILABLE || timed_out;
    if (lost) endpoints_->MoveOnFrom(endpoint);
    if (!lost || (kind == CallKind::kWrite && !NotSent(status))) co_return status;
    if (++failed % endpoints_->size() == 0) {
      const SteadyTime wake = std::chrono::steady_clock::now() + pause;
      if (wake >= deadline) co_return status;
      co_await SleepUntil(wake);
      pause = std::min<milliseconds>(pause * 2, kLastRetryPause);
    } else if (std::chrono::steady_clock::now() >= deadline) {
      co_return status;
    }
  }
}

Task<grpc::Status> GrpcClient::Login(SteadyTime deadline) {
  auto messages = std::make_shared<Messages<etcdserverpb::AuthenticateRequest, etcdserverpb::AuthenticateResponse>>();
  messages->request.set_name(options_.username);
  messages->request.set_password(options_.password);
  grpc::Status status;
  for (std::size_t tried = 0; tried < endpoints_->size(); ++tried) {
    Endpoint& endpoint = endpoints_->Current();
    auto context = std::make_shared<grpc::ClientContext>();
    context->set_deadline(ToSystem(std::min(deadline, std::chrono::steady_clock::now() + options_.dial_timeout)));
    auto begin = [keep = endpoints_, &endpoint, context, messages](auto callback) {
      auto done = [keep, context, messages, callback](grpc::Status result) { callback(std::move(result)); };
      endpoint.auth->async()->Authenticate(context.get(), &messages->request, &messages->response, std::move(done));
    };
    status = co_await AwaitCall(context, begin);
    if (status.ok()) {
      endpoints_->SetToken(messages->response.token());
      break;
    }
    endpoints_->MoveOnFrom(endpoint);
  }
  co_return status;
}

Task<> GrpcClient::DetectVersion(Endpoint& endpoint) {
  if (endpoint.version_asked.exchange(true)) co_return;
  auto messages = std::make_shared<Messages<etcdserverpb::StatusRequest, etcdserverpb::StatusResponse>>();
  auto context = std::make_shared<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + kVersionTimeout);
  endpoints_->AddToken(*context);
  auto begin = [keep = endpoints_, &endpoint, context, messages](auto callback) {
    auto done = [keep, context, messages, callback](grpc::Status result) { callback(std::move(result)); };
    endpoint.maintenance->async()->Status(context.get(), &messages->request, &messages->response, std::move(done));
  };
  const grpc::Status status = co_await AwaitCall(context, begin);
  if (!status.ok()) {
    endpoint.version_asked = false;  // with the next call
    co_return;
  }
  const std::string& version = messages->response.version();
  const bool safe = ProgressInOrder(version);
  if (!safe) {
    log::Warning("etcd {} at {} may send progress notifications out of order; doing without them. Use 3.5.13 or newer.",
                 version, endpoint.url);
  }
  endpoint.progress = safe ? Endpoint::Progress::kSafe : Endpoint::Progress::kUnsafe;
}

Task<Result<RangeResult>> GrpcClient::Range(std::string key, RangeOptions options) {
  auto messages = std::make_shared<Messages<etcdserverpb::RangeRequest, etcdserverpb::RangeResponse>>();
  etcdserverpb::RangeRequest& request = messages->request;
  request.set_key(std::move(key));
  request.set_range_end(std::move(options.range_end));
  request.set_limit(options.limit);
  request.set_revision(options.revision);
  request.set_count_only(options.count_only);
  request.set_keys_only(options.keys_only);
  request.set_serializable(options.serializable);
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.kv->async()->Range(context, &m.request, &m.response, std::move(callback));
  };
  const grpc::Status status = co_await Call(CallKind::kRead, options.deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kRead);
  co_return ToRange(messages->response);
}

Task<Result<Revision>> GrpcClient::Put(std::string key, std::string value, std::int64_t lease, SteadyTime deadline) {
  auto messages = std::make_shared<Messages<etcdserverpb::PutRequest, etcdserverpb::PutResponse>>();
  messages->request.set_key(std::move(key));
  messages->request.set_value(std::move(value));
  messages->request.set_lease(lease);
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.kv->async()->Put(context, &m.request, &m.response, std::move(callback));
  };
  const grpc::Status status = co_await Call(CallKind::kWrite, deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kWrite);
  co_return messages->response.header().revision();
}

Task<Result<SwapResult>> GrpcClient::Swap(CompareAndSwap swap) {
  auto messages = std::make_shared<Messages<etcdserverpb::TxnRequest, etcdserverpb::TxnResponse>>();
  etcdserverpb::TxnRequest& request = messages->request;
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
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.kv->async()->Txn(context, &m.request, &m.response, std::move(callback));
  };
  const grpc::Status status = co_await Call(CallKind::kWrite, swap.deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kWrite);
  etcdserverpb::TxnResponse& response = messages->response;
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
  auto messages = std::make_shared<Messages<etcdserverpb::DeleteRangeRequest, etcdserverpb::DeleteRangeResponse>>();
  messages->request.set_key(std::move(key));
  messages->request.set_range_end(std::move(range_end));
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.kv->async()->DeleteRange(context, &m.request, &m.response, std::move(callback));
  };
  const grpc::Status status = co_await Call(CallKind::kWrite, deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kWrite);
  co_return messages->response.deleted();
}

Task<Result<Revision>> GrpcClient::Compact(Revision revision, SteadyTime deadline) {
  auto messages = std::make_shared<Messages<etcdserverpb::CompactionRequest, etcdserverpb::CompactionResponse>>();
  messages->request.set_revision(revision);
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.kv->async()->Compact(context, &m.request, &m.response, std::move(callback));
  };
  const grpc::Status status = co_await Call(CallKind::kWrite, deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kWrite);
  co_return messages->response.header().revision();
}

std::unique_ptr<Watch> GrpcClient::OpenWatch(WatchOptions options) {
  if (!options.own_stream) return mux_->Open(std::move(options));
  return std::make_shared<WatchMux>(endpoints_)->Open(std::move(options));
}

Task<Result<std::int64_t>> GrpcClient::GrantLease(seconds ttl, SteadyTime deadline) {
  auto messages = std::make_shared<Messages<etcdserverpb::LeaseGrantRequest, etcdserverpb::LeaseGrantResponse>>();
  messages->request.set_ttl(ttl.count());
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.lease->async()->LeaseGrant(context, &m.request, &m.response, std::move(callback));
  };
  // A lease that was granted twice costs nothing: it runs out.
  const grpc::Status status = co_await Call(CallKind::kRead, deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kRead);
  co_return messages->response.id();
}

Task<Result<>> GrpcClient::RevokeLease(std::int64_t lease, SteadyTime deadline) {
  auto messages = std::make_shared<Messages<etcdserverpb::LeaseRevokeRequest, etcdserverpb::LeaseRevokeResponse>>();
  messages->request.set_id(lease);
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.lease->async()->LeaseRevoke(context, &m.request, &m.response, std::move(callback));
  };
  const grpc::Status status = co_await Call(CallKind::kWrite, deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kWrite);
  co_return Result<>();
}

/// One request, one answer, over what the protocol only offers as a stream.
class KeepAliveOnce final
    : public grpc::ClientBidiReactor<etcdserverpb::LeaseKeepAliveRequest, etcdserverpb::LeaseKeepAliveResponse> {
 public:
  using Sent = Messages<etcdserverpb::LeaseKeepAliveRequest, etcdserverpb::LeaseKeepAliveResponse>;
  KeepAliveOnce(Sent& messages, std::function<void(grpc::Status)> done) : messages_(messages), done_(std::move(done)) {}
  void Start() {
    StartWriteLast(&messages_.request, grpc::WriteOptions());
    StartRead(&messages_.response);
    StartCall();
  }
  void OnReadDone(bool ok) override { answered_ = ok; }
  void OnDone(const grpc::Status& status) override {
    const bool lost = status.ok() && !answered_;
    done_(lost ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "no answer") : status);
    delete this;
  }

 private:
  Sent& messages_;
  std::function<void(grpc::Status)> done_;
  bool answered_ = false;
};

Task<Result<>> GrpcClient::KeepLeaseAlive(std::int64_t lease, SteadyTime deadline) {
  auto messages = std::make_shared<KeepAliveOnce::Sent>();
  messages->request.set_id(lease);
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, KeepAliveOnce::Sent& m, auto callback) {
    auto* reactor = new KeepAliveOnce(m, std::move(callback));
    endpoint.lease->async()->LeaseKeepAlive(context, reactor);
    reactor->Start();
  };
  const grpc::Status status = co_await Call(CallKind::kRead, deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kRead);
  if (messages->response.ttl() <= 0) co_return Error{Error::Code::kLeaseNotFound, "etcdserver: requested lease not found"};
  co_return Result<>();
}

Task<Result<Status>> GrpcClient::GetStatus(SteadyTime deadline) {
  auto messages = std::make_shared<Messages<etcdserverpb::StatusRequest, etcdserverpb::StatusResponse>>();
  auto start = [](Endpoint& endpoint, grpc::ClientContext* context, auto& m, auto callback) {
    endpoint.maintenance->async()->Status(context, &m.request, &m.response, std::move(callback));
  };
  const grpc::Status status = co_await Call(CallKind::kRead, deadline, messages, start);
  if (!status.ok()) co_return ErrorFrom(status, CallKind::kRead);
  const etcdserverpb::StatusResponse& response = messages->response;
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
