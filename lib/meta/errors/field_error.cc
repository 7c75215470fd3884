#include "lib/meta/errors/field_error.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "lib/base/text/utf8.h"

namespace apimesh::meta {
namespace {

using Type = FieldError::Type;

/// Whether Go's %q prints a code point as it is: letters, marks, numbers, punctuation and symbols.
bool IsPrintable(std::string_view rune) {
  static const re2::RE2& printable = *new re2::RE2("[\\pL\\pM\\pN\\pP\\pS]");
  return re2::RE2::FullMatch(re2::StringPiece(rune.data(), rune.size()), printable);
}

std::uint32_t DecodeRune(std::string_view bytes) {
  std::uint32_t rune = static_cast<unsigned char>(bytes[0]) & (0xff >> (bytes.size() + 1));
  for (const char c : bytes.substr(1)) rune = rune << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return rune;
}

/// Appends the code point at `at`, or its number if it has no shape, such as a space of another width. Moves `at` to
/// its last byte.
void AppendQuotedRune(std::string& out, std::string_view text, std::size_t& at) {
  const std::size_t length = Utf8Length(text, at);
  const std::string_view bytes = text.substr(at, std::max<std::size_t>(length, 1));
  at += bytes.size() - 1;
  if (length == 0) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
  } else if (IsPrintable(bytes)) {
    out += bytes;
  } else {
    const std::uint32_t rune = DecodeRune(bytes);
    out += rune < 0x10000 ? fmt::format("\\u{:04x}", rune) : fmt::format("\\U{:08x}", rune);
  }
}

}  // namespace

std::string_view FieldError::Reason() const {
  switch (type) {
    case Type::kRequired: return "FieldValueRequired";
    case Type::kInvalid: return "FieldValueInvalid";
    case Type::kNotSupported: return "FieldValueNotSupported";
    case Type::kDuplicate: return "FieldValueDuplicate";
    case Type::kForbidden: return "FieldValueForbidden";
    case Type::kTooLong: return "FieldValueTooLong";
    case Type::kTooMany: return "FieldValueTooMany";
    case Type::kNotFound: return "FieldValueNotFound";
    case Type::kInternal: return "InternalError";
    case Type::kTypeInvalid: return "FieldValueTypeInvalid";
  }
  return "";
}

std::string FieldError::Message() const {
  const auto without_value = [this](std::string_view title) {
    return detail.empty() ? std::string(title) : fmt::format("{}: {}", title, detail);
  };
  const auto with_value = [this, &without_value](std::string_view title) {
    if (value.empty()) return without_value(title);  // kube-apiserver omits the values of some errors
    return detail.empty() ? fmt::format("{}: {}", title, value) : fmt::format("{}: {}: {}", title, value, detail);
  };
  switch (type) {
    case Type::kRequired: return without_value("Required value");
    case Type::kInvalid: return with_value("Invalid value");
    case Type::kNotSupported: return with_value("Unsupported value");
    case Type::kDuplicate: return with_value("Duplicate value");
    case Type::kForbidden: return without_value("Forbidden");
    case Type::kTooLong: return without_value("Too long");
    case Type::kTooMany: return with_value("Too many");
    case Type::kNotFound: return with_value("Not found");
    case Type::kInternal: return without_value("Internal error");
    case Type::kTypeInvalid: return with_value("Invalid value");
  }
  return "";
}

FieldErrors::FieldErrors(std::initializer_list<FieldError> errors) {
  for (const FieldError& error : errors) push_back(error);
}

void FieldErrors::push_back(FieldError error) {
  if (Full()) return;
  ++added_;
  bytes_ += error.field.size() + error.value.size() + error.detail.size();
  kept_.push_back(std::move(error));
}

void FieldErrors::Append(FieldErrors more) {
  const bool full = more.Full();
  for (FieldError& error : more.kept_) push_back(std::move(error));
  if (full) added_ = kMaxErrors;
}

FieldError Required(std::string field, std::string detail) {
  return {Type::kRequired, std::move(field), "", std::move(detail)};
}
FieldError Invalid(std::string field, std::string value, std::string detail) {
  return {Type::kInvalid, std::move(field), std::move(value), std::move(detail)};
}
FieldError Forbidden(std::string field, std::string detail) {
  return {Type::kForbidden, std::move(field), "", std::move(detail)};
}
FieldError Duplicate(std::string field, std::string value) {
  return {Type::kDuplicate, std::move(field), std::move(value), ""};
}
FieldError NotSupported(std::string field, std::string value, const std::vector<std::string>& supported) {
  std::string detail;
  for (const std::string& one : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += Quoted(one);
  }
  return {Type::kNotSupported, std::move(field), std::move(value), std::move(detail)};
}
FieldError TooLong(std::string field, std::size_t max_length) {
  return {Type::kTooLong, std::move(field), "",
          fmt::format("may not be more than {} byte{}", max_length, max_length == 1 ? "" : "s")};
}
FieldError TooMany(std::string field, std::size_t actual, std::size_t max) {
  return {Type::kTooMany, std::move(field), fmt::format("{}", actual),
          fmt::format("must have at most {} item{}", max, max == 1 ? "" : "s")};
}
FieldError NotFound(std::string field, std::string value) {
  return {Type::kNotFound, std::move(field), std::move(value), ""};
}
FieldError TypeInvalid(std::string field, std::string value, std::string detail) {
  return {Type::kTypeInvalid, std::move(field), std::move(value), std::move(detail)};
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    if (c >= 0x80) {
      AppendQuotedRune(out, text, at);
      continue;
    }
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      default:
        if (c < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", c);
        } else {
          out += static_cast<char>(c);
        }
    }
  }
  return out + "\"";
}

std::string_view Path::Spill(std::string text) {
  const auto prefix = std::make_shared<const Prefix>(Prefix{std::move(*this), std::move(text)});
  prefix_ = prefix;
  count_ = 0;
  return prefix->kept;
}

Path Path::Keep(Kind kind, std::string text) const {
  Path path(*this);
  const std::string_view kept = path.Spill(std::move(text));
  path.Push(kind, kept.data(), kept.size());
  return path;
}

void Path::AppendTo(std::string& text) const {
  if (prefix_) prefix_->path.AppendTo(text);
  for (std::size_t i = 0; i < count_; ++i) {
    const Step& step = steps_[i];
    switch (kinds_[i]) {
      case Kind::kField:
        if (!text.empty()) text += '.';
        text.append(step.text, step.size);
        break;
      case Kind::kKey:
        text += '[';
        text.append(step.text, step.size);
        text += ']';
        break;
      case Kind::kIndex: {
        const fmt::format_int digits(step.size);
        text += '[';
        text.append(digits.data(), digits.size());
        text += ']';
      }
    }
  }
}

std::string Path::ToString() const {
  std::string text;
  AppendTo(text);
  return text;
}

}  // namespace apimesh::meta
