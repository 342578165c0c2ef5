package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// TestExplainByResponses checks which failures explain CP-B-1. CP-A-1 shows the first violation of each row.
func TestExplainByResponses(t *testing.T) {
	refused := sign{exchange: 1, operation: "get-run", object: "t1", caller: "users.0", status: 404, body: "gone", kind: outcome.Refused}
	leak := sign{exchange: 2, operation: "get-state", object: "t1", caller: "users.1", status: 200, kind: outcome.Accepted, isLeak: true}
	with := func(s sign, change func(*sign)) sign {
		change(&s)
		return s
	}
	otherRead := with(refused, func(s *sign) { s.exchange, s.operation, s.kind = 4, "get-state", outcome.NotFinished })
	for name, c := range map[string]struct {
		first       sign
		violations  [][]sign
		isIsolation bool
		isShould    bool // CP-A-1 is a SHOULD
		isInvariant bool // CP-A-1 is an invariant
		explained   bool
	}{
		"the same refusal of the same thread": {first: refused, violations: [][]sign{{otherRead}}, explained: true},
		"the same operation and kind":         {first: refused, violations: [][]sign{{with(refused, func(s *sign) { s.exchange, s.object = 5, "t2" })}}, explained: true},
		"a join of a run that is not found":   {first: refused, violations: [][]sign{{with(refused, func(s *sign) { s.operation, s.object = "join-run", "t2" })}}, explained: true},
		"another thread and operation":        {first: refused, violations: [][]sign{{with(otherRead, func(s *sign) { s.object = "t2" })}}},
		"another status":                      {first: refused, violations: [][]sign{{with(otherRead, func(s *sign) { s.status = 409 })}}},
		"another text":                        {first: refused, violations: [][]sign{{with(otherRead, func(s *sign) { s.body = "busy" })}}},
		"another caller":                      {first: refused, violations: [][]sign{{with(otherRead, func(s *sign) { s.caller = "users.1" })}}},
		"a 500 and a 200":                     {first: with(refused, func(s *sign) { s.status = 500 }), violations: [][]sign{{with(otherRead, func(s *sign) { s.status = 200 })}}},
		"one of two violations":               {first: refused, violations: [][]sign{{otherRead}, {with(otherRead, func(s *sign) { s.kind, s.status = outcome.WrongValue, 200 })}}},
		"no known exchange":                   {first: refused, violations: [][]sign{nil}},
		"a list that lacks the thread":        {first: refused, violations: [][]sign{{with(otherRead, func(s *sign) { s.status, s.kind = 200, outcome.MissingItem })}}, explained: true},
		"another response with 200":           {first: refused, violations: [][]sign{{with(otherRead, func(s *sign) { s.status = 200 })}}},
		"a SHOULD explains no MUST":           {first: refused, violations: [][]sign{{otherRead}}, isShould: true},
		"an invariant explains no other":      {first: refused, violations: [][]sign{{otherRead}}, isInvariant: true},
		"a leak of the same thread":           {first: leak, violations: [][]sign{{with(leak, func(s *sign) { s.exchange, s.operation, s.caller = 6, "get-run", "nobody" })}}, isIsolation: true, explained: true},
		"a leak of another thread":            {first: leak, violations: [][]sign{{with(leak, func(s *sign) { s.exchange, s.object = 6, "t2" })}}, isIsolation: true},
		"a refusal of a thread that leaks":    {first: leak, violations: [][]sign{{refused}}, explained: true},
		"a refusal of another thread":         {first: leak, violations: [][]sign{{with(refused, func(s *sign) { s.object = "t2" })}}},
		"a refusal to the same caller":        {first: leak, violations: [][]sign{{with(refused, func(s *sign) { s.caller = "users.1" })}}},
		"a leak, and a refusal of the thread": {first: refused, violations: [][]sign{{leak}}, isIsolation: true},
	} {
		a, b := &reports.Requirement{ID: "CP-A-1", Level: reports.Must}, &reports.Requirement{ID: "CP-B-1", Level: reports.Must}
		if c.isShould {
			a.Level = reports.Should
		}
		if c.isIsolation {
			a.Subject, b.Subject = "isolation", "isolation"
		}
		explainByResponses([]failure{{Requirement: a, isInvariant: c.isInvariant, signs: [][]sign{{c.first}}}, {Requirement: b, signs: c.violations}})
		assert.Equal(t, c.explained, len(b.ExplainedBy) == 1, name)
		assert.Empty(t, a.ExplainedBy, name)
	}
}

// TestGeneralFailureExplains checks which of two failures with the same response explains the other.
func TestGeneralFailureExplains(t *testing.T) {
	lost := [][]sign{{{exchange: 1, operation: "get-run", object: "t1", status: 404, kind: outcome.Refused}}}
	for name, c := range map[string]struct {
		subject string // subject of the second failure
		// whether only scenarios about situations failed
		first, second bool
		cause         string
	}{
		"both fail directly":                         {cause: "AS-ROLLBACK-7"},
		"the first fails in situations only":         {first: true, cause: "AS-RUN-2"},
		"both fail in situations, one of a rollback": {first: true, second: true, cause: "AS-RUN-2"},
		"both are about rollbacks":                   {subject: "rollback", first: true, second: true, cause: "AS-ROLLBACK-7"},
	} {
		a := &reports.Requirement{ID: "AS-ROLLBACK-7", Level: reports.Must, Subject: "rollback"}
		b := &reports.Requirement{ID: "AS-RUN-2", Level: reports.Must, Subject: c.subject}
		explainByResponses([]failure{
			{Requirement: a, isSituational: c.first, signs: lost}, {Requirement: b, isSituational: c.second, signs: lost},
		})
		explained := map[string][]string{"AS-ROLLBACK-7": b.ExplainedBy, "AS-RUN-2": a.ExplainedBy}
		assert.Equal(t, []string{c.cause}, explained[c.cause], name)
	}
}
