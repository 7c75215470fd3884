#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "lib/meta/names.h"
#include "lib/meta/object.h"
#include "lib/meta/selectors/limits.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::meta {
namespace {

using Op = Requirement::Op;

enum class Token {
  kEnd,
  kClose,
  kComma,
  kNot,
  kEqual,
  kDoubleEqual,
  kNotEqual,
  kGreater,
  kLess,
  kIn,
  kNotIn,
  kOpen,
  kWord
};

struct Item {
  Token token;
  std::string_view text;
};

constexpr std::size_t kMaxItems = 30'000;  // more than a selector within the limits has

std::string TooLarge() {
  return fmt::format("a label selector has more than {} requirements or {} values", kMaxRequirements,
                     kMaxRequirementValues);
}

bool IsSymbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Splits the text at spaces and symbols. A NUL ends the text, as in kube-apiserver. Stops after kMaxItems items.
std::vector<Item> Scan(std::string_view text) {
  std::vector<Item> items;
  std::size_t at = 0;
  while (items.size() < kMaxItems) {
    while (at < text.size() && IsSpace(text[at])) ++at;
    if (at >= text.size() || text[at] == '\0') break;
    const std::string_view rest = text.substr(at);
    if (IsSymbol(rest[0])) {
      static constexpr Item kSymbols[] = {{Token::kDoubleEqual, "=="}, {Token::kNotEqual, "!="}, {Token::kEqual, "="},
                                          {Token::kNot, "!"},          {Token::kOpen, "("},      {Token::kClose, ")"},
                                          {Token::kComma, ","},        {Token::kGreater, ">"},   {Token::kLess, "<"}};
      for (const Item& symbol : kSymbols) {
        if (!rest.starts_with(symbol.text)) continue;
        items.push_back(symbol);
        at += symbol.text.size();
        break;
      }
      continue;
    }
    std::size_t end = 0;
    while (end < rest.size() && rest[end] != '\0' && !IsSymbol(rest[end]) && !IsSpace(rest[end])) ++end;
    const std::string_view word = rest.substr(0, end);
    items.push_back({word == "in" ? Token::kIn : word == "notin" ? Token::kNotIn : Token::kWord, word});
    at += end + (end < rest.size() && rest[end] == '\0' ? 1 : 0);
  }
  items.push_back({Token::kEnd, ""});
  return items;
}

std::string FieldText(std::string_view field, std::string_view value, const Complaints& complaints) {
  return fmt::format("{}: Invalid value: {}: {}", field, Quoted(value), fmt::join(complaints, "; "));
}

/// Joins several error texts: "a", or "[a, b]", without repetitions.
std::string Aggregate(const std::vector<std::string>& texts) {
  std::vector<std::string> unique;
  std::set<std::string_view> seen;
  for (const std::string& text : texts) {
    if (seen.insert(text).second) unique.push_back(text);
  }
  return unique.size() == 1 ? unique[0] : fmt::format("[{}]", fmt::join(unique, ", "));
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns all errors of a requirement as one text; empty if it is valid. `exact`: it was written with an equals sign.
std::string CheckRequirement(const Requirement& r, bool exact) {
  std::vector<std::string> errors;
  if (const Complaints complaints = CheckQualifiedName(r.key); !complaints.empty()) {
    errors.push_back(FieldText("key", r.key, complaints));
  }
  const auto bad_values = [&](std::string_view why) {
    const json::array shown(r.values.begin(), r.values.end());
    errors.push_back(fmt::format("values: Invalid value: {}: {}", json::serialize(shown), why));
  };
  if ((r.op == Op::kIn || r.op == Op::kNotIn) && !exact && r.values.empty()) {
    bad_values("for 'in', 'notin' operators, values set can't be empty");
  }
  if ((r.op == Op::kExists || r.op == Op::kDoesNotExist) && !r.values.empty()) {
    bad_values("values set must be empty for exists and does not exist");
  }
  if (r.op == Op::kGreaterThan || r.op == Op::kLessThan) {
    for (std::size_t i = 0; i < r.values.size(); ++i) {
      if (ParseInteger(r.values[i])) continue;
      errors.push_back(FieldText(fmt::format("values[{}]", i), r.values[i],
                                 {"for 'Gt', 'Lt' operators, the value must be an integer"}));
    }
  }
  constexpr std::size_t kMaxErrors = 1000;  // a selector can have 100,000 values
  for (std::size_t i = 0; i < r.values.size() && errors.size() < kMaxErrors; ++i) {
    const Complaints complaints = CheckLabelValue(r.values[i]);
    if (!complaints.empty())
      errors.push_back(FieldText(fmt::format("values[{}][{}]", i, r.key), r.values[i], complaints));
  }
  return errors.empty() ? "" : Aggregate(errors);
}

/// A recursive descent parser. It has failed if `error` is not empty.
class Parser {
 public:
  explicit Parser(std::string_view text) : items_(Scan(text)) {}

  std::vector<Requirement> Parse() {
    std::vector<Requirement> requirements;
    while (true) {
      const Item next = Peek();
      if (next.token == Token::kEnd) return requirements;
      if (!StartsRequirement(next)) return Fail("found '{}', expected: !, identifier, or 'end of string'", next.text);
      Requirement requirement = ParseRequirement();
      if (!error.empty()) {
        error = "unable to parse requirement: " + error;
        return {};
      }
      requirements.push_back(std::move(requirement));
      if (requirements.size() > kMaxRequirements) return Fail("{}", TooLarge());
      const Item after = Next();
      if (after.token == Token::kEnd) return requirements;
      if (after.token != Token::kComma) return Fail("found '{}', expected: ',' or 'end of string'", after.text);
      if (!StartsRequirement(Peek())) return Fail("found '{}', expected: identifier after ','", Peek().text);
    }
  }

  std::string error;

 private:
  /// `format` has one {}, which is replaced by the text that was found.
  std::vector<Requirement> Fail(std::string_view format, std::string_view text) {
    error = fmt::format(fmt::runtime(format), text);
    return {};
  }
  static bool StartsRequirement(const Item& item) { return item.token == Token::kWord || item.token == Token::kNot; }

  /// Returns the next item. "in" and "notin" are words here; they are operators only where the grammar expects an
  /// operator.
  Item Peek() const {
    Item item = items_[at_];
    if (item.token == Token::kIn || item.token == Token::kNotIn) item.token = Token::kWord;
    return item;
  }
  Item Next() {
    const Item item = Peek();
    if (at_ + 1 < items_.size()) ++at_;
    return item;
  }

  Requirement ParseRequirement() {
    Requirement r;
    Item item = Next();
    const bool negated = item.token == Token::kNot;
    if (negated) item = Next();
    if (item.token != Token::kWord) return Fail("found '{}', expected: identifier", item.text), r;
    r.key = item.text;
    if (const Complaints complaints = CheckQualifiedName(r.key); !complaints.empty()) {
      error = FieldText("<nil>", r.key, complaints);
      return r;
    }
    const Token after = Peek().token;
    if (negated || after == Token::kEnd || after == Token::kComma) {
      r.op = negated ? Op::kDoesNotExist : Op::kExists;
      return r;
    }
    bool exact = true;
    const Item op = items_[at_];
    Next();
    switch (op.token) {
      case Token::kIn: r.op = Op::kIn, exact = false; break;
      case Token::kNotIn: r.op = Op::kNotIn, exact = false; break;
      case Token::kEqual:
      case Token::kDoubleEqual: r.op = Op::kIn; break;
      case Token::kNotEqual: r.op = Op::kNotIn; break;
      case Token::kGreater: r.op = Op::kGreaterThan; break;
      case Token::kLess: r.op = Op::kLessThan; break;
      default: return Fail("found '{}', expected: in, notin, =, ==, !=, gt, lt", op.text), r;
    }
    exact ? ParseExactValue(r.values) : ParseValues(r.values);
    if (!error.empty()) return r;
    std::sort(r.values.begin(), r.values.end());
    r.values.erase(std::unique(r.values.begin(), r.values.end()), r.values.end());
    error = CheckRequirement(r, exact);
    return r;
  }

  void ParseExactValue(std::vector<std::string>& values) {
    const Item next = Peek();
    if (next.token == Token::kEnd || next.token == Token::kComma) return values.push_back("");
    Next();
    if (next.token != Token::kWord) {
      Fail("found '{}', expected: identifier", next.text);
      return;
    }
    values.emplace_back(next.text);
  }

  /// Parses "(a,b)". An empty text between two commas, or next to a parenthesis, is the empty value.
  void ParseValues(std::vector<std::string>& values) {
    if (const Item open = Next(); open.token != Token::kOpen) {
      Fail("found '{}' expected: '('", open.text);
      return;
    }
    const Item first = Peek();
    if (first.token == Token::kClose) {
      Next();
      return values.push_back("");
    }
    if (first.token != Token::kWord && first.token != Token::kComma) {
      Fail("found '{}', expected: ',', ')' or identifier", first.text);
      return;
    }
    while (true) {
      if (values_ + values.size() > kMaxRequirementValues) {
        Fail("{}", TooLarge());
        return;
      }
      const Item item = Next();
      if (item.token == Token::kWord) {
        values.emplace_back(item.text);
        const Item next = Peek();
        if (next.token == Token::kClose) break;
        if (next.token != Token::kComma) {
          Fail("found '{}', expected: ',' or ')'", next.text);
          return;
        }
      } else if (item.token == Token::kComma) {
        const Token next = Peek().token;
        if (values.empty() || next == Token::kClose || next == Token::kComma) values.push_back("");
        if (next == Token::kClose) break;
      } else {
        Fail("found '{}', expected: ',', or identifier", item.text);
        return;
      }
    }
    values_ += values.size();
    if (values_ > kMaxRequirementValues) Fail("{}", TooLarge());
    Next();
  }

  std::vector<Item> items_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;  // of the requirements before this one
};

const std::string* Lookup(const Labels& labels, std::string_view key) {
  const auto it = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const auto& label, std::string_view wanted) { return label.first < wanted; });
  return it != labels.end() && it->first == key ? &it->second : nullptr;
}

