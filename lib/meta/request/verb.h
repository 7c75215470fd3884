#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::meta {

/// The verbs that the server itself handles, in the order of their names.
enum class Verb : std::uint8_t {
  kOther,  // any other verb; RequestVerb has its text
  kCreate,
  kDelete,
  kDeleteCollection,
  kGet,
  kList,
  kPatch,
  kProxy,  // the verb of /api/v1/proxy/…
  kUpdate,
  kWatch,
};

/// Returns "deletecollection" for kDeleteCollection; "" for kOther.
std::string_view ToString(Verb verb);
/// Returns kOther for a text that is not the name of a verb. Names are in lower case.
Verb VerbFromString(std::string_view text);
/// Returns whether the verb changes nothing. kOther may change something.
constexpr bool IsReadOnly(Verb verb) { return verb == Verb::kGet || verb == Verb::kList || verb == Verb::kWatch; }

/// The verb of a request or of an authorization question: a Verb, or any other text. Other texts are the lower-case
/// methods of non-resource requests ("post") and the verbs that exist only in authorization ("impersonate", "approve").
/// Code that handles requests compares with Verb; authorizers, the audit log and metrics read Text().
class RequestVerb {
 public:
  RequestVerb() = default;
  RequestVerb(Verb verb) : verb_(verb) {}
  RequestVerb(std::string_view text) : verb_(VerbFromString(text)) {
    if (verb_ == Verb::kOther) other_ = text;
  }
  RequestVerb(const std::string& text) : RequestVerb(std::string_view(text)) {}
  RequestVerb(const char* text) : RequestVerb(std::string_view(text)) {}

  operator Verb() const { return verb_; }
  bool operator==(Verb verb) const { return verb_ == verb; }
  /// A template, so that a comparison with a text does not compile.
  template <std::same_as<RequestVerb> Other>
  bool operator==(const Other& other) const {
    return verb_ == other.verb_ && other_ == other.other_;
  }
  std::string_view Text() const { return verb_ == Verb::kOther ? std::string_view(other_) : ToString(verb_); }

 private:
  Verb verb_ = Verb::kOther;
  std::string other_;  // the text of kOther
};

/// A set of verbs that a resource supports. It never contains kOther.
class VerbSet {
 public:
  constexpr VerbSet() = default;
  constexpr VerbSet(std::initializer_list<Verb> verbs) {
    for (const Verb verb : verbs) insert(verb);
  }

  constexpr void insert(Verb verb) { bits_ |= BitOf(verb); }
  constexpr bool contains(Verb verb) const { return (bits_ & BitOf(verb)) != 0; }
  constexpr bool ContainsAny(VerbSet wanted) const { return (bits_ & wanted.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  /// Returns the names in alphabetical order.
  std::vector<std::string_view> Names() const;

 private:
  static constexpr std::uint16_t BitOf(Verb verb) {
    return verb == Verb::kOther ? 0 : static_cast<std::uint16_t>(1U << static_cast<unsigned>(verb));
  }
  std::uint16_t bits_ = 0;
};

/// The verbs of a resource whose objects are stored.
inline constexpr VerbSet kStoredResourceVerbs{Verb::kCreate, Verb::kDelete, Verb::kDeleteCollection, Verb::kGet,
                                              Verb::kList,   Verb::kPatch,  Verb::kUpdate,           Verb::kWatch};

}  // namespace apimesh::meta
