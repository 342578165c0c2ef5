package features

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Terms are what a scenario needs and what it does at the target, by the tags of its feature, its rule, itself and its examples:
//
//	@needs:KEY|KEY          one of these keys of the configuration; KEY=VALUE must have the value
//	@anonymous              no valid credentials are needed
//	@shares:NAME            a shared deployment: deployment, another, changing, updated, history; or the agent-server
//	@reads, @reads:N        of the shared deployments so many that were there before the run will do; 0: an unknown id, too
//	@reads:revisions=N      one with so many revisions will do
//	@reads:settled=N        one whose revisions have settled, in so many statuses, will do
//	@creates:N/M            so many deployments, and revisions beside the first of each, for itself alone
//	@writes                 it sends what may create, change or remove something, or must be refused
//	@record                 it judges what the run has recorded, and sends nothing
type Terms struct {
	Needs                  [][]string
	Anonymous              bool
	Shares                 []string
	Reads                  *Reads // nil: none that was there before will do
	Deployments, Revisions int    // that it creates for itself, at most
	Writes                 bool
	Record                 bool
}

// Reads is what deployments that were there before a run must have for scenarios that only read them.
type Reads struct{ Deployments, Revisions, Settled int }

// Shared are the names of what scenarios share.
var Shared = []string{"deployment", "another", "changing", "updated", "history", AgentServer}

// Creates tells whether a scenario creates deployments or revisions for itself.
func (t Terms) Creates() bool { return t.Deployments+t.Revisions > 0 }

var numbers = regexp.MustCompile(`^(?:(revisions|settled)=)?(\d+)(?:/(\d+))?$`)

// take reads a tag. It tells whether the tag is one of terms.
func (t *Terms) take(tag string) (known bool, err error) {
	name, value, valued := strings.Cut(tag, ":")
	n := numbers.FindStringSubmatch(value)
	switch wrong := fmt.Errorf("tag %s: its value is missing, too much or unknown", tag); {
	case name == "@needs" && value != "":
		t.Needs = append(t.Needs, strings.Split(value, "|"))
	case name == "@shares" && slices.Contains(Shared, value):
		t.Shares = append(t.Shares, value)
	case tag == "@reads":
		t.reads().Deployments = 1
	case name == "@reads" && n != nil && n[3] == "":
		number := map[string]*int{"": &t.reads().Deployments, "revisions": &t.reads().Revisions, "settled": &t.reads().Settled}[n[1]]
		*number, _ = strconv.Atoi(n[2]) // digits
	case name == "@creates" && n != nil && n[1] == "":
		t.Deployments, _ = strconv.Atoi(n[2])
		t.Revisions, _ = strconv.Atoi(n[3]) // 0 where it is missing
	case slices.Contains([]string{"@needs", "@shares", "@reads", "@creates"}, name):
		return true, wrong
	case valued:
		return false, nil
	case tag == "@anonymous":
		t.Anonymous = true
	case tag == "@writes":
		t.Writes = true
	case tag == "@record":
		t.Record = true
	default:
		return false, nil
	}
	return true, nil
}

func (t *Terms) reads() *Reads {
	if t.Reads == nil {
		t.Reads = &Reads{}
	}
	return t.Reads
}

// needs are the keys that all scenarios of a requirement need beyond those with which a deployment is created, for people.
func (r *Requirement) needs() string {
	var all []string
	for _, keys := range r.Scenarios[0].Terms.Needs {
		everywhere := !slices.ContainsFunc(r.Scenarios, func(s *Scenario) bool {
			return !slices.ContainsFunc(s.Terms.Needs, func(other []string) bool { return slices.Equal(keys, other) })
		})
		if everywhere && keys[0] != "create.body" {
			all = append(all, strings.Join(keys, " or "))
		}
	}
	return strings.Join(all, ", ")
}
