package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/target"
)

// headline is the most important cause in one sentence. A wrong address or rejected credentials come before any single
// failure.
func (r *run) headline(res *reports.Result) string {
	if r.unreachable != "" {
		return r.unreachable
	}
	if down := r.target.Client.Down.Cause(r.target.Address()); down != "" {
		return down
	}
	statuses, contentTypes := r.target.Collector.Statuses()
	total := 0
	for _, n := range statuses {
		total += n
	}
	if total == 0 && len(res.Exchanges) > 0 {
		return fmt.Sprintf("no answer was HTTP: check the address %s, and whether it is http or https", r.target.Address())
	}
	if total == 0 {
		return "every selected scenario was skipped, no request was sent"
	}
	if r.rejected != "" && res.Verdict == reports.Incomplete {
		return r.rejected
	}
	if len(res.Unseen) > 0 && res.Verdict == reports.Incomplete && unlocking(r.target, res.Unseen[0]) != "" {
		return fmt.Sprintf("no successful answer of the %s was seen: set %s", strings.ReplaceAll(res.Unseen[0], "-", " "), unlocking(r.target, res.Unseen[0]))
	}
	if res.Verdict == reports.NonConformant || res.Verdict == reports.Incomplete {
		if html := contentTypes["text/html"]; html*2 > total {
			return fmt.Sprintf("%d of %d answers are HTML pages: check that %s is the base URL, with its path prefix", html, total, r.target.Address())
		}
		if same := uniform(r.target, statuses); same != "" {
			return same
		}
	}
	if len(res.Unseen) > 0 && res.Verdict == reports.Incomplete && reports.Conclude(res.Requirements, res.Run.Strict) == reports.Conformant {
		return fmt.Sprintf("no successful answer of the %s was seen", strings.ReplaceAll(res.Unseen[0], "-", " "))
	}
	return "" // the reports name the first failure, or what could not be judged
}

// uniform describes a target that answers every request with one status, and the remedy.
func uniform(t *target.Target, statuses map[int]int) string {
	if len(statuses) != 1 {
		return ""
	}
	for status := range statuses {
		always := fmt.Sprintf("every answer had status %d", status)
		switch {
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			return always + ": check credentials and users"
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
			return always + ": check the target's rate limit and load"
		case status >= 300 && status < 400:
			return always + ": set target to the URL that it redirects to"
		case status >= 500:
			return always
		}
		return always + fmt.Sprintf(": check that %s is the base URL, with its path prefix", t.Address())
	}
	return ""
}

// addresses are those that are known before the run begins.
func addresses(t *target.Target) string {
	if t.Config.Target != "" && t.Config.AgentTarget != "" {
		return t.Config.Target + ", agent server " + t.Config.AgentTarget
	}
	return t.Address()
}

// unseen lists the halves with a passed requirement of which no successful answer to an operation of the interface was
// seen. A server that refuses everything passes every requirement about refusals, and implements nothing.
func (r *run) unseen(res *reports.Result) (halves []string) {
	for _, half := range []string{features.ControlPlane, features.AgentServer} {
		passed := func(q reports.Requirement) bool { return q.Profile == half && q.Verdict == reports.Passed }
		served := func(op spec.Operation) bool { return !op.Field && r.target.Collector.Succeeded(op.ID) > 0 }
		if slices.ContainsFunc(res.Requirements, passed) && !slices.ContainsFunc(r.Oracle.Operations(spec.Side(half)), served) {
			halves = append(halves, half)
		}
	}
	return halves
}

// unlocking is the missing key of the configuration that a successful answer of a half needs; may be empty.
func unlocking(t *target.Target, half string) string {
	switch {
	case half == features.ControlPlane && !t.Config.HasCredentials():
		return "credentials.api_key"
	case half == features.ControlPlane && t.Config.ReadOnly:
		return "existing.deployment"
	case half == features.ControlPlane && len(t.Config.Create.Body) == 0:
		return "create.body"
	case half == features.AgentServer && t.AgentRefusal() != 0:
		return "users"
	}
	return ""
}
