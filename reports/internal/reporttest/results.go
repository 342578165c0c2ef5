package reporttest

import (
	_ "embed" // run.json
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// JSON is the recorded result file of a test run of some requirements against the bundled reference with a few faults.
// Ids, addresses and times were replaced by similar ones.
//
//go:embed run.json
var JSON string

// Faulty returns a copy of the recorded result. It has failed MUSTs, a warning, and blocked, inconclusive and skipped
// requirements.
func Faulty() *reports.Result {
	r := &reports.Result{}
	if err := json.Unmarshal([]byte(JSON), r); err != nil {
		panic(err)
	}
	reports.SetProblems(r)
	return r
}

// Conformant returns the sample without failures, judged by a suite that has no other requirements.
func Conformant() *reports.Result {
	r := Sample()
	r.Run.ID, r.Findings, r.Baseline = "5eed0001", nil, nil
	r.Suite.Requirements = len(r.Requirements)
	for q := range reports.Each(r.Requirements) {
		q.Known = nil
		if q.Verdict != reports.Skipped {
			Settle(q, reports.Passed, "")
		}
	}
	r.Verdict = reports.Conformant
	reports.Tally(r)
	reports.SetProblems(r)
	reports.SetScope(r, nil)
	return r
}

// Finding returns the first finding of a requirement. It panics if there is none.
func Finding(r *reports.Result, id string) *reports.Finding {
	return &r.Findings[slices.IndexFunc(r.Findings, func(f reports.Finding) bool { return f.Requirement == id })]
}

// Settle sets the verdict of a requirement and of all of its scenarios.
func Settle(q *reports.Requirement, v reports.Verdict, reason string, by ...reports.Blocker) {
	q.Verdict, q.Reason, q.Skip, q.BlockedBy = v, reason, nil, by
	for s := range reports.Each(q.Scenarios) {
		s.Verdict, s.Reason, s.Skip, s.BlockedBy = v, reason, nil, by
		for step := range reports.Each(s.Steps) {
			step.Verdict = ""
			if v == reports.Passed {
				step.Verdict = v
			}
		}
	}
}

// HostileTexts returns texts that a target may send to harm the reader of a report, by name.
func HostileTexts() map[string]string {
	return map[string]string{
		"script":         `<script>alert(1)</script><img src=x onerror=alert(2)>`,
		"end of script":  `</script><script>alert(3)</script><!-- --> </style></template></textarea>`,
		"attribute":      `"><svg onload=alert(4)> ' onmouseover='alert(5)`,
		"address":        `javascript:alert(6)`,
		"template":       `{{.Secret}} {% raw %} ${7*7} #{8}`,
		"terminal":       "\x1b[2J\x1b[31mred\x1b]0;title\x07\u009b5m\rback\x08\x7f",
		"cdata":          "a ]]> b <![CDATA[ c ]]>]]&gt;",
		"nul":            "a\x00b\x00",
		"bidi":           "user\u202e\u2066 }admin\u2069 \u200f\u200b",
		"lone surrogate": "a\xed\xa0\x80b \\ud800 \xff\xfe",
		"markdown":       "`` ` ```\n# title\n| a | b |\n[x](javascript:alert(7)) ![y](http://127.0.0.1:1/z) @all <!-- ::error::oops",
		"linked":         "see www.evil.example, http://evil.example/x_y_z (mail@evil.example) @org/team :tada: #12 GH-1 `@x` ftp://y|z",
		"workflow":       "\n::set-output name=x::y\n##[error]no\n%0A::warning::z",
		"lines":          "one\r\ntwo\u2028three\u2029four\u0085five",
		"yaml":           "- !!python/object:x\n: {a: b}\n--- \"",
		"long":           strings.Repeat("0123456789abcdef", 1<<16),
		"deep":           strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
		"wide":           strings.Repeat("{\"a\":", 60) + "1" + strings.Repeat("}", 60),
	}
}
