#pragma once

// A graph whose plan has every feature that a report shows: two stages fused with an elided buffer,
// twice; stages that cannot be fused; a loop; and intermediates that share memory. The sums over a
// whole buffer cannot be recomputed in their consumers.

namespace vyre::report {

inline constexpr const char* pipeline_graph = R"(
kernel spread(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  var sum: u32 = 0
  for j in 0..len(x) { sum += x[j] * (i + 1) }
  y[i] = sum
}
kernel twice(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * 2
}
kernel add(x: in u32[], y: in u32[], z: out u32[len(x)]) workgroup(64) grid(len(x)) {
  z[global_id.x] = x[global_id.x] + y[global_id.x]
}
graph pipeline(x: in u32[], rounds: u32, result: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  buffer c: u32[len(x)]
  buffer d: u32[len(x)]
  buffer e: u32[len(x)]
  buffer f: u32[len(x)]
  call spread(x, a)
  call twice(a, b)
  call spread(b, c)
  repeat rounds {
    call spread(c, d)
    call spread(d, c)
  }
  call spread(c, e)
  call spread(e, f)
  call add(f, f, result)
}
)";

}  // namespace vyre::report
