package controlplane

import (
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Define registers the sentences about the control plane for one scenario.
func Define(r *common.Definitions, scene *common.Scene, t *target.Target, p *plane.Plane) *World {
	w := newWorld(scene, t, p)
	(&access{World: w}).define(r)
	created := &creation{World: w}
	created.define(r)
	created.defineTag(r)
	read := &retrieval{World: w}
	read.define(r)
	read.defineMoments(r)
	(&lifecycle{World: w}).define(r)
	updated := &update{World: w}
	updated.define(r)
	updated.defineKeeping(r)
	defineListing(r, w)
	return w
}
