#include "runtime/cuda/cuda_loop.h"

#include <fmt/format.h>

namespace vyre::driver::cuda {

using emit_ptx::ControlBlock;

const std::string& loop_text() {
  // All threads read the control blocks, then the first one decides. A loop that ends only because
  // of the stop flag records it.
  static const std::string text = fmt::format(
      R"(.version 6.3
.target sm_75
.address_size 64

.extern .func cudaGraphSetConditional
(
	.param .b64 cudaGraphSetConditional_param_0,
	.param .b32 cudaGraphSetConditional_param_1
)
;

.visible .entry {entry}(
	.param .align 8 .b8 p[{bytes}]
)
.maxntid {threads}, 1, 1
{{
	.reg .pred %p<12>;
	.reg .b32 %r<20>;
	.reg .b64 %l<20>;
	mov.u32 %r0, %tid.x;
	ld.param.u64 %l0, [p+{controls}];
	cvta.to.global.u64 %l0, %l0;
	ld.param.u32 %r1, [p+{control_count}];
	mov.pred %p0, 0;
	mov.u32 %r2, %r0;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra $scanned;
$scan:
	mad.wide.u32 %l1, %r2, {block_bytes}, %l0;
	ld.global.u64 %l2, [%l1+{trapped}];
	ld.global.u32 %r3, [%l1+{stopped_at}];
	setp.ne.u64 %p2, %l2, 0xffffffffffffffff;
	setp.ne.u32 %p3, %r3, 0;
	or.pred %p0, %p0, %p2;
	or.pred %p0, %p0, %p3;
	add.u32 %r2, %r2, {threads};
	setp.lt.u32 %p1, %r2, %r1;
	@%p1 bra $scan;
$scanned:
	bar.red.or.pred %p4, 0, %p0;
	setp.ne.u32 %p1, %r0, 0;
	@%p1 bra $end;
	ld.param.u64 %l3, [p+{word}];
	setp.eq.u64 %p5, %l3, 0;
	cvta.to.global.u64 %l3, %l3;
	ld.param.u64 %l4, [p+{state}];
	cvta.to.global.u64 %l4, %l4;
	ld.param.u64 %l5, [p+{stop}];
	cvta.to.global.u64 %l5, %l5;
	ld.param.u32 %r4, [p+{is_first}];
	ld.relaxed.gpu.global.u32 %r5, [%l5];
	mov.u64 %l6, 0;
	setp.ne.u32 %p6, %r4, 0;
	@!%p6 ld.global.u64 %l6, [%l4+{x}];
	@%p6 st.global.u32 [%l4+{z}], 0;
	ld.param.u64 %l8, [p+{rounds}];
	setp.lt.u64 %p8, %l6, %l8;
	@%p5 bra $decide;
	ld.param.u32 %r6, [p+{word_bytes}];
	mov.u32 %r7, 0;
	mov.u32 %r8, 0;
$bytes:
	cvt.u64.u32 %l7, %r7;
	add.u64 %l7, %l7, %l3;
	ld.global.u8 %r9, [%l7];
	or.b32 %r8, %r8, %r9;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p7, %r7, %r6;
	@%p7 bra $bytes;
	setp.ne.and.u32 %p8, %r8, 0, %p8;
$decide:
	not.pred %p9, %p4;
	and.pred %p8, %p8, %p9;
	setp.ne.u32 %p10, %r5, 0;
	and.pred %p11, %p8, %p10;
	mov.u32 %r10, 1;
	@%p11 st.global.u32 [%l4+{z}], %r10;
	not.pred %p10, %p10;
	and.pred %p8, %p8, %p10;
	selp.u32 %r11, 1, 0, %p8;
	cvt.u64.u32 %l9, %r11;
	add.u64 %l6, %l6, %l9;
	st.global.u64 [%l4+{x}], %l6;
	ld.param.u64 %l10, [p+{condition}];
	{{
	.param .b64 param0;
	st.param.b64 [param0+0], %l10;
	.param .b32 param1;
	st.param.b32 [param1+0], %r11;
	call.uni cudaGraphSetConditional, (param0, param1);
	}}
$end:
	ret;
}}
)",
      fmt::arg("entry", loop_symbol), fmt::arg("bytes", sizeof(LoopTest)),
      fmt::arg("threads", loop_threads), fmt::arg("controls", offsetof(LoopTest, controls)),
      fmt::arg("control_count", offsetof(LoopTest, control_count)),
      fmt::arg("block_bytes", sizeof(ControlBlock)),
      fmt::arg("trapped", offsetof(ControlBlock, trapped)),
      fmt::arg("stopped_at", offsetof(ControlBlock, stopped_at)),
      fmt::arg("word", offsetof(LoopTest, word)), fmt::arg("state", offsetof(LoopTest, state)),
      fmt::arg("stop", offsetof(LoopTest, stop)),
      fmt::arg("is_first", offsetof(LoopTest, is_first)), fmt::arg("x", offsetof(ControlBlock, x)),
      fmt::arg("z", offsetof(ControlBlock, z)),
      fmt::arg("word_bytes", offsetof(LoopTest, word_bytes)),
      fmt::arg("rounds", offsetof(LoopTest, rounds)),
      fmt::arg("condition", offsetof(LoopTest, condition)));
  return text;
}

Result<std::shared_ptr<Module>> load_loop_test(std::shared_ptr<Context> context) {
  const std::string& text = loop_text();
  return Module::load(std::move(context), std::as_bytes(std::span(text.c_str(), text.size() + 1)),
                      loop_symbol);
}

}  // namespace vyre::driver::cuda
