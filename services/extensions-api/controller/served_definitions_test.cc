#include "services/extensions-api/controller/served_definitions.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>

#include "lib/testing/system_clock.h"

namespace apimesh::extensions_api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const meta::Gvr kFoos{"example.com", "v1", "foos"};

class ServedDefinitionsTest : public ::testing::Test {
 protected:
  std::future<std::vector<meta::Gvr>> Wait(const std::string& uid, Duration limit) {
    return boost::asio::co_spawn(io_, ServedDefinitions::Wait(served_, "foos.example.com", uid, testing::In(limit)),
                                 boost::asio::use_future);
  }
  boost::asio::io_context io_;
  const std::shared_ptr<ServedDefinitions> served_ = std::make_shared<ServedDefinitions>();
};

TEST_F(ServedDefinitionsTest, ReturnsAtOnceIfTheDefinitionIsServed) {
  served_->Put("foos.example.com", {"1", {kFoos}});
  EXPECT_TRUE(served_->Contains("foos.example.com", "1"));
  EXPECT_FALSE(served_->Contains("foos.example.com", "2"));
  served_->Wake("foos.example.com");
  auto found = Wait("1", Duration::zero());
  io_.run();
  EXPECT_THAT(found.get(), ElementsAre(kFoos));
}

TEST_F(ServedDefinitionsTest, WaitsForTheServerAndForTheUid) {
  auto found = Wait("2", std::chrono::minutes(1));
  served_->Put("foos.example.com", {"1", {kFoos}});
  served_->Wake("foos.example.com");
  io_.poll();
  served_->Put("foos.example.com", {"2", {kFoos}});
  io_.poll();
  EXPECT_EQ(found.wait_for(Duration::zero()), std::future_status::timeout) << "known, but not served yet";
  served_->Wake("foos.example.com");
  io_.run();
  EXPECT_THAT(found.get(), ElementsAre(kFoos));
}

TEST_F(ServedDefinitionsTest, GivesUpAtTheDeadline) {
  served_->Put("foos.example.com", {"1", {kFoos}});
  served_->Wake("foos.example.com");
  served_->Remove("foos.example.com");
  auto found = Wait("1", std::chrono::milliseconds(5));
  io_.run();
  EXPECT_THAT(found.get(), IsEmpty());
}

}  // namespace
}  // namespace apimesh::extensions_api
