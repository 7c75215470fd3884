#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::codec {

/// Reads a plugin's section of --admission-control-config-file: an object of this kind in one of these API versions, in
/// YAML or JSON. Throws std::invalid_argument with the message of kube-apiserver if it is of another type. Unknown and
/// duplicate fields are accepted; ReadStrictSection() rejects them.
meta::json::object ReadSection(std::string_view text, std::span<const std::string_view> versions,
                               std::string_view kind);

/// A type of a section: "apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration".
struct SectionType {
  std::string_view version;
  std::string_view kind;
};

/// The fields of an object in a section, for strict decoding. `name` is that of the Go type, which error messages show.
struct SectionStruct {
  struct Field {
    std::string_view name;
    std::string_view type;                  // as in Go: "string", "int32", "[]string", "v1.Defaults"
    const SectionStruct* fields = nullptr;  // of an object or of the objects in a list
  };
  std::string_view name;
  std::vector<Field> fields;
};

/// A section that can be read, but whose values are wrong. kube-apiserver reports these in other words, because it
/// finds them later.
class InvalidSection : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Returns the error of kube-apiserver if a document is not an object of one of these types, or "". `text` is the text
/// of the document.
std::string WrongType(const meta::json::value& document, std::string_view text, std::span<const SectionType> types);

/// Reads a section of one of several types and checks its fields. Throws std::invalid_argument with the message of
/// kube-apiserver for a section of another type, for fields of a wrong type and for unknown and duplicate fields.
/// apiVersion and kind need not be listed in `fields`.
meta::json::object ReadStrictSection(std::string_view text, std::span<const SectionType> types,
                                     const SectionStruct& fields);

/// Checks the fields of a document as ReadStrictSection() does. Appends a message for each unknown field, in the order
/// of the document, or in alphabetical order if it is `sorted`, as kube-apiserver reads YAML. Throws for a wrong type.
void FindUnknownFields(const meta::json::object& document, const SectionStruct& fields, bool sorted,
                       std::vector<std::string>& unknown);
/// Returns whether a text is YAML and not JSON.
bool IsYaml(std::string_view text);

/// Throws std::invalid_argument if the object has fields that are not in `known`. `prefix` is the path of the object,
/// such as "defaults.".
void CheckFields(const meta::json::object& object, std::span<const std::string_view> known, std::string_view prefix);

}  // namespace apimesh::codec
