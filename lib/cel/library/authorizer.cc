#include "lib/cel/library/authorizer.h"

#include "lib/base/text/trim.h"
#include "lib/cel/library/library.h"
#include "lib/meta/names.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;

/// An authorizer, or an authorization question that is being built. `type` says which parts the question already has.
class CheckValue : public Opaque {
 public:
  CheckValue(const char* type, const Authorizer* authorizer, AuthorizationQuestion question)
      : type(type), authorizer(authorizer), question(std::move(question)) {}
  std::string_view TypeName() const override { return type; }
  bool Equals(const Opaque& other) const override { return this == &other; }
  std::string ToString() const override { return fmt::format("<{}>", type); }

  const char* const type;
  const Authorizer* const authorizer;
  const AuthorizationQuestion question;
};

class DecisionValue : public Opaque {
 public:
  explicit DecisionValue(AuthorizationAnswer answer) : answer(std::move(answer)) {}
  std::string_view TypeName() const override { return "kubernetes.authorization.Decision"; }
  bool Equals(const Opaque& other) const override { return this == &other; }
  std::string ToString() const override { return "<kubernetes.authorization.Decision>"; }

  const AuthorizationAnswer answer;
};

constexpr char kAuthorizer[] = "kubernetes.authorization.Authorizer",
               kPathCheck[] = "kubernetes.authorization.PathCheck",
               kGroupCheck[] = "kubernetes.authorization.GroupCheck",
               kResourceCheck[] = "kubernetes.authorization.ResourceCheck";

const CheckValue& Of(const Value& value) { return static_cast<const CheckValue&>(value.AsOpaque()); }
const AuthorizationAnswer& AnswerOf(const Value& value) {
  return static_cast<const DecisionValue&>(value.AsOpaque()).answer;
}
Value Text(Arena& arena, std::string_view text) { return Value::String(arena.Copy(text)); }

// The question of args[0] with a field set to args[1].
template <std::string AuthorizationQuestion::* kField, const char* kType>
Value With(Args args, Arena& arena) {
  AuthorizationQuestion question = Of(args[0]).question;
  question.*kField = args[1].AsString();
  return Value::Of(arena.NewOwned<CheckValue>(kType, Of(args[0]).authorizer, std::move(question)));
}

bool IsBlank(std::string_view text) { return TrimSpace(text).empty(); }

Value Path(Args args, Arena& arena) {
  if (IsBlank(args[1].AsString())) return Value::Error("path must not be empty");
  return With<&AuthorizationQuestion::path, kPathCheck>(args, arena);
}

Value Resource(Args args, Arena& arena) {
  if (IsBlank(args[1].AsString())) return Value::Error("resource must not be empty");
  return With<&AuthorizationQuestion::resource, kResourceCheck>(args, arena);
}

Value ServiceAccount(Args args, Arena& arena) {
  if (!meta::NameIsDnsSubdomain(args[2].AsString(), false).empty()) return Value::Error("Invalid service account name");
  if (!meta::NameIsDnsLabel(args[1].AsString(), false).empty())
    return Value::Error("Invalid service account namespace");
  AuthorizationQuestion question;
  question.service_account_namespace = args[1].AsString();
  question.service_account_name = args[2].AsString();
  return Value::Of(arena.NewOwned<CheckValue>(kAuthorizer, Of(args[0]).authorizer, std::move(question)));
}

Value Check(Args args, Arena& arena) {
  AuthorizationQuestion question = Of(args[0]).question;
  question.verb = args[1].AsString();
  return Value::Of(arena.NewOwned<DecisionValue>(Of(args[0]).authorizer->Authorize(question)));
}

}  // namespace

Value AuthorizerValue(const Authorizer& authorizer, Arena& arena) {
  return Value::Of(arena.NewOwned<CheckValue>(kAuthorizer, &authorizer, AuthorizationQuestion()));
}

Value ResourceCheckValue(const Authorizer& authorizer, AuthorizationQuestion question, Arena& arena) {
  return Value::Of(arena.NewOwned<CheckValue>(kResourceCheck, &authorizer, std::move(question)));
}

void AddAuthorizer(Declarations& out) {
  const TypeRef authorizer = Type::Object(kAuthorizer), path = Type::Object(kPathCheck),
                group = Type::Object(kGroupCheck), resource = Type::Object(kResourceCheck),
                decision = Type::Object("kubernetes.authorization.Decision"), &s = Type::String(), &b = Type::Bool();
  const auto add = [&](const char* function, const char* id, std::vector<TypeRef> args, TypeRef result, Body body) {
    out.Add(function, {id, true, std::move(args), std::move(result), body});
  };
  using Q = AuthorizationQuestion;
  add("path", "authorizer_path", {authorizer, s}, path, Path);
  add("group", "authorizer_group", {authorizer, s}, group, With<&Q::group, kGroupCheck>);
  add("serviceAccount", "authorizer_serviceaccount", {authorizer, s, s}, authorizer, ServiceAccount);
  add("resource", "groupcheck_resource", {group, s}, resource, Resource);
  add("subresource", "resourcecheck_subresource", {resource, s}, resource, With<&Q::subresource, kResourceCheck>);
  add("namespace", "resourcecheck_namespace", {resource, s}, resource, With<&Q::namespace_name, kResourceCheck>);
  add("name", "resourcecheck_name", {resource, s}, resource, With<&Q::name, kResourceCheck>);
  add("check", "pathcheck_check", {path, s}, decision, Check);
  add("check", "resourcecheck_check", {resource, s}, decision, Check);
  add("errored", "decision_errored", {decision}, b,
      [](Args args, Arena&) { return Value::Bool(AnswerOf(args[0]).errored); });
  add("error", "decision_error", {decision}, s,
      [](Args args, Arena& arena) { return Text(arena, AnswerOf(args[0]).error); });
  add("allowed", "decision_allowed", {decision}, b,
      [](Args args, Arena&) { return Value::Bool(AnswerOf(args[0]).allowed); });
  add("reason", "decision_reason", {decision}, s,
      [](Args args, Arena& arena) { return Text(arena, AnswerOf(args[0]).reason); });
}

void AddAuthorizerSelectors(Declarations& out) {
  const TypeRef resource = Type::Object(kResourceCheck), &s = Type::String();
  using Q = AuthorizationQuestion;
  out.Add("fieldSelector",
          {"authorizer_fieldselector", true, {resource, s}, resource, With<&Q::field_selector, kResourceCheck>});
  out.Add("labelSelector",
          {"authorizer_labelselector", true, {resource, s}, resource, With<&Q::label_selector, kResourceCheck>});
}

}  // namespace apimesh::cel
