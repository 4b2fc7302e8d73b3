#include "tests/legalize/forms_util.h"

#include <map>

#include "legalize/expand.h"
#include "legalize/remake.h"

namespace vyre::emit_exact {
namespace {

bool is_marked(const Op& o) { return has_mark(o, OpMark::ByFunction); }

class WithForms : public Remake {
 public:
  WithForms(const Program& program, const Profile& profile) : Remake(program), profile_(profile) {}

 private:
  void visit(OpId id) override {
    const Op& o = from.op(id);
    if (!is_marked(o)) return copy(id);
    const auto [it, is_new] = forms_.try_emplace({o.code, o.type});
    if (is_new) it->second = form(o.code, o.type, profile_);
    Values values;
    for (uint32_t i = 0; i < o.operands.count; ++i)
      values[it->second.args(BlockId(0))[i]] = operand(id, i);
    give(id, paste(it->second, body_block, values));
  }

  using Values = std::map<ValueId, Term>;  // of the form

  /// Makes the ops of a block. What it yields.
  Term paste(const Program& form, BlockId block, Values& values) {
    for (OpId id = form.blocks[block].first; id != none; id = form.op(id).next) {
      const Op& o = form.op(id);
      if (o.code == Opcode::Yield) return values.at(form.operand(id, 0));
      Term made;
      if (o.code == Opcode::If) {
        made = c.branch(
            values.at(form.operand(id, 0)), [&] { return paste(form, o.first_block, values); },
            [&] { return paste(form, o.first_block + 1, values); });
      } else if (o.code == Opcode::Const) {
        made = c.constant(o.type, o.attr);
      } else {
        std::vector<Term> operands;
        for (const ValueId v : form.operands(id)) operands.push_back(values.at(v));
        made = c.op(o.code, o.type, operands, o.attr);
      }
      values[form.result(id)] = made;
    }
    return {};
  }

  const Profile& profile_;
  std::map<std::pair<Opcode, Type>, Program> forms_;
};

}  // namespace

size_t marked_ops(const Program& expanded) {
  size_t n = 0;
  walk(expanded, [&](OpId id) { n += is_marked(expanded.op(id)); });
  return n;
}

Program with_forms(const Program& expanded, const Profile& profile) {
  return WithForms(expanded, profile).run();
}

Program without_marks(Program p) {
  for (Op& o : p.ops)
    if (info(o.code).attribute == AttrKind::None) o.attr = 0;
  return p;
}

}  // namespace vyre::emit_exact
