package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// headline says in one sentence what a person should know first. A target that is not what the run took it for is
// told before any single failure.
func (r *run) headline(res *reports.Result) string {
	if r.unreachable != "" {
		return sentence(r.unreachable) + " Nothing was judged."
	}
	if r.interrupted {
		return "The run was ended before it was complete. What was judged until then stands below."
	}
	if down := r.target.Client.Down.Cause(r.target.Address()); down != "" {
		return sentence(down) + " What was judged until then stands below."
	}
	statuses, contentTypes := r.target.Collector.Statuses()
	total := 0
	for _, n := range statuses {
		total += n
	}
	if total == 0 && res.Exchanges.Len() > 0 {
		return fmt.Sprintf("No request was answered as HTTP answers. Is %s the right address, and http or https what it speaks?", r.target.Address())
	}
	if total == 0 {
		return "Nothing was asked of the target: every selected scenario was skipped."
	}
	if r.rejected != "" && res.Verdict == reports.Incomplete {
		return strings.ToUpper(r.rejected[:1]) + r.rejected[1:] + "."
	}
	if res.Verdict == reports.NonConformant || res.Verdict == reports.Incomplete {
		if html := contentTypes["text/html"]; html*2 > total {
			return fmt.Sprintf("%d of %d answers are HTML pages: this looks like a web site. Is %s the base address, with its path prefix?", html, total, r.target.Address())
		}
		if told := r.uniform(statuses); told != "" {
			return told
		}
	}
	switch res.Verdict {
	case reports.Conformant:
		told := reports.Count(res.Counts.Requirements[reports.Passed], "requirement") + " passed, none that "
		if !reports.Whole(res) {
			return told + "was judged and binds is open."
		}
		return told + "binds is open."
	case reports.NonConformant:
		return "" // the reports name the rule that is violated
	}
	if i := slices.IndexFunc(res.Requirements, func(q reports.Requirement) bool {
		return q.Level == reports.Must && (q.Verdict == reports.Blocked || q.Verdict == reports.Inconclusive)
	}); i >= 0 {
		return fmt.Sprintf("%s, and more could not be judged: %s", res.Requirements[i].ID, res.Requirements[i].Reason)
	}
	return "Nothing that binds was judged."
}

// uniform says what a target wants to tell that answers everything with one status.
func (r *run) uniform(statuses map[int]int) string {
	if len(statuses) != 1 {
		return ""
	}
	for status := range statuses {
		always := fmt.Sprintf("Every answer had status %d, whatever was asked.", status)
		switch {
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			return always + " Are the credentials right, and those of the users?"
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
			return always + " The target refuses all requests for now."
		case status >= 300 && status < 400:
			return always + " It redirects to another address: is that one the target?"
		case status >= 500:
			return always + " The target fails at everything."
		}
		return always + fmt.Sprintf(" Is %s the base address, with its path prefix?", r.target.Address())
	}
	return ""
}

// addresses are those that are known before the run begins.
func (r *run) addresses() string {
	if r.target.Config.Target != "" && r.target.Config.AgentTarget != "" {
		return r.target.Config.Target + ", agent server " + r.target.Config.AgentTarget
	}
	return r.target.Address()
}

// sentence ends a text with a full stop, unless it has an end.
func sentence(text string) string {
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
