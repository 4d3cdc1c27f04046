#include "exec/kernel_reduction.h"

#include <algorithm>
#include <utility>

namespace unisono {

namespace {

using node::Element;
using node::Op;

std::optional<Op> op_of(MPI_Op op) {
  const std::pair<MPI_Op, Op> known[] = {
      {MPI_SUM, Op::sum},   {MPI_PROD, Op::prod},     {MPI_MIN, Op::min},
      {MPI_MAX, Op::max},   {MPI_LAND, Op::land},     {MPI_LOR, Op::lor},
      {MPI_LXOR, Op::lxor}, {MPI_BAND, Op::band},     {MPI_BOR, Op::bor},
      {MPI_BXOR, Op::bxor}, {MPI_MINLOC, Op::minloc}, {MPI_MAXLOC, Op::maxloc}};
  const auto found = std::find_if(std::begin(known), std::end(known),
                                  [op](const auto& pair) { return pair.first == op; });
  if (found == std::end(known)) return std::nullopt;
  return found->second;
}

bool is_unsigned(MPI_Datatype type) {
  const MPI_Datatype all[] = {MPI_UNSIGNED,           MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT,
                              MPI_UNSIGNED_LONG_LONG, MPI_UNSIGNED_CHAR, MPI_UINT8_T,
                              MPI_UINT16_T,           MPI_UINT32_T,      MPI_UINT64_T};
  return std::find(std::begin(all), std::end(all), type) != std::end(all);
}

std::optional<Element> integer_of(Count size, bool without_sign) {
  switch (size) {
    case 1: return without_sign ? Element::uint8 : Element::int8;
    case 2: return without_sign ? Element::uint16 : Element::int16;
    case 4: return without_sign ? Element::uint32 : Element::int32;
    case 8: return without_sign ? Element::uint64 : Element::int64;
    default: return std::nullopt;
  }
}

/// C's pairs. Fortran's are two numbers of one type, which the MPI library's function reduces.
std::optional<Element> pair_of(MPI_Datatype type) {
  const std::pair<MPI_Datatype, Element> known[] = {
      {MPI_2INT, Element::pair_int32},         {MPI_FLOAT_INT, Element::pair_float32},
      {MPI_DOUBLE_INT, Element::pair_float64}, {MPI_LONG_INT, Element::pair_int64},
      {MPI_SHORT_INT, Element::pair_int16},    {MPI_LONG_DOUBLE_INT, Element::pair_long_double}};
  for (const auto& [name, element] : known)
    if (name == type) return element;
  return std::nullopt;
}

// Fortran's logical is left to the MPI library, which knows what the compiler's .true. is, and so
// are MPI's own integers: Open MPI compares them without their sign.
std::optional<Element> element_of(MPI_Datatype type, const TypeFacts& facts) {
  switch (facts.kind) {
    case TypeKind::integer:
    case TypeKind::fortran_integer:
      if (type == MPI_AINT || type == MPI_OFFSET || type == MPI_COUNT) return std::nullopt;
      return integer_of(facts.size, is_unsigned(type));
    case TypeKind::byte: return Element::uint8;
    case TypeKind::floating:
      if (type == MPI_LONG_DOUBLE) return Element::long_double;
      if (facts.size == sizeof(float)) return Element::float32;
      if (facts.size == sizeof(double)) return Element::float64;
      return std::nullopt;
    case TypeKind::half: return Element::float16;
    case TypeKind::complex:
      if (facts.size == 2 * sizeof(float)) return Element::complex_float32;
      if (facts.size == 2 * sizeof(double)) return Element::complex_float64;
      return std::nullopt;
    case TypeKind::logical:
      if (type == MPI_C_BOOL || type == MPI_CXX_BOOL) return Element::boolean;
      return std::nullopt;
    case TypeKind::pair: return pair_of(type);
    case TypeKind::other: break;
  }
  return std::nullopt;
}

}  // namespace

bool can_reduce_in_node(const TypeFacts& facts) {
  return facts.kind != TypeKind::other && facts.true_lb == 0 &&
         facts.extent <= static_cast<Count>(node::kLargestElement);
}

std::optional<node::Reduction> built_in_reduction(MPI_Op op, MPI_Datatype type,
                                                  const TypeFacts& facts) {
  const auto known_op = op_of(op);
  if (!known_op) return std::nullopt;
  const auto element = element_of(type, facts);
  if (!element) return std::nullopt;
  const auto reduction = node::built_in(*known_op, *element);
  // Elements that the MPI library sees otherwise are none of ours.
  if (!reduction || static_cast<Count>(reduction->element_bytes) != facts.extent)
    return std::nullopt;
  return reduction;
}

KernelReduction::KernelReduction(MPI_Op op, MPI_Datatype type, const TypeFacts& facts)
    : op_(op), type_(type), called_{reduce_local, this, static_cast<std::size_t>(facts.extent)} {
  const auto known = built_in_reduction(op, type, facts);
  reduction_ = known ? *known : node::called(called_);
}

void KernelReduction::reduce_local(const void* context, const std::byte* in, std::byte* inout,
                                   std::size_t count) {
  const auto& self = *static_cast<const KernelReduction*>(context);
  PMPI_Reduce_local(in, inout, static_cast<int>(count), self.type_, self.op_);
}

}  // namespace unisono
