#include "calls/persistent.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "calls/in_flight.h"
#include "calls/request.h"
#include "calls/sides.h"
#include "mpi/patience.h"
#include "mpi/turns.h"

namespace unisono {

namespace {

// What is called of the MPI library here comes by the entry points again.
thread_local bool t_inside = false;
class Inside {
 public:
  Inside() : before_(std::exchange(t_inside, true)) {}
  ~Inside() { t_inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool before_;
};

/// The program's request is a persistent receive of nothing, from this process itself on a
/// communicator that nobody else has. It is started with the collective; when that is done a
/// message goes to it. So every function that completes requests takes it, in C and Fortran, and a
/// start is an MPI_Start. (Generalized requests cannot be started again.)
class Persistent : public Moved {
 public:
  explicit Persistent(MPI_Comm comm) : comm_(comm) {
    node_.emplace_back(std::shared_ptr<void>(), this);  // which is not its owner
  }
  ~Persistent() override {
    if (!is_programs_ && carrier_ != MPI_REQUEST_NULL) PMPI_Request_free(&carrier_);
  }

  /// An MPI error code.
  int give_handle(MPI_Comm self, int tag) {
    self_ = self;
    tag_ = tag;
    return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, self, &carrier_);
  }
  MPI_Request handle() const { return carrier_; }
  int tag() const { return tag_; }
  /// The handle is the program's to free.
  void let_go() { is_programs_ = true; }

  int start() {
    const Inside inside;
    if (const int code = PMPI_Start(&carrier_); code != MPI_SUCCESS) return code;
    if (const int code = begin(); code != MPI_SUCCESS) {  // and the request is inactive again
      send(0);
      PMPI_Wait(&carrier_, MPI_STATUS_IGNORE);
      return code;
    }
    // Nobody else moves it where MPI ends.
    for (int looks = 0; !has_turns() && !done() && !move(); ++looks) {
      progress_in_flight();
      rest(looks);
    }
    // Not moved yet: a look at every message costs MPICH microseconds.
    if (done())
      tell();
    else
      enter_flight(node_);
    return MPI_SUCCESS;
  }

  MovedNode* home() noexcept override { return &node_; }
  // A byte, where there is room for none, makes an error of the request: the only way to one. What
  // it is the communicator's error handler is told.
  void tell() noexcept override {
    const int failure = code();
    if (failure != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm_, failure);
    send(failure != MPI_SUCCESS ? 1 : 0);
  }

 protected:
  /// An MPI error code.
  virtual int begin() = 0;
  /// Whether there is nothing to wait for.
  virtual bool done() = 0;
  /// Of what is done.
  virtual int code() const = 0;

 private:
  void send(int bytes) const noexcept {
    static constexpr char kByte = 0;
    const Inside inside;
    MPI_Request sent = MPI_REQUEST_NULL;
    PMPI_Isend(&kByte, bytes, MPI_BYTE, 0, tag_, self_, &sent);
    PMPI_Request_free(&sent);
  }

  MPI_Comm comm_, self_ = MPI_COMM_NULL;
  MPI_Request carrier_ = MPI_REQUEST_NULL;
  int tag_ = 0;
  bool is_programs_ = false;
  MovedNode node_;
};

class OwnPersistent : public Persistent {
 public:
  OwnPersistent(Communicator& communicator, const Call& call, const Choice& choice,
                bool commutative, Tags tags, WaitMode wait)
      : Persistent(call.comm),
        communicator_(communicator),
        call_(call),
        choice_(choice),
        commutative_(commutative),
        tags_(tags) {
    const int size = communicator_.size();
    if (has_send_side(call_, communicator_.rank()))
      keep_types(call_.sendtypes, sent_blocks(call_, size), sendtypes_);
    keep_types(call_.recvtypes, received_blocks(call_, size), recvtypes_);
    request_ = make_request();
    request_->prepare(wait);
  }
  bool move() noexcept override {
    request_->progress();
    return done();
  }

 private:
  std::unique_ptr<Request> make_request() {
    return std::make_unique<Request>(communicator_, call_, choice_, commutative_,
                                     Request::Lifetime::in_flight, tags_);
  }
  /// Those of Fortran are made for the call.
  static void keep_types(const MPI_Datatype*& types, int count, std::vector<MPI_Datatype>& kept) {
    if (types == nullptr) return;
    kept.assign(types, types + count);
    types = kept.data();
  }
  // A device's bytes are those of the start. Counts and displacements are the program's until it
  // frees the request; what it may have freed the request before holds until the new one does.
  int begin() override {
    try {
      if (request_->holds_copies()) {
        std::unique_ptr<Request> next = make_request();
        next->inherit(*request_);
        request_ = std::move(next);
      }
    } catch (const std::bad_alloc&) {
      PMPI_Comm_call_errhandler(call_.comm, MPI_ERR_NO_MEM);
      return MPI_ERR_NO_MEM;
    }
    request_->start();
    return MPI_SUCCESS;
  }
  bool done() override { return request_->done(); }
  int code() const override { return request_->result().value_or(MPI_ERR_INTERN); }

