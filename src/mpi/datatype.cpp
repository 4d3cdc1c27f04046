#include "mpi/datatype.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "mpi/complex_parts.h"
#include "mpi/datatype_contents.h"
#include "mpi/private_communicator.h"
#include "mpi/threads.h"

namespace unisono {

namespace {

int g_keyval = MPI_KEYVAL_INVALID;
MPI_Comm g_self = MPI_COMM_NULL;  // of this process alone

void free_stand_in(TypeFacts& facts) {
  if (facts.stand_in) PMPI_Type_free(&*facts.stand_in);
}

int forget(MPI_Datatype, int, void* value, void*) {
  const std::unique_ptr<TypeFacts> facts(static_cast<TypeFacts*>(value));
  free_stand_in(*facts);
  return MPI_SUCCESS;
}

TypeFacts measure(MPI_Datatype type) {
  TypeFacts facts;
  MPI_Count size = 0, lb = 0, extent = 0, true_lb = 0, true_extent = 0;
  PMPI_Type_size_x(type, &size);
  PMPI_Type_get_extent_x(type, &lb, &extent);
  PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
  facts.size = size;
  facts.lb = lb;
  facts.extent = extent;
  facts.true_lb = true_lb;
  facts.true_extent = true_extent;
  return facts;
}

// Sizes alone do not tell: {int at 4, int at 0} has no gap either. So the construction is looked
// at, and what is not known to keep the order is packed.
bool is_dense(MPI_Datatype type, const TypeFacts& facts, const Envelope& envelope) {
  if (facts.size != facts.extent || facts.size != facts.true_extent) return false;
  if (envelope.is_predefined()) return true;
  if (envelope.large ||
      (envelope.combiner != MPI_COMBINER_CONTIGUOUS && envelope.combiner != MPI_COMBINER_DUP &&
       envelope.combiner != MPI_COMBINER_RESIZED && envelope.combiner != MPI_COMBINER_VECTOR))
    return false;
  const DatatypeContents contents(type, envelope);
  const bool gaps = envelope.combiner == MPI_COMBINER_VECTOR && contents.integers()[0] > 1 &&
                    contents.integers()[1] != contents.integers()[2];
  return !gaps && facts_of(contents.types()[0]).dense;
}

/// As far as the MPI library looks at that. No error handler of the program's sees it.
bool is_committed(MPI_Datatype type) {
  if (!prepare_copies()) return true;
  MPI_Request never_started = MPI_REQUEST_NULL;
  // One element, for MPICH does not look at what is not there.
  const int code = PMPI_Recv_init(&never_started, 1, type, 0, 0, g_self, &never_started);
  if (code == MPI_SUCCESS) PMPI_Request_free(&never_started);
  return code == MPI_SUCCESS;
}

TypeFacts work_out(MPI_Datatype type, const Envelope& envelope) {
  TypeFacts facts = measure(type);
  facts.dense = is_dense(type, facts, envelope);
  if (envelope.is_predefined())
    facts.kind = kind_of(type);
  else if (facts.committed = is_committed(type); facts.committed && !facts.dense)
    facts.stand_in = without_complex(type);
  return facts;
}

/// Predefined datatypes live as long as the process, and so do their facts.
const TypeFacts& keep_predefined(MPI_Datatype type, const TypeFacts& facts) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<MPI_Datatype, TypeFacts>;
  const std::lock_guard lock(mutex);
  return all.try_emplace(type, facts).first->second;
}

// Filled at compile time: a look at a variable that must be initialized first costs as much as the
// search.
constinit thread_local RecentTypes t_recent_types{};

}  // namespace

constinit RecentTypes g_recent_types{};

const TypeFacts& look_up_facts(MPI_Datatype type) {
  RecentTypes& recents = several_threads() ? t_recent_types : g_recent_types;
  if (const TypeFacts* recent = recents.find(type)) return *recent;

  const auto stored = [type]() -> const TypeFacts* {
    void* value = nullptr;
    int found = 0;
    PMPI_Type_get_attr(type, g_keyval, static_cast<void*>(&value), &found);
    return found ? static_cast<TypeFacts*>(value) : nullptr;
  };
  if (const TypeFacts* known = stored()) return *known;
  const Envelope envelope = envelope_of(type);
  TypeFacts facts = work_out(type, envelope);
  if (envelope.is_predefined()) {
    const TypeFacts& kept = keep_predefined(type, facts);
    recents.types[recents.oldest] = {type, &kept};
    recents.oldest = (recents.oldest + 1) % recents.types.size();
    return kept;
  }
  if (!facts.committed) {  // yet
    thread_local TypeFacts passing;
    return passing = facts;
  }
  // Two threads may meet a new type at once: what one has stored the other must not replace.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const TypeFacts* known = stored()) {
    free_stand_in(facts);
    return *known;
  }
  auto* kept = new TypeFacts(facts);
  PMPI_Type_set_attr(type, g_keyval, kept);  // a library that cannot leaves them for ever
  return *kept;
}

