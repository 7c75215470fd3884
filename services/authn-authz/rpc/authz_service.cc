#include "services/authn-authz/rpc/authz_service.h"

#include "services/authn-authz/rpc/convert.h"
#include "services/authn-authz/rpc/finish.h"
#include "services/authn-authz/config/join_errors.h"

namespace apimesh::authn_authz {
namespace {

// Changes are pushed; this bounds the damage if a push is lost.
constexpr auto kLongestReuse = std::chrono::milliseconds(10'000);

}  // namespace

AuthzService::AuthzService(std::shared_ptr<Authorizer> authorizer, std::shared_ptr<Revisions> revisions,
                           boost::asio::any_io_executor executor)
    : authorizer_(std::move(authorizer)), revisions_(std::move(revisions)), executor_(executor),
      streams_(InvalidationStreams::Start(revisions_, executor)) {}

grpc::ServerUnaryReactor* AuthzService::Authorize(grpc::CallbackServerContext* context,
                                                  const mesh::v1::AuthorizeRequest* request,
                                                  mesh::v1::AuthorizeResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  response->set_revision(revisions_->Current());
  std::vector<AttributesPtr> questions;
  bool all = true;
  for (const auto& attributes : request->attributes()) {
    auto question = std::make_shared<const Attributes>(FromProto(attributes));
    const std::optional<Decision> decision = all ? authorizer_->DecideNow(*question) : std::nullopt;
    if (decision) {
      ToProto(*decision, kLongestReuse, response->add_decisions());
    } else {
      all = false;
      questions.push_back(std::move(question));
    }
  }
  if (all) {
    reactor->Finish(grpc::Status::OK);
  } else {
    boost::asio::co_spawn(executor_, AnswerLater(authorizer_, std::move(questions), response), FinishWhenDone(reactor));
  }
  return reactor;
}

Task<> AuthzService::AnswerLater(std::shared_ptr<Authorizer> authorizer, std::vector<AttributesPtr> questions,
                                 mesh::v1::AuthorizeResponse* response) {
  for (const AttributesPtr& question : questions) {
    std::optional<Decision> decision = authorizer->DecideNow(*question);
    if (!decision) decision = co_await authorizer->Decide(question);
    ToProto(*decision, kLongestReuse, response->add_decisions());
  }
}

grpc::ServerUnaryReactor* AuthzService::Rules(grpc::CallbackServerContext* context, const mesh::v1::RulesRequest* request,
                                              mesh::v1::RulesResponse* response) {
  RuleList rules;
  authorizer_->AddRules(FromProto(request->user()), request->namespace_(), rules);
  for (const ResourceRule& rule : rules.resource_rules) {
    auto* out = response->add_resource_rules();
    out->mutable_verbs()->Assign(rule.verbs.begin(), rule.verbs.end());
    out->mutable_api_groups()->Assign(rule.api_groups.begin(), rule.api_groups.end());
    out->mutable_resources()->Assign(rule.resources.begin(), rule.resources.end());
    out->mutable_resource_names()->Assign(rule.resource_names.begin(), rule.resource_names.end());
  }
  for (const NonResourceRule& rule : rules.non_resource_rules) {
    auto* out = response->add_non_resource_rules();
    out->mutable_verbs()->Assign(rule.verbs.begin(), rule.verbs.end());
    out->mutable_paths()->Assign(rule.paths.begin(), rule.paths.end());
  }
  response->set_incomplete(rules.incomplete);
  if (!rules.errors.empty()) response->set_evaluation_error(JoinErrors(rules.errors));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<mesh::v1::Invalidation>* AuthzService::Invalidations(grpc::CallbackServerContext*,
                                                                              const mesh::v1::InvalidationsRequest*) {
  return streams_->Open();
}

}  // namespace apimesh::authn_authz
