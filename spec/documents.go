package spec

import (
	_ "embed"
	"regexp"
	"slices"
)

// Version is that of the interface which the documents describe (section 9).
const Version = "0.1.0"

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

//go:embed INTERFACE.md
var interfaceText string

// SectionTitle returns the heading of a section of the interface description, without its number; "" where there is
// none.
func SectionTitle(number string) string {
	heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(number) + `\. (.+)$`).FindStringSubmatch(interfaceText)
	if heading == nil {
		return ""
	}
	return heading[1]
}
