#include "services/store/durability/journal.h"

#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/private_folder.h"
#include "services/store/net/short_slice.h"

namespace apimesh::store {
namespace {

constexpr std::size_t kMaxTasks = 16;  // if more segments than this wait, writers wait too
constexpr std::size_t kErasesACommit = 5000;
// After this many commits without other requests, the loop thread commits the next one itself.
constexpr int kSoloCommitsBeforeInline = 4;

// A file or a folder.
void SyncPath(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fsync(fd) != 0) throw std::runtime_error("cannot sync " + path.string());
  close(fd);
}

}  // namespace

void Journal::Batch::Add(Batch&& later) {
  frames += later.frames;
  if (later.last != 0) last = later.last;
  std::ranges::move(later.barriers, std::back_inserter(barriers));
  fd_events_before = later.fd_events_before;
  ++parts;
}

Journal::Journal(EventLoop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      log_(options_.folder, options_.sync ? Log::Sync::kAlways : Log::Sync::kNever) {
  MakePrivateFolder(options_.folder / "base");
  std::filesystem::permissions(options_.folder, std::filesystem::perms::owner_all);
  const bool fresh = !std::filesystem::exists(options_.folder / "base" / "data.mdb");
  OpenBase();
  if (!fresh || !options_.sync) return;
  // The directory entries of new files must survive a power failure, too.
  const std::filesystem::path folder = std::filesystem::absolute(options_.folder).lexically_normal();
  for (const auto& path : {folder / "base", folder, folder.parent_path()}) SyncPath(path);
}

Journal::~Journal() { Stop(); }

void Journal::OpenBase() {
  base_ = Base::Open(options_.folder / "base", {.sync = options_.sync, .map_bytes = options_.map_bytes});
  view_ = base_->OpenView();
}

void Journal::Recover(StateVisitor& from_base, StateVisitor& from_log) {
  // The compacted revision comes first, so that changes it makes garbage need not be kept while the changes are loaded.
  if (const Revision compacted = view_->Number(Base::kCompacted)) from_base.OnCompacted(compacted);
  if (view_->Number(Base::kNoSpace) != 0) from_base.OnAlarm(1, true);
  view_->Leases([&](LeaseId id, std::int64_t ttl) { from_base.OnLeaseGranted(id, ttl); });
  view_->Scan({}, false, [&](const Change& change) {
    from_base.OnChange(change);
    return true;
  });
  const auto in_base = static_cast<std::uint64_t>(view_->Number(Base::kSequence));
  next_sequence_ = in_base + 1;
  recovered_ = Log::Segments(options_.folder);
  for (const LogSegment& segment : recovered_) {
    // A crash may have left bytes that are only in the page cache. Everything that becomes visible must be on disk.
    if (options_.sync) SyncPath(segment.path);
    if (segment.first > next_sequence_) {
      throw std::runtime_error(fmt::format("the log is incomplete: {} begins at entry {}, expected {}",
                                           segment.path.string(), segment.first, next_sequence_));
    }
    const SegmentContents contents = ReadSegment(segment);
    EntryReader reader(contents.frames, contents.epoch);
    for (std::uint64_t sequence = segment.first; reader.Next(sequence); ++sequence) {
      if (sequence < next_sequence_) continue;
      reader.Visit(from_log);
      next_sequence_ = sequence + 1;
    }
  }
}

void Journal::Start(Events events) {
  events_ = std::move(events);
  background_thread_ = std::thread([this] { BackgroundThread(); });
  std::erase_if(recovered_, [this](const LogSegment& segment) { return segment.first == next_sequence_; });
  for (const LogSegment& segment : recovered_) AddTask([this, segment] { ApplySegment(segment); });
  recovered_.clear();
  last_written_ = next_sequence_ - 1;
  log_.StartSegment(next_sequence_);
  if (options_.sync) log_thread_ = std::thread([this] { LogThread(); });
}

void Journal::Stop() {
  if (!background_thread_.joinable()) return;
  EndOfTurn();
  if (log_thread_.joinable()) {
    {
      const std::lock_guard lock(log_mutex_);
      stop_log_ = true;
    }
    log_ready_.notify_one();
    log_thread_.join();
  }
  {
    const std::lock_guard lock(task_mutex_);
    stop_tasks_ = true;
  }
  task_ready_.notify_one();
  background_thread_.join();
  for (auto& [id, thread] : asides_) thread.join();
  asides_.clear();
}

std::uint64_t Journal::Append(const EntryWriter& entry) {
  const std::uint64_t sequence = next_sequence_++;
  entry.AppendFrame(sequence, log_.Epoch(), turn_.frames);
  turn_.last = sequence;
  return sequence;
}

void Journal::EndOfTurn() {
  // A callback that is notified of a durable entry may append the next entry immediately.
  while (!turn_.Empty()) {
    Batch batch = std::exchange(turn_, {});
    if (!log_thread_.joinable()) {
      Commit(std::move(batch));
    } else if (MayCommitInline(batch)) {
      CommitHere(std::move(batch));
    } else {
      batch.fd_events_before = loop_.FdEvents();
      ++handed_over_;
      {
        const std::lock_guard lock(log_mutex_);
        waiting_.Add(std::move(batch));
      }
      log_ready_.notify_one();
    }
  }
}

// A batch with background work is excluded, because the background thread may have to wait for the log thread.
bool Journal::MayCommitInline(const Batch& batch) const {
  return solo_commits_ >= kSoloCommitsBeforeInline && batch.barriers.empty() &&
         handed_over_.load(std::memory_order_acquire) == 0 &&
         log_.SegmentBytes() + batch.frames.size() < options_.segment_bytes;
}

void Journal::CommitHere(Batch batch) {
  const auto start = loop_.GetClock().Steady();
  WriteLog(batch);
  // No response was sent yet, so a ready descriptor belongs to another client, which had to wait.
  if (loop_.AnyReady()) solo_commits_ = 0;
  events_.synced(loop_.GetClock().Steady() - start);
  events_.durable(batch.last);
}

void Journal::WriteLog(const Batch& batch) {
  log_.Append(batch.frames);
  log_bytes_ += batch.frames.size();
  last_written_ = batch.last;
}

void Journal::LogThread() {
  UseShortTimeSlices();
  for (;;) {
    Batch batch;
    {
      std::unique_lock lock(log_mutex_);
      log_ready_.wait(lock, [this] { return stop_log_ || !waiting_.Empty(); });
      if (waiting_.Empty()) return;
      batch = std::move(waiting_);
      waiting_ = {};
    }
    const int parts = batch.parts;
    Commit(std::move(batch));
    handed_over_.fetch_sub(parts, std::memory_order_release);
  }
}

void Journal::Commit(Batch batch) {
  if (!batch.frames.empty()) {
    const auto start = loop_.GetClock().Steady();
    WriteLog(batch);
    const auto took = loop_.GetClock().Steady() - start;
    const auto report = [this, last = batch.last, fd_events = batch.fd_events_before, took] {
      solo_commits_ = loop_.FdEvents() == fd_events ? solo_commits_ + 1 : 0;
      events_.synced(took);
      events_.durable(last);
    };
    if (options_.sync) {
      loop_.Post(report);
    } else {
      report();
    }
  }
  const LogSegment finished = log_.Current();
  const bool has_entries = last_written_ >= finished.first;
  if (has_entries && (log_.SegmentBytes() >= options_.segment_bytes || !batch.barriers.empty())) {
    log_.StartSegment(last_written_ + 1);
    AddTask([this, finished] { ApplySegment(finished); });
  }
  for (EventLoop::Callback& barrier : batch.barriers) AddTask(std::move(barrier));
}

void Journal::AddTask(std::function<void()> task) {
  std::unique_lock lock(task_mutex_);
  if (options_.sync) task_done_.wait(lock, [this] { return tasks_.size() < kMaxTasks || stop_tasks_; });
  tasks_.push_back(std::move(task));
  lock.unlock();
  task_ready_.notify_one();
}

void Journal::BackgroundThread() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(task_mutex_);
      task_ready_.wait(lock, [this] { return stop_tasks_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task_done_.notify_one();
    try {
      task();
    } catch (const std::exception& error) {
      log::Error("the base could not be written: {}", error.what());
      std::abort();
    }
  }
}

void Journal::ApplySegment(const LogSegment& segment) {
  const SegmentContents contents = ReadSegment(segment);
  const std::unique_ptr<Base::Writer> writer = base_->OpenWriter();
  const auto in_base = static_cast<std::uint64_t>(base_->OpenView()->Number(Base::kSequence));
  EntryReader reader(contents.frames, contents.epoch);
  std::uint64_t sequence = segment.first;
  std::uint64_t frames = 0;
  for (; reader.Next(sequence); ++sequence) {
    if (sequence > in_base) reader.Visit(*writer);
    frames += reader.FrameBytes();
  }
  if (sequence - 1 > in_base) {
    writer->SetNumber(Base::kSequence, static_cast<std::int64_t>(sequence - 1));
    writer->Commit();
  }
  log_.Recycle(segment);
  loop_.Post([this, frames] {
    view_ = base_->OpenView();
    log_bytes_ -= std::min(frames, log_bytes_.load());
    events_.base_grew(view_->Number(Base::kRevision));
  });
}

void Journal::WhenInBase(EventLoop::Callback done) {
  InBackground([] {}, std::move(done));
}

void Journal::InBackground(std::function<void()> work, EventLoop::Callback done) {
  turn_.barriers.push_back([this, work = std::move(work), done = std::move(done)] {
    work();
    loop_.Post(done);
  });
}

void Journal::Erase(std::vector<ChangeId> ids, EventLoop::Callback done) {
  const auto erase = [this, ids = std::move(ids)] {
    for (std::size_t start = 0; start < ids.size(); start += kErasesACommit) {
      const std::unique_ptr<Base::Writer> writer = base_->OpenWriter();
      const std::size_t end = std::min(ids.size(), start + kErasesACommit);
      for (std::size_t i = start; i < end; ++i) writer->Erase(ids[i]);
      writer->Commit();
    }
  };
  InBackground(erase, [this, done = std::move(done)] {
    view_ = base_->OpenView();
    done();
  });
}

void Journal::RunWithView(std::function<void(const Base::View&)> work, EventLoop::Callback done) {
  WhenInBase([this, work = std::move(work), done = std::move(done)] {
    const std::uint64_t id = next_aside_++;
    auto view = std::shared_ptr<Base::View>(base_->OpenView());
    asides_[id] = std::thread([this, id, work, done, view = std::move(view)]() mutable {
      work(*view);
      view.reset();
      loop_.Post([this, id, done] {
        EndAside(id);
        done();
      });
    });
  });
}

void Journal::EndAside(std::uint64_t id) {
  asides_[id].join();
  asides_.erase(id);
  if (!asides_.empty()) return;
  for (EventLoop::Callback& defragment : std::exchange(waiting_defragments_, {})) defragment();
}

void Journal::Defragment(EventLoop::Callback done) {
  if (asides_.empty()) return StartDefragment(std::move(done));
  waiting_defragments_.push_back([this, done = std::move(done)] { StartDefragment(done); });
}

void Journal::StartDefragment(EventLoop::Callback done) {
  const std::filesystem::path copy = options_.folder / "base.new";
  const auto write_copy = [this, copy] {
    std::filesystem::remove_all(copy);
    MakePrivateFolder(copy);
    base_->CopyCompact(copy);
    if (options_.sync) SyncPath(copy / "data.mdb");
    // Only the background thread writes, and it waits for the swap below, so nothing changes between the copy and the
    // swap. A loop that has ended never runs the swap.
    const auto swapped = std::make_shared<bool>(false);  // guarded by task_mutex_
    loop_.Post([this, copy, swapped] {
      view_.reset();
      base_.reset();
      std::filesystem::rename(copy / "data.mdb", options_.folder / "base" / "data.mdb");
      std::filesystem::remove_all(copy);
      if (options_.sync) SyncPath(options_.folder / "base");
      OpenBase();
      {
        const std::lock_guard lock(task_mutex_);
        *swapped = true;
      }
      task_ready_.notify_one();
    });
    std::unique_lock lock(task_mutex_);
    task_ready_.wait(lock, [&] { return *swapped || stop_tasks_; });
  };
  InBackground(write_copy, std::move(done));
}

}  // namespace apimesh::store
