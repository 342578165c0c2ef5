package suite

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// blockRejected blocks, at the end of a test run, the scenarios of each half that refused every request with the
// configured credentials, because the cause is the configuration and not the target. It does the same for a user whom the
// agent server refused while it accepted others. It returns the halves and the reason.
func (r *run) blockRejected() (sides []string, why string) {
	for _, side := range []spec.Side{spec.AgentServer, spec.ControlPlane} {
		blocked := r.rejectedBy(side)
		if blocked == nil {
			continue
		}
		why = blocked.Reason
		sides = append(sides, string(side))
		for _, s := range r.selected {
			v := r.verdicts[s.Key()]
			if needsSide(r.target, s, side) && r.followsFromRejection(s, v.Outcome) {
				v.Outcome = blocked
			}
		}
	}
	if len(sides) == 0 {
		why = r.blockRefusedUser()
	}
	return sides, why
}

// rejectedBy returns the outcome of scenarios that need a half, if that half has refused every request with the
// configured credentials, and nil otherwise.
func (r *run) rejectedBy(side spec.Side) *outcome.Outcome {
	status := refusedAll(r.target, side)
	if status == 0 {
		return nil
	}
	keys, why := rejection(r.target, side, status, usersSeen(r.target))
	return blockedByKeys(why, keys)
}

// blockedByKeys returns the outcome of scenarios that wrong values of the keys have blocked. It does not shorten the reason,
// which may have long paths: its end is what the server returned.
func blockedByKeys(why string, keys []string) *outcome.Outcome {
	blocked := &outcome.Outcome{Verdict: reports.Blocked, Reason: why}
	return blocked.By(reports.ByKey, keys...)
}

// blockRefusedUser blocks the scenarios that are affected by the refusal of one user. It returns the reason, or "" if no
// user was refused. Without the first user nothing else can be judged.
func (r *run) blockRefusedUser() (why string) {
	user, status := refusedUser(r.target)
	if status == 0 {
		return ""
	}
	keys, why := rejection(r.target, spec.AgentServer, status, []int{user})
	name := fmt.Sprintf("users.%d", user)
	for _, s := range r.selected {
		v := r.verdicts[s.Key()]
		couldNotTell := user == 0 && (v.Verdict == reports.Blocked || v.Verdict == reports.Inconclusive)
		isOther := func(v outcome.Violation) bool {
			o := r.target.Collector.Observation(v.Exchange)
			return !o.Trusted || o.Caller.Name != name
		}
		failed := v.Verdict == reports.Failed && !s.Is(features.TagLast) && !slices.ContainsFunc(v.Violations, isOther)
		if needsSide(r.target, s, spec.AgentServer) && (couldNotTell || failed) {
			v.Outcome = blockedByKeys(why, keys)
		}
	}
	return why
}

// requestUnknownThread requests an unknown thread from an agent server that has refused every request with the configured
// credentials. The selected scenarios may have used only one operation. If only that operation refuses all callers, it is
// a fault of the target and not of the credentials.
func (r *run) requestUnknownThread(ctx context.Context) {
	if ctx.Err() != nil || refusedAll(r.target, spec.AgentServer) == 0 {
		return
	}
	ctx = evidence.WithScenario(ctx, "fixture: the credentials of the users", 0)
	s, err := r.agents.AgentServer(ctx)
	if err != nil {
		return
	}
	_, _ = s.State(ctx, s.Owner(), &agent.Thread{ID: target.UnknownID()}) // the record has the response
}

// refusedAll returns the most frequent status with which a half has refused every request with the configured
// credentials. It returns 0 if the half accepted one, or received none.
func refusedAll(t *target.Target, side spec.Side) (status int) {
	most := 0
	for s, n := range t.Collector.Trusted(side, addressOf(t, side)) {
		if !t.Rejects(side, s) {
			return 0
		}
		if n > most {
			most = n
			status = s
		}
	}
	return status
}

// addressOf returns the address whose responses count for a half. For the agent server it is agent_target, because the
// agent servers of deployments may be configured differently. It returns "", which stands for all addresses, if agent_target
// is not set, and for the control plane.
func addressOf(t *target.Target, side spec.Side) string {
	if side == spec.AgentServer {
		return t.Config.AgentTarget
	}
	return ""
}

// isRefused reports whether a half has refused every request with the configured credentials. The suite should then send
// no more of them, because they could lock an account.
func (r *run) isRefused() bool {
	return refusedAll(r.target, spec.ControlPlane) != 0 || refusedAll(r.target, spec.AgentServer) != 0
}

// refusedUser returns the index of a user whose requests the agent server always refused while it accepted those of
// others, and the status. The credentials of this user may be wrong. The status is 0 if there is no such user.
func refusedUser(t *target.Target) (user, status int) {
	const many = 3
	for i := range t.Config.JudgedUsers() {
		n := 0
		isRefused := true
		for s, count := range t.Collector.TrustedOf(spec.AgentServer, t.Config.AgentTarget, fmt.Sprintf("users.%d", i)) {
			isRefused = isRefused && t.Rejects(spec.AgentServer, s)
			status, n = s, n+count
		}
		if isRefused && n >= many {
			return i, status
		}
	}
	return 0, 0
}

