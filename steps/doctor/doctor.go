package doctor

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// State says how a check of an examination ended.
type State string

// How a check may end. Only a problem keeps a target from being tested.
const (
	Fine    State = "ok"
	Noted   State = "note"
	Missing State = "missing"
	Problem State = "problem"
)

// Check is one thing that an examination looked at. Found and Remedy may hold text of the target.
type Check struct {
	State   State
	Subject string // "control plane", or a key of the configuration
	Found   string
	Remedy  string // what to do next, if there is something
}

// Examination is what can be known of a target before a run.
type Examination struct {
	Checks        []Check
	Judged, Total int // requirements that a run would judge, and that there are
}

// Testable tells whether a run would find out something.
func (e *Examination) Testable() bool { return e.Judged > 0 && len(e.problems()) == 0 }

// Conclusion is the whole in a sentence.
func (e *Examination) Conclusion() string {
	if e.Testable() {
		return fmt.Sprintf("This target can be tested: %d of %d requirements.", e.Judged, e.Total)
	}
	reasons := e.problems()
	if len(reasons) == 0 {
		reasons = []string{"the configuration lets no requirement be judged"}
	}
	return "This target cannot be tested yet: " + strings.Join(reasons, "; ") + "."
}

func (e *Examination) problems() (all []string) {
	for _, c := range e.Checks {
		if c.State == Problem {
			all = append(all, c.Subject+": "+c.Found)
		}
	}
	return all
}

func (e *Examination) add(finding State, subject, found, remedy string) {
	e.Checks = append(e.Checks, Check{finding, subject, found, remedy})
}

// examiner looks at one target.
type examiner struct {
	target    *target.Target
	plane     *plane.Plane
	catalogue *features.Catalogue
	oracle    *spec.Oracle
	forecast  *suite.Forecast
}

func newExaminer(t *target.Target, catalogue *features.Catalogue, oracle *spec.Oracle) *examiner {
	return &examiner{target: t, plane: plane.New(t, nil, time.Time{}), catalogue: catalogue, oracle: oracle,
		forecast: suite.Foresee(t.Config, catalogue, suite.Selection{})}
}

// Examine looks whether a run could judge the target, and what its configuration lacks. It sends a handful of reading
// requests and creates nothing. The error is that of the context.
func Examine(ctx context.Context, c *config.Config, catalogue *features.Catalogue, oracle *spec.Oracle) (*Examination, error) {
	const requests = 9 // at once, at most
	t, err := target.New(target.Options{Config: c, Concurrency: requests})
	if err != nil {
		return nil, err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	x := newExaminer(t, catalogue, oracle)
	e := &Examination{Total: len(catalogue.Requirements)}
	if err := x.examineTarget(ctx, e); err != nil {
		return nil, err
	}
	if c.Target != "" {
		x.examineTemplate(e)
	}
	x.examineGaps(e)
	x.examinePlan(e)
	return e, nil
}

// examineTemplate holds the body of a creation to the contract, as the run does with each of its own requests.
func (x *examiner) examineTemplate(e *Examination) {
	const subject = "create.body"
	body := x.plane.Sources.Body("agentconform-doctor", nil)
	request := x.target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, body)
	violations := x.oracle.JudgeRequest(spec.Exchange{Side: request.Side, Method: request.Method, Path: request.Path,
		RequestHeader: request.Header, RequestBody: request.Body})
	if len(violations) > 0 {
		v := violations[0]
		found := fmt.Sprintf("breaks the contract at %s: expected %s, got %s", strings.TrimPrefix(v.Pointer, "/body"), v.Expected, v.Actual)
		if more := len(violations) - 1; more > 0 {
			found += fmt.Sprintf(" (and %d more)", more)
		}
		e.add(Problem, subject, x.target.Redact.Excerpt(found), "correct it: a run whose own requests break the contract is never conformant")
		return
	}
	for _, ours := range slices.Sorted(maps.Keys(x.target.Config.Vocabulary)) {
		if theirs := x.target.Config.Vocabulary[ours]; theirs != ours && usesKey(body, theirs) {
			e.add(Noted, subject, fmt.Sprintf("has the target's own word %q", theirs), fmt.Sprintf("write %q: vocabulary translates it, and answers are compared in the interface's words", ours))
			return
		}
	}
	e.add(Fine, subject, "a deployment from "+x.target.Config.Source()+", which keeps the contract", "")
}

// usesKey tells whether an object has the key, itself or in an object below.
func usesKey(object map[string]any, key string) bool {
	for k, value := range object {
		inner, _ := value.(map[string]any)
		if k == key || usesKey(inner, key) {
			return true
		}
	}
	return false
}

func (x *examiner) examineGaps(e *Examination) {
	gaps, judged := x.forecast.Gaps()
	e.Judged = judged
	for _, g := range gaps {
		names := g.Named(x.catalogue)
		if g.Skip.Kind != reports.NotApplicable {
			e.add(Missing, g.Skip.Key, "would enable "+names, "")
		}
	}
	for _, g := range gaps {
		if g.Skip.Kind == reports.NotApplicable && len(g.Whole) > 0 {
			e.add(Noted, "not applicable", (&suite.Gap{Whole: g.Whole}).Named(x.catalogue)+": "+g.Reason, "")
		}
	}
}

func (x *examiner) examinePlan(e *Examination) {
	p, c := x.forecast.Plan(x.catalogue.Scenarios()), x.target.Config
	const subject = "plan"
	found := fmt.Sprintf("a run creates at most %s with %s", reports.Count(p.Deployments, "deployment"), reports.Count(p.Revisions, "revision"))
	switch most := c.MaxDeployments; {
	case c.Target == "":
		e.add(Fine, subject, "a run creates no deployment, only threads and runs", "")
	case most > 0 && most < p.Deployments:
		e.add(Noted, subject, fmt.Sprintf("%s; the budget allows %d", found, most), fmt.Sprintf("raise max_deployments to %d, or some requirements are skipped", p.Deployments))
	default:
		e.add(Fine, subject, found, "")
	}
	e.add(Fine, "limits", fmt.Sprintf("max_deployments %s, max_revisions %s; timeouts: request %s, poll %s, run %s",
		limit(c.MaxDeployments), limit(c.MaxRevisions), brief(c.Timeouts.Request), brief(c.Timeouts.Poll), brief(c.Timeouts.Run)), "")
}

func limit(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// brief is a duration without the units that are zero: 15m and not 15m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
