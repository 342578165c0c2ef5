package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reports"
)

var (
	// shellPart is a part of a shell command line: in single quotes, after a backslash, in double quotes, or bare.
	shellPart = regexp.MustCompile(`'[^']*'|\\.|"[^"]*"|[^'"\\]+`)
	variable  = regexp.MustCompile(`AGENTCONFORM_[A-Z0-9_]+`)
)

// newLine continues a curl line.
const newLine = " \\\n    "

// request returns the curl line of a step. It is the recorded one with three changes: variables replace the ids that
// earlier responses contain, the secrets of a body are written as JSON, and each option is on a line.
func (s *script) request(x *step) (string, error) {
	line, recorded := strings.CutPrefix(x.Curl, "curl -sS -i ")
	switch {
	case s.result.Target.PathOf(x.URL) == "":
		return "", fmt.Errorf("exchange %d was not sent to an address of the target", x.ID)
	case !recorded || x.Request.FullSize() > len(x.Request.Body):
		return "", fmt.Errorf("the request of exchange %d was not recorded completely", x.ID)
	case strings.ContainsRune(line, 0):
		return "", fmt.Errorf("the request of exchange %d contains a NUL character", x.ID)
	}
	inBody := false
	line = shellPart.ReplaceAllStringFunc(" "+line, func(part string) string {
		if part[0] == '\'' {
			return s.withVariables(x, part)
		}
		if name := variable.FindString(part); part[0] == '"' && name != "" {
			s.secrets[name] = true
			if inBody {
				return `"$(json ` + part + `)"`
			}
		}
		if strings.HasSuffix(part, " --data-raw ") {
			inBody = true
		}
		switch {
		case part[0] == '"', part[0] == '\\':
			return part
		case part == " ": // before the address
			return newLine
		}
		return strings.ReplaceAll(strings.ReplaceAll(part, " -", newLine+"-"), newLine+"-X", " -X")
	})
	return fmt.Sprintf("curl --max-time %d%s", patience(x), line), nil
}

// withVariables returns a text in single quotes with variables in place of ids.
func (s *script) withVariables(x *step, quoted string) string {
	replaced := token.ReplaceAllStringFunc(longer(quoted), func(text string) string { return s.replaceID(x, text) })
	if replaced == quoted {
		return quoted
	}
	return strings.TrimSuffix(strings.TrimPrefix(replaced, "''"), "''")
}

// replaceID replaces a token of a text in single quotes: the id of an earlier response by its variable, and the id of
// the test run in names of created objects by a new one, because a target may allow each name only once.
func (s *script) replaceID(x *step, text string) string {
	for _, v := range x.uses {
		if v.value == text {
			return `'"$` + v.name + `"'`
		}
	}
	run := s.result.Run.ID
	if rest, created := strings.CutPrefix(text, "agentconform-"+run+"-"); created && run != "" {
		return `agentconform-'"$run"'-` + rest
	}
	return text
}

// patience returns the number of seconds for which curl waits for the response. If the recorded request timed out, curl
// does not wait longer than the suite.
func patience(x *step) int {
	seconds := int(x.MS+500) / 1000
	if x.Status == 0 && seconds > 0 {
		return seconds
	}
	return 30 + int(x.MS)/500
}

// pair is a string or number in a JSON text, with its key. The function value of prelude.sh finds the same pairs.
type pair struct {
	key, value string
	nth        int // position among the pairs with this key, from 1
}

var (
	jsonPair = regexp.MustCompile(`"([A-Za-z0-9_]+)"[ \t\f\v\r]*:[ \t\f\v\r]*(?:"([^"\\\n]*)"|(-?[0-9]+))`)
	// token is a part of an address or body that may be an id. The scheme and host are one token.
	token = regexp.MustCompile(`(?i:https?)://[^/?#']*|[^/?&=#"'\\\s]+`)
)

func pairs(body string) []pair {
	var all []pair
	counts := map[string]int{}
	for _, m := range jsonPair.FindAllStringSubmatch(body, -1) {
		counts[m[1]]++
		all = append(all, pair{m[1], m[2] + m[3], counts[m[1]]})
	}
	return all
}

// isID reports whether the value looks like an id.
func (p pair) isID() bool {
	named := p.key == "id" || strings.HasSuffix(p.key, "_id") || uuid.Validate(p.value) == nil
	return named && p.value != "" && !strings.Contains(p.value, "://")
}

// id is an id that a response contains before any request does.
type id struct {
	pair
	name  string // name of the variable
	from  *step
	taken bool // the script has set the variable
}

// findIDs finds the ids that steps or the check use, and the steps whose responses contain them.
func (s *script) findIDs(check *reports.Check) {
	known := map[string]*id{} // by value
	sent := map[string]bool{} // tokens of requests that are not known ids
	counts := map[string]int{}
	use := func(by *step, text string) {
		for _, value := range token.FindAllString(text, -1) {
			v := known[value]
			if v == nil {
				sent[value] = true
				continue
			}
			if !slices.Contains(by.uses, v) {
				by.uses = append(by.uses, v)
			}
			if !slices.Contains(v.from.gives, v) {
				v.from.gives = append(v.from.gives, v)
			}
		}
	}
	for _, each := range s.steps {
		if each.ID == s.shown && s.decides {
			s.check = &step{check: check}
			use(s.check, strings.Join(slices.Concat(check.Contains, check.Lacks, check.Requires), "\n"))
		}
		use(each, each.URL+"\n"+each.Request.Body)
		for _, p := range pairs(each.Response.Body) {
			if p.isID() && !sent[p.value] && known[p.value] == nil {
				kind := p.kind(each.Operation)
				counts[kind]++
				known[p.value] = &id{pair: p, from: each, name: nameOf(kind, counts[kind])}
			}
		}
	}
}

// nameOf returns the name of the variable for the n-th id of a kind: deployment, deployment2, run_A, run_B.
func nameOf(kind string, n int) string {
	switch {
	case kind == "run" && n <= 26:
		return "run_" + string(rune('A'+n-1))
	case kind == "run":
		return fmt.Sprint("run_", n)
	case n == 1:
		return kind
	}
	return fmt.Sprint(kind, n)
}

// kind returns a name for the object of an id in a response of the operation.
func (p pair) kind(operation string) string {
	switch {
	case p.key == "thread_id":
		return "thread"
	case p.key == "run_id":
		return "run"
	case p.key == "latest_revision_id", p.key == "id" && strings.Contains(operation, "revision"):
		return "revision"
	case p.key == "id" && strings.Contains(operation, "deployment"):
		return "deployment"
	}
	return "id"
}