bool MatchesOne(const Requirement& r, const Labels& labels) {
  const std::string* value = Lookup(labels, r.key);
  const auto listed = [&] { return std::binary_search(r.values.begin(), r.values.end(), *value); };
  switch (r.op) {
    case Op::kIn: return value && listed();
    case Op::kNotIn: return !value || !listed();
    case Op::kExists: return value != nullptr;
    case Op::kDoesNotExist: return value == nullptr;
    case Op::kGreaterThan:
    case Op::kLessThan: {
      if (!value || r.values.size() != 1) return false;
      const std::optional<std::int64_t> left = ParseInteger(*value);
      const std::optional<std::int64_t> right = ParseInteger(r.values[0]);
      return left && right && (r.op == Op::kGreaterThan ? *left > *right : *left < *right);
    }
  }
  return false;
}

void SortByKey(std::vector<Requirement>& requirements) {
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
}

}  // namespace

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  Parser parser(text);
  LabelSelector selector;
  selector.requirements_ = parser.Parse();
  if (!parser.error.empty()) return BadRequest(parser.error);
  SortByKey(selector.requirements_);
  return selector;
}

Result<LabelSelector> LabelSelector::FromObject(const json::object& object) {
  LabelSelector selector;
  const auto add = [&](Requirement r, bool exact) {
    std::string error = CheckRequirement(r, exact);
    std::sort(r.values.begin(), r.values.end());
    selector.requirements_.push_back(std::move(r));
    return error;
  };
  if (const json::value* labels = FindField(object, "matchLabels"); labels && labels->is_object()) {
    for (const auto& [key, value] : labels->get_object()) {
      if (!value.is_string()) continue;
      std::string error = add({std::string(key), Op::kIn, {std::string(value.get_string())}}, true);
      if (!error.empty()) return BadRequest(error);
    }
  }
  if (const json::value* expressions = FindField(object, "matchExpressions"); expressions && expressions->is_array()) {
    for (const json::value& one : expressions->get_array()) {
      if (!one.is_object()) continue;
      const json::object& expression = one.get_object();
      const std::string_view op = FindString(expression, "operator");
      Requirement r;
      r.key = FindString(expression, "key");
      if (op == "In") {
        r.op = Op::kIn;
      } else if (op == "NotIn") {
        r.op = Op::kNotIn;
      } else if (op == "Exists") {
        r.op = Op::kExists;
      } else if (op == "DoesNotExist") {
        r.op = Op::kDoesNotExist;
      } else {
        return BadRequest(fmt::format("{} is not a valid label selector operator", Quoted(op)));
      }
      if (const json::value* values = FindField(expression, "values"); values && values->is_array()) {
        for (const json::value& value : values->get_array()) {
          if (value.is_string()) r.values.emplace_back(value.get_string());
        }
      }
      if (std::string error = add(std::move(r), false); !error.empty()) return BadRequest(error);
    }
  }
  SortByKey(selector.requirements_);
  return selector;
}

bool LabelSelector::Matches(const Labels& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& r) { return MatchesOne(r, labels); });
}

std::string LabelSelector::ToString() const {
  std::string out;
  for (const Requirement& r : requirements_) {
    if (!out.empty()) out += ',';
    const bool one = r.values.size() == 1;
    switch (r.op) {
      case Op::kIn:
        out +=
            one ? fmt::format("{}={}", r.key, r.values[0]) : fmt::format("{} in ({})", r.key, fmt::join(r.values, ","));
        break;
      case Op::kNotIn:
        out += one ? fmt::format("{}!={}", r.key, r.values[0])
                   : fmt::format("{} notin ({})", r.key, fmt::join(r.values, ","));
        break;
      case Op::kExists: out += r.key; break;
      case Op::kDoesNotExist: out += fmt::format("!{}", r.key); break;
      case Op::kGreaterThan: out += fmt::format("{}>{}", r.key, fmt::join(r.values, ",")); break;
      case Op::kLessThan: out += fmt::format("{}<{}", r.key, fmt::join(r.values, ",")); break;
    }
  }
  return out;
}

}  // namespace apimesh::meta
