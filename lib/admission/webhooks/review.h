#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/admission/matching/criteria.h"

/// The AdmissionReview that a webhook receives, and the one that it returns.
namespace apimesh::admission::webhooks {

enum class ReviewVersion { kV1, kV1beta1 };

/// Returns the first version in `admissionReviewVersions` that is known here, or nullopt.
std::optional<ReviewVersion> ChooseVersion(const meta::json::array& accepted);

struct ReviewRequest {
  ReviewVersion version = ReviewVersion::kV1;
  std::string uid;
  matching::Match match;
  std::string object, old_object;  // JSON; "null" if there is none
};
/// Returns the body of the request, byte by byte as kube-apiserver writes it.
std::string WriteReview(const ReviewRequest& request, const Attributes& attributes, const meta::UserInfo& user);

/// The answer of a webhook.
struct ReviewResponse {
  /// More warnings than a response can have, and more audit annotations than an event can have, are not kept.
  static constexpr std::size_t kMaxWarnings = 1000, kMaxAnnotations = 1001;

  bool allowed = false;
  std::map<std::string, std::string> audit_annotations;
  std::vector<std::string> warnings;
  std::string patch;                         // decoded; "" if there is none
  std::string patch_type;                    // set with `patch`
  std::optional<meta::json::object> result;  // the Status that explains a rejection
};

/// What is wrong with an answer.
struct ReviewError {
  /// True if the body cannot be decoded, false if it is a review that breaks the rules.
  bool undecodable = false;
  std::string message;  // as in kube-apiserver
};
template <class T>
using ReviewResult = boost::system::result<T, ReviewError>;
[[noreturn]] void throw_exception_from_error(const ReviewError& error, const boost::source_location& where);

/// Reads and checks an answer. Only mutating webhooks may return a patch.
ReviewResult<ReviewResponse> ReadReview(std::string_view body, ReviewVersion version, std::string_view uid,
                                        bool mutating);

/// Returns the type of a value as Go's decoder calls it in errors.
std::string_view GoTypeName(const meta::json::value& value);

/// Returns the error with which a request is answered that a webhook has rejected with this `status`.
meta::ApiError RejectionOf(std::string_view webhook, const std::optional<meta::json::object>& result);

}  // namespace apimesh::admission::webhooks
