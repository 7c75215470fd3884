#include "lib/codec/page_negotiation.h"

#include <gtest/gtest.h>

namespace apimesh::codec {
namespace {

// "text", "json v1beta1", … or "406".
std::string Chosen(std::string_view accept) {
  const auto page = NegotiatePage(accept, "Statusz");
  if (!page) return std::to_string(page.error().Code());
  if (page->text) return "text";
  return std::string(page->format == Format::kYaml ? "yaml " : "json ") + page->version;
}

TEST(NegotiatePage, ChoosesTextOrANamedObject) {
  EXPECT_EQ(Chosen(""), "text");
  EXPECT_EQ(Chosen(" "), "text");
  EXPECT_EQ(Chosen("*/*"), "text");
  EXPECT_EQ(Chosen("text/*"), "text");
  EXPECT_EQ(Chosen("text/plain;as=Statusz;g=config.k8s.io;v=v1beta1"), "406");
  EXPECT_EQ(Chosen("application/json"), "406");
  EXPECT_EQ(Chosen("application/*"), "406");
  EXPECT_EQ(Chosen("text/html"), "406");
  EXPECT_EQ(Chosen("application/json;as=Statusz;g=config.k8s.io;v=v1beta1"), "json v1beta1");
  EXPECT_EQ(Chosen("application/yaml;as=Statusz;g=config.k8s.io;v=v1alpha1"), "yaml v1alpha1");
  EXPECT_EQ(Chosen("application/json;as=Statusz;g=config.k8s.io;v=v1"), "406");
  EXPECT_EQ(Chosen("application/json;as=Flagz;g=config.k8s.io;v=v1beta1"), "406");
  EXPECT_EQ(Chosen("application/json, text/plain;q=0.5"), "text");
  EXPECT_EQ(Chosen("text/plain;q=0.5,application/yaml;as=Statusz;g=config.k8s.io;v=v1beta1"), "yaml v1beta1");
}

}  // namespace
}  // namespace apimesh::codec
