#include "services/extensions-api/crd/api_approval.h"

#include <fmt/format.h>

namespace apimesh::extensions_api {
namespace {

constexpr std::string_view kAnnotation = "api-approved.kubernetes.io";
constexpr std::string_view kPolicy = "see https://github.com/kubernetes/enhancements/pull/1111";

enum class Approval { kMissing, kBypassed, kApproved, kInvalid };
struct State {
  Approval approval;
  std::string why;
};

bool IsProtected(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

std::string_view AnnotationOf(const meta::Object& crd) {
  const meta::json::string* text = crd.Annotation(kAnnotation);
  return text ? std::string_view(*text) : std::string_view();
}

State StateOf(const meta::Object& crd) {
  const std::string_view text = AnnotationOf(crd);
  if (text.empty()) {
    return {Approval::kMissing,
            fmt::format("protected groups must have approval annotation {}, {}", meta::Quoted(kAnnotation), kPolicy)};
  }
  if (text.starts_with("unapproved")) return {Approval::kBypassed, fmt::format("not approved: {}", meta::Quoted(text))};
  const std::size_t scheme = text.find("://");
  if (scheme != std::string_view::npos && scheme > 0 && text.size() > scheme + 3 && text[scheme + 3] != '/') {
    return {Approval::kApproved, fmt::format("approved in {}", text)};
  }
  return {Approval::kInvalid, fmt::format("protected groups must have approval annotation {} with either a URL or a "
                                          "reason starting with \"unapproved\", {}",
                                          meta::Quoted(kAnnotation), kPolicy)};
}

}  // namespace

Condition ApprovalCondition(const meta::Object& crd) {
  if (!IsProtected(meta::FindString(crd.Root(), "spec", "group"))) return {};
  const State state = StateOf(crd);
  const auto condition = [&state](const char* status, const char* reason) {
    return Condition{"KubernetesAPIApprovalPolicyConformant", status, reason, state.why};
  };
  switch (state.approval) {
    case Approval::kMissing: return condition("False", "MissingAnnotation");
    case Approval::kBypassed: return condition("False", "UnapprovedAnnotation");
    case Approval::kApproved: return condition("True", "ApprovedAnnotation");
    case Approval::kInvalid: break;
  }
  return condition("False", "InvalidAnnotation");
}

meta::FieldErrors ValidateApproval(const meta::Object& crd, const meta::Object* old) {
  if (!IsProtected(meta::FindString(crd.Root(), "spec", "group"))) return {};
  const State state = StateOf(crd);
  if (old && StateOf(*old).approval == state.approval) return {};
  const std::string field = meta::Path("metadata.annotations").Key(kAnnotation).ToString();
  if (state.approval == Approval::kMissing) return {meta::Required(field, state.why)};
  if (state.approval == Approval::kInvalid) return {meta::Invalid(field, meta::Quoted(AnnotationOf(crd)), state.why)};
  return {};
}

}  // namespace apimesh::extensions_api
