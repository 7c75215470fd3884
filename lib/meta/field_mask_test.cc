#include "lib/meta/field_mask.h"

#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

TEST(FieldMask, IsATreeOfNames) {
  const FieldMask mask{"metadata.name", "spec.containers.name", "spec.nodeName"};
  ASSERT_TRUE(mask.Find("metadata"));
  EXPECT_FALSE(mask.Everything());
  EXPECT_TRUE(mask.Find("metadata")->Find("name")->Everything());
  EXPECT_FALSE(mask.Find("metadata")->Find("labels"));
  EXPECT_TRUE(mask.Find("spec")->Find("containers")->Find("name"));
  EXPECT_FALSE(mask.Find("status"));
}

TEST(FieldMask, TheWiderOfTwoPathsCounts) {
  for (const FieldMask& mask : {FieldMask{"spec", "spec.a"}, FieldMask{"spec.a.b", "spec"}}) {
    EXPECT_TRUE(mask.Find("spec")->Everything());
  }
}

TEST(FieldMask, NamesMayHaveDots) {
  FieldMask mask;
  mask.Add(std::vector<std::string>{"metadata", "labels", "example.com/a"});
  EXPECT_TRUE(mask.Find("metadata")->Find("labels")->Find("example.com/a"));
  mask.Add(std::vector<std::string>{});
  EXPECT_TRUE(mask.Everything());
  mask.Add("spec");
  EXPECT_TRUE(mask.Everything());
}

TEST(FieldMask, AllButSome) {
  const FieldMask mask = FieldMask::AllBut({"metadata.managedFields", "status"});
  EXPECT_FALSE(mask.Everything());
  EXPECT_TRUE(mask.Find("spec")->Everything());
  EXPECT_FALSE(mask.Find("status"));
  EXPECT_TRUE(mask.Find("metadata")->Find("name")->Everything());
  EXPECT_FALSE(mask.Find("metadata")->Find("managedFields"));
}

TEST(FieldMask, NothingNamedIsEverything) { EXPECT_TRUE(FieldMask().Everything()); }

}  // namespace
}  // namespace apimesh::meta
