#include "services/core-api/auth/auth_client.h"

#include "lib/base/clock.h"
#include "lib/rpc/delegate_proto.h"
#include "lib/rpc/grpc_await.h"
#include "lib/rpc/grpc_channel.h"
#include "proto/mesh/v1/authn.grpc.pb.h"
#include "proto/mesh/v1/authz.grpc.pb.h"

namespace apimesh::core_api {
namespace {

namespace pb = mesh::v1;
constexpr std::chrono::seconds kLongestQuestion{10};

rpc::CallOptions Within(SteadyTime deadline) {
  rpc::CallOptions options;
  options.deadline = std::min(deadline, Clock::System().Steady() + kLongestQuestion);
  return options;
}

template <class Field>
std::vector<std::string> Texts(const Field& field) {
  return {field.begin(), field.end()};
}

void AddRequirements(const std::vector<Requirement>& from, google::protobuf::RepeatedPtrField<pb::SelectorRequirement>* to) {
  for (const Requirement& requirement : from) {
    pb::SelectorRequirement* one = to->Add();
    one->set_key(requirement.key);
    one->set_operator_(requirement.operation);
    for (const std::string& value : requirement.values) one->add_values(value);
  }
}

meta::ApiError Unreachable(const grpc::Status& status) {
  return meta::InternalError("authn-authz: " + status.error_message());
}

class Remote final : public AuthClient {
 public:
  explicit Remote(const rpc::Endpoint& endpoint)
      : channel_(rpc::NewChannel(endpoint)),
        authenticator_(pb::Authenticator::NewStub(channel_)),
        authorizer_(pb::Authorizer::NewStub(channel_)) {}

  Task<meta::Result<TokenIdentity>> ReviewToken(std::string token, std::vector<std::string> audiences, SteadyTime deadline) override {
    pb::AuthenticateRequest request;
    pb::Header* header = request.add_headers();
    header->set_name("authorization");
    header->set_value("Bearer " + token);
    for (std::string& audience : audiences) request.add_audiences(std::move(audience));
    const rpc::CallOptions options = Within(deadline);
    auto answer = co_await rpc::Unary(authenticator_->async(), &pb::Authenticator::Stub::async::Authenticate, std::move(request), options);
    if (!answer.status.ok()) co_return Unreachable(answer.status);
    TokenIdentity identity;
    // Whoever is let in without credentials has not shown a good token.
    identity.authenticated = answer.response.outcome() == pb::AuthenticateResponse::AUTHENTICATED &&
                             answer.response.user().name() != "system:anonymous";
    if (identity.authenticated) {
      identity.user = rpc::FromProto(std::move(*answer.response.mutable_user()));
      identity.audiences = Texts(answer.response.audiences());
    }
    identity.error = answer.response.reason();
    co_return identity;
  }

  Task<meta::Result<AccessDecision>> Authorize(AccessQuestion question, SteadyTime deadline) override {
    pb::AuthorizeRequest request;
    pb::Attributes* attributes = request.add_attributes();
    *attributes->mutable_user() = rpc::ToProto(std::move(question.user));
    if (!question.info.is_resource_request) attributes->set_path(question.info.path);
    *attributes->mutable_info() = rpc::ToProto(std::move(question.info));
    AddRequirements(question.fields, attributes->mutable_field_requirements());
    AddRequirements(question.labels, attributes->mutable_label_requirements());
    const rpc::CallOptions options = Within(deadline);
    auto answer = co_await rpc::Unary(authorizer_->async(), &pb::Authorizer::Stub::async::Authorize, std::move(request), options);
    if (!answer.status.ok()) co_return Unreachable(answer.status);
    AccessDecision decision;
    if (answer.response.decisions_size() != 1) co_return decision;
    const pb::Decision& given = answer.response.decisions(0);
    decision.allowed = given.verdict() == pb::Decision::ALLOW;
    decision.denied = given.verdict() == pb::Decision::DENY;
    decision.reason = given.reason();
    decision.error = given.error();
    co_return decision;
  }

  Task<meta::Result<AccessRules>> Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) override {
    pb::RulesRequest request;
    *request.mutable_user() = rpc::ToProto(std::move(user));
    request.set_namespace_(std::move(ns));
    const rpc::CallOptions options = Within(deadline);
    auto answer = co_await rpc::Unary(authorizer_->async(), &pb::Authorizer::Stub::async::Rules, std::move(request), options);
    if (!answer.status.ok()) co_return Unreachable(answer.status);
    AccessRules rules;
    for (const pb::ResourceRule& rule : answer.response.resource_rules()) {
      rules.resources.push_back({Texts(rule.verbs()), Texts(rule.api_groups()), Texts(rule.resources()), Texts(rule.resource_names())});
    }
    for (const pb::NonResourceRule& rule : answer.response.non_resource_rules()) {
      rules.non_resources.push_back({Texts(rule.verbs()), Texts(rule.paths())});
    }
    rules.incomplete = answer.response.incomplete();
    rules.error = answer.response.evaluation_error();
    co_return rules;
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::Authenticator::Stub> authenticator_;
  std::unique_ptr<pb::Authorizer::Stub> authorizer_;
};

}  // namespace

AuthClientPtr NewAuthClient(const rpc::Endpoint& endpoint) { return std::make_shared<Remote>(endpoint); }

}  // namespace apimesh::core_api
