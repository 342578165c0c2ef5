package agent

import (
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Value returns the run in progress as judgements see it: a run that a rollback removes.
func (p *Progress) Value() judge.Prior {
	return judge.Prior{Run: p.GraphRun.Value(), Ahead: Values(p.ahead), Shown: p.Shown, Until: p.Until()}
}

// LeftIn returns an error if the state contains a message of this run. later lists the runs that the thread accepted after
// it.
func (p *Progress) LeftIn(state *exchange.Response, later ...*GraphRun) error {
	return judge.NoneRemains(state, p.Value(), Values(later)...)
}
