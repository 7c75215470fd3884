#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::meta {

/// An error about one field, as metav1.StatusCause represents it.
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

/// The errors that validation found. A document can have an error in each of its 100,000 items, so the list is bounded:
/// once it is Full(), further errors are dropped and validation may stop.
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
  /// Removes the errors for which `unwanted` is true. A list that was full stays full, because the predicate cannot be
  /// applied to the dropped errors.
  template <class Predicate>
  void EraseIf(Predicate unwanted) {
    std::erase_if(kept_, unwanted);
  }

  /// Returns whether kMaxErrors errors or kMaxBytes of text were added.
  bool Full() const { return added_ >= kMaxErrors || bytes_ >= kMaxBytes; }
  /// Returns whether there was no error. A full list is never empty.
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
/// `value` is inserted into the message without quoting; use Quoted() for strings.
FieldError Invalid(std::string field, std::string value, std::string detail);
FieldError Forbidden(std::string field, std::string detail);
FieldError Duplicate(std::string field, std::string value);
FieldError NotSupported(std::string field, std::string value, const std::vector<std::string>& supported);
FieldError TooLong(std::string field, std::size_t max_length);
FieldError TooMany(std::string field, std::size_t actual, std::size_t max);
FieldError NotFound(std::string field, std::string value);
FieldError TypeInvalid(std::string field, std::string value, std::string detail);

/// Returns a string as Go's %q prints it, which is how kube-apiserver shows string values.
std::string Quoted(std::string_view text);

/// The path of a field, built while walking down a document: Path("spec").Child("containers").Index(0).Child("name").
/// Validation builds a path for each field and needs the text of almost none, so a step only refers to the name that it
/// was given: a literal or a key of the document, which must outlive the path. The path owns a std::string that is
/// passed as an rvalue. Building a path of up to kInline steps allocates nothing.
class Path {
 public:
  Path() = default;
  explicit Path(std::string_view text) {
    if (!text.empty()) Push(Kind::kField, text.data(), text.size());
  }
  Path(const Path& other) : prefix_(other.prefix_) { CopySteps(other); }
  Path(Path&& other) noexcept : prefix_(std::move(other.prefix_)) { CopySteps(other); }
  Path& operator=(const Path& other) { return prefix_ = other.prefix_, CopySteps(other), *this; }
  Path& operator=(Path&& other) noexcept { return prefix_ = std::move(other.prefix_), CopySteps(other), *this; }

  Path Child(std::string_view name) const { return With(Kind::kField, name.data(), name.size()); }
  Path Key(std::string_view key) const { return With(Kind::kKey, key.data(), key.size()); }
  Path Index(std::size_t index) const { return With(Kind::kIndex, nullptr, index); }

  template <class Text>
    requires std::same_as<Text, std::string>
  Path Child(Text&& name) const {
    return Keep(Kind::kField, std::move(name));
  }
  template <class Text>
    requires std::same_as<Text, std::string>
  Path Key(Text&& key) const {
    return Keep(Kind::kKey, std::move(key));
  }

  /// "spec.containers[0].name"; a key is written as "[key]".
  std::string ToString() const;

 private:
  enum class Kind : std::uint8_t { kField, kKey, kIndex };
  static constexpr std::size_t kInline = 7;
  struct Step {
    const char* text;
    std::size_t size;  // length of the text; for kIndex, the index
  };
  struct Prefix;

  void CopySteps(const Path& other) {
    count_ = other.count_;
    for (std::size_t i = 0; i < count_; ++i) steps_[i] = other.steps_[i], kinds_[i] = other.kinds_[i];
  }
  Path With(Kind kind, const char* text, std::size_t size) const {
    Path path(*this);
    path.Push(kind, text, size);
    return path;
  }
  void Push(Kind kind, const char* text, std::size_t size) {
    if (count_ == kInline) Spill({});
    steps_[count_] = {text, size};
    kinds_[count_++] = kind;
  }
  Path Keep(Kind kind, std::string text) const;
  /// Moves the steps into a new prefix, together with a text that later steps may refer to.
  std::string_view Spill(std::string text);
  void AppendTo(std::string& text) const;

  std::shared_ptr<const Prefix> prefix_;  // the part of the path before the steps; nullptr if there is none
  std::uint8_t count_ = 0;
  Kind kinds_[kInline];
  Step steps_[kInline];
};

struct Path::Prefix {
  Path path;
  std::string kept;  // a text that the steps after this prefix refer to
};

}  // namespace apimesh::meta