void start_datatypes() {
  PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &g_keyval, nullptr);
  // Who sets the error handler of MPI_COMM_WORLD for a moment must be the only thread.
  if (several_threads()) prepare_copies();
}

bool prepare_copies() {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (g_self == MPI_COMM_NULL) g_self = private_self();
  return g_self != MPI_COMM_NULL;
}

void stop_datatypes() {
  if (g_self != MPI_COMM_NULL) PMPI_Comm_free(&g_self);
  PMPI_Type_free_keyval(&g_keyval);
}

namespace {

constexpr Count kPortion = Count{1} << 30;

/// MPI_Pack counts in int: the elements go in portions of at most a GiB of packed bytes.
template <class Function>
int in_portions(Count count, const TypeFacts& facts, Function portion) {
  if (facts.size == 0) return MPI_SUCCESS;
  const Count step = std::max<Count>(1, kPortion / facts.size);
  for (Count first = 0; first < count; first += step)
    if (const int rc = portion(first, static_cast<int>(std::min(step, count - first))); rc)
      return rc;
  return MPI_SUCCESS;
}

/// So many adjacent bytes as one element.
class Bytes {
 public:
  explicit Bytes(Count bytes) {
    MPI_Datatype portion = MPI_DATATYPE_NULL, portions = MPI_DATATYPE_NULL;
    const Count whole = bytes / kPortion * kPortion;
    PMPI_Type_contiguous(static_cast<int>(kPortion), MPI_BYTE, &portion);
    PMPI_Type_contiguous(static_cast<int>(bytes / kPortion), portion, &portions);
    int lengths[] = {1, static_cast<int>(bytes - whole)};
    MPI_Aint displs[] = {0, static_cast<MPI_Aint>(whole)};
    MPI_Datatype types[] = {portions, MPI_BYTE};
    PMPI_Type_create_struct(2, lengths, displs, types, &type);
    PMPI_Type_commit(&type);
    PMPI_Type_free(&portions);
    PMPI_Type_free(&portion);
  }
  ~Bytes() { PMPI_Type_free(&type); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  MPI_Datatype type = MPI_DATATYPE_NULL;
};

}  // namespace

namespace {

/// From this process to itself; one at a time, because threads share the communicator.
int send_to_itself(const void* from, int sent_count, MPI_Datatype sent, void* into,
                   int received_count, MPI_Datatype received) {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  return PMPI_Sendrecv(from, sent_count, sent, 0, 0, into, received_count, received, 0, 0, g_self,
                       MPI_STATUS_IGNORE);
}

/// Another way than MPI_Pack's, whose result is `code`, is needed: MPICH's (4.0.2) refuses
/// MPI_BOTTOM.
bool refuses_bottom(int code, const void* elements) {
  return code != MPI_SUCCESS && elements == MPI_BOTTOM;
}

}  // namespace

int pack_elements(const std::byte* from, Count count, MPI_Datatype type, const TypeFacts& facts,
                  std::byte* into) {
  if (facts.dense) {
    if (count > 0)
      std::memcpy(into, from + facts.true_lb, static_cast<std::size_t>(count * facts.size));
    return MPI_SUCCESS;
  }
  const MPI_Datatype moved = facts.stand_in.value_or(type);
  return in_portions(count, facts, [&](Count first, int n) {
    const std::byte* elements = from + first * facts.extent;
    std::byte* bytes = into + first * facts.size;
    const auto send = [&] {
      return send_to_itself(elements, n, moved, bytes, 1, Bytes(n * facts.size).type);
    };
    if (facts.size > kPortion) return send();
    int position = 0;
    const int code =
        PMPI_Pack(elements, n, moved, bytes, static_cast<int>(n * facts.size), &position, g_self);
    return refuses_bottom(code, elements) ? send() : code;
  });
}

int unpack_elements(const std::byte* from, std::byte* into, Count count, MPI_Datatype type,
                    const TypeFacts& facts) {
  if (facts.dense) {
    if (count > 0)
      std::memcpy(into + facts.true_lb, from, static_cast<std::size_t>(count * facts.size));
    return MPI_SUCCESS;
  }
  const MPI_Datatype moved = facts.stand_in.value_or(type);
  return in_portions(count, facts, [&](Count first, int n) {
    const std::byte* bytes = from + first * facts.size;
    std::byte* elements = into + first * facts.extent;
    const auto send = [&] {
      return send_to_itself(bytes, 1, Bytes(n * facts.size).type, elements, n, moved);
    };
    if (facts.size > kPortion) return send();
    int position = 0;
    const int code =
        PMPI_Unpack(bytes, static_cast<int>(n * facts.size), &position, elements, n, moved, g_self);
    return refuses_bottom(code, elements) ? send() : code;
  });
}

int copy_elements(const std::byte* from, std::byte* into, Count count, MPI_Datatype type,
                  const TypeFacts& facts) {
  return in_portions(count, facts, [&](Count first, int n) {
    const Count at = first * facts.extent;
    return send_to_itself(from + at, n, type, into + at, n, type);
  });
}

}  // namespace unisono
