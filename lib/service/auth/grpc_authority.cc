#include "lib/service/auth/grpc_authority.h"

#include "lib/base/log.h"
#include "lib/grpc/call_span.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/channel.h"
#include "lib/mesh/delegate/delegate_proto.h"
#include "lib/mesh/methods.h"
#include "proto/mesh/v1/authn.pb.h"
#include "proto/mesh/v1/authz.pb.h"

namespace apimesh::service {
namespace {

namespace pb = mesh::v1;
constexpr std::chrono::seconds kLongestQuestion{35};  // a webhook may take 30 s
constexpr std::chrono::seconds kMetricsTimeout{2};

template <class Field>
std::vector<std::string> Texts(const Field& field) {
  return {field.begin(), field.end()};
}

AuthenticationAnswer ToAnswer(pb::AuthenticateResponse response) {
  using Outcome = AuthenticationAnswer::Outcome;
  AuthenticationAnswer answer;
  switch (response.outcome()) {
    case pb::AuthenticateResponse::AUTHENTICATED: answer.outcome = Outcome::kAuthenticated; break;
    case pb::AuthenticateResponse::NO_CREDENTIALS: answer.outcome = Outcome::kNoCredentials; break;
    default: answer.outcome = Outcome::kRefused;
  }
  if (answer.outcome == Outcome::kAuthenticated)
    answer.user = MakeUser(mesh::FromProto(std::move(*response.mutable_user())));
  answer.audiences = Texts(response.audiences());
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
  answer.verdict = AuthorizationAnswer::Verdict::kDeny;  // an answer without a decision is a denial
  return answer;
}

void AddRequirements(std::vector<Requirement> from, google::protobuf::RepeatedPtrField<pb::SelectorRequirement>* to) {
  for (Requirement& requirement : from) {
    pb::SelectorRequirement* one = to->Add();
    one->set_key(std::move(requirement.key));
    one->set_operator_(std::move(requirement.operation));
    for (std::string& value : requirement.values) one->add_values(std::move(value));
  }
}

void Add(AuthorizationQuestion question, pb::AuthorizeRequest& request) {
  pb::Attributes* attributes = request.add_attributes();
  *attributes->mutable_user() = mesh::ToProto(question.user->info);
  if (!question.info.is_resource_request) attributes->set_path(question.info.path);
  *attributes->mutable_info() = mesh::ToProto(std::move(question.info));
  AddRequirements(std::move(question.fields), attributes->mutable_field_requirements());
  AddRequirements(std::move(question.labels), attributes->mutable_label_requirements());
}

AccessRules ToRules(const pb::RulesResponse& response) {
  AccessRules rules;
  for (const pb::ResourceRule& rule : response.resource_rules()) {
    rules.resources.push_back(
        {Texts(rule.verbs()), Texts(rule.api_groups()), Texts(rule.resources()), Texts(rule.resource_names())});
  }
  for (const pb::NonResourceRule& rule : response.non_resource_rules()) {
    rules.non_resources.push_back({Texts(rule.verbs()), Texts(rule.paths())});
  }
  rules.incomplete = response.incomplete();
  rules.error = response.evaluation_error();
  return rules;
}

grpc::CallOptions Within(const Clock& clock, SteadyTime deadline, std::chrono::seconds longest = kLongestQuestion) {
  grpc::CallOptions options;
  options.deadline = std::min(deadline, clock.Steady() + longest);
  return options;
}

}  // namespace

GrpcAuthority::GrpcAuthority(const mesh::Endpoint& endpoint, const Clock& clock)
    : channel_(mesh::NewChannel(endpoint, clock)), clock_(clock) {}

Task<AuthenticationAnswer> GrpcAuthority::Authenticate(AuthenticationQuestion question) {
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
  for (std::string& audience : question.audiences) request.add_audiences(std::move(audience));
  grpc::CallOptions options = Within(clock_, question.deadline);
  grpc::CallSpan span(question.span, mesh::methods::kAuthenticate, tracing::Kind::kClient);
  span.AddTo(options);
  auto answer =
      co_await grpc::Unary<pb::AuthenticateResponse>(channel_, mesh::methods::kAuthenticate, request, options);
  span.Finish(answer.status);
  if (answer.status.ok()) co_return ToAnswer(std::move(answer.response));
  log::Write(log::Level::kWarning, "authentication is not available: " + answer.status.message, question.audit_id);
  AuthenticationAnswer unavailable;
  unavailable.reason = answer.status.message;
  co_return unavailable;
}

Task<AuthorizationAnswer> GrpcAuthority::Authorize(AuthorizationQuestion question) {
  pb::AuthorizeRequest request;
  request.set_audit_id(question.audit_id);
  grpc::CallOptions options = Within(clock_, question.deadline);
  grpc::CallSpan span(question.span, mesh::methods::kAuthorize, tracing::Kind::kClient);
  span.AddTo(options);
  const std::string audit_id = question.audit_id;
  Add(std::move(question), request);
  auto answer = co_await grpc::Unary<pb::AuthorizeResponse>(channel_, mesh::methods::kAuthorize, request, options);
  span.Finish(answer.status);
  if (answer.status.ok()) co_return ToAnswer(answer.response);
  log::Write(log::Level::kWarning, "authorization is not available: " + answer.status.message, audit_id);
  AuthorizationAnswer unavailable;
  unavailable.reason = answer.status.message;
  co_return unavailable;
}

Task<std::vector<AuthorizationAnswer>> GrpcAuthority::AuthorizeAll(std::vector<AuthorizationQuestion> questions) {
  std::vector<AuthorizationAnswer> answers(questions.size());  // kUnavailable by default
  if (questions.empty()) co_return answers;
  pb::AuthorizeRequest request;
  const grpc::CallOptions options = Within(clock_, questions.front().deadline);
  for (AuthorizationQuestion& question : questions) Add(std::move(question), request);
  auto answer = co_await grpc::Unary<pb::AuthorizeResponse>(channel_, mesh::methods::kAuthorize, request, options);
  if (!answer.status.ok() || answer.response.decisions_size() != request.attributes_size()) co_return answers;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i] = ToAnswer(answer.response.decisions(static_cast<int>(i)), answer.response.revision());
  }
  co_return answers;
}

