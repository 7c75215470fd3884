#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// The maximum size of one text that a function makes, and of all results of functions of an evaluation. A function
/// may end a longer text early, because the evaluation ends with an error then (Context::CountMemory). The cost limit
/// keeps expressions far below, unless a function makes much from little.
inline constexpr std::size_t kMaxMadeText = 16 << 20, kMaxMadeBytes = 64 << 20;

/// The number of code points of UTF-8 text.
std::size_t CodePoints(std::string_view text);
/// Decodes the code point at `position` and moves it behind; an invalid byte is U+FFFD.
char32_t NextCodePoint(std::string_view text, std::size_t& position);
std::vector<char32_t> ToCodePoints(std::string_view text);
std::string ToUtf8(const char32_t* begin, const char32_t* end);

/// The notation of the language: "text", 1u, 2.0, b"\141", timestamp("…"), optional.of(1), {"a": 1}.
std::string ToLiteral(const Value& value, Arena& arena);
/// The notation of messages: texts without quotes.
std::string ToMessage(const Value& value, Arena& arena);
/// The shortest text that is read as the same number; large and small numbers have an exponent.
std::string DoubleToText(double value);
/// The shortest text without an exponent.
std::string DoubleToFixed(double value);

}  // namespace apimesh::cel
