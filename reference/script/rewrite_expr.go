package script

import "go.starlark.net/syntax"

func (r *rewriter) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case nil, *syntax.Ident, *syntax.Literal:
	case *syntax.ParenExpr:
		e.X = r.expr(e.X)
	case *syntax.ListExpr:
		r.exprs(e.List)
	case *syntax.TupleExpr:
		r.exprs(e.List)
	case *syntax.CondExpr:
		e.True, e.Cond, e.False = r.expr(e.True), r.expr(e.Cond), r.expr(e.False)
	case *syntax.DictExpr:
		return r.dict(e)
	case *syntax.Comprehension:
		return r.comprehension(e)
	case *syntax.CallExpr:
		e.Fn = r.expr(e.Fn)
		r.args(e.Args)
	case *syntax.DotExpr:
		return call(e.Dot, opAttr, r.expr(e.X), text(e.NamePos, e.Name.Name))
	case *syntax.IndexExpr:
		e.X, e.Y = r.expr(e.X), r.keyed(e.Lbrack, e.Y)
	case *syntax.SliceExpr:
		return r.slice(e)
	case *syntax.UnaryExpr:
		return r.unary(e)
	case *syntax.BinaryExpr:
		return r.binary(e)
	case *syntax.LambdaExpr:
		return r.lambda(e)
	default:
		r.refuse(syntax.Start(e), "the sandbox does not support expressions of type %T", e)
	}
	return e
}

// keyed rewrites an expression that is going to be hashed. A literal is known to be small.
func (r *rewriter) keyed(pos syntax.Position, e syntax.Expr) syntax.Expr {
	if lit, ok := e.(*syntax.Literal); ok && len(lit.Raw) < maxKey {
		return e
	}
	return call(pos, opKey, r.expr(e))
}

func (r *rewriter) dict(e *syntax.DictExpr) syntax.Expr {
	if len(e.List) > maxDictLiteral {
		r.refuse(e.Lbrace, "a dict that is written out may have %d entries", maxDictLiteral)
		return e
	}
	for _, x := range e.List {
		entry := x.(*syntax.DictEntry)
		entry.Key, entry.Value = r.keyed(entry.Colon, entry.Key), r.expr(entry.Value)
	}
	return call(e.Lbrace, opDict, e)
}

// comprehension rewrites {k: v for ...} as the dict of [(k, v) for ...], so that the entries are counted as they go in.
func (r *rewriter) comprehension(e *syntax.Comprehension) syntax.Expr {
	for _, c := range e.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			c.Vars, c.X = r.target(c.Vars), r.expr(c.X)
		case *syntax.IfClause:
			c.Cond = r.expr(c.Cond)
		}
	}
	if !e.Curly {
		e.Body = r.expr(e.Body)
		return e
	}
	entry, ok := e.Body.(*syntax.DictEntry)
	if !ok {
		r.refuse(e.Lbrack, "sets are not available: use a dict")
		return e
	}
	pair := &syntax.TupleExpr{Lparen: entry.Colon, List: []syntax.Expr{r.expr(entry.Key), r.expr(entry.Value)}, Rparen: entry.Colon}
	list := &syntax.Comprehension{Lbrack: e.Lbrack, Body: pair, Clauses: e.Clauses, Rbrack: e.Rbrack}
	return call(e.Lbrack, opPairs, list)
}

func (r *rewriter) args(args []syntax.Expr) {
	for i, a := range args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ { // name=value
				a.Y = r.expr(a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			switch a.Op {
			case syntax.STAR:
				a.X = call(a.OpPos, opSpread, r.expr(a.X))
				continue
			case syntax.STARSTAR:
				a.X = call(a.OpPos, opSpreadK, r.expr(a.X))
				continue
			}
		}
		args[i] = r.expr(a)
	}
}

func (r *rewriter) slice(e *syntax.SliceExpr) syntax.Expr {
	stepped := syntax.Expr(text(e.Lbrack, ""))
	if e.Step != nil {
		stepped = text(e.Lbrack, "step")
	}
	e.X = call(e.Lbrack, opCopy, r.expr(e.X), stepped)
	e.Lo, e.Hi, e.Step = r.expr(e.Lo), r.expr(e.Hi), r.expr(e.Step)
	return e
}

func (r *rewriter) unary(e *syntax.UnaryExpr) syntax.Expr {
	x := r.expr(e.X)
	if e.Op == syntax.NOT {
		e.X = x
		return e
	}
	if lit, ok := x.(*syntax.Literal); ok && len(lit.Raw) < 64 {
		e.X = x
		return e
	}
	return call(e.OpPos, opUnary, text(e.OpPos, e.Op.String()), x)
}

func (r *rewriter) binary(e *syntax.BinaryExpr) syntax.Expr {
	x, y := r.expr(e.X), r.expr(e.Y)
	if e.Op == syntax.AND || e.Op == syntax.OR {
		e.X, e.Y = x, y
		return e
	}
	return call(e.OpPos, opBinary, text(e.OpPos, e.Op.String()), x, y)
}

func (r *rewriter) lambda(e *syntax.LambdaExpr) syntax.Expr {
	r.params(e.Params)
	e.Body = r.expr(e.Body)
	if kw := kwargsOf(e.Params); kw != nil {
		// [$dict(kw), body][1] charges for the dict of the keywords, then yields the body.
		one := &syntax.Literal{Token: syntax.INT, TokenPos: kw.NamePos, Raw: "1", Value: int64(1)}
		both := &syntax.TupleExpr{Lparen: kw.NamePos, List: []syntax.Expr{call(kw.NamePos, opDict, ident(kw)), e.Body}, Rparen: kw.NamePos}
		e.Body = &syntax.IndexExpr{X: both, Lbrack: kw.NamePos, Y: one, Rbrack: kw.NamePos}
	}
	return e
}
