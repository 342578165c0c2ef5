package suite

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/target"
)

// headline returns the most important cause in one sentence. A wrong address or rejected credentials come first.
func (r *run) headline(res *reports.Result, rejected string) string {
	statuses, contentTypes := r.target.Collector.Statuses(r.target.Sides()...)
	total := 0
	for _, n := range statuses {
		total += n
	}
	unseen, key := "", ""
	if res.Verdict == reports.Incomplete && len(res.Unseen) > 0 {
		unseen = fmt.Sprintf("no successful response of the %s was seen", strings.ReplaceAll(res.Unseen[0], "-", " "))
		key = unlocking(r.target, res.Unseen[0])
	}
	address, html := r.target.Address(), contentTypes["text/html"]
	down := r.target.Client.Down.Cause(address)
	switch {
	case r.unreachable != "":
		return r.unreachable
	case down != "":
		return down
	case total == 0 && len(res.Exchanges) > 0:
		return fmt.Sprintf("no response was HTTP: check the address %s, and whether it is http or https", address)
	case total == 0:
		return "every selected scenario was skipped, no request was sent" + skippedFor(res, "; ")
	case rejected != "" && res.Verdict == reports.Incomplete:
		return rejected
	case key != "":
		return unseen + ": set " + key
	case res.Verdict == reports.Conformant:
		return ""
	case html*2 > total:
		return fmt.Sprintf("%d of %d responses are HTML pages: check that %s is the base URL, with its path prefix", html,
			total, address)
	}
	same := cmp.Or(skippedFor(res, ""), sameStatus(r.halves()), rejected)
	if same == "" && reports.Conclude(res.Requirements) == reports.Conformant {
		return unseen
	}
	return same // if empty, the reports name the first failure, or the first requirement that could not be judged
}

// skippedFor returns the reason if all requirements were skipped, after the text before, and "" otherwise. That a half has
// no address is the reason only if there is no other.
func skippedFor(res *reports.Result, before string) string {
	why, isHalf := "", false
	for _, q := range res.Requirements {
		if q.Verdict != reports.Skipped || q.Skip == nil {
			return ""
		}
		if why == "" || isHalf {
			why = before + q.Reason
			isHalf = slices.Contains([]string{"target", "agent_target"}, q.Skip.Key)
		}
	}
	return why
}

// half has the responses of a half of the interface.
type half struct {
	side     spec.Side
	address  string
	statuses map[int]int // the number of responses with each status
}

// halves returns each half that may be judged.
func (r *run) halves() []half {
	var all []half
	for _, side := range r.target.Sides() {
		address := r.target.Config.Target
		if side == spec.AgentServer {
			address = r.target.AgentAddress()
		}
		statuses, _ := r.target.Collector.Statuses(side)
		all = append(all, half{side, r.target.Redact.Text(address), statuses})
	}
	return all
}

// sameStatus describes a target that returned the same status for every request, with the remedy. If the statuses differ,
// it describes a half that returned 404 for many requests and nothing else: a server of the interface refuses requests
// without credentials in another way. It returns "" if there is no such half.
func sameStatus(halves []half) string {
	const many = 20
	const remedy = "base URL, with its path prefix; agentconform doctor looks for it"
	all := map[int]bool{}
	for _, h := range halves {
		for status := range h.statuses {
			all[status] = true
		}
	}
	if len(all) == 1 {
		status := slices.Collect(maps.Keys(all))[0]
		always := fmt.Sprintf("every response had status %d", status)
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
		return fmt.Sprintf("%s: check that %s (%s) is the %s", always, halves[0].address, addressKey(halves[0].side), remedy)
	}
	for _, h := range halves {
		if len(h.statuses) == 1 && h.statuses[http.StatusNotFound] >= many {
			return fmt.Sprintf("every response of the %s had status 404: check that %s is its %s",
				strings.ReplaceAll(string(h.side), "-", " "), h.address, remedy)
		}
	}
	return ""
}

// unseen lists the halves that passed a requirement but returned no successful response to an operation of the
// interface. A server that refuses everything passes every requirement about refusals, and implements nothing.
func (r *run) unseen(res *reports.Result) (halves []string) {
	for _, half := range []string{features.ControlPlane, features.AgentServer} {
		passed := func(q reports.Requirement) bool { return q.Profile == half && q.Verdict == reports.Passed }
		served := func(op spec.Operation) bool {
			return !op.Field && r.target.Collector.Served(op)
		}
		if slices.ContainsFunc(res.Requirements, passed) && !slices.ContainsFunc(r.Oracle.Operations(spec.Side(half)),
			served) {
			halves = append(halves, half)
		}
	}
	return halves
}

// unlocking returns the missing key that a half needs for a successful response, or "".
func unlocking(t *target.Target, half string) string {
	c := t.Config
	switch {
	case half == features.AgentServer && t.AgentRefusal() != 0:
		return "users"
	case half == features.AgentServer:
		return ""
	case !c.HasCredentials():
		return "credentials.api_key"
	case c.ReadOnly:
		return "existing.deployment"
	case len(c.Create.Body) == 0:
		return "create.body"
	}
	return ""
}
