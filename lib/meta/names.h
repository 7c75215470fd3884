#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Validation of names. The functions return kube-apiserver's error texts; the result is empty if the text is valid.
namespace apimesh::meta {

using Complaints = std::vector<std::string>;

Complaints CheckDnsSubdomain(std::string_view text);  // RFC 1123, at most 253
Complaints CheckDnsLabel(std::string_view text);      // RFC 1123, at most 63
Complaints CheckDns1035Label(std::string_view text);
/// Checks a label key, condition type, finalizer and the like: an optional DNS subdomain and slash, then a name.
Complaints CheckQualifiedName(std::string_view text);
Complaints CheckLabelValue(std::string_view text);
/// Checks a segment of a URL path. `prefix`: characters will be appended to the text.
Complaints CheckPathSegment(std::string_view text, bool prefix = false);
Complaints CheckConfigMapKey(std::string_view text);
Complaints CheckPortName(std::string_view text);
Complaints CheckEnvVarName(std::string_view text);
Complaints CheckPortNumber(std::int64_t port);

// Rules of metadata.name. `prefix`: the text is a generateName, to which characters will be appended.
Complaints NameIsDnsSubdomain(std::string_view name, bool prefix);
Complaints NameIsDnsLabel(std::string_view name, bool prefix);
Complaints NameIsDns1035Label(std::string_view name, bool prefix);
Complaints NameIsPathSegment(std::string_view name, bool prefix);

/// Returns "must be no more than 63 characters" for the length 63.
std::string MaxLengthText(std::size_t length);
/// Returns "MESSAGE (e.g. 'a', or 'b', regex used for validation is 'PATTERN')".
std::string PatternText(std::string_view message, std::string_view pattern, const std::vector<std::string>& examples);

/// A source of random bits; tests pass their own.
using RandomBits = std::function<std::uint64_t()>;
/// OpenSSL's generator.
std::uint64_t SecureRandomBits();

/// Returns `base`, truncated to 58 bytes, followed by five random characters of an alphabet without vowels and
/// look-alikes.
std::string GenerateName(std::string_view base, const RandomBits& random = SecureRandomBits);

}  // namespace apimesh::meta