// usersSeen returns the indices of the users that have sent requests to the agent server.
func usersSeen(t *target.Target) (all []int) {
	for i := range t.Config.JudgedUsers() {
		if len(t.Collector.TrustedOf(spec.AgentServer, t.Config.AgentTarget, fmt.Sprintf("users.%d", i))) > 0 {
			all = append(all, i)
		}
	}
	return all
}

// needsSide reports whether a scenario needs a half to accept its credentials. Scenarios about the agent server need the
// control plane for the address of the agent server, unless the configuration has it.
func needsSide(t *target.Target, s *features.Scenario, side spec.Side) bool {
	profile := s.Requirement.Profile
	if side == spec.AgentServer {
		return profile != features.ControlPlane
	}
	isDeployment := func(shared string) bool { return shared != features.AgentServer }
	return profile != features.AgentServer || t.Config.AgentTarget == "" ||
		slices.ContainsFunc(s.Terms.Shares, isDeployment)
}

// followsFromRejection reports whether the outcome of a scenario is a consequence of rejected credentials: it could not
// be judged, or such a refusal made it fail or pass. Scenarios about all responses keep their outcome.
func (r *run) followsFromRejection(s *features.Scenario, o *outcome.Outcome) bool {
	switch o.Verdict {
	case reports.Blocked, reports.Inconclusive:
		return true
	case reports.Passed:
		// End-to-end scenarios use the agent server of their deployment. Its responses do not count.
		usesOther := s.Requirement.Profile == features.EndToEnd && r.target.Config.AgentTarget != ""
		return !s.Is(features.TagLast) && !s.Terms.Anonymous && !usesOther
	case reports.Failed:
		if s.Is(features.TagLast) {
			return false
		}
		isOther := func(v outcome.Violation) bool { return !r.target.Collector.Observation(v.Exchange).Trusted }
		return !slices.ContainsFunc(o.Violations, isOther)
	}
	return false
}

// rejection returns the keys of the credentials that a half has refused, and the reason for a blocked outcome. The reason
// has the remedy first and then the beginning of a refusal, because reports may cut the end. users has the users that the
// agent server has refused.
func rejection(t *target.Target, side spec.Side, status int, users []int) (keys []string, why string) {
	const format = "%s refuses %s: %s; it returned %s"
	const credentials = "the configured credentials"
	c, refusal := t.Config, refusalOf(t, side, status, users)
	seen := t.Redact.Excerpt(outcome.SeenShort(refusal))
	ofGateway := ""
	if refusal.Status != http.StatusUnauthorized || refusal.IsPage() { // servers of the interface mostly return 401
		ofGateway = ", or " + headersOfGateway(t, side)
	}
	if side == spec.ControlPlane {
		for _, each := range t.Given(target.Preferred(c.Credentials)) {
			keys = append(keys, "credentials."+each.Key)
		}
		return keys, fmt.Sprintf(format, "the target", credentials, "correct "+t.Sent("credentials", c.Credentials)+ofGateway, seen)
	}
	const agentServer = "the agent server"
	if len(c.Users) == 0 {
		return []string{"users"}, fmt.Sprintf(format, agentServer, "callers without credentials", "set users", seen)
	}
	lacking := t.HeadersRemedy()
	if lacking != "" { // a gateway has refused the requests, not the agent server
		return []string{"header_hosts"}, fmt.Sprintf(format, agentServer, credentials, lacking, seen)
	}
	var named []string
	for _, i := range users {
		key, name := c.CredentialOf(i)
		keys = append(keys, key)
		named = append(named, name)
	}
	if acceptedElsewhere(t, users) {
		return append(keys, "agent_target"), fmt.Sprintf(format, agentServer, "users that the agent server of a deployment accepts",
			"correct agent_target, or "+headersOfGateway(t, side), seen)
	}
	return keys, fmt.Sprintf(format, agentServer, credentials, "correct "+strings.Join(named, " and ")+ofGateway, seen)
}

// headersOfGateway returns the remedy for a gateway in front of a half that refuses requests without a header.
func headersOfGateway(t *target.Target, side spec.Side) string {
	key := headersKey(side)
	if t.Config.Has(key) {
		return "correct " + t.Config.Named(key) + " if a gateway requires other headers"
	}
	return "set " + key + " if a gateway requires a header"
}

// acceptedElsewhere reports whether the agent server of a deployment has accepted one of the users that agent_target
// refused.
func acceptedElsewhere(t *target.Target, users []int) bool {
	return t.Config.AgentTarget != "" && slices.ContainsFunc(t.Collector.Observations(), func(o *evidence.Observation) bool {
		isServed := o.Side == spec.AgentServer && o.Base != t.Config.AgentTarget && o.Status/100 == 2
		return isServed && o.Trusted && isOfUser(o, users)
	})
}

// isOfUser reports whether an exchange is one of the users.
func isOfUser(o *evidence.Observation, users []int) bool {
	return slices.ContainsFunc(users, func(i int) bool { return o.Caller.Name == fmt.Sprintf("users.%d", i) })
}

