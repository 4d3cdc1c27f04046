// How the functions that programs find in place of the MPI library's are declared.
#pragma once

/// The only symbols that a flavour library exports, beside the public API.
#define ENTRY extern "C" __attribute__((visibility("default")))
