#include "lib/tracing/context.h"

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "lib/base/hash/hex.h"

namespace apimesh::tracing {
namespace {

constexpr std::size_t kMaxMembers = 32, kMaxKey = 256, kMaxTenant = 241, kMaxSystem = 14, kMaxValue = 256;

template <std::size_t N>
bool IsZero(const std::array<unsigned char, N>& id) {
  return std::all_of(id.begin(), id.end(), [](unsigned char byte) { return byte == 0; });
}

/// Removes the text up to the next "-" from `rest` and decodes it. Only lower-case digits are allowed.
bool TakePart(std::string_view& rest, std::span<unsigned char> out) {
  const std::string_view part = rest.substr(0, rest.find('-'));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  if (part.size() != out.size() * 2 || part.find_first_of("ABCDEF") != part.npos) return false;
  const std::string bytes = FromHex(part);
  if (bytes.size() != out.size()) return false;
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return true;
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// A part of a key: a lower-case letter, or a digit if `digit_first`, then letters, digits and "_-*/".
bool IsKeyPart(std::string_view text, std::size_t max, bool digit_first) {
  if (text.empty() || text.size() > max) return false;
  if (!IsLower(text[0]) && !(digit_first && IsDigit(text[0]))) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsLower(c) || IsDigit(c) || std::string_view("_-*/").find(c) != std::string_view::npos;
  });
}

bool IsKey(std::string_view key) {
  const std::size_t at = key.find('@');
  if (at == key.npos) return IsKeyPart(key, kMaxKey, true);
  return IsKeyPart(key.substr(0, at), kMaxTenant, true) && IsKeyPart(key.substr(at + 1), kMaxSystem, false);
}

bool IsValue(std::string_view value) {
  if (value.empty() || value.size() > kMaxValue || value.back() == ' ') return false;
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Returns the list without white space and empty members, or "" if it is not valid.
std::string Normalised(std::string_view state) {
  std::string out;
  std::vector<std::string_view> keys;
  while (!state.empty()) {
    const std::string_view raw = state.substr(0, state.find(','));
    state.remove_prefix(std::min(raw.size() + 1, state.size()));
    const std::string_view member = Trimmed(raw);
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == member.npos) return {};
    const std::string_view key = member.substr(0, equals);
    if (!IsKey(key) || !IsValue(member.substr(equals + 1))) return {};
    if (keys.size() == kMaxMembers || std::find(keys.begin(), keys.end(), key) != keys.end()) return {};
    keys.push_back(key);
    if (!out.empty()) out += ',';
    out += member;
  }
  return out;
}

std::uint64_t Random() {
  static thread_local std::mt19937_64 source{[] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }()};
  return source();
}

template <std::size_t N>
std::array<unsigned char, N> NewId() {
  std::array<unsigned char, N> id{};
  while (IsZero(id)) {
    for (std::size_t i = 0; i < N; i += 8) {
      const std::uint64_t bits = Random();
      for (std::size_t j = 0; j < 8; ++j) id[i + j] = static_cast<unsigned char>(bits >> (8 * j));
    }
  }
  return id;
}

}  // namespace

bool SpanContext::Valid() const { return !IsZero(trace_id) && !IsZero(span_id); }

SpanContext ParseContext(std::string_view traceparent, std::string_view tracestate) {
  SpanContext context;
  std::array<unsigned char, 1> version{}, flags{};
  std::string_view rest = traceparent;
  const bool parsed = TakePart(rest, version) && TakePart(rest, context.trace_id) && TakePart(rest, context.span_id) &&
                      TakePart(rest, flags);
  // Version 00 has nothing after its flags, and no flag but the first two. A newer version may have more of both.
  const bool unknown = version[0] == 0xff || (version[0] == 0 && (!rest.empty() || flags[0] > 2));
  if (!parsed || unknown || traceparent.ends_with('-')) return {};
  if (!context.Valid()) return {};
  context.sampled = (flags[0] & 1) != 0;
  context.state = Normalised(tracestate);
  return context;
}

std::string TraceParentOf(const SpanContext& context) {
  return "00-" + Hex(context.trace_id) + "-" + Hex(context.span_id) + (context.sampled ? "-01" : "-00");
}

std::string TextOf(const SpanContext& context) { return JoinContext(TraceParentOf(context), context.state); }

std::string JoinContext(std::string_view traceparent, std::string_view tracestate) {
  std::string text(traceparent);
  if (!tracestate.empty()) text.append(" ").append(tracestate);
  return text;
}

std::pair<std::string_view, std::string_view> SplitContext(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == text.npos) return {text, {}};
  return {text.substr(0, space), text.substr(space + 1)};
}

TraceId NewTraceId() { return NewId<16>(); }
SpanId NewSpanId() { return NewId<8>(); }

}  // namespace apimesh::tracing