// refusalOf returns the first response with the status to credentials of the configuration. If users are given, it
// considers only responses of the agent server to them. If there is none, it returns a response that has only the status.
func refusalOf(t *target.Target, side spec.Side, status int, users []int) *exchange.Response {
	for _, o := range t.Collector.Observations() {
		counts := side == spec.ControlPlane || len(users) == 0 || isOfUser(o, users)
		if counts && o.Trusted && o.Status == status && o.IsAt(side, addressOf(t, side)) {
			return &exchange.Response{Status: status, Body: []byte(o.Response)}
		}
	}
	return &exchange.Response{Status: status}
}

// blockUnknownWords blocks, at the end of a test run, the scenarios that failed because of configured names in vocabulary
// that the target has never used, because the cause is the configuration and not the target. Other violations remain. It
// returns the reason, or "". The reason also has the words for which the target uses the name of the interface.
func (r *run) blockUnknownWords() (why string) {
	seen := r.target.Collector.Words()
	mistaken := seen.Unchanged()
	for _, s := range r.selected {
		v := r.verdicts[s.Key()]
		if v.Verdict != reports.Failed {
			continue
		}
		reduced, doubtful := r.withoutUnknownWords(seen, s, v.Outcome)
		v.Outcome = reduced
		if reduced.Verdict == reports.Blocked {
			mistaken = append(mistaken, doubtful...)
		}
	}
	slices.Sort(mistaken)
	return aboutWords(r.target, seen, slices.Compact(mistaken))
}

// withoutUnknownWords returns the outcome of a failed scenario without the violations that may depend on words of
// vocabulary that the target has never used. It also returns these words. The outcome is blocked if no other violation
// remains.
func (r *run) withoutUnknownWords(seen *evidence.Words, s *features.Scenario, o *outcome.Outcome) (reduced *outcome.Outcome, doubtful []string) {
	var remaining []outcome.Violation
	for _, violation := range o.Violations {
		words := r.doubtfulWords(seen, s, violation)
		if len(words) == 0 {
			remaining = append(remaining, violation)
		}
		doubtful = append(doubtful, words...)
	}
	if len(doubtful) == 0 {
		return o, nil
	}
	if len(remaining) > 0 {
		copied := *o
		copied.Violations = remaining
		return &copied, doubtful
	}
	doubtful = slices.Compact(slices.Sorted(slices.Values(doubtful)))
	blocked := outcome.Blocked("%s", aboutWords(r.target, seen, doubtful))
	for _, name := range doubtful {
		blocked.By(reports.ByKey, "vocabulary."+name)
	}
	return blocked, doubtful
}

// doubtfulWords returns the words on which a violation may depend and that the target has never used. If the scenario
// judges the record, these are the words of the violation. Otherwise they are the words in its exchanges under When and
// Then.
func (r *run) doubtfulWords(seen *evidence.Words, s *features.Scenario, v outcome.Violation) []string {
	if s.Terms.Record {
		return seen.Doubtful(v.Words...)
	}
	doubtful := seen.DoubtfulIn(v.Exchange)
	for _, x := range r.target.Collector.SentBy(s.Attribution()) {
		if x.Part != reports.SetUp {
			doubtful = append(doubtful, seen.DoubtfulIn(x.ID)...)
		}
	}
	return doubtful
}

// aboutWords returns the mistakes in entries of vocabulary, with their remedies.
func aboutWords(t *target.Target, seen *evidence.Words, names []string) string {
	var texts []string
	for _, name := range names {
		as := t.Client.Words.OnWire(name)
		text := fmt.Sprintf("the target never showed %q: correct vocabulary.%s", as, name)
		if slices.Contains(seen.Unchanged(), name) {
			text = fmt.Sprintf("the target uses %q and never %q: remove or correct vocabulary.%s", name, as, name)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// serverErrors are the requirements that fail if a server ends while it handles requests.
var serverErrors = map[spec.Side]string{spec.ControlPlane: "CP-ERROR-3", spec.AgentServer: "AS-ERROR-1"}

// blockAfterEnd blocks the scenarios that got no response because the server has ended that was started for the test run.
// The requirement about server errors fails with the requests that the server was handling.
func (r *run) blockAfterEnd() {
	end := r.target.EndedEarly()
	if end == nil {
		return
	}
	unanswered := map[int]bool{}
	var owners []string
	for _, side := range []spec.Side{spec.ControlPlane, spec.AgentServer} {
		lost := r.target.Collector.Unanswered(side, end.At)
		for _, o := range lost {
			unanswered[o.ID] = true
		}
		if len(lost) > 0 {
			owners = append(owners, serverErrors[side])
		}
	}
	for _, s := range r.selected {
		v := r.verdicts[s.Key()]
		isLost := func(v outcome.Violation) bool { return v.Kind == outcome.NoResponse && unanswered[v.Exchange] }
		if v.Outcome.IsBy(reports.ByTarget) || v.Verdict == reports.Failed && !slices.ContainsFunc(v.Violations,
			func(found outcome.Violation) bool { return !isLost(found) }) {
			v.Outcome = outcome.Blocked("the server has ended: %s", end.How).ByRequirement(owners...)
		}
	}
}
