// What a trace says of one rank beside its events: a JSON object in each line, written at once.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/clock.h"
#include "trace/modules.h"

namespace unisono::trace {

/// Whose trace it is.
struct Start {
  int rank = 0;
  int size = 1;
  std::string mpi;  ///< the MPI library's version
};

struct Group {
  std::uint32_t id = 0;
  int size = 1;
  std::span<const int> ranks;  ///< in MPI_COMM_WORLD; empty: not all are in it
  std::uint32_t occurrence = 0;
  std::string_view name;
};

/// A line that cannot be written (the disk is full) is missing; problem() says why. Not
/// thread-safe.
class LineFile {
 public:
  /// The file must not exist yet. The error says what is wrong with it and does not name it.
  static Result<std::unique_ptr<LineFile>> create(const std::string& path);
  ~LineFile() { close(); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void start(const Start& start);
  void modules(const Modules& modules);
  void communicator(const Group& group);
  void algorithm(int id, std::string_view spec);
  void clock(const ClockOffset& clock);
  void one_way(std::uint64_t bytes, double seconds);
  /// `lost` events found no room on the disk.
  void end(std::uint64_t events, std::uint64_t lost, std::int64_t at_ns);

  const std::string& problem() const { return problem_; }
  /// From then on nothing is written.
  void close();

 private:
  explicit LineFile(int file) : file_(file) {}
  void write(std::string line);

  int file_ = -1;
  std::string problem_;
};

}  // namespace unisono::trace