  Communicator& communicator_;
  Call call_;
  Choice choice_;
  bool commutative_;
  Tags tags_;
  std::vector<MPI_Datatype> sendtypes_, recvtypes_;
  std::unique_ptr<Request> request_;
};

class ProvidedPersistent : public Persistent {
 public:
  ProvidedPersistent(MPI_Comm comm, NonblockingCall call)
      : Persistent(comm), call_(std::move(call)) {}
  bool move() noexcept override { return is_over_in_turn(request_, code_); }

 private:
  int begin() override { return code_ = call_(&request_); }
  // With what came before it the library may be through at once.
  bool done() override { return move(); }
  int code() const override { return code_; }

  NonblockingCall call_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
};

/// All that live.
struct Persistents {
  std::mutex mutex;
  std::map<MPI_Request, std::unique_ptr<Persistent>> all;
  std::map<MPI_Request, KeptArrays> kept;
  std::atomic<std::size_t> count{0};
  MPI_Comm self = MPI_COMM_NULL;  // of this process alone, made by the first one
  int next_tag = 0;
  std::vector<int> free_tags;
};

Persistents& persistents() { return lasting<Persistents>(); }

/// Not under the mutex: it has turns. Two threads may make one each.
int make_self() {
  Persistents& here = persistents();
  {
    const std::lock_guard lock(here.mutex);
    if (here.self != MPI_COMM_NULL) return MPI_SUCCESS;
  }
  // MPI_Comm_dup would call the copy functions of the program's attributes.
  MPI_Comm self = MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_SELF, &group);
  const int code = PMPI_Comm_create(MPI_COMM_SELF, group, &self);
  PMPI_Group_free(&group);
  if (code != MPI_SUCCESS) return code;
  PMPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  {
    const std::lock_guard lock(here.mutex);
    if (here.self == MPI_COMM_NULL) std::swap(here.self, self);
  }
  return self == MPI_COMM_NULL ? MPI_SUCCESS : PMPI_Comm_free(&self);
}

/// The program's from now on. An MPI error code.
int keep(std::unique_ptr<Persistent> made, MPI_Request* request) {
  if (const int code = make_self(); code != MPI_SUCCESS) return code;
  Persistents& here = persistents();
  const std::lock_guard lock(here.mutex);
  if (here.free_tags.empty()) here.free_tags.push_back(here.next_tag++);
  here.free_tags.reserve(here.all.size() + 2);  // nothing may fail when it is freed
  if (const int code = made->give_handle(here.self, here.free_tags.back()); code != MPI_SUCCESS)
    return code;
  here.free_tags.pop_back();
  const MPI_Request handle = made->handle();
  here.all.emplace(handle, std::move(made)).first->second->let_go();
  ++here.count;
  *request = handle;
  return MPI_SUCCESS;
}

}  // namespace

std::optional<int> make_persistent(Communicator& communicator, const Call& call,
                                   const Choice& choice, bool commutative, WaitMode wait,
                                   MPI_Request* request) {
  const auto tags = communicator.tags().take_lasting();
  if (!tags) return std::nullopt;
  auto made = std::make_unique<OwnPersistent>(communicator, call, choice, commutative, *tags, wait);
  return keep(std::move(made), request);
}

int provide_persistent(NonblockingCall call, MPI_Comm comm, MPI_Request* request) noexcept {
  int code = MPI_ERR_UNSUPPORTED_OPERATION;
  try {
    if (has_turns())
      code = keep(std::make_unique<ProvidedPersistent>(comm, std::move(call)), request);
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
  }
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

// Without memory for that they are kept for ever.
void keep_until_freed(KeptArrays arrays, MPI_Request request) noexcept {
  Persistents& here = persistents();
  const std::lock_guard lock(here.mutex);
  try {
    here.kept[request];
  } catch (const std::bad_alloc&) {
    for (auto& array : arrays) static_cast<void>(array.release());
    return;
  }
  here.kept[request] = std::move(arrays);
  ++here.count;
}

std::optional<int> start_persistent(MPI_Request request) noexcept {
  if (t_inside) return std::nullopt;
  Persistent* found = nullptr;
  {
    Persistents& here = persistents();
    const std::lock_guard lock(here.mutex);
    const auto known = here.all.find(request);
    if (known == here.all.end()) return std::nullopt;
    found = known->second.get();
  }
  return found->start();
}

void forget_persistent(MPI_Request request) noexcept {
  if (t_inside) return;
  std::unique_ptr<Persistent> found;
  Persistents& here = persistents();
  const std::lock_guard lock(here.mutex);
  here.count -= here.kept.erase(request);
  const auto known = here.all.find(request);
  if (known == here.all.end()) return;
  here.free_tags.push_back(known->second->tag());
  found = std::move(known->second);
  here.all.erase(known);
  --here.count;
}

bool has_persistent() noexcept { return persistents().count != 0; }

void stop_persistent() noexcept {
  Persistents& here = persistents();
  MPI_Comm self = MPI_COMM_NULL;
  {
    const std::lock_guard lock(here.mutex);
    if (!here.all.empty()) return;  // the program has not freed them, and MPI still has them
    std::swap(here.self, self);
  }
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
}

}  // namespace unisono
