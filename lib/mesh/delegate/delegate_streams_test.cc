#include <gmock/gmock.h>

#include "lib/mesh/delegate/test_delegate.h"

namespace apimesh::mesh {
namespace {

TEST_P(DelegateTest, StreamArrivesWhole) {
  Collector out;
  Spawn(client_->Stream(For("/large"), out)).get();
  EXPECT_EQ(out.code, 200);
  EXPECT_EQ(out.bytes, 1600u * (64 << 10));
  EXPECT_FALSE(out.aborted);
}

TEST_P(DelegateTest, SlowReaderHoldsTheWriterBack) {
  Collector out;
  out.slow = true;
  out.stop_after = 8 << 20;
  Spawn(client_->Stream(For("/large"), out)).get();
  // The writer is ahead by the windows, the socket buffers and one message on each side.
  EXPECT_LT(handler_->written, out.bytes + (6 << 20));
}

TEST_P(DelegateTest, BrokenStreamIsSeenAsBroken) {
  Collector out;
  Spawn(client_->Stream(For("/abort"), out)).get();
  EXPECT_EQ(out.body, "half");
  EXPECT_TRUE(out.aborted);
}

TEST_P(DelegateTest, EmptyStreamIsAnError) {
  Collector out;
  Spawn(client_->Stream(For("/nothing"), out)).get();
  EXPECT_EQ(out.code, 500);
}

TEST_P(DelegateTest, StreamToAServerThatIsDownIs503) {
  server_.reset();
  Collector out;
  Spawn(client_->Stream(For("/large"), out)).get();
  EXPECT_EQ(out.code, 503);
  EXPECT_THAT(out.body, ::testing::HasSubstr("ServiceUnavailable"));
}

TEST_P(DelegateTest, VanishedReaderCancelsTheHandler) {
  Collector out;
  auto done = Spawn(client_->Stream(For("/watch"), out));
  handler_->watching.get_future().get();
  out.cancel.get_future().get()();
  EXPECT_EQ(handler_->watch_ended.get_future().wait_for(5s), std::future_status::ready);
  done.get();
}

TEST_P(DelegateTest, DrainWaitsForCallsAndEndsWatches) {
  Collector out;
  Request watch = For("/watch");
  watch.info.verb = meta::Verb::kWatch;
  auto watching = Spawn(client_->Stream(watch, out));
  auto call = Spawn(client_->Call(For("/sleep")));
  handler_->watching.get_future().get();
  handler_->started.get_future().get();
  const auto begin = testing::SystemClock().Steady();
  server_->Drain(10s);
  EXPECT_LT(testing::SystemClock().Steady() - begin, 5s);
  watching.get();
  EXPECT_FALSE(out.aborted);
  EXPECT_EQ(call.get().code, 201);
}

TEST_P(DelegateTest, ConnectionCarriesBytesBothWays) {
  Connection connection = Spawn(client_->Connect(For("/exec"))).get();
  ASSERT_EQ(connection.head.code, 101);
  for (const std::string text : {"a", "b"}) {
    EXPECT_TRUE(Spawn(connection.stream->Write(text)).get());
    EXPECT_EQ(*Spawn(connection.stream->Read()).get(), "echo " + text);
  }
  connection.stream->Close();
  EXPECT_EQ(handler_->connection_ended.get_future().wait_for(5s), std::future_status::ready);
}

TEST_P(DelegateTest, ConnectionCanBeRefused) {
  const Connection connection = Spawn(client_->Connect(For("/x"))).get();
  EXPECT_EQ(connection.head.code, 404);
  EXPECT_EQ(Join(connection.head.body), "no");
  EXPECT_EQ(connection.stream, nullptr);
}

}  // namespace
}  // namespace apimesh::mesh
