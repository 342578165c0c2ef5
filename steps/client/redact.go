package client

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Redactor replaces secrets by the names under which reports show them. It may be used by many goroutines.
type Redactor struct {
	mu      sync.Mutex
	secrets map[string]string // all that were ever known, with their names
	known   atomic.Pointer[redactions]
}

// redactions are what a redactor does with the secrets that it knows.
type redactions struct {
	replacer *strings.Replacer
	recorder *strings.Replacer // also escapes what looks like a name
	spelled  []spelled         // longest first
	normal   []spelled         // those that hold escapes themselves, without these
	names    []string
	shapes   []string // of all secrets, longest first
}

// NewRedactor takes the secrets with their names ("$AGENTCONFORM_CREDENTIALS_API_KEY"). A secret is found in the
// shapes in which a target may echo it: as it is, escaped for URLs or JSON, and in base64; one of 12 bytes and more in each
// spelling of the list at shortestSpelled.
func NewRedactor(secrets map[string]string) *Redactor {
	r := &Redactor{secrets: map[string]string{}}
	r.Add(secrets)
	return r
}

// Add makes further secrets known, before they are sent. Those that are known already stay so, with their names.
func (r *Redactor) Add(secrets map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for secret, name := range secrets {
		if _, known := r.secrets[secret]; !known {
			r.secrets[secret] = name
		}
	}
	r.known.Store(redactionsOf(r.secrets))
}

func redactionsOf(secrets map[string]string) *redactions {
	shapes := map[string]string{}
	r := &redactions{}
	for secret, name := range secrets {
		if !slices.Contains(r.names, name) {
			r.names = append(r.names, name)
		}
		if len(secret) >= shortestSpelled {
			r.spelled = append(r.spelled, spelled{secret, name, len(secret)})
			if asForm := strings.ReplaceAll(secret, " ", "+"); asForm != secret {
				r.spelled = append(r.spelled, spelled{asForm, name, len(secret)})
			}
			if plain, _ := normal(secret); plain != secret {
				r.normal = append(r.normal, spelled{plain, name, len(secret)})
			}
		}
		quoted, _ := json.Marshal(secret)
		for _, shape := range shapesOf(secret, string(quoted[1:len(quoted)-1])) {
			shapes[shape] = name
		}
	}
	// Longer shapes first, so that a secret that contains another is replaced whole.
	ordered := make([]string, 0, len(shapes))
	for shape := range shapes {
		ordered = append(ordered, shape)
	}
	slices.SortFunc(ordered, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	r.shapes = ordered
	for _, all := range [][]spelled{r.spelled, r.normal} {
		slices.SortFunc(all, func(a, b spelled) int {
			return cmp.Or(len(b.secret)-len(a.secret), strings.Compare(a.secret, b.secret))
		})
	}
	pairs := make([]string, 0, 2*len(ordered))
	for _, shape := range ordered {
		pairs = append(pairs, shape, shapes[shape])
	}
	r.replacer = strings.NewReplacer(pairs...)
	r.recorder = strings.NewReplacer(append(pairs, "$AGENTCONFORM_", "$_AGENTCONFORM_", "${AGENTCONFORM_", "$_{AGENTCONFORM_")...)
	slices.Sort(r.names)
	return r
}

// Record returns a text as it is to be recorded: without secrets, and with whatever in it looks like the name of one
// escaped ("$_AGENTCONFORM_..."), so that only the names that the redactor itself has put there can be taken for names.
func (r *Redactor) Record(s string) string {
	known := r.known.Load()
	return known.respelled(known.recorder.Replace(s))
}

// Text returns the text without secrets.
func (r *Redactor) Text(s string) string {
	known := r.known.Load()
	return known.respelled(known.replacer.Replace(s))
}

// Texts returns the texts without secrets.
func (r *Redactor) Texts(all []string) []string {
	clean := make([]string, len(all))
	for i, s := range all {
		clean[i] = r.Text(s)
	}
	return clean
}

// shortestTrace is how much of a secret at the end of an excerpt is too much.
const shortestTrace = 4

// Excerpt returns a text that may have been cut before it came here without secrets: also without the parts of one that
// a cut may have left at its end, or on either side of a "..." within it.
func (r *Redactor) Excerpt(s string) string {
	const mark = "..."
	pieces := strings.Split(r.Text(s), mark)
	for i := range pieces {
		pieces[i] = r.withoutBeginning(pieces[i], i == len(pieces)-1)
		if i > 0 {
			pieces[i] = r.withoutEnd(pieces[i])
		}
	}
	return strings.Join(pieces, mark)
}

// withoutBeginning cuts the beginning of a secret from the end of a text, and marks the cut where nothing else does.
func (r *Redactor) withoutBeginning(s string, marked bool) string {
	body := strings.TrimRight(s, ". …")
	for _, shape := range r.known.Load().shapes {
		for n := len(shape) - 1; n >= shortestTrace; n-- {
			if strings.HasSuffix(body, shape[:n]) {
				if marked {
					return body[:len(body)-n] + "..."
				}
				return body[:len(body)-n]
			}
		}
	}
	return s
}

// withoutEnd cuts the end of a secret from the beginning of a text.
func (r *Redactor) withoutEnd(s string) string {
	body := strings.TrimLeft(s, ". …")
	for _, shape := range r.known.Load().shapes {
		for n := len(shape) - 1; n >= shortestTrace; n-- {
			if strings.HasPrefix(body, shape[len(shape)-n:]) {
				return body[n:]
			}
		}
	}
	return s
}

// Header returns a copy of the header as it is to be recorded.
func (r *Redactor) Header(h http.Header) map[string][]string {
	clean := make(map[string][]string, len(h))
	for name, values := range h {
		for _, v := range values {
			clean[r.Record(name)] = append(clean[r.Record(name)], r.Record(v))
		}
	}
	return clean
}
