#include "invocation.h"

#include "src/mpi/functions.h"

namespace conformance {

namespace {

EntryPoint g_latest = EntryPoint::native;
unsigned g_started = 0;

/// An array in the width a form wants; null when it was not given (arguments that MPI ignores).
template <class T>
class Narrow {
 public:
  explicit Narrow(const std::vector<long long>& from) : values_(from.begin(), from.end()) {}
  operator const T*() const { return values_.empty() ? nullptr : values_.data(); }

 private:
  std::vector<T> values_;
};

#define THROUGH(call) (through == EntryPoint::interposed ? MPI_##call : PMPI_##call)

int invoke_plain(const Invocation& in, EntryPoint through) {
  const auto sendcount = static_cast<int>(in.sendcount);
  const auto recvcount = static_cast<int>(in.recvcount);
  const Narrow<int> scounts(in.sendcounts), sdispls(in.sdispls);
  const Narrow<int> rcounts(in.recvcounts), rdispls(in.rdispls);
  switch (in.collective) {
    case Collective::barrier: return THROUGH(Barrier(in.comm));
    case Collective::bcast:
      return THROUGH(Bcast(in.recvbuf, recvcount, in.recvtype, in.root, in.comm));
    case Collective::gather:
      return THROUGH(Gather(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount, in.recvtype,
                            in.root, in.comm));
    case Collective::gatherv:
      return THROUGH(Gatherv(in.sendbuf, sendcount, in.sendtype, in.recvbuf, rcounts, rdispls,
                             in.recvtype, in.root, in.comm));
    case Collective::scatter:
      return THROUGH(Scatter(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount, in.recvtype,
                             in.root, in.comm));
    case Collective::scatterv:
      return THROUGH(Scatterv(in.sendbuf, scounts, sdispls, in.sendtype, in.recvbuf, recvcount,
                              in.recvtype, in.root, in.comm));
    case Collective::allgather:
      return THROUGH(Allgather(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount,
                               in.recvtype, in.comm));
    case Collective::allgatherv:
      return THROUGH(Allgatherv(in.sendbuf, sendcount, in.sendtype, in.recvbuf, rcounts, rdispls,
                                in.recvtype, in.comm));
    case Collective::alltoall:
      return THROUGH(Alltoall(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount,
                              in.recvtype, in.comm));
    case Collective::alltoallv:
      return THROUGH(Alltoallv(in.sendbuf, scounts, sdispls, in.sendtype, in.recvbuf, rcounts,
                               rdispls, in.recvtype, in.comm));
    case Collective::alltoallw:
      return THROUGH(Alltoallw(in.sendbuf, scounts, sdispls, in.sendtypes.data(), in.recvbuf,
                               rcounts, rdispls, in.recvtypes.data(), in.comm));
    case Collective::reduce:
      return THROUGH(
          Reduce(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.root, in.comm));
    case Collective::allreduce:
      return THROUGH(Allreduce(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    case Collective::reduce_scatter_block:
      return THROUGH(
          Reduce_scatter_block(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    case Collective::reduce_scatter:
      return THROUGH(Reduce_scatter(in.sendbuf, in.recvbuf, rcounts, in.recvtype, in.op, in.comm));
    case Collective::scan:
      return THROUGH(Scan(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    case Collective::exscan:
      return THROUGH(Exscan(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    default: break;  // among neighbours: neighbours.cpp
  }
  return MPI_ERR_OTHER;
}

#if MPI_VERSION >= 4

int invoke_large(const Invocation& in, EntryPoint through) {
  const MPI_Count sendcount = in.sendcount, recvcount = in.recvcount;
  const Narrow<MPI_Count> scounts(in.sendcounts), rcounts(in.recvcounts);
  const Narrow<MPI_Aint> sdispls(in.sdispls), rdispls(in.rdispls);
  switch (in.collective) {
    case Collective::barrier: break;
    case Collective::bcast:
      return THROUGH(Bcast_c(in.recvbuf, recvcount, in.recvtype, in.root, in.comm));
    case Collective::gather:
      return THROUGH(Gather_c(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount,
                              in.recvtype, in.root, in.comm));
    case Collective::gatherv:
      return THROUGH(Gatherv_c(in.sendbuf, sendcount, in.sendtype, in.recvbuf, rcounts, rdispls,
                               in.recvtype, in.root, in.comm));
    case Collective::scatter:
      return THROUGH(Scatter_c(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount,
                               in.recvtype, in.root, in.comm));
    case Collective::scatterv:
      return THROUGH(Scatterv_c(in.sendbuf, scounts, sdispls, in.sendtype, in.recvbuf, recvcount,
                                in.recvtype, in.root, in.comm));
    case Collective::allgather:
      return THROUGH(Allgather_c(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount,
                                 in.recvtype, in.comm));
    case Collective::allgatherv:
      return THROUGH(Allgatherv_c(in.sendbuf, sendcount, in.sendtype, in.recvbuf, rcounts, rdispls,
                                  in.recvtype, in.comm));
    case Collective::alltoall:
      return THROUGH(Alltoall_c(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount,
                                in.recvtype, in.comm));
    case Collective::alltoallv:
      return THROUGH(Alltoallv_c(in.sendbuf, scounts, sdispls, in.sendtype, in.recvbuf, rcounts,
                                 rdispls, in.recvtype, in.comm));
    case Collective::alltoallw:
      return THROUGH(Alltoallw_c(in.sendbuf, scounts, sdispls, in.sendtypes.data(), in.recvbuf,
                                 rcounts, rdispls, in.recvtypes.data(), in.comm));
    case Collective::reduce:
      return THROUGH(
          Reduce_c(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.root, in.comm));
    case Collective::allreduce:
      return THROUGH(Allreduce_c(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    case Collective::reduce_scatter_block:
      return THROUGH(
          Reduce_scatter_block_c(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    case Collective::reduce_scatter:
      return THROUGH(
          Reduce_scatter_c(in.sendbuf, in.recvbuf, rcounts, in.recvtype, in.op, in.comm));
    case Collective::scan:
      return THROUGH(Scan_c(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    case Collective::exscan:
      return THROUGH(Exscan_c(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm));
    default: break;
  }
  return MPI_ERR_OTHER;
}

#endif

#undef THROUGH

int complete(MPI_Request* request) {
  int rc = MPI_SUCCESS, flag = 0, index = 0;
  switch (g_started++ % 3) {
    case 0: return MPI_Wait(request, MPI_STATUS_IGNORE);
    case 1: return MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    default:
      while (flag == 0 && rc == MPI_SUCCESS) rc = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
      return rc;
  }
}

std::vector<int> narrowed(const std::vector<long long>& from) { return {from.begin(), from.end()}; }

/// Null when it was not given.
template <class T>
const T* given(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

}  // namespace

bool has_large_form(Collective collective) {
  return MPI_VERSION >= 4 && collective != Collective::barrier;
}

EntryPoint latest_entry_point() { return g_latest; }

int invoke(const Invocation& in, EntryPoint through) {
  g_latest = through;
#if MPI_VERSION >= 4
  if (in.large) return invoke_large(in, through);
#endif
  return invoke_plain(in, through);
}

Started::Started(const Invocation& in, Form form)
    : form_(form),
      sendcounts_(narrowed(in.sendcounts)),
      sdispls_(narrowed(in.sdispls)),
      recvcounts_(narrowed(in.recvcounts)),
      rdispls_(narrowed(in.rdispls)),
      sendtypes_(in.sendtypes),
      recvtypes_(in.recvtypes) {
  g_latest = EntryPoint::interposed;
  const unisono::IntArguments arguments{.sendbuf = in.sendbuf,
                                        .sendcount = static_cast<int>(in.sendcount),
                                        .sendcounts = given(sendcounts_),
                                        .sdispls = given(sdispls_),
                                        .sendtype = in.sendtype,
                                        .sendtypes = given(sendtypes_),
                                        .recvbuf = in.recvbuf,
                                        .recvcount = static_cast<int>(in.recvcount),
                                        .recvcounts = given(recvcounts_),
                                        .rdispls = given(rdispls_),
                                        .recvtype = in.recvtype,
                                        .recvtypes = given(recvtypes_),
                                        .op = in.op,
                                        .root = in.root,
                                        .comm = in.comm};
#if MPI_VERSION >= 4
  if (form_ == Form::persistent) {
    code_ = unisono::make_function(in.collective, arguments, &request_);
    if (code_ == MPI_SUCCESS) code_ = MPI_Start(&request_);
    return;
  }
#endif
  code_ = unisono::start_function(in.collective, arguments, &request_);
}

int Started::complete() {
  g_latest = EntryPoint::interposed;
  return conformance::complete(&request_);
}

int Started::start_again() { return MPI_Start(&request_); }

int Started::free() {
  return form_ == Form::persistent ? MPI_Request_free(&request_) : MPI_SUCCESS;
}

}  // namespace conformance
