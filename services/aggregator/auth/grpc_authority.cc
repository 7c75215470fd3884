#include "services/aggregator/auth/grpc_authority.h"

#include "lib/base/log.h"
#include "lib/h2/typed_call.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/delegate_proto.h"
#include "lib/rpc/methods.h"
#include "proto/mesh/v1/authn.pb.h"
#include "proto/mesh/v1/authz.pb.h"

namespace apimesh::aggregator {
namespace {

namespace pb = mesh::v1;
constexpr std::chrono::seconds kLongestQuestion{35};  // a webhook may take 30

SteadyTime WithinReason(SteadyTime deadline) { return std::min(deadline, Clock::System().Steady() + kLongestQuestion); }

AuthenticationAnswer ToAnswer(pb::AuthenticateResponse response) {
  using Outcome = AuthenticationAnswer::Outcome;
  AuthenticationAnswer answer;
  switch (response.outcome()) {
    case pb::AuthenticateResponse::AUTHENTICATED: answer.outcome = Outcome::kAuthenticated; break;
    case pb::AuthenticateResponse::NO_CREDENTIALS: answer.outcome = Outcome::kNoCredentials; break;
    default: answer.outcome = Outcome::kRefused;
  }
  if (answer.outcome == Outcome::kAuthenticated) answer.user = MakeUser(rpc::FromProto(std::move(*response.mutable_user())));
  answer.reason = response.reason();
  answer.cache_for = std::chrono::milliseconds(response.cache_milliseconds());
  answer.revision = response.revision();
  return answer;
}

AuthorizationAnswer ToAnswer(const pb::Decision& decision, std::int64_t revision) {
  AuthorizationAnswer answer;
  answer.verdict = AuthorizationAnswer::Verdict::kDeny;
  if (decision.verdict() == pb::Decision::ALLOW) answer.verdict = AuthorizationAnswer::Verdict::kAllow;
  answer.no_opinion = decision.verdict() == pb::Decision::NO_OPINION;
  answer.reason = decision.reason();
  answer.error = decision.error();
  answer.cache_for = std::chrono::milliseconds(decision.cache_milliseconds());
  answer.revision = revision;
  return answer;
}

AuthorizationAnswer ToAnswer(const pb::AuthorizeResponse& response) {
  if (response.decisions_size() == 1) return ToAnswer(response.decisions(0), response.revision());
  AuthorizationAnswer answer;
  answer.verdict = AuthorizationAnswer::Verdict::kDeny;  // an answer without a decision allows nothing
  return answer;
}

void Add(AuthorizationQuestion question, pb::AuthorizeRequest& request) {
  pb::Attributes* attributes = request.add_attributes();
  *attributes->mutable_user() = rpc::ToProto(question.user->info);
  if (!question.info.is_resource_request) attributes->set_path(question.info.path);
  *attributes->mutable_info() = rpc::ToProto(std::move(question.info));
}

class Remote final : public GrpcAuthority {
 public:
  explicit Remote(const rpc::Endpoint& endpoint)
      : channel_(rpc::NewChannel(endpoint)) {}

  Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion question) override {
    pb::AuthenticateRequest request;
    for (auto& [name, value] : question.headers) {
      pb::Header* header = request.add_headers();
      header->set_name(std::move(name));
      header->set_value(std::move(value));
    }
    for (std::string& certificate : question.certificates_der) request.add_peer_certificates(std::move(certificate));
    request.set_path(std::move(question.path));
    request.set_remote_address(std::move(question.remote_address));
    request.set_audit_id(question.audit_id);
    h2::CallOptions options;
    options.deadline = WithinReason(question.deadline);
    auto answer = co_await h2::Unary<pb::AuthenticateResponse>(channel_, rpc::methods::kAuthenticate, request, options);
    if (answer.status.ok()) co_return ToAnswer(std::move(answer.response));
    log::Write(log::Level::kWarning, "authentication is not available: " + answer.status.message, question.audit_id);
    co_return AuthenticationAnswer();
  }

  Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) override {
    pb::AuthorizeRequest request;
    request.set_audit_id(question.audit_id);
    h2::CallOptions options;
    options.deadline = WithinReason(question.deadline);
    const std::string audit_id = question.audit_id;
    Add(std::move(question), request);
    auto answer = co_await h2::Unary<pb::AuthorizeResponse>(channel_, rpc::methods::kAuthorize, request, options);
    if (answer.status.ok()) co_return ToAnswer(std::move(answer.response));
    log::Write(log::Level::kWarning, "authorization is not available: " + answer.status.message, audit_id);
    co_return AuthorizationAnswer();
  }

  Task<std::vector<AuthorizationAnswer>> AuthorizeAll(std::vector<AuthorizationQuestion> questions) override {
    std::vector<AuthorizationAnswer> answers(questions.size());  // kUnavailable
    if (questions.empty()) co_return answers;
    pb::AuthorizeRequest request;
    h2::CallOptions options;
    options.deadline = WithinReason(questions.front().deadline);
    for (AuthorizationQuestion& question : questions) Add(std::move(question), request);
    auto answer = co_await h2::Unary<pb::AuthorizeResponse>(channel_, rpc::methods::kAuthorize, request, options);
    if (!answer.status.ok() || answer.response.decisions_size() != request.attributes_size()) co_return answers;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      answers[i] = ToAnswer(answer.response.decisions(static_cast<int>(i)), answer.response.revision());
    }
    co_return answers;
  }

  Task<std::string> Metrics() override {
    h2::CallOptions options;
    options.deadline = Clock::System().Steady() + std::chrono::seconds(2);
    const pb::MetricsRequest request;
    auto answer = co_await h2::Unary<pb::MetricsResponse>(channel_, rpc::methods::kMetrics, request, options);
    co_return answer.status.ok() ? std::move(*answer.response.mutable_text()) : std::string();
  }

  Task<> WatchInvalidations(InvalidationFn report) override {
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    for (;;) {
      co_await Follow(report);
      report(std::nullopt);
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
  }

 private:
  Task<> Follow(const InvalidationFn& report) {
    h2::ClientCall stream = co_await channel_->Open(rpc::methods::kInvalidations, h2::CallOptions());
    h2::Message request = h2::Pack(pb::InvalidationsRequest());
    co_await stream.Write(std::move(request));
    stream.WritesDone();
    for (bool open = true; open;) {
      const auto message = co_await h2::ReadAs<pb::Invalidation>(stream);
      open = message.has_value();
      if (!open) continue;
      InvalidationNotice notice;
      notice.revision = message->revision();
      notice.authentication = message->authentication();
      notice.authorization = message->authorization();
      notice.loading = message->loading();
      notice.heartbeat = std::chrono::milliseconds(message->heartbeat_milliseconds());
      report(notice);
    }
  }

  const std::shared_ptr<h2::Channel> channel_;
};

}  // namespace

std::shared_ptr<GrpcAuthority> NewGrpcAuthority(const rpc::Endpoint& endpoint) { return std::make_shared<Remote>(endpoint); }

}  // namespace apimesh::aggregator
