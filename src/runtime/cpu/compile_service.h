#pragma once

// The compiler process: forks a process for each request. Forking a process that has
// loaded LLVM and waits takes less than a millisecond; a crash, a deadline or a lack of memory ends
// one compilation and nothing else.

namespace vyre::driver {

/// Serves the socket (SOCK_SEQPACKET) until its other end is closed. A message carries two
/// descriptors: a file with the request and a pipe for the answer (compile_message.h).
int serve_compilations(int socket);

}  // namespace vyre::driver
