#include "lib/endpoint/output/list_body.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "lib/endpoint/testing_server.h"
#include "lib/gzip/accepts.h"
#include "lib/gzip/test_gunzip.h"

namespace apimesh::endpoint {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kJson = "application/json";
constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr const char* kMetadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
constexpr const char* kProtobufMetadata =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Collects the response of a stream.
class Collected final : public mesh::ResponseStream {
 public:
  Task<bool> WriteHead(int code, mesh::Headers given) override {
    EXPECT_EQ(code, 200);
    headers = std::move(given);
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes> written) override {
    std::size_t size = 0;
    for (SharedBytes& piece : written) {
      size += piece.size();
      pieces.push_back(std::move(piece));
    }
    largest = std::max(largest, size);
    co_return true;
  }
  std::size_t PieceBytes() const override { return piece_bytes; }
  void OnCancel(std::function<void()>) override {}
  void Abort() override { ADD_FAILURE() << "aborted"; }

  std::string_view Header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
  std::string Body() const {
    std::string body;
    for (const SharedBytes& piece : pieces) body += piece.View();
    return body;
  }
  /// Returns the addresses of the pieces that were not copied for this response.
  std::set<const char*> Places() const {
    std::set<const char*> places;
    for (const SharedBytes& piece : pieces) places.insert(piece.View().data());
    return places;
  }

  std::size_t piece_bytes = 256 << 10;
  std::size_t largest = 0;
  mesh::Headers headers;
  std::vector<SharedBytes> pieces;
};

class ListBodies : public ::testing::Test {
 protected:
  void Make(int number, std::size_t size) {
    const std::string name = fmt::format("c{:04}", number);
    std::string text = fmt::format("value of {} ", name);
    while (text.size() < size) text += std::to_string(random_() % 100'000);
    const Reply reply =
        server.Send("POST", kMaps,
                    fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"odd":"{}"}}}},"data":{{"k":"{}"}}}})", name,
                                number % 2, text));
    ASSERT_EQ(reply.code, 201) << reply.body;
  }
  void MakeMany(int count = 200) {
    for (int i = 0; i < count; ++i) Make(i, i % 50 == 7 ? 90'000 : i % 3 == 0 ? 6000 : 300);
  }
  Collected Stream(const std::string& query, const std::string& accept, const std::string& encoding) {
    mesh::Request request;
    request.method = "GET";
    request.path = kMaps;
    request.query = query;
    request.info = meta::ParseRequestInfo("GET", request.path, request.query);
    request.headers = {{"accept", accept}, {"accept-encoding", encoding}, {"user-agent", "test/1"}};
    Collected collected;
    testing::RunTask(server.server->Stream(std::move(request), collected));
    return collected;
  }
  /// Expects that the compressed list and the plain list are equal.
  Collected ExpectSame(const std::string& query, const std::string& accept) {
    const Collected plain = Stream(query, accept, "identity");
    Collected packed = Stream(query, accept, "gzip");
    EXPECT_EQ(plain.Header("content-encoding"), "");
    EXPECT_EQ(packed.Header("content-encoding"), "gzip") << accept;
    EXPECT_EQ(packed.Header("vary"), "Accept-Encoding");
    EXPECT_EQ(packed.Header("content-type"), plain.Header("content-type"));
    EXPECT_TRUE(gzip::Gunzip(packed.Body()) == plain.Body()) << accept << " " << query;
    EXPECT_LT(packed.Body().size(), plain.Body().size());
    return packed;
  }
  static std::size_t InBoth(const Collected& a, const Collected& b) {
    std::size_t count = 0;
    const std::set<const char*> places = b.Places();
    for (const char* place : a.Places()) count += places.count(place);
    return count;
  }

  TestServer server;

 private:
  std::minstd_rand random_{5};
};

