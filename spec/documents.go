package spec

import (
	_ "embed"
	"regexp"
	"slices"
)

// Version is the version of the interface that the documents describe (section 9).
const Version = "0.1.0"

//go:embed control-plane.yaml
var controlPlaneDocument []byte

//go:embed agent-server.yaml
var agentServerDocument []byte

// Document returns the OpenAPI 3.1 document of a side as YAML, or nil if the side is unknown.
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

// SectionTitle returns the heading of a section of the interface description without its number, or "" if there is no
// such section.
func SectionTitle(number string) string {
	heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(number) + `\. (.+)$`).FindStringSubmatch(interfaceText)
	if heading == nil {
		return ""
	}
	return heading[1]
}
