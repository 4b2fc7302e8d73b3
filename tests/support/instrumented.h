#pragma once

// Whether this build is instrumented by AddressSanitizer or ThreadSanitizer. Their runtime ends a
// process whose address space is limited, so memory limits cannot be tested there.

namespace vyre {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VYRE_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VYRE_INSTRUMENTED 1
#endif
#endif

#ifdef VYRE_INSTRUMENTED
inline constexpr bool is_instrumented = true;
#else
inline constexpr bool is_instrumented = false;
#endif

}  // namespace vyre