Task<meta::Result<AccessRules>> GrpcAuthority::Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) {
  pb::RulesRequest request;
  *request.mutable_user() = mesh::ToProto(std::move(user));
  request.set_namespace_(std::move(ns));
  const grpc::CallOptions options = Within(clock_, deadline);
  auto answer = co_await grpc::Unary<pb::RulesResponse>(channel_, mesh::methods::kRules, request, options);
  if (!answer.status.ok()) co_return AuthorityUnreachable(answer.status.message);
  co_return ToRules(answer.response);
}

Task<std::string> GrpcAuthority::Metrics() {
  const grpc::CallOptions options = Within(clock_, SteadyTime::max(), kMetricsTimeout);
  const pb::MetricsRequest request;
  auto answer = co_await grpc::Unary<pb::MetricsResponse>(channel_, mesh::methods::kMetrics, request, options);
  co_return answer.status.ok() ? std::move(*answer.response.mutable_text()) : std::string();
}

Task<mesh::Response> GrpcAuthority::Diagnose(mesh::Request request) {
  grpc::CallOptions options;
  options.deadline = request.deadline;
  pb::DiagnoseRequest asked;
  asked.set_path(std::move(request.path));
  asked.set_query(std::move(request.query));
  asked.set_body(std::move(request.body));
  auto answer = co_await grpc::Unary<pb::DiagnoseResponse>(channel_, mesh::methods::kDiagnose, asked, options);
  mesh::Response response;
  response.code = answer.status.ok() ? answer.response.code() : 503;
  if (answer.status.ok()) response.body.emplace_back(std::move(*answer.response.mutable_body()));
  co_return response;
}

Task<> GrpcAuthority::WatchInvalidations(InvalidationFn report) {
  boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
  for (;;) {
    co_await Follow(report);
    report(std::nullopt);
    pause.expires_after(std::chrono::milliseconds(100));
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
}

Task<> GrpcAuthority::Follow(const InvalidationFn& report) {
  grpc::ClientCall stream = co_await channel_->Open(mesh::methods::kInvalidations, grpc::CallOptions());
  grpc::Message request = grpc::Pack(pb::InvalidationsRequest());
  co_await stream.Write(std::move(request));
  stream.WritesDone();
  for (bool open = true; open;) {
    const auto message = co_await grpc::ReadAs<pb::Invalidation>(stream);
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

}  // namespace apimesh::service
