#include "lib/cel/check/substitution.h"

namespace apimesh::cel {
namespace {

using Kind = Type::Kind;

bool LessSpecific(const Type& a, const Type& b) {
  if (IsDyn(a) || a.Is(Kind::kParameter)) return true;
  if (IsDyn(b) || b.Is(Kind::kParameter) || a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::kOpaque:
      if (a.name != b.name || a.parameters.size() != b.parameters.size()) return false;
      [[fallthrough]];
    case Kind::kList:
    case Kind::kMap:
      for (std::size_t i = 0; i < a.parameters.size(); ++i) {
        if (!LessSpecific(*a.parameters[i], *b.parameters[i])) return false;
      }
      return true;
    case Kind::kType: return true;
    default: return SameType(a, b);
  }
}

bool IsNullable(const Type& type) {
  return type.wrapper || type.Is(Kind::kNull) || type.Is(Kind::kOpaque) || type.Is(Kind::kObject) ||
         type.Is(Kind::kDuration) || type.Is(Kind::kTimestamp);
}

}  // namespace

bool IsDyn(const Type& type) { return type.Is(Kind::kDyn) || type.Is(Kind::kAny); }
bool IsDynOrError(const Type& type) { return IsDyn(type) || type.Is(Kind::kError); }
const TypeRef& MostGeneral(const TypeRef& a, const TypeRef& b) { return LessSpecific(*a, *b) ? a : b; }

TypeRef Substitution::NewVariable() {
  bindings_.emplace_back();
  return Type::Variable(static_cast<int>(bindings_.size()) - 1);
}

const TypeRef* Substitution::Find(const Type& variable) const {
  if (variable.variable < 0 || !bindings_[static_cast<std::size_t>(variable.variable)]) return nullptr;
  return &bindings_[static_cast<std::size_t>(variable.variable)];
}

void Substitution::Bind(const Type& variable, TypeRef type) {
  if (variable.variable < 0) return;
  TypeRef& binding = bindings_[static_cast<std::size_t>(variable.variable)];
  changes_.emplace_back(variable.variable, binding);
  binding = std::move(type);
}

bool Substitution::Assign(const TypeRef& a, const TypeRef& b) { return AssignAll(std::span(&a, 1), std::span(&b, 1)); }

bool Substitution::AssignAll(std::span<const TypeRef> a, std::span<const TypeRef> b) {
  const std::size_t before = changes_.size();
  if (FitsAll(a, b)) return true;
  while (changes_.size() > before) {
    bindings_[static_cast<std::size_t>(changes_.back().first)] = changes_.back().second;
    changes_.pop_back();
  }
  return false;
}

bool Substitution::FitsAll(std::span<const TypeRef> a, std::span<const TypeRef> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!Fits(a[i], b[i])) return false;
  }
  return true;
}

bool Substitution::Fits(const TypeRef& a, const TypeRef& b) {
  if (b->Is(Kind::kParameter)) {
    const Binding binding = CanBind(a, b);
    if (binding.valid) return true;
    if (binding.bound) return false;
  }
  if (a->Is(Kind::kParameter)) return CanBind(b, a).valid;
  if (IsDynOrError(*a) || IsDynOrError(*b)) return true;
  if (a->Is(Kind::kNull)) return IsNullable(*b);
  if (b->Is(Kind::kNull)) return IsNullable(*a);
  switch (a->kind) {
    case Kind::kType: return b->Is(Kind::kType);
    case Kind::kOpaque:
    case Kind::kList:
    case Kind::kMap: return a->kind == b->kind && a->name == b->name && FitsAll(a->parameters, b->parameters);
    default: return a->kind == b->kind && a->name == b->name;
  }
}

Substitution::Binding Substitution::CanBind(const TypeRef& type, const TypeRef& variable) {
  if (type->kind == variable->kind && SameType(*type, *variable)) return {true, true};
  if (const TypeRef* found = Find(*variable)) {
    const TypeRef bound = *found;
    if (type->kind == bound->kind && SameType(*type, *bound)) return {true, true};
    if (!Fits(type, bound)) return {false, true};
    const TypeRef& general = MostGeneral(type, bound);
    if (NotWithin(*variable, *general)) Bind(*variable, general);
    return {true, true};
  }
  if (!NotWithin(*variable, *type)) return {false, false};
  Bind(*variable, type);
  return {true, false};
}

bool Substitution::NotWithin(const Type& variable, const Type& type) const {
  if (SameType(variable, type)) return false;
  if (type.Is(Kind::kParameter)) {
    const TypeRef* found = Find(type);
    return !found || NotWithin(variable, **found);
  }
  for (const TypeRef& parameter : type.parameters) {
    if (!NotWithin(variable, *parameter)) return false;
  }
  return true;
}

TypeRef Substitution::Apply(const TypeRef& type, bool to_dyn) const {
  if (const TypeRef* found = Find(*type)) return Apply(*found, to_dyn);
  if (type->Is(Kind::kParameter)) return to_dyn ? Type::Dyn() : type;
  if (type->parameters.empty()) return type;
  Type out{type->kind, type->name, {}};
  bool changed = false;
  for (const TypeRef& parameter : type->parameters) {
    out.parameters.push_back(Apply(parameter, to_dyn));
    changed = changed || out.parameters.back() != parameter;
  }
  return changed ? std::make_shared<const Type>(std::move(out)) : type;
}

TypeRef Substitution::Instantiate(const TypeRef& type, std::vector<std::pair<std::string, TypeRef>>& names) {
  if (type->Is(Kind::kParameter)) {
    for (const auto& [name, variable] : names) {
      if (name == type->name) return variable;
    }
    return names.emplace_back(type->name, NewVariable()).second;
  }
  if (type->parameters.empty()) return type;
  Type out{type->kind, type->name, {}};
  bool changed = false;
  for (const TypeRef& parameter : type->parameters) {
    out.parameters.push_back(Instantiate(parameter, names));
    changed = changed || out.parameters.back() != parameter;
  }
  return changed ? std::make_shared<const Type>(std::move(out)) : type;
}

}  // namespace apimesh::cel
