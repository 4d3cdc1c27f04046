#include "invocation.h"

#include <dlfcn.h>

#include <cctype>
#include <string>

namespace conformance {

namespace {

/// In the widths that a form wants.
template <class Count, class Displacement>
struct Arrays {
  std::vector<Count> sendcounts, recvcounts;
  std::vector<Displacement> sdispls, rdispls;
  explicit Arrays(const Invocation& in)
      : sendcounts(in.sendcounts.begin(), in.sendcounts.end()),
        recvcounts(in.recvcounts.begin(), in.recvcounts.end()),
        sdispls(in.sdispls.begin(), in.sdispls.end()),
        rdispls(in.rdispls.begin(), in.rdispls.end()) {
    if (unisono::contains(unisono::kAmongAll, in.collective)) return;
    // Ranks without neighbours: MPI libraries want arrays all the same.
    for (auto* counts : {&sendcounts, &recvcounts}) counts->push_back(0);
    for (auto* displs : {&sdispls, &rdispls}) displs->push_back(0);
  }
};

/// Null when it was not given (arguments that MPI ignores).
template <class T>
const T* given(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

/// The arguments of the blocking form, in MPI's order.
template <class Count, class Displacement, class Call>
int with_arguments(const Invocation& in, const Arrays<Count, Displacement>& arrays,
                   const MPI_Datatype* sendtypes, const MPI_Datatype* recvtypes, Call call) {
  const auto sendcount = static_cast<Count>(in.sendcount);
  const auto recvcount = static_cast<Count>(in.recvcount);
  const Count *scounts = given(arrays.sendcounts), *rcounts = given(arrays.recvcounts);
  const Displacement *sdispls = given(arrays.sdispls), *rdispls = given(arrays.rdispls);
  switch (in.collective) {
    case Collective::barrier: return call(in.comm);
    case Collective::bcast: return call(in.recvbuf, recvcount, in.recvtype, in.root, in.comm);
    case Collective::gather:
    case Collective::scatter:
      return call(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount, in.recvtype, in.root,
                  in.comm);
    case Collective::gatherv:
      return call(in.sendbuf, sendcount, in.sendtype, in.recvbuf, rcounts, rdispls, in.recvtype,
                  in.root, in.comm);
    case Collective::scatterv:
      return call(in.sendbuf, scounts, sdispls, in.sendtype, in.recvbuf, recvcount, in.recvtype,
                  in.root, in.comm);
    case Collective::allgather:
    case Collective::alltoall:
    case Collective::neighbor_allgather:
    case Collective::neighbor_alltoall:
      return call(in.sendbuf, sendcount, in.sendtype, in.recvbuf, recvcount, in.recvtype, in.comm);
    case Collective::allgatherv:
    case Collective::neighbor_allgatherv:
      return call(in.sendbuf, sendcount, in.sendtype, in.recvbuf, rcounts, rdispls, in.recvtype,
                  in.comm);
    case Collective::alltoallv:
    case Collective::neighbor_alltoallv:
      return call(in.sendbuf, scounts, sdispls, in.sendtype, in.recvbuf, rcounts, rdispls,
                  in.recvtype, in.comm);
    case Collective::alltoallw:
    case Collective::neighbor_alltoallw:
      return call(in.sendbuf, scounts, sdispls, sendtypes, in.recvbuf, rcounts, rdispls, recvtypes,
                  in.comm);
    case Collective::reduce:
      return call(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.root, in.comm);
    case Collective::allreduce:
    case Collective::reduce_scatter_block:
    case Collective::scan:
    case Collective::exscan:
      return call(in.sendbuf, in.recvbuf, recvcount, in.recvtype, in.op, in.comm);
    case Collective::reduce_scatter:
      return call(in.sendbuf, in.recvbuf, rcounts, in.recvtype, in.op, in.comm);
  }
  return MPI_ERR_OTHER;
}

void* function(Collective collective, Form form, bool large, EntryPoint through) {
  std::string name(unisono::name(collective));
  if (form != Form::nonblocking)
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  name = (through == EntryPoint::native ? "PMPI_" : "MPI_") +
         std::string(form == Form::nonblocking ? "I" : "") + name;
  if (form == Form::persistent) name += "_init";
  return dlsym(RTLD_DEFAULT, (name + (large ? "_c" : "")).c_str());
}

template <class... Arguments>
int call_at(void* address, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
}

/// Calls it; the arrays are kept where `kept` says.
template <class Count, class Displacement>
int call_with(const Invocation& in, Form form, void* address, const MPI_Datatype* sendtypes,
              const MPI_Datatype* recvtypes, MPI_Request* request, std::shared_ptr<void>* kept) {
  const auto arrays = std::make_shared<Arrays<Count, Displacement>>(in);
  *kept = arrays;
  return with_arguments(in, *arrays, sendtypes, recvtypes, [&](auto... arguments) {
    if (form == Form::persistent) return call_at(address, arguments..., MPI_INFO_NULL, request);
    if (form == Form::nonblocking) return call_at(address, arguments..., request);
    return call_at(address, arguments...);
  });
}

int call_form(const Invocation& in, Form form, EntryPoint through, const MPI_Datatype* sendtypes,
              const MPI_Datatype* recvtypes, MPI_Request* request, std::shared_ptr<void>* kept) {
  tell_entry_point(through);
  const bool large = in.large && has_function(in.collective, form, true, through);
  void* const address = function(in.collective, form, large, through);
  if (address == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  const auto call = large ? call_with<MPI_Count, MPI_Aint>
                    : in.collective == Collective::neighbor_alltoallw ? call_with<int, MPI_Aint>
                                                                      : call_with<int, int>;
  return call(in, form, address, sendtypes, recvtypes, request, kept);
}

}  // namespace

bool has_function(Collective collective, Form form, bool large, EntryPoint through) {
  return function(collective, form, large, through) != nullptr;
}

int invoke(const Invocation& in, EntryPoint through) {
  std::shared_ptr<void> arrays;
  return call_form(in, Form::blocking, through, given(in.sendtypes), given(in.recvtypes), nullptr,
                   &arrays);
}

Started::Started(const Invocation& in, Form form, EntryPoint through)
    : form_(form), through_(through), sendtypes_(in.sendtypes), recvtypes_(in.recvtypes) {
  code_ = call_form(in, form, through, given(sendtypes_), given(recvtypes_), &request_, &arrays_);
  // No request: an error, of which a handler of the program's own has made none.
  if (form_ == Form::persistent && code_ == MPI_SUCCESS && request_ != MPI_REQUEST_NULL)
    code_ = start_again();
}

int Started::complete(int way) {
  if (through_ == EntryPoint::native) return PMPI_Wait(&request_, MPI_STATUS_IGNORE);
  tell_entry_point(EntryPoint::interposed);
  int rc = MPI_SUCCESS, flag = 0, index = 0;
  switch (way % 3) {
    case 0: return MPI_Wait(&request_, MPI_STATUS_IGNORE);
    case 1: return MPI_Waitany(1, &request_, &index, MPI_STATUS_IGNORE);
    default:
      while (flag == 0 && rc == MPI_SUCCESS) rc = MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
      return rc;
  }
}

int Started::start_again() {
  return (through_ == EntryPoint::native ? PMPI_Start : MPI_Start)(&request_);
}

int Started::free() {
  if (form_ != Form::persistent) return MPI_SUCCESS;
  return (through_ == EntryPoint::native ? PMPI_Request_free : MPI_Request_free)(&request_);
}

}  // namespace conformance
