#include "lib/mesh/delegate/description_changes.h"

#include <gtest/gtest.h>

namespace apimesh::mesh {
namespace {

GroupVersionPtr Version(std::string group, std::string list = "{}") {
  return std::make_shared<const GroupVersionDescription>(
      GroupVersionDescription{.group = std::move(group), .version = "v1", .resource_list = std::move(list)});
}

TEST(DescriptionChanges, TheFirstMessageIsComplete) {
  const Description all{.etag = "1", .group_versions = {Version("a"), Version("b")}, .paths = {"/x"}, .memory = "m"};
  const auto read = FromProto(ToProto(all, nullptr), std::nullopt);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->etag, "1");
  EXPECT_EQ(read->paths, all.paths);
  EXPECT_EQ(read->memory, "m");
  ASSERT_EQ(read->group_versions.size(), 2u);
  EXPECT_EQ(*read->group_versions[1], *all.group_versions[1]);
}

TEST(DescriptionChanges, LaterMessagesHaveOnlyTheChanges) {
  const GroupVersionPtr kept = Version("kept");
  const Description first{.etag = "1", .group_versions = {kept, Version("changed", "old"), Version("gone")}};
  const Description second{.etag = "2", .group_versions = {kept, Version("changed", "new"), Version("added")}};
  const std::optional<Description> known = FromProto(ToProto(first, nullptr), std::nullopt);
  mesh::v1::Description message = ToProto(second, &first);
  EXPECT_TRUE(message.changes_only());
  EXPECT_EQ(message.group_versions_size(), 2);
  ASSERT_EQ(message.removed_size(), 1);
  EXPECT_EQ(message.removed(0).group(), "gone");
  const auto read = FromProto(std::move(message), known);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->etag, "2");
  ASSERT_EQ(read->group_versions.size(), 3u);
  EXPECT_EQ(read->group_versions[0], known->group_versions[0]) << "what has not changed is shared";
  EXPECT_EQ(*read->group_versions[1], *second.group_versions[1]);
  EXPECT_EQ(*read->group_versions[2], *second.group_versions[2]);
}

TEST(DescriptionChanges, ChangesOfNothingAreRefused) {
  const Description first{.etag = "1", .group_versions = {Version("a")}};
  EXPECT_FALSE(FromProto(ToProto(first, &first), std::nullopt));
}

}  // namespace
}  // namespace apimesh::mesh
