#include "services/authn-authz/rpc/authz_service.h"

#include "lib/grpc/typed_call.h"
#include "lib/mesh/methods.h"
#include "lib/service/diagnostics/process_diagnostics.h"
#include "services/authn-authz/config/join_errors.h"
#include "services/authn-authz/rpc/convert.h"

namespace apimesh::authn_authz {
namespace {

// Changes are pushed; this limits how long an answer is used if a push is lost.
constexpr auto kLongestReuse = std::chrono::milliseconds(10'000);

}  // namespace

AuthzService::AuthzService(std::shared_ptr<Authorizer> authorizer, std::shared_ptr<Revisions> revisions,
                           std::function<bool()> loaded, boost::asio::any_io_executor executor,
                           const service::Metrics& metrics)
    : authorizer_(std::move(authorizer)),
      revisions_(std::move(revisions)),
      streams_(InvalidationStreams::Start(revisions_, std::move(loaded), std::move(executor))),
      metrics_(metrics) {}

void AuthzService::AddTo(grpc::Methods& methods) {
  using namespace mesh::v1;
  methods.AddUnary(mesh::methods::kAuthorize,
                   grpc::Typed<AuthorizeRequest, AuthorizeResponse>(
                       [this](AuthorizeRequest request) { return Authorize(std::move(request)); }));
  methods.AddUnary(mesh::methods::kRules, grpc::Typed<RulesRequest, RulesResponse>(
                                              [this](RulesRequest request) { return Rules(std::move(request)); }));
  methods.AddUnary(mesh::methods::kMetrics,
                   grpc::Typed<MetricsRequest, MetricsResponse>(
                       [this](MetricsRequest request) { return Metrics(std::move(request)); }));
  methods.AddUnary(mesh::methods::kDiagnose,
                   grpc::Typed<DiagnoseRequest, DiagnoseResponse>(
                       [this](DiagnoseRequest request) { return Diagnose(std::move(request)); }));
  methods.AddStream(mesh::methods::kInvalidations, [streams = streams_](grpc::ServerCallPtr call) {
    return InvalidationStreams::Run(streams, std::move(call));
  });
}

Task<mesh::v1::AuthorizeResponse> AuthzService::Authorize(mesh::v1::AuthorizeRequest request) {
  mesh::v1::AuthorizeResponse response;
  response.set_revision(revisions_->Current());
  for (const auto& attributes : request.attributes()) {
    const auto question = std::make_shared<const Attributes>(FromProto(attributes));
    std::optional<Decision> decision = authorizer_->DecideNow(*question);
    if (!decision) decision = co_await authorizer_->Decide(question);
    ToProto(*decision, kLongestReuse, response.add_decisions());
  }
  co_return response;
}

Task<mesh::v1::RulesResponse> AuthzService::Rules(mesh::v1::RulesRequest request) {
  mesh::v1::RulesResponse response;
  RuleList rules;
  authorizer_->AddRules(FromProto(request.user()), request.namespace_(), rules);
  for (const ResourceRule& rule : rules.resource_rules) {
    auto* out = response.add_resource_rules();
    out->mutable_verbs()->Assign(rule.verbs.begin(), rule.verbs.end());
    out->mutable_api_groups()->Assign(rule.api_groups.begin(), rule.api_groups.end());
    out->mutable_resources()->Assign(rule.resources.begin(), rule.resources.end());
    out->mutable_resource_names()->Assign(rule.resource_names.begin(), rule.resource_names.end());
  }
  for (const NonResourceRule& rule : rules.non_resource_rules) {
    auto* out = response.add_non_resource_rules();
    out->mutable_verbs()->Assign(rule.verbs.begin(), rule.verbs.end());
    out->mutable_paths()->Assign(rule.paths.begin(), rule.paths.end());
  }
  response.set_incomplete(rules.incomplete);
  if (!rules.errors.empty()) response.set_evaluation_error(JoinErrors(rules.errors));
  co_return response;
}

Task<mesh::v1::MetricsResponse> AuthzService::Metrics(mesh::v1::MetricsRequest) {
  mesh::v1::MetricsResponse response;
  response.set_text(metrics_.Text());
  co_return response;
}

Task<mesh::v1::DiagnoseResponse> AuthzService::Diagnose(mesh::v1::DiagnoseRequest request) {
  mesh::Request asked;
  asked.method = "POST";
  asked.path = std::move(*request.mutable_path());
  asked.query = std::move(*request.mutable_query());
  asked.body = std::move(*request.mutable_body());
  const mesh::Response answer = co_await service::AnswerDiagnosis(std::move(asked));
  mesh::v1::DiagnoseResponse response;
  response.set_code(answer.code);
  response.set_body(answer.Text());
  co_return response;
}

}  // namespace apimesh::authn_authz
