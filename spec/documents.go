package spec

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
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

// SectionText returns a section of the interface description with its heading, or "" if there is no such section.
func SectionText(number string) string {
	heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(number) + `\. `).FindStringIndex(interfaceText)
	if heading == nil {
		return ""
	}
	text := interfaceText[heading[0]:]
	if next := strings.Index(text[2:], "\n## "); next >= 0 {
		text = text[:next+2]
	}
	return strings.TrimSpace(text) + "\n"
}

// Sections returns the numbers of the sections of the interface description.
func Sections() (numbers []string) {
	for _, heading := range regexp.MustCompile(`(?m)^## (\d+)\. `).FindAllStringSubmatch(interfaceText, -1) {
		numbers = append(numbers, heading[1])
	}
	return numbers
}
