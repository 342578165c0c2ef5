// Package github writes a result for a GitHub workflow: annotations, and the outputs of the step. Start with
// [Annotations].
package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
)

// maxText is the maximum length in characters of the text of an annotation.
const maxText = 2000

// Annotations writes an error or a warning for each problem that is not in the baseline, and an error for each entry of
// the baseline that makes the test run fail. If the exit code has another reason, it writes the headline as an error.
// folder is the folder of the reports. It returns the errors of w.
func Annotations(w io.Writer, r *reports.Result, folder string) error {
	o := overview.Of(r)
	var b strings.Builder
	hasError := false
	annotate := func(kind, file, title, text string) {
		hasError = hasError || kind == "error"
		properties := "title=" + property(title)
		if file != "" {
			properties = "file=" + property(file) + "," + properties
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", kind, properties, data(text))
	}
	for _, p := range o.Problems {
		if p.Known {
			continue
		}
		kind, file := "warning", ""
		if p.Owner.Decides() {
			kind = "error"
		}
		if f := p.First(); f != nil && script.Path(r, f) != "" {
			file = path.Join(folder, script.Path(r, f))
		}
		annotate(kind, file, fmt.Sprintf("%d. %s %s", p.Number, p.Owner.ID, p.Title), textOf(p))
	}
	if r.Baseline != nil {
		for _, text := range r.Baseline.Outdated() {
			annotate("error", r.Baseline.File, "baseline", text)
		}
	}
	if code := o.Display().Exit; code != 0 && !hasError {
		annotate("error", "", fmt.Sprintf("exit code %d", code), o.Headline()+o.Display().Baseline)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Error writes an error of the program as an annotation. Errors are those of w.
func Error(w io.Writer, text string) error {
	_, err := fmt.Fprintf(w, "::error title=agentconform::%s\n", data(text))
	return err
}

// textOf returns the text of a problem: the request, what was expected and returned, the rule, and the command.
func textOf(p overview.Problem) string {
	evidence := reports.Joined("\n", p.Request, labeled("sent      ", p.Sent), labeled("expected  ", p.Expected), labeled("got       ", p.Got))
	return reports.Joined("\n", cmp.Or(evidence, p.Owner.Reason), string(p.Level)+": "+p.Owner.Title,
		labeled("Breaks ", p.BreaksToo), labeled("Try ", p.Replay))
}

// labeled returns a text after a label, or "" without a text.
func labeled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// Outputs writes the outputs of the step: verdict, counts (JSON) and report, the path of the page, or of result.json without
// a page. delimiter ends the path, so it must be random. Errors are those of w.
func Outputs(w io.Writer, r *reports.Result, folder, delimiter string) error {
	counts, err := json.Marshal(r.Counts.Requirements)
	if err == nil {
		_, err = fmt.Fprintf(w, "verdict=%s\ncounts=%s\nreport<<%[3]s\n%s\n%[3]s\n", r.Verdict, counts, delimiter, path.Clean(r.Run.Page(folder)))
	}
	return err
}

// data returns a text of an annotation: one line that cannot contain another command.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(safe.Visible(safe.Ellipsis(text, maxText)))
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(safe.Ellipsis(text, 200)))
}