TEST_F(ListBodies, CompressedListsAreTheSameInEveryForm) {
  MakeMany();
  for (const char* accept : {kJson, kProtobuf}) {
    for (const char* query : {"", "limit=120", "labelSelector=odd%3D1", "limit=150&labelSelector=odd%3D0"}) {
      ExpectSame(query, accept);
      ExpectSame(query, accept);  // from cached blocks
    }
  }
  for (int i = 200; i < 800; ++i) Make(i, 10);
  for (const char* accept : {kMetadata, kProtobufMetadata, kJson, kProtobuf}) ExpectSame("", accept);
}

TEST_F(ListBodies, ShortListsAreNotCompressed) {
  EXPECT_EQ(Stream("", kJson, "gzip").Header("content-encoding"), "") << "empty";
  Make(1, 1000);
  EXPECT_EQ(Stream("", kJson, "gzip").Header("content-encoding"), "");
  Make(2, 100'000);
  const Collected almost = Stream("", kJson, "gzip");
  EXPECT_EQ(almost.Header("content-encoding"), "");
  EXPECT_EQ(almost.Body(), Stream("", kJson, "").Body());
  Make(3, gzip::kWorthCompressing);
  ExpectSame("", kJson);
  ExpectSame("fieldSelector=metadata.name%3Dc0003", kJson);  // one item
}

TEST_F(ListBodies, OnlyWhereTheClientTakesItAndTheFormAllows) {
  MakeMany();
  for (const char* encoding : {"", "identity", "gzip;q=0", "br"})
    EXPECT_EQ(Stream("", kJson, encoding).Header("content-encoding"), "") << encoding;
  EXPECT_EQ(Stream("pretty=true", kJson, "gzip").Header("content-encoding"), "");
  EXPECT_EQ(Stream("", "application/yaml", "gzip").Header("content-encoding"), "");
  EXPECT_EQ(Stream("", kTable, "gzip").Header("content-encoding"), "");
}

TEST_F(ListBodies, BlocksAreMadeOnceAndOnlyThoseOfAChangedObjectAgain) {
  MakeMany(400);  // random uids decide where a run ends: about 40 runs, give or take 5
  const Collected first = ExpectSame("", kJson), second = ExpectSame("", kJson);
  const std::size_t blocks = InBoth(first, second);
  EXPECT_GT(blocks, 20u);
  EXPECT_LT(blocks, 80u) << "a block for each object";
  const mesh::Headers merge = {{"content-type", "application/merge-patch+json"}};
  ASSERT_EQ(server.Send("PATCH", kMaps + "/c0100", R"({"data":{"k":"changed"}})", merge).code, 200);
  const Collected third = ExpectSame("", kJson);
  EXPECT_NE(gzip::Gunzip(third.Body())->find("changed"), std::string::npos);
  EXPECT_GE(InBoth(second, third), blocks - 3);
  EXPECT_LT(InBoth(second, third), blocks);
}

/// The rest of a list, and a list that has lost some items, also consist mostly of the same blocks.
TEST_F(ListBodies, ListsWithTheSameItemsShareTheirBlocks) {
  MakeMany(400);
  const Collected all = ExpectSame("", kJson);
  const std::size_t blocks = InBoth(all, ExpectSame("", kJson));
  const Collected page = ExpectSame("limit=200", kJson);
  EXPECT_GT(InBoth(all, page), blocks / 3);
  ASSERT_EQ(server.Send("DELETE", kMaps + "/c0000").code, 200);
  EXPECT_GE(InBoth(all, ExpectSame("", kJson)), blocks - 3);
}

TEST_F(ListBodies, WhatIsInFlightDoesNotGrowWithTheList) {
  for (int i = 0; i < 60; ++i) Make(i, 60'000);  // digits compress to half their size: 1.8 MB
  const Collected packed = ExpectSame("", kJson);
  EXPECT_GT(packed.Body().size(), 1u << 20);
  EXPECT_LE(packed.largest, (256u << 10) + 70'000);
}

}  // namespace
}  // namespace apimesh::endpoint
