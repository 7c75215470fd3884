#include "lib/grpc/call_span.h"

#include <gmock/gmock.h>

#include "lib/testing/manual_clock.h"
#include "lib/testing/recorded_spans.h"

namespace apimesh::grpc {
namespace {

using testing::RecordedSpans;

struct CallSpanTest : ::testing::Test {
  testing::ManualClock clock;
  std::shared_ptr<RecordedSpans> recorded = std::make_shared<RecordedSpans>();
  tracing::Tracer tracer{clock, tracing::Sampler{1'000'000}, recorded};
  tracing::SpanPtr parent = tracer.StartRoot({}, "parent", tracing::Kind::kServer, tracing::kHttpScope).span;
};

TEST_F(CallSpanTest, RecordsACall) {
  {
    CallSpan span(parent, "/etcdserverpb.KV/Txn", tracing::Kind::kClient);
    span.Server("http://127.0.0.1:2379");
    span.Sent(10);
    span.Received(20);
    span.Finish({});
  }
  ASSERT_EQ(recorded->spans.size(), 1U);
  const tracing::SpanData& span = recorded->spans[0];
  EXPECT_EQ(span.name, "etcdserverpb.KV/Txn");
  EXPECT_EQ(span.parent, parent->Context().span_id);
  EXPECT_EQ(RecordedSpans::TextOf(span, "rpc.method"), "etcdserverpb.KV/Txn");
  EXPECT_EQ(RecordedSpans::TextOf(span, "server.address"), "127.0.0.1");
  EXPECT_EQ(RecordedSpans::TextOf(span, "server.port"), "2379");
  EXPECT_EQ(RecordedSpans::TextOf(span, "rpc.response.status_code"), "OK");
  EXPECT_EQ(span.events.size(), 2U);
  EXPECT_FALSE(span.failed);
}

TEST_F(CallSpanTest, RecordsAFailure) {
  CallSpan(parent, "/a.B/C", tracing::Kind::kClient).Finish({Code::kUnavailable, "down"});
  ASSERT_EQ(recorded->spans.size(), 1U);
  EXPECT_TRUE(recorded->spans[0].failed);
  EXPECT_EQ(recorded->spans[0].error, "down");
  EXPECT_EQ(RecordedSpans::TextOf(recorded->spans[0], "rpc.response.status_code"), "Unavailable");
}

TEST_F(CallSpanTest, NamesOtherAddresses) {
  for (const auto& [target, host, port] : {std::tuple{"unix:/run/etcd.sock", "unix:/run/etcd.sock", ""},
                                           {"https://[::1]:2379", "::1", "2379"},
                                           {"dns:///collector:4317", "collector", "4317"}}) {
    recorded->spans.clear();
    {
      CallSpan span(parent, "/a.B/C", tracing::Kind::kClient);
      span.Server(target);
    }
    EXPECT_EQ(RecordedSpans::TextOf(recorded->spans.at(0), "server.address"), host);
    EXPECT_EQ(RecordedSpans::TextOf(recorded->spans.at(0), "server.port"), port);
  }
}

TEST_F(CallSpanTest, RecordsNothingWithoutAParent) {
  CallSpan span(nullptr, "/a.B/C", tracing::Kind::kClient);
  span.Server("http://x:1");
  span.Sent(1);
  span.Finish({});
  EXPECT_FALSE(span);
  EXPECT_TRUE(recorded->spans.empty());
}

}  // namespace
}  // namespace apimesh::grpc
