// Persistent collectives that Unisono runs: all kinds in both forms, started in another order on
// each rank and again and again with other data, completed in every way, among the program's own
// persistent messages; freed while the communicator is.
//
//   mpiexec -n P persistent
#include "all_kinds.h"

namespace {

using conformance::All;
using conformance::complete;
using conformance::Ints;
using conformance::numbers;
using conformance::rank_in;
using conformance::size_of;

/// MPICH's own (5.0.2) fail in MPI_Testall while they are under way: MPI_ERR_PENDING.
constexpr int kTestall = 2;

void in_every_way(MPI_Comm comm, bool native) {
  const int me = rank_in(comm), p = size_of(comm);
  std::vector<All> all;
  for (int root = 0; root < 3; ++root) all.emplace_back(comm, root, true);
  for (All& one : all) one.start();  // makes them
  std::vector<MPI_Request> requests;
  for (All& one : all) requests.insert(requests.end(), one.requests.begin(), one.requests.end());
  int sent = 0, got = 0;
  requests.emplace_back();
  MPI_Send_init(&sent, 1, MPI_INT, (me + 1) % p, 5, comm, &requests.back());
  requests.emplace_back();
  MPI_Recv_init(&got, 1, MPI_INT, (me + p - 1) % p, 5, comm, &requests.back());
  for (int way = 0; way < 8; ++way) {
    if (native && way == kTestall) continue;
    for (All& one : all) {
      for (Ints& into : one.into) std::fill(into.begin(), into.end(), -1);
      one.supply();
    }
    sent = 10 * way + me;
    // The order is each rank's own.
    std::rotate(requests.begin(), requests.begin() + 5 * me + way, requests.end());
    if (way % 2 == 0)
      MPI_Startall(static_cast<int>(requests.size()), requests.data());
    else
      for (MPI_Request& request : requests) MPI_Start(&request);
    complete(requests, way, true);
    for (const All& one : all) one.see();
    CHECK(got == 10 * way + (me + p - 1) % p);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
}

void others_wait(MPI_Comm comm) {
  Ints data(50000);
  MPI_Request request;
  MPI_Bcast_init(data.data(), 50000, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
  for (int round = 0; round < 3; ++round) {
    data.assign(data.size(), rank_in(comm) == 0 ? round : -1);
    conformance::others_wait(comm, [&] {
      MPI_Start(&request);
      return request;
    });
    CHECK(data[49999] == round);
  }
  MPI_Request_free(&request);
}

/// What is named may be freed when the request is made; the communicator, too.
void freed(MPI_Comm over) {
  MPI_Comm comm;
  MPI_Comm_dup(over, &comm);
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  Ints data(400);
  MPI_Request request;
  MPI_Bcast_init(data.data(), 100, pair, 0, comm, MPI_INFO_NULL, &request);
  MPI_Type_free(&pair);
  for (int round = 0; round < 3; ++round) {
    data.assign(data.size(), rank_in(comm) == 0 ? round : -1);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data[0] == round && data[299] == round);
  }
  MPI_Request_free(&request);
  MPI_Comm_free(&comm);
}

/// What a call must not name is its own error, not that of a start.
void refused(MPI_Comm over) {
  MPI_Comm comm;
  MPI_Comm_dup(over, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);  // and not committed
  Ints data(200);
  MPI_Request request = MPI_REQUEST_NULL;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Bcast_init(data.data(), 10, pair, 0, comm, MPI_INFO_NULL, &request),
                  &error_class);
  CHECK(error_class == MPI_ERR_TYPE);
  MPI_Type_free(&pair);
  MPI_Comm_free(&comm);
}

/// The hints of one rank alone hold for none.
void hinted(MPI_Comm comm) {
  for (const bool alike : {true, false}) {
    MPI_Info hints;
    MPI_Info_create(&hints);
    if (alike || rank_in(comm) == 0) {
      MPI_Info_set(hints, "unisono_algorithm", "chain");
      MPI_Info_set(hints, "unisono_segment", "1K");
    }
    Ints data = numbers(rank_in(comm), 3000);
    MPI_Request request;
    MPI_Bcast_init(data.data(), 3000, MPI_INT, 0, comm, hints, &request);
    MPI_Info_free(&hints);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data[2999] == 2999);
    MPI_Request_free(&request);
  }
}

/// Hundreds are made, started and freed.
void many(MPI_Comm comm) {
  int mine = rank_in(comm), most = -1;
  for (int i = 0; i < 200; ++i) {
    MPI_Request request;
    MPI_Allreduce_init(&mine, &most, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &request);
    if (i % 3 != 0) {
      most = -1;
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(most == size_of(comm) - 1);
    }
    MPI_Request_free(&request);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // Where Unisono has no better way. Open MPI 4.1's own mix up messages of several in flight.
  if (!conformance::is_library("Open MPI v4.1")) in_every_way(MPI_COMM_WORLD, true);
  conformance::force_all();
  const unsigned long long before = conformance::own_calls();
  in_every_way(MPI_COMM_WORLD, false);
  // Counted when they are made.
  if (conformance::has_unisono()) CHECK(conformance::own_calls() - before == 3 * 17);
  others_wait(MPI_COMM_WORLD);
  freed(MPI_COMM_WORLD);
  // Open MPI 4.1 has no persistent collectives: Unisono's start the library's, which looks then.
  if (!conformance::is_library("Open MPI v4.1")) refused(MPI_COMM_WORLD);
  hinted(MPI_COMM_WORLD);
  many(MPI_COMM_WORLD);
  conformance::passed("persistent", 51, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
