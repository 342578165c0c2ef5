package recorded

import (
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// HostileTexts are what a target may send to harm the reader of a report, by name.
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

// Hostile is the faulty run in which every text that can come from a target is the given one. Of its exchanges it has those
// behind findings only, so that long texts do not make tests slow.
func Hostile(text string) *reports.Result {
	r := Faulty()
	r.Headline = "The target says: " + text
	r.Target.Implementation = reports.Implementation{Name: text, Version: text, URL: text, Contact: text}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		if q.Skip != nil {
			q.Skip = &reports.Skip{Kind: q.Skip.Kind, Key: text}
		}
		if q.BlockedBy != nil {
			q.BlockedBy = []reports.Blocker{{Kind: reports.ByPrecondition, Name: text}}
		}
		if q.Reason != "" {
			q.Reason = text
		}
		for j := range q.Scenarios {
			s := &q.Scenarios[j]
			if s.Reason != "" {
				s.Reason = text
			}
			s.Skip, s.BlockedBy = q.Skip, q.BlockedBy
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Summary, f.Expected, f.Actual, f.Hint, f.Pointer, f.Curl = text, text, text+"\n"+text, text, "/"+text, "curl '"+text+"'"
	}
	r.Exchanges = hostileExchanges(r, text)
	r.Timeline = append(r.Timeline, reports.Transition{Revision: text, Status: text, AtMS: 900})
	r.Ledger = append(r.Ledger, reports.LedgerEntry{Kind: "deployment", ID: text, CreatedBy: text})
	c := &r.Coverage
	c.Statuses = append(c.Statuses, reports.StatusCoverage{Operation: "listRevisions", Status: "299", ContentType: text, Count: 1})
	c.Enums = append(c.Enums, reports.EnumCoverage{Field: "Revision.status", Seen: []string{text}})
	c.Parameters = append(c.Parameters, reports.ParameterCoverage{Operation: "listRevisions", Parameter: "status", Values: []string{text}})
	return r
}

func hostileExchanges(r *reports.Result, text string) *reports.Memory {
	memory, kept := reports.NewMemory(), map[int]int{}
	for i := range r.Findings {
		old := r.Findings[i].Exchange
		if kept[old] == 0 && old != 0 {
			x, err := r.Exchanges.Get(old)
			must(err)
			x.Response.Body, x.Error, x.Curl = text, text, "curl '"+text+"'"
			x.Response.Headers = map[string][]string{"X-Hostile": {text, text}, text: {"name"}}
			x.URL += "?" + text
			x.Problems = []string{text}
			kept[old] = memory.Append(x)
		}
		r.Findings[i].Exchange = kept[old]
	}
	for i := range r.Requirements {
		for j := range r.Requirements[i].Scenarios {
			s := &r.Requirements[i].Scenarios[j]
			var ids []int
			for _, old := range s.Exchanges {
				if kept[old] != 0 {
					ids = append(ids, kept[old])
				}
			}
			s.Exchanges = ids
		}
	}
	return memory
}
