#include "services/aggregator/watches/event_messages.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Take(EventMessages& messages, std::string_view data) {
  messages.Append(data);
  std::vector<std::string> events;
  while (const auto event = messages.Next()) events.emplace_back(*event);
  return events;
}

TEST(EventMessages, LinesOfJson) {
  EventMessages messages(true);
  EXPECT_THAT(Take(messages, "{\"a\":1}\n{\"b\""), ElementsAre("{\"a\":1}\n"));
  EXPECT_THAT(Take(messages, ":2}"), IsEmpty());
  EXPECT_THAT(Take(messages, "\n{}\n"), ElementsAre("{\"b\":2}\n", "{}\n"));
}

TEST(EventMessages, MessagesOfProtobuf) {
  EventMessages messages(false);
  EXPECT_THAT(Take(messages, std::string("\0\0", 2)), IsEmpty());
  EXPECT_THAT(Take(messages, std::string("\0\3a\nb\0\0\0\0\0\0\0\1", 13)), ElementsAre("a\nb", ""));
  EXPECT_THAT(Take(messages, "c"), ElementsAre("c"));
}

TEST(EventMessages, ByteByByte) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\n";
  EventMessages messages(true);
  std::vector<std::string> events;
  for (const char c : text) {
    for (std::string& event : Take(messages, std::string(1, c))) events.push_back(std::move(event));
  }
  EXPECT_THAT(events, ElementsAre("{\"a\":1}\n", "\n", "{\"b\":2}\n"));
}

}  // namespace
}  // namespace apimesh::aggregator
