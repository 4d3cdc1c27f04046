// For what must outlive the process's exit handlers, which may still call MPI.
#pragma once
#include <cstddef>
#include <new>

namespace unisono {

/// The one object of this type, made at the first use and never destroyed. It takes no memory from
/// the system, which may have none left in MPI_Finalize.
template <class Object>
Object& lasting() {
  alignas(Object) static std::byte memory[sizeof(Object)];
  static Object& object = *new (memory) Object;
  return object;
}

}  // namespace unisono
