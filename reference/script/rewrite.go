package script

import (
	"fmt"

	"go.starlark.net/syntax"
)

// The guarded operations that rewriting puts into the tree. No source can contain these names.
const (
	opBinary  = "$binary"  // (op, x, y): x op y
	opUnary   = "$unary"   // (op, x): op x
	opAugment = "$augment" // (op, x, y): the new value of x after x op= y
	opLoad    = "$load"    // (x, i): a reference to the slot x[i]
	opStore   = "$store"   // (op, slot, y): slot op= y
	opAttr    = "$attr"    // (x, name): x.name
	opKey     = "$key"     // (k): k, if it may be hashed
	opRoom    = "$room"    // (d): d, if it has room for one more entry
	opCopy    = "$copy"    // (x, step): x, after charging for a copy of it
	opDict    = "$dict"    // (d): d, after charging for a new dict
	opPairs   = "$pairs"   // (pairs): the dict of a comprehension
	opSpread  = "$spread"  // (x): x as *args
	opSpreadK = "$spreadk" // (x): x as **kwargs
)

// maxDictLiteral bounds a dict that is written out, since its entries are inserted without a guard.
const maxDictLiteral = 4096

// rewrite replaces every operation that could be costly by a call of its guarded form.
func rewrite(f *syntax.File) error {
	r := &rewriter{}
	r.stmts(f.Stmts)
	return r.err
}

type rewriter struct{ err error }

func (r *rewriter) refuse(pos syntax.Position, format string, args ...any) {
	if r.err == nil {
		r.err = syntax.Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
	}
}

func call(pos syntax.Position, name string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{
		Fn:     &syntax.Ident{NamePos: pos, Name: name},
		Lparen: pos, Args: args, Rparen: pos,
	}
}

func text(pos syntax.Position, s string) *syntax.Literal {
	return &syntax.Literal{Token: syntax.STRING, TokenPos: pos, Raw: fmt.Sprintf("%q", s), Value: s}
}

func (r *rewriter) stmts(list []syntax.Stmt) {
	for i, s := range list {
		list[i] = r.stmt(s)
	}
}

func (r *rewriter) stmt(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		return r.assign(s)
	case *syntax.DefStmt:
		r.params(s.Params)
		r.stmts(s.Body)
		if kw := kwargsOf(s.Params); kw != nil {
			s.Body = append([]syntax.Stmt{&syntax.ExprStmt{X: call(kw.NamePos, opDict, ident(kw))}}, s.Body...)
		}
	case *syntax.ExprStmt:
		s.X = r.expr(s.X)
	case *syntax.ForStmt:
		s.Vars = r.target(s.Vars)
		s.X = r.expr(s.X)
		r.stmts(s.Body)
	case *syntax.WhileStmt:
		s.Cond = r.expr(s.Cond)
		r.stmts(s.Body)
	case *syntax.IfStmt:
		s.Cond = r.expr(s.Cond)
		r.stmts(s.True)
		r.stmts(s.False)
	case *syntax.ReturnStmt:
		s.Result = r.expr(s.Result)
	case *syntax.LoadStmt, *syntax.BranchStmt:
	default:
		r.refuse(syntax.Start(s), "the sandbox does not support statements of type %T", s)
	}
	return s
}

func (r *rewriter) assign(s *syntax.AssignStmt) syntax.Stmt {
	s.RHS = r.expr(s.RHS)
	if s.Op == syntax.EQ {
		s.LHS = r.target(s.LHS)
		return s
	}
	op := text(s.OpPos, (s.Op - syntax.PLUS_EQ + syntax.PLUS).String())
	switch lhs := unparen(s.LHS).(type) {
	case *syntax.Ident:
		return &syntax.AssignStmt{OpPos: s.OpPos, Op: syntax.EQ, LHS: lhs, RHS: call(s.OpPos, opAugment, op, ident(lhs), s.RHS)}
	case *syntax.IndexExpr:
		slot := call(lhs.Lbrack, opLoad, r.expr(lhs.X), r.expr(lhs.Y))
		return &syntax.ExprStmt{X: call(s.OpPos, opStore, op, slot, s.RHS)}
	}
	r.refuse(s.OpPos, "only a variable or an element can be changed by %s", s.Op)
	return s
}

// target rewrites the left side of an assignment.
func (r *rewriter) target(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
	case *syntax.ParenExpr:
		e.X = r.target(e.X)
	case *syntax.TupleExpr:
		r.targets(e.List)
	case *syntax.ListExpr:
		r.targets(e.List)
	case *syntax.IndexExpr:
		e.X = call(e.Lbrack, opRoom, r.expr(e.X))
		e.Y = r.keyed(e.Lbrack, e.Y)
	case *syntax.DotExpr:
		r.refuse(e.Dot, "fields cannot be assigned: .%s", e.Name.Name)
	default:
		r.refuse(syntax.Start(e), "this cannot be assigned to")
	}
	return e
}

func (r *rewriter) targets(list []syntax.Expr) {
	for i, e := range list {
		list[i] = r.target(e)
	}
}

func (r *rewriter) exprs(list []syntax.Expr) {
	for i, e := range list {
		list[i] = r.expr(e)
	}
}

// params rewrites the default values of parameters.
func (r *rewriter) params(list []syntax.Expr) {
	for _, p := range list {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			b.Y = r.expr(b.Y)
		}
	}
}

func kwargsOf(params []syntax.Expr) *syntax.Ident {
	for _, p := range params {
		if u, ok := p.(*syntax.UnaryExpr); ok && u.Op == syntax.STARSTAR {
			if id, ok := u.X.(*syntax.Ident); ok {
				return id
			}
		}
	}
	return nil
}

// ident copies an identifier: the resolver annotates each occurrence.
func ident(id *syntax.Ident) *syntax.Ident { return &syntax.Ident{NamePos: id.NamePos, Name: id.Name} }

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}
