#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apimesh::meta {

/// One complaint about one field, as metav1.StatusCause tells it.
struct FieldError {
  /// The wire values of metav1.CauseType.
  enum class Type {
    kRequired,      // FieldValueRequired
    kInvalid,       // FieldValueInvalid
    kNotSupported,  // FieldValueNotSupported
    kDuplicate,     // FieldValueDuplicate
    kForbidden,     // FieldValueForbidden
    kTooLong,       // FieldValueTooLong
    kTooMany,       // FieldValueTooMany
    kNotFound,      // FieldValueNotFound
    kInternal,      // InternalError
    kTypeInvalid,   // FieldValueTypeInvalid
  };
  Type type;
  std::string field;  // "spec.containers[0].name"
  std::string value;  // the bad value as the message shows it, e.g. "\"Foo_\"" or "-1"; empty where the type shows none
  std::string detail;

  /// Everything after "field: ", e.g. `Invalid value: "Foo_": must be lower case`.
  std::string Message() const;
  /// "FieldValueInvalid" etc.
  std::string_view Reason() const;
};
using FieldErrors = std::vector<FieldError>;

FieldError Required(std::string field, std::string detail);
/// `value` is put in the message as it is; use Quoted() for strings.
FieldError Invalid(std::string field, std::string value, std::string detail);
FieldError Forbidden(std::string field, std::string detail);
FieldError Duplicate(std::string field, std::string value);
FieldError NotSupported(std::string field, std::string value, const std::vector<std::string>& supported);
FieldError TooLong(std::string field, std::size_t max_length);
FieldError TooMany(std::string field, std::size_t actual, std::size_t max);
FieldError NotFound(std::string field, std::string value);
FieldError TypeInvalid(std::string field, std::string value, std::string detail);

/// A string as Go's %q prints it: how the reference shows string values.
std::string Quoted(std::string_view text);

/// A place in a document, built while walking down: Path("spec").Child("containers").Index(0).Child("name").
class Path {
 public:
  explicit Path(std::string text = "") : text_(std::move(text)) {}
  Path Child(std::string_view name) const;
  Path Index(std::size_t index) const;
  Path Key(std::string_view key) const;
  const std::string& ToString() const { return text_; }

 private:
  std::string text_;
};

}  // namespace apimesh::meta
