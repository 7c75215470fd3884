#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include "lib/mesh/delegate/delegate_proto.h"

namespace apimesh::mesh {
namespace {

Request Full() {
  Request request;
  request.cluster = "c";
  request.method = "POST";
  request.path = "/api/v1/namespaces/default/pods";
  request.query = "dryRun=All";
  request.headers = {{"accept", "application/json"}, {"x-empty", ""}, {"", "x"}};
  request.body = std::string(
                     "\0\xff"
                     "body",
                     6) +
                 std::string(100'000, 'b');
  request.user = {.name = "jane", .uid = "7", .groups = {"a", "", "b"}, .extra = {{"k", {"v", ""}}, {"none", {}}}};
  request.info = {.is_resource_request = true,
                  .path = request.path,
                  .verb = meta::Verb::kCreate,
                  .api_prefix = "api",
                  .api_group = "g",
                  .api_version = "v1",
                  .ns = "default",
                  .resource = "pods",
                  .subresource = "status",
                  .name = "n",
                  .parts = {"pods", "n"},
                  .field_selector = "f=1",
                  .label_selector = "l=1"};
  request.audit_id = "id";
  request.traceparent = "00-1-2-00";
  request.remote_address = "127.0.0.1:1";
  request.watch_phase = v1::WATCH_PHASE_FOLLOW;
  return request;
}

std::string Bytes(const grpc::Message& message) {
  std::string bytes;
  for (const SharedBytes& piece : message) bytes += piece.View();
  return bytes;
}

/// Serializes deterministically, so that map entries have a fixed order.
std::string ByProtobuf(const Request& request) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  ToProto(request).SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

TEST(RequestWire, ProtobufReadsWhatWeWrite) {
  for (const Request& request : {Full(), Request()}) {
    mesh::v1::Request message;
    ASSERT_TRUE(message.ParseFromString(Bytes(Encode(Request(request)))));
    EXPECT_EQ(ByProtobuf(FromProto(std::move(message))), ByProtobuf(request));
  }
}

TEST(RequestWire, WeReadWhatProtobufWrites) {
  for (const Request& request : {Full(), Request()}) {
    Request read;
    ASSERT_TRUE(ParseRequest(ByProtobuf(request), &read));
    EXPECT_EQ(ByProtobuf(read), ByProtobuf(request));
    EXPECT_EQ(read.info.path, request.path);
  }
}

TEST(RequestWire, BrokenBytesAreRefusedOrRead) {
  Request request = Full();
  request.body = "b";
  const std::string bytes = Bytes(Encode(Request(request)));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Request cut;
    ParseRequest(bytes.substr(0, size), &cut);
    std::string flipped = bytes;
    flipped[size] = static_cast<char>(flipped[size] ^ 0x85);
    Request changed;
    ParseRequest(flipped, &changed);
  }
  Request none;
  EXPECT_FALSE(ParseRequest(bytes.substr(0, bytes.size() - 1), &none));
  EXPECT_FALSE(ParseRequest(std::string(11, '\xff'), &none));
  EXPECT_FALSE(ParseRequest("\x0b", &none)) << "groups are of proto1";
}

}  // namespace
}  // namespace apimesh::mesh
