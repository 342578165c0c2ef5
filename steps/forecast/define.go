package forecast

import (
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane"
	"github.com/agentconform/agentconform/steps/endtoend"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Define registers every sentence for one scenario, with new worlds. The record is nil where there is no run.
func Define(r *common.Registrar, scene *common.Scene, t *target.Target, p *plane.Plane, agents *agent.Agents, record *invariants.Record) {
	c := controlplane.Define(r, scene, t, p)
	agentserver.Define(r, scene, t, p, agents)
	endtoend.Define(r, t, p, agents, c)
	common.DefineClosing(r, scene, t, p.Sources.CanCreate)
	invariants.Define(r, t, record, p.Sources.CanCreate)
}
