#pragma once

#include <initializer_list>
#include <memory>
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

/// What validation found. A document can have an error in each of its 100,000 items, so the list is bounded: once it is
/// Full(), further errors are dropped, and validation may stop.
class FieldErrors {
 public:
  static constexpr std::size_t kMaxErrors = 1000;
  static constexpr std::size_t kMaxBytes = 1 << 20;

  using value_type = FieldError;
  using const_iterator = std::vector<FieldError>::const_iterator;

  FieldErrors() = default;
  FieldErrors(std::initializer_list<FieldError> errors);

  void push_back(FieldError error);
  void Append(FieldErrors more);
  /// Removes the errors for which `unwanted` is true. A list that was full stays full, because it is not known what the
  /// dropped errors were.
  template <class Predicate>
  void EraseIf(Predicate unwanted) {
    std::erase_if(kept_, unwanted);
  }

  /// Whether kMaxErrors errors or kMaxBytes of text were added.
  bool Full() const { return added_ >= kMaxErrors || bytes_ >= kMaxBytes; }
  /// Whether there was no error. A full list is never empty.
  bool empty() const { return kept_.empty() && !Full(); }

  // The errors that were kept.
  std::size_t size() const { return kept_.size(); }
  std::vector<FieldError>::iterator begin() { return kept_.begin(); }
  std::vector<FieldError>::iterator end() { return kept_.end(); }
  const_iterator begin() const { return kept_.begin(); }
  const_iterator end() const { return kept_.end(); }
  const FieldError& front() const { return kept_.front(); }
  const FieldError& operator[](std::size_t index) const { return kept_[index]; }

 private:
  std::vector<FieldError> kept_;
  std::size_t added_ = 0;
  std::size_t bytes_ = 0;
};

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

/// A place in a document, built while walking down: Path("spec").Child("containers").Index(0).Child("name"). A path shares
/// the steps of the path it was made from, so that a step below a key of 1 MB does not copy the key.
class Path {
 public:
  explicit Path(std::string_view text = "");
  Path Child(std::string_view name) const;
  Path Index(std::size_t index) const;
  Path Key(std::string_view key) const;
  std::string ToString() const;

 private:
  struct Step {
    std::shared_ptr<const Step> parent;
    std::string text;  // with its punctuation: ".name", "[0]"
    std::size_t length;  // of the text up to here
  };
  Path Add(std::string text) const;

  std::shared_ptr<const Step> last_;
};

}  // namespace apimesh::meta
