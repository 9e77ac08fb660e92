//! A way through a syntax tree: every statement and expression once, in the order of the source.

use minijinja::machinery::ast::{CallArg, Expr, Stmt};

/// Whether to look at what an expression is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Descend {
    Further,
    /// The visitor has seen to it.
    Done,
}

/// Who is shown the tree.
pub(super) trait Visit {
    fn expression(&mut self, expression: &Expr<'_>) -> Descend;
    /// Names that are given a value from here to the end of the scope.
    fn assign(&mut self, _target: &Expr<'_>) {}
    fn enter_scope(&mut self) {}
    fn leave_scope(&mut self) {}
    /// The body of a loop begins; its `loop` is known in it.
    fn enter_loop(&mut self) {
        self.enter_scope();
    }
}

fn statements(statements: &[Stmt<'_>], visit: &mut dyn Visit) {
    for each in statements {
        statement(each, visit);
    }
}

pub(super) fn statement(stmt: &Stmt<'_>, visit: &mut dyn Visit) {
    match stmt {
        Stmt::Template(template) => statements(&template.children, visit),
        Stmt::EmitExpr(emit) => expression(&emit.expr, visit),
        Stmt::EmitRaw(_) => {}
        Stmt::ForLoop(each) => {
            expression(&each.iter, visit);
            visit.enter_loop();
            visit.assign(&each.target);
            optional(each.filter_expr.as_ref(), visit);
            statements(&each.body, visit);
            visit.leave_scope();
            visit.enter_scope();
            statements(&each.else_body, visit);
            visit.leave_scope();
        }
        Stmt::IfCond(condition) => {
            expression(&condition.expr, visit);
            statements(&condition.true_body, visit);
            statements(&condition.false_body, visit);
        }
        Stmt::WithBlock(with) => {
            visit.enter_scope();
            for (target, value) in &with.assignments {
                expression(value, visit);
                visit.assign(target);
            }
            statements(&with.body, visit);
            visit.leave_scope();
        }
        Stmt::Set(set) => {
            expression(&set.expr, visit);
            visit.assign(&set.target);
        }
        Stmt::SetBlock(set) => {
            visit.enter_scope();
            statements(&set.body, visit);
            visit.leave_scope();
            optional(set.filter.as_ref(), visit);
            visit.assign(&set.target);
        }
        Stmt::AutoEscape(block) => {
            expression(&block.enabled, visit);
            statements(&block.body, visit);
        }
        Stmt::FilterBlock(block) => {
            visit.enter_scope();
            statements(&block.body, visit);
            visit.leave_scope();
            expression(&block.filter, visit);
        }
        Stmt::Do(call) => {
            expression(&call.call.expr, visit);
            arguments(&call.call.args, visit);
        }
    }
}

pub(super) fn expression(expr: &Expr<'_>, visit: &mut dyn Visit) {
    if visit.expression(expr) == Descend::Done {
        return;
    }
    match expr {
        Expr::Var(_) | Expr::Const(_) => {}
        Expr::Slice(slice) => {
            expression(&slice.expr, visit);
            for bound in [&slice.start, &slice.stop, &slice.step] {
                optional(bound.as_ref(), visit);
            }
        }
        Expr::UnaryOp(operation) => expression(&operation.expr, visit),
        Expr::BinOp(operation) => {
            expression(&operation.left, visit);
            expression(&operation.right, visit);
        }
        Expr::Compare(chain) => {
            expression(&chain.expr, visit);
            chain.ops.iter().for_each(|operand| expression(&operand.expr, visit));
        }
        Expr::IfExpr(choice) => {
            expression(&choice.test_expr, visit);
            expression(&choice.true_expr, visit);
            optional(choice.false_expr.as_ref(), visit);
        }
        Expr::Filter(filter) => {
            optional(filter.expr.as_ref(), visit);
            arguments(&filter.args, visit);
        }
        Expr::Test(test) => {
            expression(&test.expr, visit);
            arguments(&test.args, visit);
        }
        Expr::GetAttr(attribute) => expression(&attribute.expr, visit),
        Expr::GetItem(item) => {
            expression(&item.expr, visit);
            expression(&item.subscript_expr, visit);
        }
        Expr::Call(call) => {
            expression(&call.expr, visit);
            arguments(&call.args, visit);
        }
        Expr::List(list) => list.items.iter().for_each(|item| expression(item, visit)),
        Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| expression(item, visit)),
        Expr::Map(map) => {
            for (key, value) in map.keys.iter().zip(&map.values) {
                expression(key, visit);
                expression(value, visit);
            }
        }
    }
}

fn optional(expr: Option<&Expr<'_>>, visit: &mut dyn Visit) {
    if let Some(expr) = expr {
        expression(expr, visit);
    }
}

pub(super) fn arguments(args: &[CallArg<'_>], visit: &mut dyn Visit) {
    for argument in args {
        match argument {
            CallArg::Pos(expr) | CallArg::Kwarg(_, expr) | CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
                expression(expr, visit);
            }
        }
    }
}
