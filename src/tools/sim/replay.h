// A program's calls at another scale: `unisono whatif` writes what is to be called, SMPI tells how
// long it takes.
#pragma once
#include <string>

namespace unisono::sim {

/// Reads the file (docs/reference/whatif.md), makes its calls one after the other with the
/// computing between them, and prints one line of JSON. Collective. The result is an exit status;
/// what is wrong with the file is one line.
int replay(const std::string& path);

}  // namespace unisono::sim
