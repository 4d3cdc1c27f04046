// The point-to-point calls that wait, and those that complete requests, each made of the same
// without waiting and a loop of looks which gives the core away. Statuses, errors and requests are
// the MPI library's own, since its functions set them.
#pragma once
#include <mpi.h>

namespace unisono::looking {

int Wait(MPI_Request* request, MPI_Status* status);
int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int Waitany(int count, MPI_Request requests[], int* which, MPI_Status* status);
int Waitsome(int count, MPI_Request requests[], int* number, int which[], MPI_Status statuses[]);
int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);
int Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status);
int Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status);
int Send(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
int Ssend(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
int Rsend(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
int Sendrecv(const void* from, int count, MPI_Datatype type, int target, int tag, void* into,
             int most, MPI_Datatype type_into, int source, int tag_of_source, MPI_Comm comm,
             MPI_Status* status);
int Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int target, int tag, int source,
                     int tag_of_source, MPI_Comm comm, MPI_Status* status);

}  // namespace unisono::looking
