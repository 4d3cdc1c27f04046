// Attributes of the program: what Unisono keeps on a communicator, and how it makes its own, must
// call none of the program's copy and delete functions, nor lose an attribute, name or handler.
#include <cstring>

#include "check.h"

namespace {

int g_copied = 0, g_deleted = 0;

int copy(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  ++g_copied;
  std::memcpy(out, &in, sizeof in);
  *flag = 1;
  return MPI_SUCCESS;
}

int remove(MPI_Comm, int, void*, void*) {
  ++g_deleted;
  return MPI_SUCCESS;
}

void collectives(MPI_Comm comm) {
  int value = conformance::rank_in(comm) == 0 ? 42 : 0, sum = 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  CHECK(value == 42);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == 42 * conformance::size_of(comm));
  MPI_Barrier(comm);
}

void* attribute(MPI_Comm comm, int key) {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, key, &value, &found);
  return found ? value : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  int key = MPI_KEYVAL_INVALID, data = 7;
  MPI_Comm_create_keyval(copy, remove, &key, nullptr);

  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, &data);
  MPI_Comm_set_name(first, "first");
  collectives(first);
  CHECK(g_copied == 0 && g_deleted == 0);

  // Duplicates of a communicator that Unisono has used, before and after it used them.
  for (int round = 1; round <= 10; ++round) {
    MPI_Comm_dup(first, &second);
    CHECK(g_copied == round && attribute(second, key) == &data);
    collectives(second);
    collectives(first);
    CHECK(g_copied == round && g_deleted == round - 1);
    MPI_Comm_free(&second);
    CHECK(second == MPI_COMM_NULL && g_deleted == round);
    collectives(first);
  }
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Comm_get_name(first, name, &length);
  CHECK(std::strcmp(name, "first") == 0);
  CHECK(attribute(first, key) == &data);

  MPI_Comm_delete_attr(first, key);
  CHECK(g_deleted == 11);
  collectives(first);
  MPI_Comm_free(&first);
  MPI_Comm_free_keyval(&key);
  CHECK(g_copied == 10 && g_deleted == 11);
  conformance::passed("attributes", 32 * 3, 32 * 3);  // collectives() 32 times
  MPI_Finalize();
  return 0;
}
