#pragma once

#include "lib/admission/webhooks/caller.h"

namespace apimesh::admission::webhooks {

/// The patch of a webhook, applied to the object that it was sent.
struct Patched {
  std::optional<CallError> error;
  std::optional<meta::Object> object;  // nullopt: the webhook returned no operations
  meta::json::value operations;        // the patch
};
/// Applies the patch in the answer of a webhook. The result is a complete object of `kind`.
Patched ApplyPatch(const Webhook& webhook, const CallResult& answer, const Attributes& attributes,
                   const meta::Gvk& kind);

/// Return the values of the audit annotations about a mutating webhook.
std::string MutationAnnotation(const Webhook& webhook, bool mutated);
std::string PatchAnnotation(const Webhook& webhook, const meta::json::value& operations);

}  // namespace apimesh::admission::webhooks
