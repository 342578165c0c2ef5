package invariants

import (
	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
)

// ids holds answers to the ids that their requests name in the path (sections 2 and 4).
type ids struct {
	side spec.Side
	tally
}

// idFields says, by operation, in which field an answer has which parameter of the path, and which other field shows that it has.
var idFields = map[string]struct{ field, parameter, beside string }{
	"get-deployment":    {"id", "deployment_id", "id"},
	"update-deployment": {"id", "deployment_id", "latest_revision_id"}, // without it, it need not be the deployment
	"get-revision":      {"id", "revision_id", "id"},
	"get-run":           {"run_id", "run_id", "run_id"},
}

func (r *ids) note(*seen) {}

// check compares ids of the right type: what the contract has against an id is its own concern.
func (r *ids) check(s *seen) {
	at, has := idFields[s.Op.ID]
	if s.Side != r.side || !has || !s.ok() || !s.answer.Get(at.beside).Exists() {
		return
	}
	asked, got := s.In(at.parameter), s.answer.Get(at.field)
	if r.side == spec.ControlPlane && (uuid.Validate(asked) != nil || uuid.Validate(got.Str) != nil) {
		return
	}
	if got.Type != gjson.String && got.Type != gjson.Number {
		return
	}
	r.judged++
	if !sameID(asked, got.String()) {
		r.violated(s, "/"+at.field, "an answer has another id than its request", "the id "+asked, got.String())
	}
}
