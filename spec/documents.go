package spec

import (
	_ "embed"
	"slices"
)

//go:embed control-plane.yaml
var controlPlaneDocument []byte

//go:embed agent-server.yaml
var agentServerDocument []byte

// Document is the OpenAPI 3.1 document of a side, as YAML. It is nil for an unknown side.
func Document(side Side) []byte {
	switch side {
	case ControlPlane:
		return slices.Clone(controlPlaneDocument)
	case AgentServer:
		return slices.Clone(agentServerDocument)
	}
	return nil
}
