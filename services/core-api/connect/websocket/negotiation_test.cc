#include "services/core-api/connect/websocket/negotiation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::core_api {
namespace {

mesh::Request Asking(std::string upgrade, std::string protocols) {
  mesh::Request request;
  request.headers = {
      {"connection", "Upgrade"}, {"upgrade", std::move(upgrade)}, {"sec-websocket-protocol", std::move(protocols)}};
  return request;
}

TEST(Negotiation, TranslatesOnlyTheProtocolThatClosesStreams) {
  EXPECT_TRUE(AsksForStreamClose(Asking("WebSocket", "v4.channel.k8s.io, v5.channel.k8s.io")));
  EXPECT_FALSE(AsksForStreamClose(Asking("websocket", "v4.channel.k8s.io")));
  EXPECT_FALSE(AsksForStreamClose(Asking("SPDY/3.1", "v5.channel.k8s.io")));
  EXPECT_FALSE(AsksForStreamClose(mesh::Request()));
}

TEST(Negotiation, TunnelsOnlyProtocolsOfKubernetes) {
  EXPECT_THAT(
      TunnelledProtocols(Asking("websocket", "SPDY/3.1+portforward.k8s.io,SPDY/3.1+x.example.com,v4.channel.k8s.io")),
      ::testing::ElementsAre("portforward.k8s.io"));
  EXPECT_TRUE(TunnelledProtocols(Asking("SPDY/3.1", "SPDY/3.1+portforward.k8s.io")).empty());
}

}  // namespace
}  // namespace apimesh::core_api
