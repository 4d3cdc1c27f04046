#include "calls/nonblocking.h"

#include <new>
#include <utility>

#include "calls/in_flight.h"
#include "mpi/turns.h"

namespace unisono {

namespace {

/// What MPI knows of a request: the library gives it back to query() and to let_go().
struct Outcome {
  int code = MPI_SUCCESS;
};

int query(void* outcome, MPI_Status* status) {
  // As of all nonblocking collectives nothing but the error is defined (MPI-4.1, 6.12).
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const Outcome*>(outcome)->code;
}

int let_go(void* outcome) {
  delete static_cast<Outcome*>(outcome);
  return MPI_SUCCESS;
}

int refuse_to_cancel(void*, int complete) { return complete != 0 ? MPI_SUCCESS : MPI_ERR_REQUEST; }

/// With a request of the program. Its outcome is the library's once it has been told.
class Told : public Moved {
 public:
  /// An MPI error code.
  int give_handle() {
    auto outcome = std::make_unique<Outcome>();
    const int code = PMPI_Grequest_start(query, let_go, refuse_to_cancel, outcome.get(), &handle_);
    if (code == MPI_SUCCESS) outcome_ = outcome.release();
    return code;
  }
  MPI_Request handle() const { return handle_; }

  void tell() noexcept override {
    outcome_->code = code();
    PMPI_Grequest_complete(handle_);
  }

 protected:
  virtual int code() const = 0;

 private:
  MPI_Request handle_ = MPI_REQUEST_NULL;
  Outcome* outcome_ = nullptr;
};

/// A request of ours.
class Own : public Told {
 public:
  Own(Communicator& communicator, const Call& call, const Choice& choice, bool commutative)
      : request_(communicator, call, choice, commutative, Request::Lifetime::in_flight) {}
  void start() { request_.start(); }
  bool done() const { return request_.done(); }
  bool move() noexcept override {
    request_.progress();
    return done();
  }
  int code() const override { return request_.result().value_or(MPI_ERR_INTERN); }

 private:
  Request request_;
};

/// A request of the MPI library, which reads arrays until it is done.
class PassedOn : public Told {
 public:
  explicit PassedOn(MPI_Request request) : request_(request) {}
  void keep(KeptArrays arrays) { arrays_ = std::move(arrays); }
  bool move() noexcept override { return is_over_in_turn(request_, code_); }
  int code() const override { return code_; }

 private:
  MPI_Request request_;
  KeptArrays arrays_;
  int code_ = MPI_SUCCESS;
};

}  // namespace

int start_nonblocking(Communicator& communicator, const Call& call, const Choice& choice,
                      bool commutative, MPI_Request* request) {
  forget_done();
  const auto own = std::make_shared<Own>(communicator, call, choice, commutative);
  MovedNode node{own};
  own->start();
  const bool done = own->done();
  // What is wrong with the arguments is this call's error, not that of who waits.
  if (const int code = done ? own->code() : MPI_SUCCESS; code != MPI_SUCCESS) return code;
  if (const int code = own->give_handle(); code != MPI_SUCCESS) return code;
  *request = own->handle();
  if (done)
    own->tell();
  else
    enter_flight(node);
  return MPI_SUCCESS;
}

// Where there is no memory, or no turn in which the library's request could be looked at, they are
// kept for ever.
void keep_until_done(KeptArrays arrays, MPI_Request* request) noexcept {
  try {
    if (!has_turns()) throw std::bad_alloc();
    const auto passed_on = std::make_shared<PassedOn>(*request);
    MovedNode node{passed_on};
    if (passed_on->give_handle() != MPI_SUCCESS) throw std::bad_alloc();
    passed_on->keep(std::move(arrays));
    *request = passed_on->handle();
    enter_flight(node);
  } catch (const std::bad_alloc&) {
    for (auto& array : arrays) static_cast<void>(array.release());
  }
}

}  // namespace unisono
