// Writes the calls of this process into a trace: docs/reference/trace.md.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "calls/call.h"
#include "comm/communicator.h"
#include "mpi/threads.h"
#include "select/selector.h"
#include "trace/event_file.h"
#include "trace/line_file.h"
#include "trace/program_frame.h"

namespace unisono {

class Tracer {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// Makes this rank's files in an empty folder, and compares the clocks. Null: some rank could
  /// not, which has said so. Collective over MPI_COMM_WORLD, after start_communicators; `node` has
  /// the ranks of this one's.
  static std::unique_ptr<Tracer> start(const std::string& folder, MPI_Comm node);
  /// Compares the clocks again, measures messages and completes the files. Collective.
  void stop();
  /// In a forked child: the files are its parent's.
  void abandon();

  /// A call begins, at `begin_ns`. The number of its event, kNone when there is no room for it.
  std::uint64_t enter(const Call& call, Communicator& communicator, const void* site,
                      std::int64_t& begin_ns);
  void chosen(std::uint64_t event, const Choice& choice);
  void leave(std::uint64_t event, std::int64_t end_ns) {
    const Locked locked(mutex_);
    events_->set_end(event, end_ns);
  }

  ~Tracer();

 private:
  explicit Tracer(std::string folder) : folder_(std::move(folder)) {}
  bool create(int rank, std::string& problem);
  void introduce(MPI_Comm comm, TracedCommunicator& traced);
  void see(std::uint64_t site);
  std::uint16_t number_of(const Choice& choice);
  void complain(const std::string& problem);

  /// Nothing is locked where one thread calls at a time.
  class Locked {
   public:
    explicit Locked(std::mutex& mutex) : mutex_(several_threads() ? &mutex : nullptr) {
      if (mutex_ != nullptr) mutex_->lock();
    }
    ~Locked() {
      if (mutex_ != nullptr) mutex_->unlock();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    std::mutex* mutex_;
  };

  struct Arm {
    const Algorithm* algorithm;
    Params params;
  };

  std::string folder_;
  std::unique_ptr<trace::EventFile> events_;
  std::unique_ptr<trace::LineFile> lines_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<int> nodes_;
  trace::Modules modules_;
  trace::ProgramFrames frames_;
  std::array<std::uint64_t, 256> seen_{};  // sites that lie in a module
  std::vector<Arm> arms_;                  // algorithm k + 1
  std::uint32_t communicators_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> occurrences_;  // by a hash of the ranks
  std::uint64_t most_bytes_ = 0;
  bool complained_ = false;
  std::mutex mutex_;
};

/// Null while nothing is traced. Changes in MPI_Init and MPI_Finalize only.
extern constinit Tracer* g_tracer;

}  // namespace unisono
