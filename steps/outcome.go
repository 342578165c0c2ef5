package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// outcome is what a step returns when it did not just pass.
type outcome struct {
	verdict    reports.Verdict
	reason     string
	missing    string // the key of the configuration that would help, where one is known
	violations []violation
}

// violation is one thing that a step observed to be the opposite of what its sentence says.
type violation struct {
	summary   string // the step's sentence, unless the step knows better
	expected  string
	actual    string
	hint      string
	operation string
	pointer   string
	exchange  int
	count     int
	key       string // tells faults apart that one sentence can show; the sentence's pattern by default
}

func (o *outcome) Error() string { return o.reason }

// violated says that the target did the opposite of what was to be shown. The answer is the evidence; it may be
// nil where the evidence is that nothing came.
func violated(a *client.Answer, expected, actual string, args ...any) *outcome {
	v := violation{expected: expected, actual: fmt.Sprintf(actual, args...), count: 1}
	if a != nil {
		v.exchange = a.ID
	}
	return &outcome{verdict: reports.Failed, reason: "expected " + v.expected + ", got " + v.actual, violations: []violation{v}}
}

// at adds the place in the answer's body.
func (o *outcome) at(pointer string) *outcome {
	o.violations[0].pointer = pointer
	return o
}

// hinting adds what to do about it.
func (o *outcome) hinting(hint string) *outcome {
	o.violations[0].hint = hint
	return o
}

// blocked says that a precondition could not be brought about.
func blocked(cause string, args ...any) *outcome {
	return &outcome{verdict: reports.Blocked, reason: fmt.Sprintf(cause, args...)}
}

// asBlocked says of what a step could not bring about that it is not what the step is to judge.
func asBlocked(err error) error {
	var o *outcome
	if errors.As(err, &o) && o.verdict == reports.Failed {
		return blocked("%s", o.reason)
	}
	return err
}

// inconclusive says that nothing was observed that could have shown a violation.
func inconclusive(reason string, args ...any) *outcome {
	return &outcome{verdict: reports.Inconclusive, reason: fmt.Sprintf(reason, args...)}
}

// inapplicable says that the scenario is about something that this target rightly does not have. It is the only skip
// that leaves a run complete.
func inapplicable(reason string, args ...any) *outcome {
	return skipped(reports.DoesNotApply+reason, args...)
}

// skipped says why a scenario that may well apply is not judged.
func skipped(reason string, args ...any) *outcome {
	return &outcome{verdict: reports.Skipped, reason: fmt.Sprintf(reason, args...)}
}

// needs skips the scenario because a key of the configuration is missing. The key may have an explanation behind it.
func needs(key string) *outcome {
	o := skipped("not configured: set %s", key)
	key, _, _ = strings.Cut(key, " ")
	o.missing = strings.TrimSuffix(key, ",")
	return o
}

// judge turns what a step returned into an outcome, by the kind of sentence it stands under.
func judge(ctx context.Context, kind messages.PickleStepType, err error) *outcome {
	if err == nil {
		return nil
	}
	var o *outcome
	var busy *client.Busy
	given := kind == messages.PickleStepType_CONTEXT
	switch {
	case errors.As(err, &o):
	case errors.As(err, &busy) && given:
		return blocked("%s", busy.Error())
	default:
		o = classify(ctx, err)
	}
	if given && o.verdict == reports.Failed {
		return blocked("%s", err) // with what was being done when it went wrong
	}
	return o
}

// classify gives an outcome to the errors that are none: no answer, an ended run, a mistake of the suite itself.
func classify(ctx context.Context, err error) *outcome {
	var none *client.NoAnswer
	var busy *client.Busy
	switch {
	case errors.As(err, &busy):
		return inconclusive("%s", busy.Error())
	case errors.As(err, &none) && (none.Timeout || none.Closed):
		o := violated(nil, "an answer", "%s", none.Cause)
		o.violations[0].exchange = none.ID
		o.violations[0].operation = none.Request.Method + " " + none.Request.Path
		return o
	case errors.As(err, &none):
		return inconclusive("%s", none.Error())
	case ctx.Err() != nil:
		return inconclusive("not finished: %v", context.Cause(ctx))
	}
	return inconclusive("the suite itself failed here, please report it: %v", err)
}

// seen describes an answer in a few words for a person.
func seen(a *client.Answer) string {
	text := strings.Join(strings.Fields(string(a.Body)), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + " ..."
	}
	if text == "" {
		return fmt.Sprintf("status %d with an empty body", a.Status)
	}
	return fmt.Sprintf("status %d with %s", a.Status, text)
}

// shown describes a value of an answer.
func shown(v gjson.Result) string {
	if !v.Exists() {
		return "nothing"
	}
	text := v.Raw
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + " ..."
	}
	return text
}

func quoted(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = strconv.Quote(w)
	}
	return strings.Join(all, ", ")
}

// pointerOf writes a GJSON path of plain names as a JSON pointer, without the leading slash.
func pointerOf(path string) string { return strings.ReplaceAll(path, ".", "/") }

// encode writes a value of maps, lists and scalars as JSON.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding a request body: %v", err)) // only values that were read from YAML or written here
	}
	return text
}
