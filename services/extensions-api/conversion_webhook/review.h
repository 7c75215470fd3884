#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"

/// The messages of a conversion webhook, without I/O.
namespace apimesh::extensions_api {

/// Why a conversion has failed. `type` is the value of the label failure_type of kube-apiserver's metrics.
struct ConversionFailure {
  std::string_view type;
  std::string message;
};
inline constexpr std::string_view kCallFailure = "conversion_webhook_call_failure";
inline constexpr std::string_view kMalformedResponse = "conversion_webhook_malformed_response_failure";
inline constexpr std::string_view kPartialResponse = "conversion_webhook_partial_response_failure";
inline constexpr std::string_view kInvalidObject = "conversion_webhook_invalid_converted_object_failure";

/// Returns the first of the versions that is supported (v1 or v1beta1), or "".
std::string_view SupportedReviewVersion(const std::vector<std::string>& versions);

/// Returns a ConversionReview with the bytes that kube-apiserver sends. `objects` are JSON texts.
std::string WriteReview(std::string_view review_version, std::string_view uid, std::string_view desired_api_version,
                        const std::vector<std::string>& objects);

/// Returns the converted objects of a response, one per original object. `from` is the kind of the first original
/// object, which messages name. Each object has been checked: it has the desired version and the same kind, name,
/// namespace and uid as the original; its metadata is that of the original except for labels and annotations.
std::variant<std::vector<meta::Object>, ConversionFailure> ReadReview(std::string_view review_version,
                                                                      std::string_view uid, std::string_view response,
                                                                      const std::vector<meta::Object>& originals,
                                                                      const meta::Gvk& desired);

}  // namespace apimesh::extensions_api
