package hostile

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// Verdict is the verdict of a run, as result.json has it.
type Verdict string

// The verdicts of a run.
const (
	Conformant    Verdict = "conformant"
	NonConformant Verdict = "non-conformant"
	Incomplete    Verdict = "incomplete"
)

// Exit is the exit code of a run with the verdict.
func (v Verdict) Exit() int {
	return map[Verdict]int{Conformant: 0, NonConformant: 1, Incomplete: 3}[v]
}

// Mode is one way in which a target is hostile.
type Mode struct {
	Name    string // "millions-of-empty-objects"
	Group   string // what is hostile: "bodies"
	Does    string // what the target does, as a main clause
	Verdict Verdict
	// Because says why this verdict is right where another one could be, too. Empty where the interface decides.
	Because string
	// Layer stands around everything that the reference serves.
	Layer Layer
	// Front, where it is not nil, serves the handler (the reference within Layer) at the listener until that is closed. By default
	// that is plain HTTP/1.1.
	Front Front
	// TLS says that Front speaks TLS: the addresses of the target begin with https.
	TLS bool
	// Config changes the configuration of the run, by the keys of its file.
	Config func(keys map[string]any)
	// Seconds, in addition to --timeout, and Megabytes bound the run. 0: those of the whole table.
	Seconds, Megabytes int
}

// Layer stands around a handler.
type Layer func(next http.Handler) http.Handler

// Front serves a handler at a listener until the listener is closed.
type Front func(l net.Listener, handler http.Handler)

// All returns the table, sorted by group and name.
func All() []Mode {
	var all []Mode
	for group, modes := range map[string][]Mode{
		"bodies": bodies(), "headers": headers(), "framing": framing(), "redirects": redirects(), "tls": secure(), "timing": timing(), "ids": ids(),
		"texts": texts(), "paging": paging(), "moving": moving(), "rates": rates(), "clocks": clocks(), "deaths": deaths(), "halves": halves(), "nulls": nulls(),
	} {
		for _, m := range modes {
			m.Group = group
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Mode) int { return strings.Compare(a.Group+" "+a.Name, b.Group+" "+b.Name) })
	return all
}
