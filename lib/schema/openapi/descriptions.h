#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

/// The texts that explain kinds and fields in the OpenAPI documents. `./apimesh descriptions` derives them from the Go
/// modules of Kubernetes; tools/descriptions/README.md describes the file.
namespace apimesh::schema {

/// The contents of a file, for the time in which a document is built.
class DescriptionTexts {
 public:
  DescriptionTexts() = default;
  explicit DescriptionTexts(std::string file);
  DescriptionTexts(const DescriptionTexts&) = delete;  // blocks_ refers to file_
  DescriptionTexts& operator=(const DescriptionTexts&) = delete;

  /// `definition` is a name such as "io.k8s.api.core.v1.Pod". Both return "" if there is no text.
  std::string OfDefinition(std::string_view definition) const;
  std::string OfField(std::string_view definition, std::string_view field) const;

 private:
  std::string_view Block(std::string_view definition) const;

  const std::string file_;
  /// What follows the name of a definition in the file: its text, then one line for each field.
  std::unordered_map<std::string_view, std::string_view> blocks_;
};

/// A file of descriptions. Its first line is read when it is opened, the rest only by Read(), so that the texts need no
/// memory while no document is built. A file that replaces it later is not seen. Thread-safe.
class Descriptions {
 public:
  /// An empty path stands for no descriptions. So does a file that cannot be read or has another format; this is
  /// logged, because a server can do without the texts.
  explicit Descriptions(const std::string& path);
  ~Descriptions();
  Descriptions(const Descriptions&) = delete;
  Descriptions& operator=(const Descriptions&) = delete;

  /// Identifies the texts: files with equal texts have equal digests. "" if there are none.
  const std::string& Digest() const { return digest_; }
  DescriptionTexts Read() const;

 private:
  int file_ = -1;
  std::string digest_;
};

}  // namespace apimesh::schema
