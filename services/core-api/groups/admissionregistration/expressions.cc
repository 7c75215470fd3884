#include "services/core-api/groups/admissionregistration/expressions.h"

#include "services/core-api/groups/admissionregistration/rules.h"

namespace apimesh::core_api {
namespace {

void Report(const Check& holder, std::string_view field, std::string_view shown,
            const admission::Expression& expression) {
  if (expression.program) return;
  const std::string path = holder.Path().Child(field).ToString();
  if (expression.internal_error) {
    holder.Add({meta::FieldError::Type::kInternal, path, "", expression.error});
  } else {
    holder.Add(meta::Invalid(path, meta::Quoted(shown), expression.error));
  }
}

}  // namespace

void AddStored(const meta::json::object& holder, std::string_view list, std::string_view field,
               StoredExpressions& out) {
  const meta::json::value* items = meta::FindField(holder, list);
  if (!items || !items->is_array()) return;
  for (const meta::json::value& item : items->get_array()) {
    if (item.is_object()) out.emplace(meta::FindString(item.get_object(), field));
  }
}

admission::ExpressionPtr ExpressionRules::Compile(std::string_view source, const Kind& kind, bool stored) const {
  return admission::CompileExpression(
      source, stored ? stored_ : new_,
      {.params = params_, .authorizer = kind.authorizer, .patch_types = kind.patch_types}, kind.result);
}

void ExpressionRules::Check(const core_api::Check& holder, std::string_view field, const Kind& kind,
                            const StoredExpressions& stored) {
  const std::string_view text = holder.Text(field), source = kind.trimmed ? Trimmed(text) : text;
  Report(holder, field, kind.shown_trimmed ? source : text, *Compile(source, kind, stored.contains(text)));
}

void ExpressionRules::CheckVariable(const core_api::Check& variable, const StoredExpressions& stored) {
  const std::string_view source = variable.Text("expression");
  const admission::ExpressionPtr compiled =
      Compile(source, {.result = admission::ExpressionResult::kAny}, stored.contains(source));
  const cel::TypeRef type = compiled->program ? compiled->program->ResultType() : nullptr;
  new_.AddVariable(std::string(variable.Text("name")), type);
  stored_.AddVariable(std::string(variable.Text("name")), type);
  Report(variable, "expression", source, *compiled);
}

}  // namespace apimesh::core_api
