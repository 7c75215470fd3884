#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "services/store/durability/base.h"
#include "services/store/durability/entry.h"
#include "services/store/durability/log.h"
#include "services/store/net/event_loop.h"

namespace apimesh::store {

/// Makes entries durable and moves them to the base in the background. It uses two threads: one writes the log (all
/// waiting entries with one fdatasync), the other applies complete segments to the base and erases compacted changes.
/// If only one client writes, the loop thread writes its entry itself while no other request arrives, which saves two
/// switches between threads. All public functions must be called on the loop thread, and all callbacks run on it.
class Journal {
 public:
  struct Options {
    std::filesystem::path folder;
    bool sync = true;
    std::uint64_t map_bytes = 64ull << 30;
    std::size_t segment_bytes = 8 * 1024 * 1024;
  };
  struct Events {
    std::function<void(std::uint64_t sequence)> durable;
    std::function<void(Revision)> base_grew;               // everything up to this revision is in View()
    std::function<void(std::chrono::nanoseconds)> synced;  // the duration of one fdatasync
  };

  Journal(EventLoop& loop, Options options);
  ~Journal();

  /// Replays the data on disk: first the base (changes without values), then the log. Must be called once, before
  /// Start().
  void Recover(StateVisitor& from_base, StateVisitor& from_log);
  void Start(Events events);
  /// Writes everything that was appended and ends the threads.
  void Stop();

  /// Queues an entry and returns its sequence number; it is durable once `durable` reports that number.
  std::uint64_t Append(const EntryWriter& entry);
  /// Passes the entries of this turn of the loop to the log thread.
  void EndOfTurn();

  /// Runs `work` in a later turn of the loop, so that other requests are served in between.
  void Later(EventLoop::Callback work) { loop_.Post(std::move(work)); }
  /// Runs `done` when every entry appended so far is in View().
  void WhenInBase(EventLoop::Callback done);
  /// Erases changes once every entry appended so far is in the base; then runs `done`.
  void Erase(std::vector<ChangeId> ids, EventLoop::Callback done);
  /// Runs `work` on the background thread, in order with the rest of its work, then `done` on the loop.
  void InBackground(std::function<void()> work, EventLoop::Callback done);
  /// Runs `work` on its own thread with a view of everything that was appended so far, then `done` on the loop. Meant
  /// for long work: only a defragmentation waits for it.
  void RunWithView(std::function<void(const Base::View&)> work, EventLoop::Callback done);
  /// Rewrites the base without free pages. Writing to the base waits meanwhile; requests do not.
  void Defragment(EventLoop::Callback done);

  const Base::View& View() const { return *view_; }
  Base& base() { return *base_; }
  std::uint64_t LastSequence() const { return next_sequence_ - 1; }
  std::uint64_t LogBytes() const { return log_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Batch {
    std::string frames;
    std::uint64_t last = 0;
    std::vector<EventLoop::Callback> barriers;  // background tasks that must come after these frames
    std::uint64_t fd_events_before = 0;         // the loop's event count when the batch was passed on
    int parts = 0;                              // the number of batches that were joined to this one
    bool Empty() const { return frames.empty() && barriers.empty(); }
    void Add(Batch&& later);
  };

  bool MayCommitInline(const Batch& batch) const;
  void CommitHere(Batch batch);
  void WriteLog(const Batch& batch);
  void LogThread();
  void Commit(Batch batch);
  void BackgroundThread();
  void AddTask(std::function<void()> task);
  void ApplySegment(const LogSegment& segment);
  void OpenBase();
  void StartDefragment(EventLoop::Callback done);
  void EndAside(std::uint64_t id);

  EventLoop& loop_;
  Options options_;
  Events events_;
  std::unique_ptr<Base> base_;
  std::unique_ptr<Base::View> view_;
  Log log_;
  std::vector<LogSegment> recovered_;
  std::uint64_t next_sequence_ = 1;
  std::atomic<std::uint64_t> log_bytes_ = 0;
  Batch turn_;  // the entries of this turn
  std::map<std::uint64_t, std::thread> asides_;
  std::uint64_t next_aside_ = 0;
  std::vector<EventLoop::Callback> waiting_defragments_;  // wait until no RunWithView() uses a view

  std::uint64_t last_written_ = 0;    // used by the thread that commits
  int solo_commits_ = 0;              // consecutive commits without other activity on the loop
  std::atomic<int> handed_over_ = 0;  // batches that the log thread has not finished

  std::mutex log_mutex_;
  std::condition_variable log_ready_;
  Batch waiting_;          // guarded by log_mutex_
  bool stop_log_ = false;  // guarded by log_mutex_
  std::mutex task_mutex_;
  std::condition_variable task_ready_, task_done_;
  std::deque<std::function<void()>> tasks_;  // guarded by task_mutex_
  bool stop_tasks_ = false;                  // guarded by task_mutex_
  std::thread log_thread_, background_thread_;
};

}  // namespace apimesh::store
