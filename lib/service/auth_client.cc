#include "lib/service/auth_client.h"

#include "lib/base/clock.h"
#include "lib/h2/typed_call.h"
#include "lib/rpc/channel.h"
#include "lib/rpc/delegate_proto.h"
#include "lib/rpc/methods.h"
#include "proto/mesh/v1/authn.pb.h"
#include "proto/mesh/v1/authz.pb.h"

namespace apimesh::service {
namespace {

namespace pb = mesh::v1;
constexpr std::chrono::seconds kLongestQuestion{10};

h2::CallOptions Within(SteadyTime deadline) {
  h2::CallOptions options;
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

meta::ApiError Unreachable(const h2::Status& status) {
  return meta::InternalError("authn-authz: " + status.message);
}

class Remote final : public AuthClient {
 public:
  explicit Remote(const rpc::Endpoint& endpoint)
      : channel_(rpc::NewChannel(endpoint)) {}

  Task<meta::Result<TokenIdentity>> ReviewToken(std::string token, std::vector<std::string> audiences, SteadyTime deadline) override {
    pb::AuthenticateRequest request;
    pb::Header* header = request.add_headers();
    header->set_name("authorization");
    header->set_value("Bearer " + token);
    for (std::string& audience : audiences) request.add_audiences(std::move(audience));
    const h2::CallOptions options = Within(deadline);
    auto answer = co_await h2::Unary<pb::AuthenticateResponse>(channel_, rpc::methods::kAuthenticate, request, options);
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
    const h2::CallOptions options = Within(deadline);
    auto answer = co_await h2::Unary<pb::AuthorizeResponse>(channel_, rpc::methods::kAuthorize, request, options);
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
    const h2::CallOptions options = Within(deadline);
    auto answer = co_await h2::Unary<pb::RulesResponse>(channel_, rpc::methods::kRules, request, options);
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
  const std::shared_ptr<h2::Channel> channel_;
};

}  // namespace

AuthClientPtr NewAuthClient(const rpc::Endpoint& endpoint) { return std::make_shared<Remote>(endpoint); }

}  // namespace apimesh::service
