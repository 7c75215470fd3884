#include "lib/base/async/user_executors.h"

#include <atomic>
#include <future>
#include <set>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(ExecutorOfUser, WorkOfAnotherUserRunsMeanwhile) {
  boost::asio::io_context threads{2};
  const boost::asio::any_io_executor executor = threads.get_executor();
  std::string other = "b";
  while (ExecutorOfUser(executor, other) == ExecutorOfUser(executor, "a")) other += 'b';
  std::promise<void> release, all;
  std::shared_future<void> released = release.get_future().share();
  std::atomic<int> running = 0, most = 0;
  for (int i = 0; i < 3; ++i) {
    boost::asio::post(ExecutorOfUser(executor, "a"), [&, i, released] {
      most = std::max(most.load(), ++running);
      released.wait();
      --running;
      if (i == 2) all.set_value();
    });
  }
  boost::asio::post(ExecutorOfUser(executor, other), [&release] { release.set_value(); });
  std::optional guard(boost::asio::make_work_guard(threads));
  std::thread one([&threads] { threads.run(); }), two([&threads] { threads.run(); });
  all.get_future().wait();
  guard.reset();
  one.join();
  two.join();
  EXPECT_EQ(most, 1) << "the work of one user runs one after the other";
}

TEST(ExecutorOfUser, UsersAreDividedAmongManyStrands) {
  boost::asio::io_context threads;
  const boost::asio::any_io_executor executor = threads.get_executor();
  std::set<const boost::asio::any_io_executor*> different;
  for (int i = 0; i < 2000; ++i) different.insert(&ExecutorOfUser(executor, "user" + std::to_string(i)));
  EXPECT_EQ(different.size(), 64U);
  EXPECT_EQ(ExecutorOfUser(executor, "a"), ExecutorOfUser(executor, "a"));
}

}  // namespace
}  // namespace apimesh
