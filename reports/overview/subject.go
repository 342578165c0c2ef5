package overview

import (
	"cmp"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Subjects names all that was judged: "Example 1.2 at http://host, agent server http://host/agents/a".
func Subjects(r *reports.Result) string {
	if agent := AgentBeside(r); agent != "" {
		return Subject(r) + ", agent server " + agent
	}
	return Subject(r)
}

// AgentBeside is the address of the agent server where a control plane was judged too.
func AgentBeside(r *reports.Result) string {
	if r.Target.ControlPlane == "" || r.Target.AgentServer == r.Target.ControlPlane {
		return ""
	}
	return r.Target.AgentServer
}

// Subject names what was judged: "Example 1.2 at http://host".
func Subject(r *reports.Result) string {
	name := strings.TrimSpace(r.Target.Implementation.Name + " " + r.Target.Implementation.Version)
	address := cmp.Or(r.Target.ControlPlane, r.Target.AgentServer)
	switch {
	case name == "" && address == "":
		return "no target"
	case name == "":
		return address
	case address == "":
		return name
	}
	return name + " at " + address
}

// Suite names what judged: "agentconform 0.1.0 (commit 1234567), interface 0.1.0, requirements sha256:12345678".
func Suite(r *reports.Result) string {
	text := "agentconform " + r.Suite.Version
	if commit := r.Suite.Commit; commit != "" {
		hash, dirty, _ := strings.Cut(commit, "+")
		text += " (commit " + hash[:min(12, len(hash))]
		if dirty != "" {
			text += ", changed"
		}
		text += ")"
	}
	text += ", interface " + r.Suite.Interface
	if digest := r.Suite.Digest; digest != "" {
		text += ", requirements " + digest[:min(15, len(digest))]
	}
	return text
}
