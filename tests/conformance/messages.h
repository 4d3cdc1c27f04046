// Point-to-point messages of a random program, to stand between its collectives: what must arrive
// follows from the draws.
#pragma once
#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comms.h"
#include "options.h"
#include "random.h"

namespace conformance {

class Messages {
 public:
  /// Alike on all ranks of the communicator, as in a Case. `wild`: no others are under way on it,
  /// so that receives may take any message.
  Messages(std::uint64_t seed, std::uint64_t number, const Communicator& comm, bool wild,
           const Simplified& simplified);
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// Whether they are over when start() returns.
  bool is_blocking() const { return blocking_; }
  void start();
  std::vector<MPI_Request>& requests() { return requests_; }
  /// When all requests are complete. What is wrong, or nothing.
  std::optional<std::string> finish();
  std::string text() const;

 private:
  struct Message {
    int from = 0, to = 0, tag = 0, length = 0;
    std::vector<unsigned char> data;  // of who sends or receives it
    std::vector<unsigned char> expected;
  };
  std::vector<unsigned char> content(const Message& message) const;
  void exchange();
  void send(Message& message);
  void receive(Message& message);
  void receive_any();

  std::uint64_t seed_, number_, colour_;
  MPI_Comm comm_;
  std::string comm_text_;
  Rng common_, local_;
  int rank_ = 0, size_ = 1;
  bool blocking_ = false, wild_ = false, persistent_ = false;
  std::vector<Message> messages_;
  std::vector<std::unique_ptr<std::vector<unsigned char>>> any_;  // what came, in wild receives
  std::vector<MPI_Request> requests_;
  std::optional<std::string> wrong_;
};

}  // namespace conformance
